"""The line of a queue: in which order it is looked at, and who is the head that the queue puts up in a cycle.

Kueue: pkg/cache/queue/cluster_queue.go.
"""

from ...intake.decayed_usage import NO_USAGE, Rank
from ...intake.local_usage import usage_rank
from ...workload import Workload
from ..state.state import State


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
    return any(not workload.parked or queue.stirred for queue in state.queues for workload in queue.line)
