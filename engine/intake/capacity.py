"""What exists: the nodes of the cluster, the flavors that they belong to, the capacity of each slot, and how large a pod may be."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..facts import AboutSupply, CapacityChanged, NodeAdded, NodeChanged, NodeRemoved
from ..nodes.conditions import Taint
from ..nodes.inventory import Inventory, Machine, Size
from ..policy_graph import Flavor, PolicyGraph

NodeSizes = tuple[tuple[Mapping[str, int], ...], ...]
"""By flavor, what its largest nodes have of its resources, in the smallest unit: nodes that no other one exceeds in everything. Of a flavor
whose capacity does not come from nodes, or that has none, there is nothing."""


def machine(graph: PolicyGraph, known: Machine) -> Machine:
    """A node as the policy sees it: of the flavor whose node selector its labels match."""
    return replace(known, flavor=next(iter(flavors_of_node(graph, known.labels)), -1))


def flavors_of_node(graph: PolicyGraph, labels: dict[str, str]) -> list[int]:
    """The flavors whose node selector a node's labels match."""
    return [
        index
        for index, flavor in enumerate(graph.flavors)
        if flavor.nodes is not None and all(labels.get(key) == value for key, value in flavor.nodes)
    ]


def take_in(fact: AboutSupply, graph: PolicyGraph, machines: Inventory, overrides: dict[tuple[str, str], int]) -> None:
    """Note what a fact says of what exists, in all nodes by name and in the capacities set by facts, by (flavor name, resource)."""
    match fact:
        case CapacityChanged():
            for resource in sorted(fact.capacity):
                overrides[fact.flavor, resource] = fact.capacity[resource]
        case NodeAdded() | NodeChanged():
            taints = tuple(Taint(taint.key, taint.value, taint.effect) for taint in fact.taints)
            machines[fact.node] = machine(graph, Machine(fact.labels, fact.capacity, -1, taints, fact.cordoned))
        case NodeRemoved():
            del machines[fact.node]


def capacity(graph: PolicyGraph, machines: Inventory, overrides: Mapping[tuple[str, str], int]) -> list[int]:
    """What exists, by slot: the nodes of a flavor, or the last capacity fact, or what the policy says.

    `machines` are all nodes by name, `overrides` the capacities set by facts, by (flavor name, resource). A node that is cordoned counts
    where pods get places, as those who run there do; elsewhere it counts as gone.
    """
    amounts = []
    for slot in graph.slots:
        flavor = graph.flavors[slot.flavor]
        if graph.settings.forest:
            amounts.append(_declared(flavor, slot.resource))
        elif flavor.nodes is not None:
            together = machines.totals(slot.flavor)
            without = 0 if flavor.topology >= 0 else together.cordoned.get(slot.resource, 0)
            amounts.append(together.total.get(slot.resource, 0) - without)
        else:
            amounts.append(overrides.get((flavor.name, slot.resource), _declared(flavor, slot.resource)))
    return amounts


def node_sizes(graph: PolicyGraph, machines: Inventory) -> NodeSizes:
    """The sizes of the nodes of each flavor; `machines` are all nodes by name."""
    if graph.settings.forest:
        return tuple(() for _ in graph.flavors)
    return tuple(_largest(flavor, machines.totals(index).largest_sizes()) for index, flavor in enumerate(graph.flavors))


def _largest(flavor: Flavor, of_everything: Iterable[Size]) -> tuple[Mapping[str, int], ...]:
    """Of sizes that no other one exceeds in everything, those that none exceeds in all resources of a flavor."""
    sizes = {tuple(dict(size).get(resource, 0) for resource, _ in flavor.capacity) for size in of_everything}
    kept: list[tuple[int, ...]] = []
    for size in sorted(sizes, reverse=True):  # whatever exceeds it in everything comes before it
        if not any(all(more >= less for more, less in zip(other, size, strict=True)) for other in kept):
            kept.append(size)
    names = [resource for resource, _ in flavor.capacity]
    return tuple(dict(zip(names, size, strict=True)) for size in kept)


def _declared(flavor: Flavor, resource: str) -> int:
    return next(amount for name, amount in flavor.capacity if name == resource)
