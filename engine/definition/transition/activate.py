"""A policy becomes active: it takes over what exists, who runs and who waits, by the names of queues, flavors and resources."""

from ...policy_graph import Flavor, PolicyGraph
from ...queue_match import effective_priority, matching_queues
from ...workload import NOWHERE, Workload
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
            route(state.active, workload)
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
    set_priority(after, workload)
    workload.usage = tuple(sorted((after.slot_index[before.graph.slot_name(slot)], amount) for slot, amount in workload.usage))


def route(policy: ActivePolicy, workload: Workload) -> None:
    """Find the queue of a waiting workload, and the priority that counts there."""
    queues = matching_queues(policy.graph, workload.fact)
    workload.queue = queues[0] if len(queues) == 1 else NOWHERE
    set_priority(policy, workload)


def set_priority(policy: ActivePolicy, workload: Workload) -> None:
    """Work out the priority that counts in a workload's queue; one whose priority class is unknown there belongs to no queue."""
    if workload.queue != NOWHERE:
        counts = effective_priority(policy.graph, workload.queue, workload.asked_priority)
        if counts is None:
            workload.queue = NOWHERE
        else:
            workload.priority, workload.pinned = counts[0] + workload.boost, counts[1]


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
