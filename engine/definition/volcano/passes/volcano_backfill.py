"""The pass `backfill`: nodes for pods that ask for nothing.

Volcano: pkg/scheduler/actions/backfill/backfill.go.
"""

from ...session.pods import NO_NODE, Pod, PodStatus, SessionWorkload
from ..model.job_standing import is_pending
from ..model.moving_heap import MovingHeap
from ..model.volcano_cycle import VolcanoCycle, fits
from ..place.best_node import best
from ..place.predicates import FailedNodes, by_shard, may_have
from ..votes.tiers import PluginTiers


def backfill(tiers: PluginTiers) -> None:
    """Give each pod that asks for nothing the best node that it may have. Its workload starts with all that have room, once it may."""
    cycle = tiers.cycle
    nodes = range(len(cycle.session.nodes))
    for pod in _pods(tiers):
        workload = cycle.session.workload_of(pod)
        cycle.looked_at.add(pod.number)
        found = FailedNodes().nodes_for(cycle, pod, nodes, may_have)
        if not found:
            cycle.no_node_for[workload.number][pod.number] = None
            continue
        own, others = by_shard(cycle, found)
        cycle.reserve(pod, best(tiers, pod, own or others))
        if tiers.job_is_ready(workload):
            _start(cycle, workload)


def _start(cycle: VolcanoCycle, workload: SessionWorkload) -> None:
    """Let the pods of a workload start that have room. One that a node is too full to count stays as it is, and those after it.

    Volcano: cache/cache.go (`AddBindTask`), api/node_info.go: what binds asks the node again, on which only what has started counts.
    """
    session = cycle.session
    for pod in session.pods_of(workload, PodStatus.RESERVED):
        started = [each for each in session.pods_on(pod.node) if each.status in _STARTED]
        has = session.nodes[pod.node].capacity
        free = tuple(amount - sum(each.requests[index] for each in started) for index, amount in enumerate(has))
        if not fits(pod.requests, free):
            break
        session.move(pod, PodStatus.PLACED, pod.node)


_STARTED = (PodStatus.PLACED, PodStatus.RUNNING, PodStatus.STOPPING)


def _pods(tiers: PluginTiers) -> list[Pod]:
    """The pods to look at: queue by queue, workload by workload. Those that were promised room are looked at anew."""
    cycle = tiers.cycle
    of_queue: dict[int, MovingHeap[SessionWorkload]] = {}
    of_workload: dict[int, MovingHeap[Pod]] = {}
    queues = MovingHeap(tiers.queue_before)
    for workload in cycle.jobs:
        if is_pending(cycle, workload) or not tiers.job_is_valid(workload):
            continue
        pods = MovingHeap(tiers.pod_before)
        for pod in sorted(cycle.session.pods_of(workload), key=lambda pod: cycle.pods[pod.number].uid):
            if pod.status not in (PodStatus.WAITING, PodStatus.PROMISED) or not cycle.best_effort(pod) or cycle.pods[pod.number].gated:
                continue
            if pod.status is PodStatus.PROMISED:
                cycle.session.move(pod, PodStatus.WAITING, NO_NODE)
            pods.push(pod)
        if pods:
            of_workload[workload.number] = pods
            if workload.queue not in of_queue:
                queues.push(workload.queue)
                of_queue[workload.queue] = MovingHeap(tiers.job_before)
            of_queue[workload.queue].push(workload)
    found = []
    while queues:
        workloads = of_queue[queues.pop()]
        while workloads:
            pods = of_workload[workloads.pop().number]
            while pods:
                found.append(pods.pop())
    return found
