"""Whom a queue may evict in Kueue's two ways, and in which order.

Kueue: pkg/scheduler/preemption/common and pkg/scheduler/preemption/preemption.go.
"""

from heapq import merge

from ...intake.decayed_usage import NO_USAGE
from ...intake.holds import is_inactive
from ...intake.local_usage import usage_rank
from ...intake.slices import takes_place_of
from ...policy_graph import Preemption
from ...workload import Workload
from ..state.trial import Trial
from .rules import Preemptor

Precedence = tuple[bool, bool, int, int, str, int]
"""The place of a victim among others, the best is the least."""


def preemption_of(trial: Trial, queue: int) -> Preemption:
    """What a queue says of whom it may evict."""
    return trial.graph.queue_at(queue).preemption


def candidates(trial: Trial, queue: int, preemptor: Preemptor) -> list[Workload]:
    """The running workloads of a queue that use a slot in need and that the preemptor's queue may evict, by their order."""
    if is_inactive(trial.graph, queue):
        return []
    return ordered(trial, [workload for workload in trial.running(queue) if _may_go(trial, workload, preemptor)], preemptor.workload.queue)


def _may_go(trial: Trial, victim: Workload, preemptor: Preemptor) -> bool:
    if not any(slot in preemptor.slots for slot, _ in victim.usage):
        return False
    preemption, workload = preemption_of(trial, preemptor.workload.queue), preemptor.workload
    return satisfies(preemption.own if victim.queue == workload.queue else preemption.reclaims, workload, victim)


def ordered(trial: Trial, victims: list[Workload], queue: int) -> list[Workload]:
    """Candidates for a workload of a queue, best victim first.

    Each queue has an order of its own: by precedence, and in one that admits by usage those go first whose local queue has used more. Of
    the first ones of all queues the one that precedes goes, then the next. So usage counts within a queue and never between two of them.
    (Kueue sorts all at once by a comparison that can go round in a circle; what comes of that depends on its way of sorting.)
    """
    of_queue: dict[int, list[Workload]] = {}
    for each in sorted(victims, key=lambda each: precedence(each, queue)):
        of_queue.setdefault(each.queue, []).append(each)
    for node in sorted(of_queue):
        of_queue[node].sort(key=lambda each: usage_rank(trial.graph, trial.state.consumed, each) or NO_USAGE, reverse=True)
        of_queue[node].sort(key=lambda each: not each.evicting)
    return list(merge(*(of_queue[node] for node in sorted(of_queue)), key=lambda each: precedence(each, queue)))


def precedence(victim: Workload, queue: int) -> Precedence:
    """Which victim a queue takes first, the least: who goes anyway, then of other queues, then of low priority, then who came last."""
    return not victim.evicting, victim.queue == queue, victim.priority, -(victim.admitted or 0), victim.fact.uid, victim.number


def satisfies(policy: str, workload: Workload, victim: Workload) -> bool:
    """Whether a queue's policy lets a workload evict another: lower, lower-or-newer or any; nothing lets none.

    Nobody evicts whom it replaces: what it looks for is room beside that one. (Kueue may, and evicts it in vain.)
    """
    if victim.pinned or takes_place_of(workload, victim):
        return False
    lower = victim.priority < workload.priority
    match policy:
        case "any":
            return True
        case "lower":
            return lower
        case "lower-or-newer":
            return lower or (victim.priority == workload.priority and workload.queued < victim.queued)
        case _:
            return False
