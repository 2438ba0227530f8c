"""Allocate: workloads in line get what is free, and promises of what will be (KAI: actions/allocate/allocate.go)."""

from ...session.pods import PodStatus
from ..kai_cycle import KaiCycle
from ..order.workload_line import Line
from ..place.gangs import only_promised, place_workload
from ..views import WorkloadView, ready


def allocate(cycle: KaiCycle) -> None:
    """Place whoever waits and has pods enough; one that was placed stands in line again while it has pods that wait."""
    line = Line(cycle, (view for view in cycle.views if waits(view) and ready(view)))
    nodes = [node.number for node in cycle.session.nodes]
    while line:
        view = line.pop()
        mark = cycle.session.mark()
        if not place_workload(cycle, view, nodes, now=True):
            continue
        only_promised(cycle, view, mark)
        if waits(view):
            line.push(view)


def waits(view: WorkloadView) -> bool:
    """Whether a pod of it has no node."""
    return any(pod.status is PodStatus.WAITING for pod in view.pods)
