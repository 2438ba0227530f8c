"""Who is parked in a policy that decides in cycles, and when the parked are looked at again.

Kueue: pkg/cache/queue/cluster_queue.go. A parked workload is looked at again when capacity of its tree may have become free; in a
best-effort queue others of its shape are parked with it, unseen.
"""

from ...workload import NOWHERE, Workload
from ..state.state import State


def park(state: State, workload: Workload, alike: bool) -> None:
    """Park a waiting workload and, if `alike`, all others of its shape, now and to come."""
    if alike:
        state.queues[workload.queue].hopeless.add(workload.shape)
    for other in state.line(workload.queue):
        if other is workload or (alike and other.shape == workload.shape):
            other.parked = True


def stir(state: State, workload: Workload) -> None:
    """Mark all that is parked in the tree of a workload's queue: what it held, or its place, became free."""
    if workload.queue != NOWHERE:
        state.queues[workload.queue].generation += 1
        for other in state.active.in_tree(workload.queue):
            state.queues[other].stirred = True


def unpark(state: State) -> None:
    """Return what is parked in marked queues to the line."""
    for queue in state.graph.queues:
        known = state.queues[queue.node]
        if known.stirred:
            for workload in state.line(queue.node):
                workload.parked = False
            known.hopeless, known.stirred = set(), False
