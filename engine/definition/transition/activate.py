"""A policy becomes active: it takes over what exists, who runs and who waits, by the names of queues, flavors and resources."""

from ...intake.capacity import capacity, machine
from ...intake.routing import route, set_priority
from ...policy_graph import PolicyGraph
from ...workload import Workload
from ..state.state import ActivePolicy, QueueState, State
from .listing import enter


def activate(state: State, graph: PolicyGraph) -> None:
    """Let a policy decide from now on. Whoever runs keeps its queue, its flavors and amounts; whoever waits is matched anew."""
    for name in sorted(state.machines):
        known = state.machines[name]
        state.machines[name] = machine(graph, known.labels, known.capacity)
    before = state.policy
    take_over(state, graph)
    for workload in state.in_order():
        workload.deferred = workload.scan = None
        if workload.admitted is None or before is None:
            route(graph, workload)
        else:
            _move(before, state.active, workload)
        enter(state, workload)


def take_over(state: State, graph: PolicyGraph) -> None:
    """Make a policy the active one, over what exists; no workload has its place in it yet."""
    state.policy = ActivePolicy.of(graph, capacity(graph, state.machines, state.overrides))
    state.queues = [QueueState() for _ in graph.nodes]
    state.cycle, state.idle, state.fresh = 0, 0, True


def rebuild(state: State) -> None:
    """Make the quota tree anew for the capacity there is now, and charge it for all that runs."""
    state.policy = state.active.over(state.graph, capacity(state.graph, state.machines, state.overrides))


def _move(before: ActivePolicy, after: ActivePolicy, workload: Workload) -> None:
    """Keep a running workload in the queue and the slots of the same names under another policy."""
    workload.queue = after.node_index[before.graph.nodes[workload.queue].name]
    set_priority(after.graph, workload)
    workload.usage = tuple(sorted((after.slot_index[before.graph.slot_name(slot)], amount) for slot, amount in workload.usage))
