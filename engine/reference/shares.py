"""Shares: how much a node has beyond its due, as an exact fraction, so that equals can be told apart and compared.

`borrowed` is Kueue's dominant resource share (pkg/cache/scheduler/fair_sharing.go) with flavors weighed by their worth;
`used` is dominant resource fairness (Ghodsi et al., NSDI 2011) over what exists.
"""

from fractions import Fraction
from math import lcm

from ..graph import PolicyGraph
from .quota import QuotaTree, Request

Share = tuple[int, Fraction]
"""(0, share), or (1, unweighted share) for a node of weight 0 that has something: infinite, yet comparable with its like."""

ZERO: Share = (0, Fraction(0))


class Shares:
    """The share of each node of a tree, by the formula that the policy chose."""

    def __init__(self, graph: PolicyGraph, tree: QuotaTree) -> None:
        self.tree = tree
        self.formula = graph.settings.share
        self.weights = [node.weight for node in graph.nodes]
        self._stamp = -1
        self._known: dict[int, Share] = {}
        resources = sorted({slot.resource for slot in graph.slots})
        scale = lcm(*(flavor.worth.denominator for flavor in graph.flavors))  # cancels out: worth weighs both sides
        worth = [int(graph.flavors[slot.flavor].worth * scale) for slot in graph.slots]
        self.by_resource = [
            [(index, worth[index]) for index, slot in enumerate(graph.slots) if slot.resource == resource] for resource in resources
        ]
        self.lendable = [
            [sum(worth * tree.potential[node][slot] for slot, worth in group) for group in self.by_resource]
            for node in range(len(graph.nodes))
        ]

    def of(self, node: int) -> Share:
        """The share of a node; the root has none."""
        if self._stamp != self.tree.stamp:
            self._known.clear()
            self._stamp = self.tree.stamp
        share = self._known.get(node)
        if share is None:
            share = self._known[node] = self._compute(node)
        return share

    def after(self, node: int, queue: int, request: Request) -> Share:
        """The share that a node would have without a charge of a queue below it."""
        with self.tree.without(queue, request):
            return self._compute(node)

    def _compute(self, node: int) -> Share:
        if self.tree.parent[node] < 0 or self.formula == "none":
            return ZERO
        unweighted = self._borrowed(node) if self.formula == "borrowed" else self._used(node)
        if unweighted == 0:
            return ZERO
        weight = self.weights[node]
        return (1, unweighted) if weight == 0 else (0, unweighted / weight)  # exact

    def _borrowed(self, node: int) -> Fraction:
        """What the node uses beyond what it owns, over what its parent could lend at most, in its dominant resource."""
        usage, subtree = self.tree.usage[node], self.tree.subtree[node]
        dominant = Fraction(0)
        for group, lendable in zip(self.by_resource, self.lendable[self.tree.parent[node]], strict=True):
            borrowed = sum(worth * max(0, usage[slot] - subtree[slot]) for slot, worth in group)
            if borrowed > 0 and lendable > 0:
                dominant = max(dominant, Fraction(borrowed, lendable))
        return dominant

    def _used(self, node: int) -> Fraction:
        """What runs below the node, over what exists, in its dominant resource."""
        total, capacity = self.tree.total[node], self.tree.capacity
        dominant = Fraction(0)
        for group in self.by_resource:
            used = sum(worth * total[slot] for slot, worth in group)
            exists = sum(worth * capacity[slot] for slot, worth in group)
            if used > 0 and exists > 0:
                dominant = max(dominant, Fraction(used, exists))
        return dominant


def show(share: Share) -> str:
    """A share as text: `3/4`, or `infinite`."""
    return "infinite" if share[0] else str(share[1])
