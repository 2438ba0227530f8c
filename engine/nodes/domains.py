"""The domains of a topology: the nodes of a flavor in a tree, from the widest level down to where pods are placed.

Kueue: pkg/cache/scheduler/tas_topology_tree.go. A node belongs to the flavor where it has all labels by which the flavor knows its nodes,
and to the tree where it has a label for each level. A node that is cordoned takes no part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..policy_graph import Flavor, PolicyGraph, Topology
from .inventory import Machine

DomainPath = tuple[str, ...]
"""A domain by the values of its levels, from the widest down; the last one of a node is its name."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain: its parent (-1: it is of the widest level), its children in order, and, of the lowest level, the nodes in it."""

    path: DomainPath
    parent: int
    children: tuple[int, ...]
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DomainTree:
    """The domains of a flavor. `levels` has the domains of each level: numbers that stand in the order of their paths."""

    topology: Topology
    domains: tuple[Domain, ...]
    levels: tuple[range, ...]
    leaves: Mapping[DomainPath, int]
    """The domains of the lowest level by their places."""

    @property
    def lowest(self) -> range:
        """The domains in which pods are placed."""
        return self.levels[-1]

    def level_of(self, domain: int) -> int:
        """The level of a domain."""
        return len(self.domains[domain].path) - 1

    def place(self, domain: int) -> DomainPath:
        """How a domain of the lowest level is told as a place: a node by its name alone."""
        return _as_place(self.topology, self.domains[domain].path)

    def path_of(self, place: DomainPath) -> DomainPath | None:
        """The whole path of a place; None where it is none."""
        leaf = self.leaves.get(place)
        return None if leaf is None else self.domains[leaf].path


def domain_tree(topology: Topology, flavor: Flavor, machines: Mapping[str, Machine]) -> DomainTree:
    """The domains of a flavor in a topology; `machines` are all nodes by name."""
    members: dict[DomainPath, list[str]] = {}
    for name in sorted(machines):
        path = node_path(topology, name, machines[name]) if belongs_to(flavor, machines[name]) else None
        if path is not None:
            members.setdefault(path, []).append(name)
    by_level = [sorted({path[: depth + 1] for path in members}) for depth in range(len(topology.levels))]
    paths = [path for of_level in by_level for path in of_level]
    numbers = {path: number for number, path in enumerate(paths)}
    children: dict[DomainPath, list[int]] = {path: [] for path in paths}
    for number, path in enumerate(paths):
        if len(path) > 1:
            children[path[:-1]].append(number)
    domains = tuple(Domain(path, numbers.get(path[:-1], -1), tuple(children[path]), tuple(members.get(path, ()))) for path in paths)
    levels = _ranges([len(of_level) for of_level in by_level])
    return DomainTree(topology, domains, levels, {_as_place(topology, domains[leaf].path): leaf for leaf in levels[-1]})


def domain_trees(graph: PolicyGraph, machines: Mapping[str, Machine]) -> tuple[DomainTree | None, ...]:
    """The domains of each flavor; None for one whose pods get no places."""
    return tuple(
        None if flavor.topology < 0 else domain_tree(graph.topologies[flavor.topology], flavor, machines) for flavor in graph.flavors
    )


def of_one_topology(trees: Sequence[DomainTree | None], flavor: int) -> list[int]:
    """A flavor whose pods get places; and where its topology ends above nodes, all others of it: they may have nodes in common."""
    tree = trees[flavor]
    if tree is None or tree.topology.ends_at_nodes:
        return [flavor]
    return [other for other, of_other in enumerate(trees) if of_other is not None and of_other.topology == tree.topology]


def amounts_in(machines: Mapping[str, Machine], names: Sequence[str]) -> dict[str, int]:
    """What some nodes have together, in order of the resources."""
    having = [machines[name].capacity for name in names]
    resources = sorted({resource for amounts in having for resource in amounts})
    return {resource: sum(amounts.get(resource, 0) for amounts in having) for resource in resources}


def belongs_to(flavor: Flavor, machine: Machine) -> bool:
    """Whether a node that takes pods has all the labels by which a flavor knows its nodes."""
    return not machine.cordoned and all(machine.labels.get(key) == value for key, value in (*(flavor.nodes or ()), *flavor.labels))


def node_path(topology: Topology, name: str, machine: Machine) -> DomainPath | None:
    """The path of a node, whether it takes pods or not; None where it lacks the label of a level."""
    values = [name if level.label is None else machine.labels.get(level.label) for level in topology.levels]
    path = tuple(value for value in values if value is not None)
    return path if len(path) == len(values) else None


def _as_place(topology: Topology, path: DomainPath) -> DomainPath:
    return path[-1:] if topology.ends_at_nodes else path


def _ranges(sizes: Sequence[int]) -> tuple[range, ...]:
    found: list[range] = []
    first = 0
    for size in sizes:
        found.append(range(first, first + size))
        first += size
    return tuple(found)
