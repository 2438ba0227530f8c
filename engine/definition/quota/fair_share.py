"""Shares: how much a node has beyond its due, as an exact fraction, so that equals can be told apart and compared.

`borrowed` is Kueue's dominant resource share (pkg/cache/scheduler/fair_sharing.go) with flavors weighed by their worth;
`used` is dominant resource fairness (Ghodsi et al., NSDI 2011) over what exists.
"""

from fractions import Fraction
from math import lcm
from operator import gt

from ...outcome.nomination import Request, Share
from ...policy_graph import PolicyGraph
from .tree import QuotaTree

ZERO: Share = (0, Fraction(0))


class Shares:
    """The share of each node of a tree, by the formula that the policy chose."""

    def __init__(self, graph: PolicyGraph, tree: QuotaTree) -> None:
        self.tree = tree
        self.formula = graph.settings.share
        self.rounded = graph.settings.rounded
        self.weights = [node.weight for node in graph.nodes]
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
        return self._share(node, self.tree.total[node] if self.formula == "used" else self.tree.usage[node])

    def after(self, node: int, queue: int, request: Request) -> Share:
        """The share that a node would have without a charge of a queue below it."""
        self.tree.remove(queue, request)
        share = self.of(node)
        self.tree.add(queue, request)
        return share

    def _share(self, node: int, used: list[int]) -> Share:
        if self.tree.parent[node] < 0 or self.formula == "none":
            return ZERO
        level, unweighted = self._borrowed(node, used) if self.formula == "borrowed" else (0, self._used(used))
        weight = self.weights[node]
        if weight == 0 and (unweighted > 0 or self._borrows_of_nothing(node, used)):
            return (max(level, 1), unweighted)
        if unweighted == 0:
            return ZERO
        weighted = unweighted if weight == 1 else unweighted / weight  # exact
        return (level, nearest_double(weighted) if self.rounded else weighted)

    def _borrowed(self, node: int, used: list[int]) -> Share:
        """What the node uses beyond what it owns, over what its parent could lend at most, in its dominant resource."""
        subtree = self.tree.subtree[node]
        found: list[Share] = []
        for group, lendable in zip(self.by_resource, self.lendable[self.tree.parent[node]], strict=True):
            borrowed = sum(worth * (used[slot] - subtree[slot]) for slot, worth in group if used[slot] > subtree[slot])
            if borrowed > 0 and lendable > 0:
                found.append((0, self._ratio(borrowed, lendable)))
            elif borrowed > 0 and not self.tree.forest:  # Kueue counts this as no share
                found.append((2, Fraction(borrowed)))
        return max(found, default=ZERO)

    def _borrows_of_nothing(self, node: int, used: list[int]) -> bool:
        """Whether a node of a tree of a forest borrows, though nothing can be lent: Kueue ranks it by its weight all the same."""
        return self.formula == "borrowed" and self.tree.forest and any(map(gt, used, self.tree.subtree[node]))

    def _ratio(self, borrowed: int, lendable: int) -> Fraction:
        """A share before weight; where it is rounded, in thousandths and after each step, as Kueue has it."""
        if not self.rounded:
            return Fraction(borrowed, lendable)
        thousandths = nearest_double(nearest_double(Fraction(borrowed)) * 1000)
        return nearest_double(thousandths / nearest_double(Fraction(lendable)))  # exact

    def _used(self, total: list[int]) -> Fraction:
        """What runs below a node, over what exists, in its dominant resource."""
        capacity = self.tree.capacity
        dominant = Fraction(0)
        for group in self.by_resource:
            used = sum(worth * total[slot] for slot, worth in group)
            exists = sum(worth * capacity[slot] for slot, worth in group)
            if used > 0 and exists > 0:
                dominant = max(dominant, Fraction(used, exists))
        return dominant


def nearest_double(value: Fraction) -> Fraction:
    """The number closest to a positive one, or 0, that has 53 significant binary digits; halfway, the one whose last digit is even.

    It is what IEEE 754 arithmetic gives for a result that is not extremely small or large.
    """
    above, below = value.numerator, value.denominator
    if above.bit_length() <= 53 and below & (below - 1) == 0:
        return value
    exponent = above.bit_length() - below.bit_length() - 53
    above, below = above << max(0, -exponent), below << max(0, exponent)
    if above >= below << 53:
        below, exponent = below << 1, exponent + 1
    whole, rest = divmod(above, below)
    if 2 * rest > below or (2 * rest == below and whole % 2):
        whole += 1
    return Fraction(whole << exponent) if exponent >= 0 else Fraction(whole, 1 << -exponent)
