"""What an active policy brings: made from its graph, for what exists and for nobody yet."""

from ..graph import Flavor, PolicyGraph
from .cycles.queues import Queues
from .guards import is_timeless, reads_shares, time_only_frees, victim_fields
from .order import guards_tell_apart
from .quota import QuotaTree
from .shares import Shares
from .state import Active, Line, Machine, Pool, State


def activated(state: State, graph: PolicyGraph) -> Active:
    """A policy over what exists in a state; no workload has its place in it yet. Machines must be of its flavors already."""
    tree = QuotaTree(graph, capacity(state, graph))
    policy = Active(
        graph=graph,
        tree=tree,
        shares=Shares(graph, tree),
        name_index={node.name: index for index, node in enumerate(graph.nodes)},
        slot_index={(graph.flavors[slot.flavor].name, slot.resource): index for index, slot in enumerate(graph.slots)},
        lines=[Line() for _ in graph.nodes],
        pools=[
            Pool(rule, victim_fields(graph, rule), is_timeless(rule.guard), reads_shares(graph, rule), [Line() for _ in graph.nodes])
            for rule in graph.preempt
        ],
        always=[protect for protect in graph.protect if is_timeless(protect.guard)],
        for_a_time=[protect for protect in graph.protect if not is_timeless(protect.guard)],
        time_only_frees=time_only_frees(graph),
        shape_is_name=guards_tell_apart(graph),
    )
    if graph.settings.cycles is not None:
        policy.queues = Queues(policy, state.consumed)
    return policy


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
        if flavor.nodes is not None:
            machines = (state.machines[name] for name in sorted(state.machines))
            amounts.append(sum(machine.capacity.get(slot.resource, 0) for machine in machines if machine.flavor == slot.flavor))
        else:
            amounts.append(state.overrides.get((flavor.name, slot.resource), _declared(flavor, slot.resource)))
    return amounts


def _declared(flavor: Flavor, resource: str) -> int:
    return next(amount for name, amount in flavor.capacity if name == resource)
