"""The pass `enqueue`: which pending PodGroups are let in. Pods of others are not looked at, and often not even created.

Volcano: pkg/scheduler/actions/enqueue/enqueue.go.
"""

from ...session.pods import SessionWorkload
from ..model.job_standing import is_pending
from ..model.moving_heap import MovingHeap
from ..model.pod_group_facts import GroupPhase
from ..votes.tiers import PluginTiers


def enqueue(tiers: PluginTiers) -> None:
    """Ask about one pending PodGroup of the first queue at a time. One without `minResources` is let in unasked."""
    cycle = tiers.cycle
    waiting: dict[int, MovingHeap[SessionWorkload]] = {}
    for workload in cycle.jobs:
        if is_pending(cycle, workload):
            waiting.setdefault(workload.queue, MovingHeap(tiers.job_before)).push(workload)
    queues = MovingHeap(tiers.queue_before, dict.fromkeys(workload.queue for workload in cycle.jobs))
    while queues:
        queue = queues.pop()
        if not waiting.get(queue):
            continue
        workload = waiting[queue].pop()
        if cycle.groups[workload.number].min_resources is None or tiers.job_may_enter(workload):
            tiers.tell_entered(workload)
            cycle.phases[workload.number] = GroupPhase.INQUEUE
        queues.push(queue)
