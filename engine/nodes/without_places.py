"""Nodes that are of a flavor that gives places and stand in none of its domains, and the label that each of them lacks.

They count for what exists, as they are of the flavor; but no pod gets a place there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..policy_graph import Flavor, PolicyGraph
from .domains import domain_trees
from .inventory import Machine


@dataclass(frozen=True, slots=True)
class WithoutPlace:
    """A node without a place on flavors of these indices; the first of them has a level for which it lacks the label.

    `level` is empty where the label is one by which that flavor knows its nodes.
    """

    node: str
    flavors: tuple[int, ...]
    level: str
    label: str


def nodes_without_place(graph: PolicyGraph, machines: Mapping[str, Machine]) -> Iterator[WithoutPlace]:
    """The nodes of flavors that stand in no domain of any, in order of name; `machines` are all nodes by name. Cordoned ones count, too."""
    if not graph.gives_places:
        return
    known = {name: _open(machines[name]) for name in sorted(machines)}
    placed = {
        name for tree in domain_trees(graph, known) if tree is not None for leaf in tree.lowest for name in tree.domains[leaf].machines
    }
    for name in sorted(machines):
        if name in placed:
            continue
        found = [(index, *lacks) for index in range(len(graph.flavors)) if (lacks := _lacks(graph, index, machines[name])) is not None]
        if found:
            yield WithoutPlace(name, tuple(index for index, *_ in found), *found[0][1:])


def _open(machine: Machine) -> Machine:
    return Machine(machine.labels, machine.capacity, machine.flavor, machine.taints)


def _lacks(graph: PolicyGraph, index: int, machine: Machine) -> tuple[str, str] | None:
    """The level and the label that a node of a flavor lacks; None where it is of another one, or lacks none."""
    flavor = graph.flavors[index]
    if flavor.topology < 0 or not _is_of(flavor, machine):
        return None
    for key, value in flavor.labels:
        if machine.labels.get(key) != value:
            return "", key
    levels = graph.topologies[flavor.topology].levels
    return next(((level.name, level.label) for level in levels if level.label is not None and level.label not in machine.labels), None)


def _is_of(flavor: Flavor, machine: Machine) -> bool:
    """Whether a node counts for a flavor: by the labels of `from nodes where` or, where quotas say what there is, by all labels."""
    return all(machine.labels.get(key) == value for key, value in (flavor.labels if flavor.nodes is None else flavor.nodes))
