"""Which words go together where a policy decides by passes: a closed table, by the search for victims.

Each search is that of one system, and its core decides what that system can be set to and no more. A word that is not in the column of
the policy's search is refused by name, so no policy that is accepted says something that nobody decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...print import pass_printer as printed
from ...print.printer import statement
from ...syntax import tree
from ...syntax.names import listed
from ..context import Context

SearchWay = Literal["by scenarios", "node by node", "by rescheduling"]

SEARCH_WAYS: tuple[SearchWay, ...] = ("by scenarios", "node by node", "by rescheduling")

_SCENARIOS, _NODES, _RESCHEDULING = ({way} for way in SEARCH_WAYS)
_ALL = _SCENARIOS | _NODES | _RESCHEDULING

GOES_WITH: dict[str, dict[str, set[SearchWay]]] = {
    "decide": {
        "allocate": _SCENARIOS | _NODES,
        "reclaim": _SCENARIOS | _NODES,
        "preempt": _SCENARIOS | _NODES,
        "consolidate": _SCENARIOS,
        "end broken gangs": _SCENARIOS,
        "enqueue": _NODES,
        "backfill": _NODES,
        "balance": _RESCHEDULING,
    },
    "entitle": {"owned": _NODES, "weight": _NODES, "owned-first": _SCENARIOS, "demand": _RESCHEDULING},
    "share": {"used": _NODES, "entitlement": _SCENARIOS | _NODES, "owned": _NODES, "cost": _RESCHEDULING},
    "counts": {"x1000": _SCENARIOS, "1": _NODES, "0": _RESCHEDULING},
    "order queues": {
        "over-entitlement": _SCENARIOS,
        "starved": _SCENARIOS,
        "saturated": _NODES,
        "queue-priority": _SCENARIOS | _NODES,
        "priority": _RESCHEDULING,
        "large-first": _RESCHEDULING,
        "unentitled": _SCENARIOS | _NODES,
        "share-with": _SCENARIOS | _RESCHEDULING,
        "share": _SCENARIOS | _NODES,
        "entitlement": _SCENARIOS,
        "created": _SCENARIOS | _NODES,
    },
    "order workloads": {
        "priority": _ALL,
        "readiness": _SCENARIOS | _NODES,
        "share": _NODES,
        "submitted": _ALL,
    },
    "place pods by": {
        "nominated": _SCENARIOS,
        "domain": _SCENARIOS,
        "fits-now": _SCENARIOS,
        "plain-node": _SCENARIOS,
        "evicts": _RESCHEDULING,
        "free": _SCENARIOS | _RESCHEDULING,
        "score": _NODES,
    },
    "score nodes": dict.fromkeys(("packed", "least used", "most used", "balanced", "near"), _NODES),
    "admit within": {"limits": _ALL, "entitlement": _NODES, "owned if never evicted": _SCENARIOS, "existing": set()},
    "enqueue within": {"limits": _NODES, "existing": _NODES, "entitlement": set(), "owned if never evicted": set()},
    "when": {
        "fits-entitlement": _SCENARIOS | _NODES,
        "may-be-evicted": _SCENARIOS,
        "any resource": _NODES,
        "levels": _NODES,
    },
    "evict from": {"same-queue": _SCENARIOS | _NODES, "other-queues": _SCENARIOS | _NODES, "any-queue": _SCENARIOS | _RESCHEDULING},
    "take": {
        "surplus pods one by one, then the rest together": _SCENARIOS,
        "single pods": _NODES,
        "whole workloads": _RESCHEDULING,
    },
    "accept where": {
        "over-entitlement": _SCENARIOS | _RESCHEDULING,
        "over-part": _RESCHEDULING,
        "over-uncapped": _RESCHEDULING,
        "owed": _SCENARIOS,
        "less-saturated": _SCENARIOS,
    },
    "statements": {
        "gangs broken": _SCENARIOS,
        "where": _SCENARIOS,
        "sparing": _NODES,
        "steps": _RESCHEDULING,
        "start up to": _RESCHEDULING,
        "never reclaimed": _NODES,
        "votes": _NODES,
        "share weights": _RESCHEDULING,
        "queues use up to": _RESCHEDULING,
        "cohort": _SCENARIOS | _NODES,
        "owns": _SCENARIOS | _NODES,
        "owns anything": _SCENARIOS,
        "guarantees": _NODES,
        "uses": _SCENARIOS | _NODES,
        "weight": _ALL,
        "weight for": _SCENARIOS,
        "priority": _SCENARIOS | _NODES,
    },
}
"""For each place in a policy its words, and the searches that they go with; a word that goes with none is not decided anywhere."""


@dataclass(frozen=True, slots=True)
class SaidWord:
    """A word of a policy: where in the table it stands, its node and its text, and the item or choice that it stands in."""

    place: str
    word: str
    node: tree.Spanned
    text: str
    item: object


def check_words(context: Context) -> None:
    """Report words that do not go with the policy's search for victims; without any, words that go with no search together."""
    said = list(_words(context))
    searches = [(item, part) for item in context.merged.preempt for part in item.body if isinstance(part, tree.SearchStatement)]
    if searches:
        _check_searches(context, searches)
        _report(context, said, searches[0][1].way, f"`search {searches[0][1].way}`")
        return
    best = max(SEARCH_WAYS, key=lambda way: sum(way in _goes(each) for each in said))
    _report(context, said, best, "the rest of the policy")


def _check_searches(context: Context, searches: list[tuple[tree.PreemptItem, tree.SearchStatement]]) -> None:
    first = searches[0][1].way
    for item, other in searches[1:]:
        if other.way != first:
            context.at(item)
            message = (
                f"`search {other.way}` does not go with `search {first}`: the two are of different systems, and no core decides by both"
            )
            context.error("GP046", message, other, "another search", f"write `search {first}` in all rules")


def _report(context: Context, said: list[SaidWord], way: SearchWay, rest: str) -> None:
    for each in said:
        if way in _goes(each):
            continue
        context.at(each.item)
        fitting = [word for word, ways in GOES_WITH[each.place].items() if way in ways] if each.place != "statements" else []
        help_text = f"here may stand {listed((_shown(each.place, word) for word in fitting), 12)}" if fitting else "remove it"
        message = f"`{each.text}` does not go with {rest}: no core decides by both"
        context.error("GP046", message, each.node, "decided elsewhere", help_text)


def _goes(said: SaidWord) -> set[SearchWay]:
    return GOES_WITH[said.place][said.word]


_SHOWN = {
    "owned-first": "owned first, then by weight",
    "weight": "by weight",
    "owned": "as owned",
    "demand": "by weight up to demand, in at most 10 rounds, to 1/100",
    "existing": "6/5 of what exists",
    "fits-entitlement": "workload fits what its queue is entitled to",
    "may-be-evicted": "workload may be evicted",
    "same-queue": "the same queue",
    "other-queues": "other queues",
    "any-queue": "any queue",
    "over-entitlement": "victim side is over its entitlement",
    "over-part": "victim side is over 1/2 of its entitlement",
    "over-uncapped": "victim side is over its uncapped entitlement",
    "owed": "workload side is owed what it owns",
    "less-saturated": "workload side stays less saturated",
    "any resource": "in any resource",
    "levels": "up to 1 levels above",
}


def _shown(place: str, word: str) -> str:
    """A word of the table as a policy writes it."""
    if place == "share":
        return "share used" if word == "used" else f"share of {word}"
    return word if place.startswith(("order", "place")) else _SHOWN.get(word, word)


# --- the words of a policy


def _words(context: Context) -> Iterator[SaidWord]:
    """All words that the table knows, in the header, in priorities, in the quota tree and in rules."""
    for key in sorted(context.merged.choices):
        choice = context.merged.choices[key]
        for place, word, node in _of_choice(choice):
            yield SaidWord(place, word, node, _text(node, place), choice)
    for priority in context.merged.priorities:
        if priority.limits is not None:
            yield SaidWord("statements", "queues use up to", priority.limits, statement(priority.limits), priority)
    tops: list[tree.CohortItem | tree.QueueItem] = [*context.merged.cohorts, *context.merged.queues]
    for item in tops:
        yield from _of_tree(item, item)
    for rule in context.merged.preempt:
        for part in rule.body:
            for place, word, node in _of_rule(part):
                yield SaidWord(place, word, node, _text(node, place), rule)


_Word = tuple[str, str, tree.Spanned]


def _of_choice(choice: tree.Choice) -> Iterator[_Word]:
    match choice:
        case tree.Decide(_, passes):
            yield from (("decide", each.name, each) for each in passes if each.name != "nominate")
        case tree.Entitle(way):
            yield "entitle", way, choice
        case tree.ShareChoice(formula, _, due, weights) if formula in GOES_WITH["share"]:
            yield "share", formula, choice
            if formula != "used":
                yield "counts", due, choice
            if weights:
                yield "statements", "share weights", choice
        case tree.Order(subject, keys) if subject != "heads":
            place = f"order {subject}"
            yield from ((place, key.path, key) for key in keys if key.path in GOES_WITH[place])
        case tree.PlaceBy(place_keys):
            yield from (("place pods by", key.path, key) for key in place_keys if key.path in GOES_WITH["place pods by"])
            yield from (("statements", "steps", key) for key in place_keys if key.step is not None)
        case tree.ScoreNodes(terms):
            yield from (("score nodes", term.term, term) for term in terms)
        case tree.WithinChoice(occasion, bounds):
            yield from ((f"{occasion} within", bound.bound, bound) for bound in bounds)
        case tree.BrokenGangs():
            yield "statements", "gangs broken", choice
        case tree.StartCap():
            yield "statements", "start up to", choice


def _of_rule(part: tree.Spanned) -> Iterator[_Word]:
    match part:
        case tree.PassTrigger(occasion, any_resource, levels):
            yield "when", occasion, part
            if any_resource:
                yield "when", "any resource", part
            if levels is not None:
                yield "when", "levels", part
        case tree.EvictFrom(scope) if scope in GOES_WITH["evict from"]:
            yield "evict from", scope, part
        case tree.Take(unit):
            yield "take", unit, part
        case tree.AcceptWhere(terms):
            for term in terms:
                of_part = term.part is not None and term.test == "over-entitlement"
                yield "accept where", "over-part" if of_part else term.test, term
        case tree.SearchStatement(sparing=True):
            yield "statements", "sparing", part
        case tree.Votes():
            yield "statements", "votes", part
        case tree.Where():
            yield "statements", "where", part


def _of_tree(item: tree.CohortItem | tree.QueueItem, top: object) -> Iterator[SaidWord]:
    if isinstance(item, tree.CohortItem):
        yield SaidWord("statements", "cohort", item.name, f"cohort {item.name.text}", top)
    for part in item.body:
        match part:
            case tree.QuotaStatement("owns", "anything"):
                yield SaidWord("statements", "owns anything", part, statement(part), top)
            case tree.QuotaStatement("owns" | "guarantees" | "uses" as verb, limit) if limit != "nothing":
                yield SaidWord("statements", verb, part, statement(part), top)
            case tree.ResourceWeight():
                yield SaidWord("statements", "weight for", part, statement(part), top)
            case tree.NeverReclaimed():
                yield SaidWord("statements", "never reclaimed", part, statement(part), top)
            case tree.QueuePriority():
                yield SaidWord("statements", "priority", part, statement(part), top)
            case tree.CohortItem() | tree.QueueItem():
                yield from _of_tree(part, top)


def _text(node: tree.Spanned, place: str) -> str:
    """A word as the policy writes it."""
    match node:
        case tree.CyclePass(name):
            return name
        case tree.Key(path) | tree.PlaceKey(path):
            return path
        case tree.ScoreTerm():
            return printed.score_term(node)
        case tree.BoundTerm():
            return printed.bound(node)
        case tree.AcceptTerm():
            return printed.acceptance(node)
        case _:
            return statement(node)
