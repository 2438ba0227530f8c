"""What keeps those who use what a workload lacks from going for it by preempt rules: a class, a rule, a protection, or time."""

from dataclasses import dataclass, replace
from functools import partial

from ...guard import Expr, fields, is_timeless
from ...intake.slices import takes_place_of
from ...outcome.nomination import CandidateOutcome, KeptCandidate, Value
from ...policy_graph import PreemptRule, ProtectRule
from ...workload import Workload
from .lookahead import guards_on
from .rules import RuleSearch

_CLOSENESS: tuple[CandidateOutcome, ...] = (
    "not triggered", "out of reach", "not borrowing", "guard", "protected", "gave way", "just admitted", "not enough",
)  # fmt: skip
"""What may come of a candidate under a rule: the later, the closer it comes to going."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a triggered rule looks, by node: the queues `in_range`, and those of them that it `reaches`, as they borrow."""

    in_range: frozenset[int]
    reaches: frozenset[int]


def kept(present: RuleSearch, most: int) -> list[KeptCandidate]:
    """Why each running workload that uses a slot in need is not taken, who uses most of it first. The request is charged.

    Of the `most` first ones it is told when that ends, and what was compared.
    """
    trial, short = present.trial, frozenset(present.scope.short)
    running = [each for queue in present.graph.queues for each in trial.running(queue.node)]
    users = [each for each in running if any(slot in short for slot, _ in each.usage)]
    users.sort(key=lambda each: (-sum(amount for slot, amount in each.usage if slot in short), each.number))
    places = [_place(present, rule) for rule in present.graph.preempt]
    found = [_kept(present, places, each) for each in users]
    return [*map(partial(_in_full, present), users[:most], found[:most]), *found[most:]]


def _place(present: RuleSearch, rule: PreemptRule) -> _Place | None:
    """Where a rule looks; None where it is not triggered."""
    scope = present.scope
    return None if scope.owner(rule) is None else _Place(frozenset(scope.in_range(rule)), frozenset(scope.queues(rule)))


def _kept(present: RuleSearch, places: list[_Place | None], each: Workload) -> KeptCandidate:
    if each.pinned:
        return KeptCandidate(each.name, "never evicted")
    if takes_place_of(present.workload, each):
        return KeptCandidate(each.name, "replaced")
    found = [_by_rule(present, index, place, each) for index, place in enumerate(places)]
    return max(found, key=lambda one: _CLOSENESS.index(one.outcome), default=KeptCandidate(each.name, "not triggered"))


def _by_rule(present: RuleSearch, index: int, place: _Place | None, each: Workload) -> KeptCandidate:
    """What comes of a candidate under one rule, which looks there."""
    rule = present.graph.preempt[index]
    if place is None:
        return KeptCandidate(each.name, "not triggered", index)
    if each.queue not in place.reaches:
        return KeptCandidate(each.name, "not borrowing" if each.queue in place.in_range else "out of reach", index)
    keeper = present.keeper(rule, each)
    if isinstance(keeper, ProtectRule):
        return KeptCandidate(each.name, "protected", index, present.graph.protect.index(keeper))
    if keeper is not None:
        return KeptCandidate(each.name, "guard", index)
    if each.name in present.superiors and is_timeless(rule.guard):
        return KeptCandidate(each.name, "gave way", index)
    return KeptCandidate(each.name, "just admitted" if each.started_by == present.cause else "not enough", index)


def _in_full(present: RuleSearch, each: Workload, found: KeptCandidate) -> KeptCandidate:
    """The same with what the guard of its keeper compared, and the moment at which time ends that."""
    if found.outcome not in ("protected", "guard"):
        return found
    rule = present.graph.preempt[found.rule]
    guard = present.graph.protect[found.protect].guard if found.protect >= 0 else rule.guard
    return replace(found, until=_until(present, rule, each), values=_values(present, guard, each))


def _values(present: RuleSearch, guard: Expr | None, each: Workload) -> tuple[Value, ...]:
    present.values.victim = each
    return tuple(present.values.value(field) for field in fields(guard))


def _until(present: RuleSearch, rule: PreemptRule, each: Workload) -> int | None:
    """The first moment at which a rule may take a candidate, if nothing changes but time."""
    present.values.victim = each
    points = present.values.turning_points(guard for guard, _ in guards_on(present, rule, each.queue))
    return next((point for point in points if present.at(point).keeper(rule, each) is None), None)
