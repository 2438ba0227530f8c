"""A policy becomes active: it takes over what exists, who runs and who waits, by the names of queues, flavors and resources."""

from ...intake.capacity import capacity, machine, node_sizes
from ...intake.changes import carry_over
from ...policy_graph import PolicyGraph
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
        assert before is not None  # nothing is submitted before the first policy
        carry_over(before.graph, graph, state.active.slot_index, workload, state.time)
        enter(state, workload)


def take_over(state: State, graph: PolicyGraph) -> None:
    """Make a policy the active one, over what exists; no workload has its place in it yet."""
    state.policy = ActivePolicy.of(graph, capacity(graph, state.machines, state.overrides), node_sizes(graph, state.machines))
    state.queues = [QueueState() for _ in graph.nodes]
    state.cycle, state.idle, state.fresh = 0, 0, True


def rebuild(state: State) -> None:
    """Make the quota tree anew for the capacity there is now, and charge it for all that runs."""
    exists = capacity(state.graph, state.machines, state.overrides)
    state.policy = state.active.over(state.graph, exists, node_sizes(state.graph, state.machines))
