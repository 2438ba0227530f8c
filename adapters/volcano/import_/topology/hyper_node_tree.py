"""The tree of HyperNodes: whose member each one is, and whose each node. What is no tree is refused.

Volcano stops placing pods where a HyperNode has two HyperNodes above it, or is above itself; nodes that two HyperNodes have in common it
takes as they come. A topology of gpol has one domain of each level for a node.
Source: Volcano, pkg/scheduler/api/hyper_node_info.go (BuildHyperNodeCache, addChild), pkg/util/hypernode/member_selector.go (GetMembers).
"""

from collections.abc import Iterator, Mapping, Sequence

from .....engine.eligibility import all_hold
from ....kueue.problems import Findings
from ....kueue.read.objects import ClusterNode, Selector
from ...read.topology.network_objects import HyperNode, HyperNodeMember

_MOST_SHOWN = 8
"""HyperNodes of a circle that are named."""

MOST_WORK = 200_000_000
"""How much is done to find the nodes of all members together: a character of a name that is compared with a pattern is one."""

_WORK_FOR_LABELS = 20
"""What comparing the labels of a node with a selector counts."""


class HyperNodeTree:
    """HyperNodes by name; `parent` the one above each, where there is one, and `owner` the one of which each node is a member."""

    def __init__(self, hyper_nodes: Sequence[HyperNode], nodes: Sequence[ClusterNode], found: Findings) -> None:
        self.known = {each.name: each for each in sorted(hyper_nodes, key=lambda each: each.name)}
        self.tiers = sorted({each.tier for each in hyper_nodes})
        self.parent: dict[str, HyperNode] = {}
        self.owner: dict[str, HyperNode] = {}
        members = _NodeMembers(nodes)
        for each in self.known.values():
            found.begin("HyperNode", each.name, each.file)
            self._take_hyper_nodes(each, found)
            self._take_nodes(each, members, found)
        self._check_tiers(found)

    def above(self, hyper_node: HyperNode) -> Iterator[HyperNode]:
        """A HyperNode and those above it, the nearest first. Each is of a higher tier than the one before."""
        yield hyper_node
        while (parent := self.parent.get(hyper_node.name)) is not None:
            yield parent
            hyper_node = parent

    def _take_hyper_nodes(self, each: HyperNode, found: Findings) -> None:
        for member in each.members:
            if member.is_node:
                continue
            before = self.parent.get(member.name)
            if member.name not in self.known:
                cause = f"names HyperNode {member.name}, which is not there"
                found.problem(member.place, cause, "add it to the dump, or take it out of the members")
            elif before is not None and before is not each:
                cause = f"names HyperNode {member.name}, which is a member of {before.name}, too"
                found.problem(member.place, cause, "let it be a member of one of them")
            else:
                self.parent[member.name] = each

    def _take_nodes(self, each: HyperNode, members: "_NodeMembers", found: Findings) -> None:
        for member in each.members:
            if not member.is_node:
                continue
            if member.name and member.name not in members.by_name:
                cause = f"names node {member.name}, which is not there"
                found.problem(member.place, cause, "add the Node to the dump, or take it out of the members")
                continue
            named = members.of(member)
            if members.work > MOST_WORK:
                cause = "comes when finding the nodes of HyperNodes by patterns and labels has taken too much already"
                found.problem(member.place, cause, "name nodes by labelMatch with a value that few of them have, or by exactMatch")
                return
            for name in named:
                before = self.owner.setdefault(name, each)
                if before is not each:
                    cause = f"has node {name}, which is a member of {before.name}, too"
                    found.problem(member.place, cause, "let each node be a member of one HyperNode; those above that one have it as well")

    def _check_tiers(self, found: Findings) -> None:
        """A HyperNode is of a higher tier than its members, and nodes are members of those of the lowest tier alone."""
        circles = self._circles()
        for circle in circles:
            found.begin("HyperNode", circle[0], self.known[circle[0]].file)
            shown = circle if len(circle) <= _MOST_SHOWN else [*circle[:_MOST_SHOWN], "..."]
            told = " -> ".join([*shown, circle[0]])
            found.problem("spec.members", f"goes round in a circle, each in the next: {told}", "take one of them out of the members")
        in_circles = {name for circle in circles for name in circle}
        for name, parent in self.parent.items():
            if parent.tier <= self.known[name].tier and name not in in_circles:
                found.begin("HyperNode", parent.name, parent.file)
                cause = f"is {parent.tier}, and that of its member {name} is {self.known[name].tier}"
                found.problem("spec.tier", cause, "let it be higher than those of its members")
        told_of = sorted({owner.name for owner in self.owner.values() if owner.tier > self.tiers[0]})
        for each in (self.known[name] for name in told_of):
            found.begin("HyperNode", each.name, each.file)
            cause = f"has nodes and is of tier {each.tier}, and the lowest tier is {self.tiers[0]}: these nodes are in none of that tier"
            found.problem("spec.members", cause, f"put them into HyperNodes of tier {self.tiers[0]}, and make those its members")

    def _circles(self) -> list[list[str]]:
        """The circles of HyperNodes that are above themselves, each once, every one a member of the next."""
        found = []
        seen: dict[str, str] = {}
        for first in self.known:
            path: list[str] = []
            name: str | None = first
            while name is not None and name not in seen:
                seen[name] = first
                path.append(name)
                name = self.parent[name].name if name in self.parent else None
            if name is not None and seen[name] == first:
                found.append(path[path.index(name) :])
        return found


class _NodeMembers:
    """Which nodes a member means; `work` is what was done for that, and once it is above `MOST_WORK` nothing more is."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        self.work = 0
        self.by_name = {node.name: node for node in sorted(nodes, key=lambda node: node.name)}
        self.by_label: dict[tuple[str, str], list[str]] = {}
        for name, node in self.by_name.items():
            for label in node.labels.items():
                self.by_label.setdefault(label, []).append(name)

    def of(self, member: HyperNodeMember) -> list[str]:
        """The names of the nodes, in order."""
        if member.selector is not None:
            return self._selected(member.selector)
        if member.pattern is not None:
            found = member.pattern.among(self.by_name, MOST_WORK - self.work)
            self.work += member.pattern.work
            return found
        return [member.name] if member.name in self.by_name else []

    def _selected(self, selector: Selector) -> list[str]:
        wanted = next((each for each in selector.requirements if each.operator == "In"), None)
        among = list(self.by_name)
        if wanted is not None:  # most selectors name a value, which few nodes have
            among = sorted({name for value in wanted.values for name in self.by_label.get((wanted.key, value), ())})
        self.work += _WORK_FOR_LABELS * len(among)
        if self.work > MOST_WORK:
            return []
        return [name for name in among if all_hold(selector.requirements, self.by_name[name].labels)]


def paths(tree: HyperNodeTree) -> Mapping[str, Mapping[int, str]]:
    """The HyperNode of each tier by node: of those that have the node and are of this tier or a lower one, the widest.

    This is the one in which pods stand together that may go up to this tier, also where a branch of the tree has none of just this tier.
    """
    by_owner: dict[str, dict[int, str]] = {}
    for owner in tree.owner.values():
        if owner.name not in by_owner:
            above = list(tree.above(owner))
            by_owner[owner.name] = {tier: [each.name for each in above if each.tier <= tier][-1] for tier in tree.tiers}
    return {name: by_owner[tree.owner[name].name] for name in sorted(tree.owner)}
