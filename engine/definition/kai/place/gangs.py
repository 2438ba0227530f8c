"""Placing a workload's next pods: group by group, in one domain each where it wishes so, all or nothing.

KAI: actions/common/allocate.go.
"""

from collections.abc import Sequence

from ...session.pods import HOLDING, Pod, PodStatus
from ..kai_cycle import KaiCycle
from ..quota.limits import over_capacity
from ..quota_state import counted
from ..views import WorkloadView, ordered_children
from .nodes import fits, in_order, takes


def place_workload(cycle: KaiCycle, view: WorkloadView, nodes: Sequence[int], now: bool) -> bool:
    """Place the pods of a workload that come next, on some nodes; `now`: they start where there is room, else all get a promise at most.

    Where it fails the session is as it was.
    """
    cycle.topologies.scores = {}
    pods = view.pods_to_place({} if now else cycle.tentative)
    if not pods or over_capacity(cycle.quotas, view.workload.queue, counted(pods), view.workload.preemptible):
        return False
    mark = cycle.session.mark()
    if _place_group(cycle, view, 0, pods, nodes, now):
        return True
    cycle.session.undo(mark)
    return False


def only_promised(cycle: KaiCycle, view: WorkloadView, mark: int) -> bool:
    """Turn what a workload was given since a mark into promises, where a leaf has not got its minimum but by promises.

    KAI: ShouldPipelineJob and ConvertAllAllocatedToPipelined.
    """
    started = view.count(HOLDING - {PodStatus.PROMISED})
    promised = view.count(frozenset({PodStatus.PROMISED}))
    if not any(promised[number] and started[number] < minimum for number, minimum in enumerate(view.minimum)):
        return False
    for pod in cycle.session.changed(mark):
        if pod.workload == view.workload.number and pod.status is PodStatus.PLACED:
            cycle.session.move(pod, PodStatus.PROMISED, pod.node)
    return True


def _place_group(cycle: KaiCycle, view: WorkloadView, number: int, pods: Sequence[Pod], nodes: Sequence[int], now: bool) -> bool:
    """Place pods of a group in the first set of nodes that has room for all of them."""
    if not pods:
        return True
    place = _place_children if view.groups[number].children else _place_pods
    for among in cycle.topologies.node_sets(view, number, pods, nodes):
        mark = cycle.session.mark()
        if place(cycle, view, number, pods, among, now):
            return True
        cycle.session.undo(mark)
    return False


def _place_children(cycle: KaiCycle, view: WorkloadView, number: int, pods: Sequence[Pod], nodes: Sequence[int], now: bool) -> bool:
    for child in ordered_children(view, number):
        inside = [pod for pod in pods if _is_inside(view, pod.group, child)]
        if not _place_group(cycle, view, child, inside, nodes, now):
            return False
    return True


def _place_pods(cycle: KaiCycle, view: WorkloadView, number: int, pods: Sequence[Pod], nodes: Sequence[int], now: bool) -> bool:
    return all(_place_pod(cycle, view, pod, nodes, now) for pod in pods)


def _place_pod(cycle: KaiCycle, view: WorkloadView, pod: Pod, nodes: Sequence[int], now: bool) -> bool:
    """Place a pod on the first node that takes it. One that was evicted for this trial and finds room on its node just stays."""
    session = cycle.session
    for node in in_order(cycle, pod, nodes, cycle.topologies.scores_for(view, pod)):
        if not fits(pod, session.free_later(node)) or not takes(cycle, pod, node):
            continue
        if now and fits(pod, session.free(node)):
            session.move(pod, PodStatus.PLACED, node)
        elif cycle.stands_on(pod, node):
            cycle.put_back(pod)
        else:
            cycle.promise(pod, node)
        return True
    return False


def _is_inside(view: WorkloadView, leaf: int, group: int) -> bool:
    while leaf != group and leaf >= 0:
        leaf = view.groups[leaf].parent
    return leaf == group
