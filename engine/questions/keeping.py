"""What keeps others from going for a workload by preempt rules: a class, a rule, a protection, or time.

Of a nomination that comes to nothing it is told of everybody who uses what is short; of one that waits, of the victims to come.
"""

from dataclasses import replace
from functools import partial

from ..definition.preemption.lookahead import turning_points
from ..definition.preemption.rules import RuleSearch
from ..guard import fields
from ..intake.slices import takes_place_of
from ..outcome.nomination import CandidateOutcome, KeptCandidate, ProtectedVictim
from ..policy_graph import PreemptRule, ProtectRule
from ..workload import Workload

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


def protected_victims(present: RuleSearch, until: int) -> tuple[list[ProtectedVictim], int]:
    """The victims of the search at a later moment who may not go yet, each with when it may and what keeps it, and the last one's rule."""
    found, later = list[ProtectedVictim](), present.at(until).run()
    for each in later:
        rule, workload = present.graph.preempt[each.rule], present.trial.state.workloads[each.workload]
        points = turning_points(present, rule, workload)
        freed = [point for point in points if point <= until and present.at(point).keeper(rule, workload) is None]
        starts = [point for point in freed if present.at(point - 1).keeper(rule, workload) is not None]
        if present.keeper(rule, workload) is not None and starts:  # else what keeps it is a share, which changes as the others go
            last = present.at(starts[-1] - 1).keeper(rule, workload)
            protect = present.graph.protect.index(last) if isinstance(last, ProtectRule) else -1
            found.append(ProtectedVictim(each.workload, starts[-1], protect))
    return found, later[-1].rule if later else -1
