"""Builds the syntax tree: one method for each grammar rule of what policies say that decide by passes."""

from . import tree
from .rule_children import (
    Child,
    DueClause,
    Flag,
    LevelsAbove,
    Moving,
    Step,
    UpToDemand,
    UsageWeight,
    all_of,
    first_of,
    flagged,
    span_of,
    token_of,
    words_of,
)


class BuildPasses:
    """Builds the nodes of the header and of preempt rules where passes decide. Each method gets all children of its grammar rule."""

    # --- header

    def cycle_pass(self, parts: list[Child]) -> tree.CyclePass:
        return tree.CyclePass(" ".join(words_of(parts)), span=span_of(parts))  # type: ignore[arg-type]

    def nothing_due(self, parts: list[Child]) -> DueClause:
        return DueClause(str(parts[-1]), span=span_of(parts))

    def weighing(self, parts: list[Child]) -> tree.UsageWeights:
        return tree.UsageWeights(tuple((part.resource, part.number) for part in all_of(parts, UsageWeight)), span=span_of(parts))

    def entitle(self, parts: list[Child]) -> tree.Entitle:
        words, demand = words_of(parts), first_of(parts, UpToDemand)
        way = "demand" if demand is not None else "owned-first" if "first" in words else "owned" if "as" in words else "weight"
        return tree.Entitle(
            way,  # type: ignore[arg-type]
            flagged(parts, "whole units"),
            flagged(parts, "by priority"),
            None if demand is None else demand.rounds,
            None if demand is None else demand.remainder,
            span=span_of(parts),
        )

    def up_to_demand(self, parts: list[Child]) -> UpToDemand:
        rounds, remainder = all_of(parts, tree.Number)
        return UpToDemand(rounds, remainder, span=span_of(parts))

    def whole_units(self, parts: list[Child]) -> Flag:
        return Flag("whole units", span=span_of(parts))

    def by_priority(self, parts: list[Child]) -> Flag:
        return Flag("by priority", span=span_of(parts))

    def place_by(self, parts: list[Child]) -> tree.PlaceBy:
        return tree.PlaceBy(all_of(parts, tree.PlaceKey), span=span_of(parts))

    def node_key(self, parts: list[Child]) -> tree.PlaceKey:
        descending, step = token_of(parts[1:], "DESC") is not None, first_of(parts, Step)
        return tree.PlaceKey(str(parts[0]), first_of(parts, tree.Name), descending, step.number if step else None, span=span_of(parts))

    def steps(self, parts: list[Child]) -> Step:
        return Step(first_of(parts, tree.Number), span=span_of(parts))

    def score_nodes(self, parts: list[Child]) -> tree.ScoreNodes:
        return tree.ScoreNodes(all_of(parts, tree.ScoreTerm), span=span_of(parts))

    def node_score(self, parts: list[Child]) -> tree.ScoreTerm:
        term = f"{parts[0]} used" if parts[0] in ("least", "most") else str(parts[0])
        return tree.ScoreTerm(term, first_of(parts, tree.Number), first_of(parts, tree.Name), span=span_of(parts))  # type: ignore[arg-type]

    def within(self, parts: list[Child]) -> tree.WithinChoice:
        return tree.WithinChoice(str(parts[0]), all_of(parts, tree.BoundTerm), span=span_of(parts))  # type: ignore[arg-type]

    def bound(self, parts: list[Child]) -> tree.BoundTerm:
        factor = first_of(parts, tree.Number)
        bound = "existing" if factor is not None else " ".join(words_of(parts))
        return tree.BoundTerm(bound, factor, span=span_of(parts))  # type: ignore[arg-type]

    def broken_gangs(self, parts: list[Child]) -> tree.BrokenGangs:
        return tree.BrokenGangs(first_of(parts, tree.Number), span=span_of(parts))

    def start_cap(self, parts: list[Child]) -> tree.StartCap:
        return tree.StartCap(tuple((part.number, part.resource) for part in all_of(parts, tree.Amount)), span=span_of(parts))

    # --- priorities

    def never_evicted(self, parts: list[Child]) -> tree.NeverEvicted:
        return tree.NeverEvicted(span=span_of(parts))

    def queue_limits(self, parts: list[Child]) -> tree.QueueLimits:
        return tree.QueueLimits(tuple((part.number, part.resource) for part in all_of(parts, tree.Amount)), span=span_of(parts))

    def part(self, parts: list[Child]) -> tree.Amount:
        return tree.Amount(parts[0], parts[2], span=span_of(parts))

    # --- rules

    def pass_trigger(self, parts: list[Child]) -> tree.PassTrigger:
        occasion = "may-be-evicted" if "may" in words_of(parts) else "fits-entitlement"
        above = first_of(parts, LevelsAbove)
        levels = None if above is None else above.number
        return tree.PassTrigger(occasion, flagged(parts, "in any"), levels, span=span_of(parts))  # type: ignore[arg-type]

    def in_any(self, parts: list[Child]) -> Flag:
        return Flag("in any", span=span_of(parts))

    def levels_above(self, parts: list[Child]) -> LevelsAbove:
        return LevelsAbove(first_of(parts, tree.Number), span=span_of(parts))

    def in_pass(self, parts: list[Child]) -> tree.InPass:
        return tree.InPass(parts[1], span=span_of(parts))

    def search(self, parts: list[Child]) -> tree.SearchStatement:
        way = {"scenarios": "by scenarios", "rescheduling": "by rescheduling"}.get(words_of(parts)[-1], "node by node")
        moving = first_of(parts, Moving)
        whom, most = ("", None) if moving is None else (moving.whom, moving.most)
        return tree.SearchStatement(way, whom, most, flagged(parts, "sparing"), span=span_of(parts))  # type: ignore[arg-type]

    def moving(self, parts: list[Child]) -> Moving:
        whom = "everybody" if token_of(parts, "EVERYBODY") is not None else "whom it can"
        return Moving(whom, first_of(parts, tree.Number), span=span_of(parts))

    def sparing(self, parts: list[Child]) -> Flag:
        return Flag("sparing", span=span_of(parts))

    def take(self, parts: list[Child]) -> tree.Take:
        unit = " ".join(words_of(parts[1:])).replace(" ,", ",")
        return tree.Take(unit, span=span_of(parts))  # type: ignore[arg-type]

    def accept(self, parts: list[Child]) -> tree.AcceptWhere:
        return tree.AcceptWhere(all_of(parts, tree.AcceptTerm), span=span_of(parts))

    def acceptance(self, parts: list[Child]) -> tree.AcceptTerm:
        words = words_of(parts)
        over = "over-uncapped" if "uncapped" in words else "over-entitlement"
        test = over if "over" in words else "owed" if "owed" in words else "less-saturated"
        return tree.AcceptTerm(test, first_of(parts, tree.Number), span=span_of(parts))  # type: ignore[arg-type]

    def votes(self, parts: list[Child]) -> tree.Votes:
        return tree.Votes(all_of(parts, tree.VoteTier), span=span_of(parts))

    def tier(self, parts: list[Child]) -> tree.VoteTier:
        return tree.VoteTier(all_of(parts, tree.VoteWord), span=span_of(parts))

    def vote(self, parts: list[Child]) -> tree.VoteWord:
        return tree.VoteWord(str(parts[0]), span=span_of(parts))  # type: ignore[arg-type]
