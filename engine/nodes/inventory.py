"""The nodes of the cluster as facts tell them, and what those of each flavor have together."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

from .conditions import Taint

Size = tuple[tuple[str, int], ...]
"""What one node has, by resource, in order of the names."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A node of the cluster, by the last fact about it, and the flavor whose capacity it is part of (-1: none)."""

    labels: dict[str, str]
    capacity: dict[str, int]
    flavor: int
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False


@dataclass(slots=True)
class NodeTotals:
    """What the nodes of one flavor have: of each resource in all, with what cordoned nodes have of it, and how many nodes are of each size.

    `largest` are the sizes that no other one exceeds in everything; None: they have to be found anew.
    """

    total: dict[str, int] = field(default_factory=dict)
    cordoned: dict[str, int] = field(default_factory=dict)
    sizes: dict[Size, int] = field(default_factory=dict)
    largest: tuple[Size, ...] | None = ()

    def count(self, each: Machine, sign: int) -> None:
        """Let a node be part of it (`sign` 1), or no more (-1)."""
        size = tuple(sorted(each.capacity.items()))
        for resource, amount in size:
            self.total[resource] = self.total.get(resource, 0) + sign * amount
            if each.cordoned:
                self.cordoned[resource] = self.cordoned.get(resource, 0) + sign * amount
        before = self.sizes.pop(size, 0)
        if before + sign > 0:
            self.sizes[size] = before + sign
        elif self.largest is not None and size in self.largest:
            self.largest = None
        if before == 0 and self.largest is not None:
            self.largest = among_largest(self.largest, size)

    def largest_sizes(self) -> tuple[Size, ...]:
        """The sizes that no other one exceeds in everything."""
        if self.largest is None:
            self.largest = ()
            for size in sorted(self.sizes):
                self.largest = among_largest(self.largest, size)
        return self.largest

    def copy(self) -> "NodeTotals":
        """The same, which goes its own way."""
        return NodeTotals(dict(self.total), dict(self.cordoned), dict(self.sizes), self.largest)


def among_largest(largest: tuple[Size, ...], size: Size) -> tuple[Size, ...]:
    """The largest sizes where there is one more."""
    if any(is_within(size, other) for other in largest):
        return largest
    return (*(other for other in largest if not is_within(other, size)), size)


def is_within(less: Size, more: Size) -> bool:
    """Whether a size is not above another one in any resource."""
    there = dict(more)
    return all(amount <= there.get(resource, 0) for resource, amount in less)


class Inventory(MutableMapping[str, Machine]):
    """All nodes by name. What those of a flavor have together is kept as they come, change and go, so no fact needs a look at all nodes."""

    def __init__(self, known: Mapping[str, Machine] | None = None) -> None:
        self._by_name: dict[str, Machine] = {}
        self._totals: dict[int, NodeTotals] = {}
        self.update({} if known is None else known)

    def totals(self, flavor: int) -> NodeTotals:
        """What the nodes of a flavor have."""
        return self._totals.setdefault(flavor, NodeTotals())

    def copy(self) -> "Inventory":
        """The same nodes, which come and go on their own."""
        other = Inventory()
        other._by_name = dict(self._by_name)
        other._totals = {flavor: self._totals[flavor].copy() for flavor in self._totals}
        return other

    def __getitem__(self, name: str) -> Machine:
        return self._by_name[name]

    def __setitem__(self, name: str, machine: Machine) -> None:
        before = self._by_name.get(name)
        if before is not None:
            self.totals(before.flavor).count(before, -1)
        self._by_name[name] = machine
        self.totals(machine.flavor).count(machine, 1)

    def __delitem__(self, name: str) -> None:
        self.totals(self._by_name[name].flavor).count(self._by_name.pop(name), -1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)
