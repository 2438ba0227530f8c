"""The domains of a session's topologies, with what is free in them, and in which order KAI tries them (plugins/topology).

A domain is its number in its tree; the whole of a tree, above its widest level, is one more. Sorting domains by what is free lasts for
the cycle: KAI sorts the children of a domain in place, and asks for their order also where it did not sort them anew.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ....nodes.domains import DomainTree
from ...session.pods import HOLDING, Pod, PodAmounts
from ...session.session import Session
from ..quota_state import GPU, PODS
from ..views import WorkloadView, total

_ABOVE_ALL = -1
"""The level of the whole of a tree."""

_NONE_FREE = Fraction(1000)
"""How full a domain counts that has nothing of what is asked for (KAI: requiredResourceNotInDomainRatio)."""


class NodeDomains:
    """The domains of one topology over the nodes of a session: `nodes[d]` by name, `children[d]` in the order of the last sorting."""

    def __init__(self, session: Session, tree: DomainTree) -> None:
        numbers = {node.name: node.number for node in session.nodes}
        # Single nodes are no domains in KAI.
        self.depth = len(tree.levels) - tree.topology.ends_at_nodes
        self.of_level = [list(tree.levels[level]) for level in range(self.depth)]
        size = sum(map(len, self.of_level))
        self.whole = size
        self.levels = [tree.level_of(domain) for domain in range(size)] + [_ABOVE_ALL]
        self.children = [[child for child in domain.children if child < size] for domain in tree.domains[:size]] + [self.of_level[0][:]]
        self.parents = [domain.parent if domain.parent >= 0 else size for domain in tree.domains[:size]] + [-1]
        self.nodes: list[list[int]] = [[] for _ in range(size + 1)]
        for number, each in enumerate(tree.domains):
            if each.machines:
                lowest = number if number < size else each.parent
                self.nodes[lowest].extend(numbers[name] for name in each.machines if name in numbers)
        self.leaf_of = {node: domain for domain in self.of_level[-1] for node in self.nodes[domain]}
        for domain in reversed(range(size)):
            self.nodes[self.parents[domain]].extend(self.nodes[domain])

    def at(self, node: int, level: int) -> int:
        """The domain of a level in which a node is."""
        domain = self.leaf_of[node]
        while self.levels[domain] > level:
            domain = self.parents[domain]
        return domain

    def lowest_common(self, nodes: Sequence[int], lowest: int | None) -> int:
        """The lowest domain with all of some nodes, but none below a level (None: no matter how low)."""
        found = self.whole
        for level in range(self.depth):
            domains = {self.at(node, level) for node in nodes}
            if len(domains) != 1:
                break
            found = domains.pop()
            if level == lowest:
                break
        return found

    def below(self, domain: int) -> list[int]:
        """A domain and all below it, those of the lowest level last, each level in the order of its parents."""
        found = [domain]
        for each in found:  # grows as it goes
            found.extend(self.children[each])
        return found

    def of_level_below(self, domain: int, level: int) -> list[int]:
        """The domains of a level in a domain, in order."""
        return [each for each in self._depth_first(domain) if self.levels[each] == level]

    def _depth_first(self, domain: int) -> list[int]:
        return [domain, *(each for child in self.children[domain] for each in self._depth_first(child))]


class Topologies:
    """The topologies of a session. `scores` rank nodes by their domains, by the group that wished for a level."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._trees = [NodeDomains(session, tree) for tree in session.trees]
        self.scores: dict[int, dict[int, int]] = {}

    def tree(self, topology: int) -> NodeDomains:
        """The domains of a topology."""
        return self._trees[topology]

    def scores_for(self, view: WorkloadView, pod: Pod) -> Mapping[int, int] | None:
        """How good each node is for a pod by its domain: as its group wished, or else the next group above that did (None: nobody did)."""
        group = pod.group
        while group >= 0:
            if group in self.scores:
                return self.scores[group]
            group = view.groups[group].parent
        return None

    def node_sets(self, view: WorkloadView, number: int, pods: Sequence[Pod], nodes: Sequence[int]) -> list[list[int]]:
        """The sets of nodes on which pods of a group may be placed, in the order to try them (KAI: subSetNodesFn).

        Without a wish that is all nodes given. Otherwise each set is a domain that has room for all, narrow ones first, fuller ones first.
        """
        group = view.groups[number]
        if not pods or (group.within is None and group.near is None):
            return [list(nodes)]
        topology, _ = group.within or group.near or (-1, -1)
        required = None if group.within is None else group.within[1]
        preferred = None if group.near is None else group.near[1]
        # An index below 0 stands for a topology or a level that there is not.
        if topology < 0 or min(0 if level is None else level for level in (required, preferred)) < 0:
            return []
        if required is not None and preferred is not None and preferred < required:
            return []
        tree = self._trees[topology]
        valid = [node for node in nodes if node in tree.leaf_of]
        common = tree.lowest_common(valid, preferred)
        room = _Room(self._session, tree, common, pods)
        if not room.has_for(common):
            return []
        lowest = preferred if preferred is not None else required
        room.sort(common, lowest)
        if preferred is not None:
            self.scores[number] = _scores(tree, common, preferred)
        top = _ABOVE_ALL if required is None else required
        bottom = top if lowest is None else lowest
        allowed = self._domains_with_pods(view, pods, tree, required)
        found = [
            domain
            for domain in tree.below(tree.whole)
            if top <= tree.levels[domain] <= bottom and (allowed is None or domain in allowed) and room.has_for(domain)
        ]
        found.sort(key=lambda domain: -tree.levels[domain])
        there = set(valid)
        return [[node for node in tree.nodes[domain] if node in there] for domain in found]

    def _domains_with_pods(self, view: WorkloadView, pods: Sequence[Pod], tree: NodeDomains, required: int | None) -> set[int] | None:
        """Where some pods of these leaves run already, only domains there will do; None: all will."""
        if required is None:
            return None
        leaves = {pod.group for pod in pods}
        there = [pod.node for at, pod in enumerate(view.pods) if pod.group in leaves and view.status_of(at) in HOLDING]
        if not there:
            return None
        allowed = {tree.at(node, required) for node in there if node in tree.leaf_of}
        return {below for domain in sorted(allowed) for below in tree.below(domain)}


class _Room:
    """What is free in the domains below one, for some pods: how many of the largest fit, or where they differ, whether the sum does."""

    def __init__(self, session: Session, tree: NodeDomains, common: int, pods: Sequence[Pod]) -> None:
        self._tree = tree
        self._pods = len(pods)
        self._asked = total(pod.requests for pod in pods)
        self._free: dict[int, PodAmounts] = {}
        self._fitting: dict[int, int] | None = None
        below = tree.below(common)
        free = {node: session.free_later(node) for node in tree.nodes[common]}
        for domain in below:
            self._free[domain] = total(free[node] for node in tree.nodes[domain])
        if len({pod.requests[GPU] > 0 for pod in pods}) == 1:
            largest = tuple(max(amounts) for amounts in zip(*(pod.requests for pod in pods), strict=True))
            fitting = {node: _how_many(largest, free[node], self._pods) for node in tree.nodes[common]}
            self._fitting = {domain: sum(fitting[node] for node in tree.nodes[domain]) for domain in below}

    def has_for(self, domain: int) -> bool:
        """Whether a domain seems to have room for all the pods; one outside has not been looked at, and has none."""
        if domain not in self._free:
            return False
        if self._fitting is not None:
            return self._fitting[domain] >= self._pods
        return self._fullness(domain) <= 1

    def sort(self, domain: int, lowest: int | None) -> None:
        """Sort the domains below one, down to those in a level: those that the pods would fill most first."""
        children = self._tree.children[domain]
        children.sort(key=lambda child: (-self._fullness(child), child))
        if self._tree.levels[domain] != lowest:
            for child in children:
                self.sort(child, lowest)

    def _fullness(self, domain: int) -> Fraction:
        """The largest part of what is free that the pods ask for."""
        found = Fraction(0)
        for resource, asked in enumerate(self._asked):
            if asked > 0 and resource != PODS:
                free = self._free[domain][resource] if self._free[domain] else 0
                found = max(found, Fraction(asked, free) if free > 0 else _NONE_FREE)
        return found


def _how_many(largest: PodAmounts, free: PodAmounts, most: int) -> int:
    """How many pods of a size fit in what is free; `most` where they ask for nothing but their place."""
    if all(asked <= (resource == PODS) for resource, asked in enumerate(largest)):
        return most
    if any(asked > there for asked, there in zip(largest, free, strict=True)):
        return 0
    return min(there // asked for asked, there in zip(largest, free, strict=True) if asked > 0)


def _scores(tree: NodeDomains, common: int, level: int) -> dict[int, int]:
    """By node: how late its domain comes in the order of its level, in tenths (KAI: calculateNodeScores)."""
    domains = tree.of_level_below(common, level)
    return {node: 10 * (at + 1) // len(domains) for at, domain in enumerate(domains) for node in tree.nodes[domain]}
