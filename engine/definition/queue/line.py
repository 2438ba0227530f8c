"""The line of a queue: its order, the head that it puts up in a cycle, and who of it is parked.

Kueue: pkg/cache/queue/cluster_queue.go. A parked workload is looked at again when capacity of its tree may have become free; in a
best-effort queue others of its shape are parked with it, unseen.
"""

from ...intake.decayed_usage import NO_USAGE, Rank
from ...intake.local_usage import usage_rank
from ...outcome.nomination import Value
from ...policy_graph import PolicyGraph
from ...workload import NOWHERE, SortKey, Workload
from ..state.state import State

# --- its order ----------------------------------------------------------------------------------------------------------


def line_key(graph: PolicyGraph, workload: Workload) -> SortKey:
    """The place of a waiting workload in its queue: `order workloads by`, then its identity outside, then the earlier submission."""
    keys = (directed(own_key(workload, key.field), key.descending) for key in graph.settings.workload_order)
    return (*keys, workload.fact.uid, workload.number)


def directed(value: Value, descending: bool) -> object:
    """The value of a key, negative where greater is better."""
    if isinstance(value, tuple):
        infinite, share = value
        return (-infinite, -share) if descending else value
    assert isinstance(value, int)
    return -value if descending else value


def own_key(workload: Workload, name: str) -> int:
    """The value of a key that is the workload's own."""
    match name:
        case "priority":
            return workload.priority
        case "submitted":
            return workload.queued
        case "pods":
            return workload.pods
        case "evictions":
            return workload.evictions
        case resource:
            return workload.total(resource)


# --- its head -----------------------------------------------------------------------------------------------------------


def head(state: State, queue: int) -> Workload | None:
    """The workload that a queue puts up: the first in turn that is not parked."""
    return next((workload for workload in in_turn(state, queue) if not workload.parked), None)


def in_turn(state: State, queue: int) -> list[Workload]:
    """All in a queue's line, parked or not, in the order in which they would be looked at.

    The usage of local queues comes first, then who waits for its victims' room (unless the queue is strict), then the policy's order.
    """
    graph, preemptor = state.graph, state.queues[queue].preemptor
    first = None if graph.queue_at(queue).strict else preemptor

    def turn(workload: Workload) -> tuple[Rank, bool]:
        return usage_rank(graph, state.consumed, workload) or NO_USAGE, workload is not first

    return sorted(state.line(queue), key=turn)  # stable


def anything_waits(state: State) -> bool:
    """Whether a cycle would have anything to look at."""
    queues = state.graph.queues
    return any(not workload.parked or state.is_stirred(queue.node) for queue in queues for workload in state.line(queue.node))


# --- who is parked ------------------------------------------------------------------------------------------------------


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
        state.stirred.add(state.active.root(workload.queue))


def unpark(state: State) -> None:
    """Return what is parked in marked trees to the line."""
    for queue in state.graph.queues:
        if state.is_stirred(queue.node):
            for workload in state.line(queue.node):
                workload.parked = False
            state.queues[queue.node].hopeless = set()
    state.stirred = set()
