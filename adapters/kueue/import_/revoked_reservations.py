"""Quota reservations that Kueue revokes: those of workloads that are not admitted yet, in a queue that has been stopped since.

A workload that is already admitted there keeps running, unless the queue is drained.
Source: Kueue, pkg/controller/core/workload_controller.go.
"""

from dataclasses import replace

from ..problems import Findings
from ..read.objects import KueueWorkload, Objects
from ..read.queues import BEING_DELETED


def take_back(objects: Objects, found: Findings) -> None:
    """Remove the reservations that Kueue revokes, with a note, so that their workloads wait again."""
    stopped = {queue.name for queue in objects.cluster_queues if queue.stop != "None" or queue.inactive == BEING_DELETED}
    closed = {f"{local.namespace}/{local.name}" for local in objects.local_queues if local.stop != "None"}
    objects.workloads = [_as_left(workload, stopped, closed, found) for workload in objects.workloads]


def _as_left(workload: KueueWorkload, stopped: set[str], closed: set[str], found: Findings) -> KueueWorkload:
    held = workload.admission
    if held is None or held.admitted or workload.finished:
        return workload
    if held.cluster_queue in stopped:
        where = "ClusterQueue"
    elif f"{workload.namespace}/{workload.queue}" in closed:
        where = "LocalQueue"
    else:
        return workload
    found.begin("Workload", workload.key, workload.file)
    found.note("status.admission", f"is of a {where} that is stopped, and not admitted yet: it waits again, as Kueue takes its quota back")
    return replace(workload, admission=None)
