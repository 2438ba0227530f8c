"""The places of a workload: among the members of its queue, in its line or in the charges of the quota tree."""

from ...intake.holds import is_queued
from ...intake.local_usage import settle_usage
from ...intake.shapes import shape_of
from ...workload import NOWHERE, Workload
from ..state.order import line_key
from ..state.state import State


def enter(state: State, workload: Workload) -> None:
    """Give a workload its places: in its queue's line if it waits and nothing holds it, in the charges if it runs."""
    workload.place, workload.parked = None, False
    if workload.queue == NOWHERE:
        return
    policy, queue = state.active, state.queues[workload.queue]
    if workload.admitted is not None:
        settle_usage(policy.graph, state.consumed, workload, state.time, state.running)
        policy.tree.add(workload.queue, workload.usage)
    elif is_queued(policy.graph, workload):
        workload.place, workload.shape = line_key(policy.graph, workload), shape_of(workload, policy.tells_apart)
        workload.parked = workload.shape in queue.hopeless
        queue.queue_up(workload)
    queue.join(workload)


def leave(state: State, workload: Workload) -> None:
    """Undo `enter`, before anything about the workload changes: its place is found by what it said then."""
    if workload.queue == NOWHERE:
        return
    policy, queue = state.active, state.queues[workload.queue]
    if workload.admitted is not None:
        policy.tree.remove(workload.queue, workload.usage)
        settle_usage(policy.graph, state.consumed, workload, state.time, state.running)
    if workload.in_line:
        queue.leave_line(workload)
    workload.place, workload.parked = None, False
    if queue.preemptor is workload:
        queue.preemptor = None
    queue.part(workload)
