"""A policy becomes active: it takes over what exists, who runs and who waits, by the names of queues, flavors and resources."""

from ...intake.routing import route, set_priority
from ...policy_graph import Flavor, PolicyGraph
from ...workload import Workload
from ..state.state import ActivePolicy, Machine, QueueState, State
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
    state.policy = ActivePolicy.of(graph, capacity(state, graph))
    state.queues = [QueueState() for _ in graph.nodes]
    state.cycle, state.idle, state.fresh = 0, 0, True


def rebuild(state: State) -> None:
    """Make the quota tree anew for the capacity there is now, and charge it for all that runs."""
    state.policy = state.active.over(state.graph, capacity(state, state.graph))


def _move(before: ActivePolicy, after: ActivePolicy, workload: Workload) -> None:
    """Keep a running workload in the queue and the slots of the same names under another policy."""
    workload.queue = after.node_index[before.graph.nodes[workload.queue].name]
    set_priority(after.graph, workload)
    workload.usage = tuple(sorted((after.slot_index[before.graph.slot_name(slot)], amount) for slot, amount in workload.usage))


# --- what exists ------------------------------------------------------------------------------------------------------


def machine(graph: PolicyGraph, labels: dict[str, str], amounts: dict[str, int]) -> Machine:
    """A node as the policy sees it: of the flavor whose node selector its labels match."""
    return Machine(labels, amounts, next(iter(flavors_of_node(graph, labels)), -1))


def flavors_of_node(graph: PolicyGraph, labels: dict[str, str]) -> list[int]:
    """The flavors whose node selector a node's labels match."""
    return [
        index
        for index, flavor in enumerate(graph.flavors)
        if flavor.nodes is not None and all(labels.get(key) == value for key, value in flavor.nodes)
    ]


def capacity(state: State, graph: PolicyGraph) -> list[int]:
    """What exists, by slot: the nodes of a flavor, or the last capacity fact, or what the policy says."""
    amounts = []
    for slot in graph.slots:
        flavor = graph.flavors[slot.flavor]
        if graph.settings.forest:
            amounts.append(_declared(flavor, slot.resource))
        elif flavor.nodes is not None:
            machines = (state.machines[name] for name in sorted(state.machines))
            amounts.append(sum(machine.capacity.get(slot.resource, 0) for machine in machines if machine.flavor == slot.flavor))
        else:
            amounts.append(state.overrides.get((flavor.name, slot.resource), _declared(flavor, slot.resource)))
    return amounts


def _declared(flavor: Flavor, resource: str) -> int:
    return next(amount for name, amount in flavor.capacity if name == resource)
