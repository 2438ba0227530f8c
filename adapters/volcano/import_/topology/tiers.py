"""The tiers of HyperNodes as levels of a topology, the highest tier first and single nodes last; nodes get a label of gpol's own for each.

A tier says which HyperNodes may be crossed: pods that may go up to a tier stand in one HyperNode of that tier at most.
Source: Volcano, pkg/scheduler/framework/session.go (adjustNetworkTopologySpec, addClusterTopHyperNode) and
pkg/scheduler/plugins/network-topology-aware (hyperNodeGradientFn, isEligibleHyperNode).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .....dsl.syntax import tree
from ....kueue.import_.tree_shorthands import name
from ....kueue.problems import Findings
from ...read.volcano_objects import VolcanoObjects
from ...topology_names import IN_TOPOLOGY, TOPOLOGY, tier_label
from .hyper_node_tree import HyperNodeTree, paths

MOST_TIERS = 15
"""Tiers, at most: with the nodes below them they are the levels of a topology."""

NODE_LEVEL = "host"
"""The level of single nodes."""


class Tier(NamedTuple):
    """A tier, and what its level is called."""

    number: int
    level: str


@dataclass(frozen=True, slots=True)
class Tiers:
    """All tiers, the highest first; `labels` are those of gpol's own by node; `named` are the tiers of each name of a tier."""

    tiers: tuple[Tier, ...]
    labels: Mapping[str, Mapping[str, str]]
    named: Mapping[str, tuple[int, ...]]

    @property
    def lowest(self) -> Tier:
        """The tier whose nodes are nearest to one another."""
        return self.tiers[-1]

    def widest_up_to(self, number: int) -> Tier | None:
        """The highest tier that is no higher than a number; None where all are higher."""
        return next((tier for tier in self.tiers if tier.number <= number), None)


def tiers(objects: VolcanoObjects, found: Findings) -> Tiers | None:
    """The tiers of a cluster; None where it has no HyperNodes. What is no tree is reported."""
    if not objects.hyper_nodes:
        return None
    first = objects.hyper_nodes[0]
    found.begin("HyperNode", first.name, first.file)
    if not objects.nodes:
        cause = "is there, and no Node: nothing says which nodes the cluster has"
        found.problem("", cause, "add what `kubectl get nodes -o yaml` writes, or leave the HyperNodes out")
        return None
    made = HyperNodeTree(objects.hyper_nodes, objects.nodes, found)
    if len(made.tiers) > MOST_TIERS:
        found.begin("HyperNode", first.name, first.file)
        cause = f"is one of {len(made.tiers)} tiers in all HyperNodes, and a topology has at most {MOST_TIERS} above its nodes"
        found.problem("spec.tier", cause, "use fewer tiers")
    found.check()
    _note_empty(made, found)
    labels = {
        node: {IN_TOPOLOGY: TOPOLOGY, **{tier_label(number): of_tier for number, of_tier in path.items()}}
        for node, path in paths(made).items()
    }
    return Tiers(_called(made), labels, _named(made))


def _note_empty(made: HyperNodeTree, found: Findings) -> None:
    having = {each.name for owner in made.owner.values() for each in made.above(owner)}
    for each in made.known.values():
        if each.name not in having:
            found.begin("HyperNode", each.name, each.file)
            found.note("spec.members", "are no nodes of the dump: it is left out")


def _named(made: HyperNodeTree) -> dict[str, tuple[int, ...]]:
    named: dict[str, set[int]] = {}
    for each in made.known.values():
        if each.tier_name:
            named.setdefault(each.tier_name, set()).add(each.tier)
    return {said: tuple(sorted(named[said])) for said in sorted(named)}


def _called(made: HyperNodeTree) -> tuple[Tier, ...]:
    """Each level is called by the name of its tier, where it has one name that no other tier has, and else by its number."""
    plain = {number: f"tier-{number}" for number in made.tiers}
    called = {}
    for number in made.tiers:
        names = sorted({each.tier_name for each in made.known.values() if each.tier == number} - {""})
        mine = len(names) == 1 and _named(made)[names[0]] == (number,) and names[0] not in (NODE_LEVEL, *plain.values())
        called[number] = names[0] if mine else plain[number]
    return tuple(Tier(number, called[number]) for number in reversed(made.tiers))


# --- in the policy


def topology_item(of_cluster: Tiers) -> tree.TopologyItem:
    """The topology of the policy."""
    levels = [tree.LevelStatement(name(tier.level), tier_label(tier.number)) for tier in of_cluster.tiers]
    return tree.TopologyItem(name(TOPOLOGY), (*levels, tree.LevelStatement(name(NODE_LEVEL), None)))


def where_in_topology() -> tuple[tree.LabelEquals, ...]:
    """The condition that nodes with HyperNodes meet."""
    return (tree.LabelEquals(IN_TOPOLOGY, tree.Text(TOPOLOGY)),)
