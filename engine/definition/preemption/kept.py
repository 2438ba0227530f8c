"""What keeps those who use what a workload lacks from going for it by preempt rules: a class, a rule, a protection, or time."""

from dataclasses import replace
from functools import partial

from ...guard import fields
from ...intake.slices import takes_place_of
from ...outcome.nomination import CandidateOutcome, KeptCandidate
from ...policy_graph import PreemptRule, ProtectRule
from ...workload import Workload
from .lookahead import turning_points
from .rules import RuleSearch

_CLOSENESS: tuple[CandidateOutcome, ...] = (
    "not triggered", "out of reach", "not borrowing", "guard", "protected", "gave way", "just admitted", "not enough",
)  # fmt: skip
"""What may come of a candidate under a rule: the later, the closer it comes to going."""


def kept(present: RuleSearch, most: int) -> list[KeptCandidate]:
    """Why each running workload that uses a slot in need is not taken, who uses most of it first. The request is charged.

    Of the `most` first ones it is told when that ends, and what was compared.
    """
    trial, short = present.trial, frozenset(present.short)
    running = [each for queue in present.graph.queues for each in trial.running(queue.node)]
    users = [each for each in running if any(slot in short for slot, _ in each.usage)]
    users.sort(key=lambda each: (-sum(amount for slot, amount in each.usage if slot in short), each.number))
    ranges = [frozenset(present.in_range(rule, present.owner(rule))) for rule in present.graph.preempt]
    found = [_kept(present, ranges, each) for each in users]
    return [*map(partial(_in_full, present), users[:most], found[:most]), *found[most:]]


def _kept(present: RuleSearch, ranges: list[frozenset[int]], each: Workload) -> KeptCandidate:
    if each.pinned:
        return KeptCandidate(each.name, "never evicted")
    if takes_place_of(present.workload, each):
        return KeptCandidate(each.name, "replaced")
    found = [_by_rule(present, index, within, each) for index, within in enumerate(ranges)]
    return max(found, key=lambda one: _CLOSENESS.index(one.outcome), default=KeptCandidate(each.name, "not triggered"))


def _by_rule(present: RuleSearch, index: int, within: frozenset[int], each: Workload) -> KeptCandidate:
    """What comes of a candidate under one rule, which looks in those queues."""
    rule = present.graph.preempt[index]
    if present.owner(rule) is None:
        return KeptCandidate(each.name, "not triggered", index)
    if each.queue not in within:
        return KeptCandidate(each.name, "out of reach", index)
    if not present.reaches(rule, each.queue):
        return KeptCandidate(each.name, "not borrowing", index)
    keeper = present.keeper(rule, each)
    if isinstance(keeper, ProtectRule):
        return KeptCandidate(each.name, "protected", index, present.graph.protect.index(keeper))
    if keeper is not None:
        return KeptCandidate(each.name, "guard", index)
    if present.gave_way(rule, each):
        return KeptCandidate(each.name, "gave way", index)
    return KeptCandidate(each.name, "just admitted" if each.started_by == present.cause else "not enough", index)


def _in_full(present: RuleSearch, each: Workload, found: KeptCandidate) -> KeptCandidate:
    """The same with what the guard of its keeper compared, and the moment at which time ends that."""
    if found.outcome not in ("protected", "guard"):
        return found
    rule = present.graph.preempt[found.rule]
    guard = present.graph.protect[found.protect].guard if found.protect >= 0 else rule.guard
    values = tuple(present.values.value(field, each) for field in fields(guard))
    return replace(found, until=_until(present, rule, each), values=values)


def _until(present: RuleSearch, rule: PreemptRule, each: Workload) -> int | None:
    """The first moment at which a rule may take a candidate, if nothing changes but time."""
    return next((point for point in turning_points(present, rule, each) if present.at(point).keeper(rule, each) is None), None)
