"""HyperNodes: groups of nodes that are near one another, in a tree under one that has all nodes.

Volcano: pkg/scheduler/api/hyper_node_info.go, framework/session.go (`addClusterTopHyperNode`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

CLUSTER_TOP = "<cluster-top-hypernode>"
"""The HyperNode above all others, which no object describes."""


@dataclass(frozen=True, slots=True)
class HyperNodeDomain:
    """A HyperNode: its tier (a lower one means nearer), the names of what it has below it, and all nodes in it, by their numbers."""

    name: str
    tier: int
    parent: str
    children: tuple[str, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HyperNodeMap:
    """All HyperNodes by name, the top one included."""

    by_name: Mapping[str, HyperNodeDomain] = field(default_factory=dict)
    tiers: tuple[int, ...] = ()
    """The tiers that there are, from the lowest up, that of the top included."""
    by_tier: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def ancestors(self, name: str) -> list[str]:
        """A HyperNode and all above it, from it upwards."""
        found = [name]
        while found[-1] in self.by_name and self.by_name[found[-1]].parent not in ("", *found):
            found.append(self.by_name[found[-1]].parent)
        return found

    def common(self, one: str, other: str) -> str:
        """The lowest HyperNode that has both; the other one where one is empty; empty where there is none (`GetLCAHyperNode`)."""
        if not one or not other:
            return one or other
        above = self.ancestors(one)
        return next((name for name in self.ancestors(other) if name in above), "")

    def lowest_of(self, node: int) -> str:
        """The HyperNode of the lowest tier that has a node; empty where none has (`FindHyperNodeForNode`)."""
        if not self.tiers:
            return ""
        return next((name for name in self.by_tier[self.tiers[0]] if node in self.by_name[name].nodes), "")


def hyper_nodes_under_top(known: Sequence[HyperNodeDomain], nodes: int, tiers: Iterable[int] = ()) -> HyperNodeMap:
    """HyperNodes with one above that has all nodes (there are `nodes`), a tier above the highest; those without a parent are below it.

    `tiers` are those that are known of beside the tiers of the HyperNodes themselves.
    """
    known_tiers = sorted({*tiers, *(each.tier for each in known)})
    top_tier = max([0, *known_tiers]) + 1
    below = {each.name: HyperNodeDomain(each.name, each.tier, each.parent or CLUSTER_TOP, each.children, each.nodes) for each in known}
    children = tuple(sorted(name for name, each in below.items() if each.parent == CLUSTER_TOP))
    top = HyperNodeDomain(CLUSTER_TOP, top_tier, "", children, tuple(range(nodes)))
    by_name = {name: below[name] for name in sorted(below)} | {CLUSTER_TOP: top}
    all_tiers = (*known_tiers, top_tier)
    by_tier = {tier: tuple(name for name in sorted(by_name) if by_name[name].tier == tier) for tier in all_tiers}
    return HyperNodeMap(by_name, all_tiers, by_tier)
