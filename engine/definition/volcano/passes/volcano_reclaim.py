"""The pass `reclaim`: room for workloads at the cost of other queues.

Volcano: pkg/scheduler/actions/reclaim/reclaim.go. Nodes are tried in the order of their names; the original takes the first that serves of
those that parallel workers come to.
"""

from ...session.pods import Pod, PodStatus, SessionWorkload
from ..model.job_standing import is_pending
from ..model.moving_heap import MovingHeap
from ..model.volcano_cycle import fits
from ..place.candidates_on import candidates_on, would_be_enough
from ..place.predicates import FailedNodes, by_shard, could_have
from ..votes.tiers import PluginTiers
from .volcano_preempt import waiting_pods

RECLAIM = "reclaim"


def reclaim(tiers: PluginTiers) -> None:
    """Look at the workloads that starve, queue by queue; a queue that has too much is left out."""
    cycle = tiers.cycle
    valid = [workload for workload in cycle.jobs if not is_pending(cycle, workload) and tiers.job_is_valid(workload)]
    of_queue: dict[int, MovingHeap[SessionWorkload]] = {}
    pods: dict[int, MovingHeap[Pod]] = {}
    for workload in valid:
        if tiers.job_starves(workload):
            of_queue.setdefault(workload.queue, MovingHeap(tiers.job_before)).push(workload)
            pods[workload.number] = waiting_pods(tiers, workload)
    queues = MovingHeap(tiers.queue_before, dict.fromkeys(workload.queue for workload in valid))
    while queues:
        queue = queues.pop()
        if tiers.overused(queue):
            continue
        waiting = of_queue.get(queue)
        while waiting:
            workload = waiting.pop()
            _for_workload(tiers, workload, pods[workload.number])
            if waiting:
                queues.push(queue)


def _for_workload(tiers: PluginTiers, workload: SessionWorkload, pods: MovingHeap[Pod]) -> None:
    """Try the pods of a workload while it starves; keep it if the workload can start once others have left."""
    cycle = tiers.cycle
    mark = cycle.mark()
    while pods and tiers.job_starves(workload):
        pod = pods.pop()
        if cycle.pods[pod.number].evicts and tiers.preemptive(workload.queue, pod):
            _for_pod(tiers, workload, pod)
    if tiers.job_is_promised(workload):
        cycle.commit(mark)
    else:
        cycle.undo(mark)


def _for_pod(tiers: PluginTiers, workload: SessionWorkload, pod: Pod) -> None:
    """Promise a pod room on the first node where enough victims are found."""
    cycle = tiers.cycle

    def of_others(candidate: Pod) -> bool:
        other = cycle.session.workload_of(candidate)
        return (
            candidate.status is PodStatus.RUNNING
            and other.queue >= 0
            and other.queue != workload.queue
            and cycle.queues[other.queue].reclaimable
        )

    cycle.looked_at.add(pod.number)
    own, others = by_shard(cycle, FailedNodes().nodes_for(cycle, pod, range(len(cycle.session.nodes)), could_have))
    for node in (*own, *others):
        candidates = candidates_on(cycle, node, of_others)
        if not candidates:
            continue
        victims = tiers.victims("reclaimable", pod, candidates)
        if not would_be_enough(cycle, pod, node, victims):
            continue
        waiting = tiers.victims_in_order(victims, pod)
        evicted = False
        while waiting and not fits(pod.requests, cycle.session.free_later(node)):
            cycle.evict(waiting.pop(), RECLAIM, pod)
            evicted = True
        cycle.promise(pod, node, evicted)
        return
