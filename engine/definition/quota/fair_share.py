"""Shares: how much a node has beyond its due, as an exact fraction, so that equals can be told apart and compared.

`borrowed` is Kueue's dominant resource share (pkg/cache/scheduler/fair_sharing.go) with flavors weighed by their worth;
`used` is dominant resource fairness (Ghodsi et al., NSDI 2011) over what exists.
"""

from collections.abc import Callable
from copy import copy
from fractions import Fraction
from math import lcm
from operator import gt

from ..graph import PolicyGraph
from .quota import QuotaTree, Request

Share = tuple[int, Fraction]
"""(0, share); or one that is infinite, yet comparable with its like: (1, unweighted share) for a node of weight 0 that has
something, (2, borrowed worth by weight) for one that borrows where so little exists that nothing can be lent."""

ZERO: Share = (0, Fraction(0))

_MOST_KNOWN = 50_000
"""How many worked out shares are kept before they are all forgotten."""


class Shares:
    """The share of each node of a tree, by the formula that the policy chose."""

    def __init__(self, graph: PolicyGraph, tree: QuotaTree) -> None:
        self.tree = tree
        self.formula = graph.settings.share
        self.round: Callable[[Fraction], Fraction] = nearest_double if graph.settings.rounded else Fraction
        self.weights = [node.weight for node in graph.nodes]
        self._known: dict[tuple[int, tuple[int, ...]], Share] = {}
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

    def over(self, tree: QuotaTree) -> "Shares":
        """The shares of a copy of the tree. What has been worked out is shared: quotas and use decide it, whoever asks."""
        other = copy(self)
        other.tree = tree
        return other

    def of(self, node: int) -> Share:
        """The share of a node; the root has none."""
        if self.formula == "used":
            return self._share(node, tuple(self.tree.total[node]))
        return self._share(node, tuple(self.tree.usage[node]))

    def after(self, node: int, queue: int, request: Request) -> Share:
        """The share that a node would have without a charge of a queue below it."""
        if self.formula == "used":
            amounts = dict(request)
            return self._share(node, tuple(total - amounts.get(slot, 0) for slot, total in enumerate(self.tree.total[node])))
        return self._share(node, tuple(self.tree.usage_without(node, queue, request)))

    def show(self, share: Share) -> str:
        """A share as text; where it is rounded, in thousandths with up to three decimals, cut off."""
        if share[0] or self.round is Fraction:
            return show(share)
        thousandths = int(share[1] * 1000)
        whole, rest = divmod(thousandths, 1000)
        return f"{whole}.{rest:03}".rstrip("0").rstrip(".") + " thousandths"

    def _share(self, node: int, used: tuple[int, ...]) -> Share:
        """The share of a node that uses this much of each slot: nothing else matters, so it is worked out once."""
        share = self._known.get((node, used))
        if share is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            share = self._known[node, used] = self._compute(node, used)
        return share

    def _compute(self, node: int, used: tuple[int, ...]) -> Share:
        if self.tree.parent[node] < 0 or self.formula == "none":
            return ZERO
        level, unweighted = self._borrowed(node, used) if self.formula == "borrowed" else (0, self._used(used))
        weight = self.weights[node]
        if weight == 0 and (unweighted > 0 or self._borrows_of_nothing(node, used)):
            return (max(level, 1), unweighted)
        if unweighted == 0:
            return ZERO
        return (level, self.round(unweighted / weight))  # exact

    def _borrowed(self, node: int, used: tuple[int, ...]) -> Share:
        """What the node uses beyond what it owns, over what its parent could lend at most, in its dominant resource."""
        subtree = self.tree.subtree[node]
        dominant = ZERO
        for group, lendable in zip(self.by_resource, self.lendable[self.tree.parent[node]], strict=True):
            borrowed = sum(worth * max(0, used[slot] - subtree[slot]) for slot, worth in group)
            if borrowed > 0 and lendable > 0:
                dominant = max(dominant, (0, self._ratio(borrowed, lendable)))
            elif borrowed > 0 and not self.tree.apart:  # Kueue counts this as no share
                dominant = max(dominant, (2, Fraction(borrowed)))
        return dominant

    def _borrows_of_nothing(self, node: int, used: tuple[int, ...]) -> bool:
        """Whether a node of a tree apart borrows, though nothing can be lent: Kueue ranks it by its weight all the same."""
        return self.formula == "borrowed" and self.tree.apart and any(map(gt, used, self.tree.subtree[node]))

    def _ratio(self, borrowed: int, lendable: int) -> Fraction:
        """A share before weight; where it is rounded, in thousandths and after each step, as Kueue has it."""
        if self.round is Fraction:
            return Fraction(borrowed, lendable)
        thousandths = self.round(self.round(Fraction(borrowed)) * 1000)
        return self.round(thousandths / self.round(Fraction(lendable)))  # exact

    def _used(self, total: tuple[int, ...]) -> Fraction:
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
    if value == 0:
        return value
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 53
    scaled = value * Fraction(2) ** -exponent
    while scaled >= 2**53:
        exponent, scaled = exponent + 1, scaled * Fraction(1, 2)
    while scaled < 2**52:
        exponent, scaled = exponent - 1, scaled * 2
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    if 2 * rest > scaled.denominator or (2 * rest == scaled.denominator and whole % 2):
        whole += 1
    return whole * Fraction(2) ** exponent


def show(share: Share) -> str:
    """A share as text: `3/4`, or `infinite`."""
    return "infinite" if share[0] else str(share[1])
