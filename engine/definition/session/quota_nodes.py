"""The quota tree as passes see it: what each node is entitled to count on, and at most has, by resource."""

from dataclasses import dataclass
from fractions import Fraction

ROOT = 0
"""The node above all others."""


@dataclass(frozen=True, slots=True)
class QuotaNode:
    """A node of the tree. PodAmounts stand in the order of `Session.resources`; None is no limit.

    `owned` is what it may always count on, `limit` what it never exceeds, `guaranteed` what no one may take from it; `weight` divides
    what nobody owns. Of two nodes the one with less `created` is older.
    """

    number: int
    name: str
    parent: int
    children: tuple[int, ...]
    owned: tuple[int | None, ...]
    limit: tuple[int | None, ...]
    guaranteed: tuple[int, ...]
    weight: tuple[Fraction, ...]
    priority: int = 0
    created: int = 0


def path(nodes: "tuple[QuotaNode, ...]", node: int) -> list[int]:
    """The nodes from a node up to the root, both included."""
    found = [node]
    while found[-1] != ROOT:
        found.append(nodes[found[-1]].parent)
    return found
