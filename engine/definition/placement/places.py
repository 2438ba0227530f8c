"""The places of a cluster: the domains of each flavor, and what running pods use there.

Where domains are nodes, flavors may share them, and what a pod uses of a node is used of it under every flavor. Kueue tries evictions and
admissions out under the pod's own flavor alone, so that within a cycle another flavor still sees its nodes as they were
(`updateTASUsage` in pkg/cache/scheduler/clusterqueue_snapshot.go); a policy that decides in cycles does the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ...eligibility import Tolerance
from ...event_parts import POD_COUNT, PlacedPods, PodSet
from ...nodes.domains import DomainPath, DomainTree, amounts_in, domain_trees, node_path, of_one_topology
from ...nodes.inventory import Machine
from ...nodes.kept_off import KeptOff, kept_off
from ...nodes.wishes import Amounts, each_pod
from ...policy_graph import PolicyGraph
from ...workload import Workload
from .room import fitting, less


class PodsHeld(NamedTuple):
    """Pods at a place of a flavor, each of which uses so much there."""

    flavor: int
    place: DomainPath
    pods: int
    each: Amounts


class PlaceBook:
    """What there is and what is used at the places of each flavor."""

    def __init__(self, graph: PolicyGraph, machines: Mapping[str, Machine]) -> None:
        self.graph, self.machines = graph, machines
        self._index = {flavor.name: index for index, flavor in enumerate(graph.flavors)}
        self._used: dict[tuple[int, DomainPath], Amounts] = {}

    @cached_property
    def trees(self) -> tuple[DomainTree | None, ...]:
        """The domains of each flavor, None where it gives no places; made when they are asked for, as facts about nodes come in rows."""
        return domain_trees(self.graph, self.machines)

    # --- what is there --------------------------------------------------------------------------------------------------

    def tree(self, flavor: int) -> DomainTree:
        """The domains of a flavor whose pods get places."""
        tree = self.trees[flavor]
        assert tree is not None
        return tree

    def capacity(self, flavor: int, leaf: int) -> dict[str, int]:
        """What there is in a domain of the lowest level."""
        return amounts_in(self.machines, self.tree(flavor).domains[leaf].machines)

    def free(self, flavor: int, leaf: int) -> dict[str, int]:
        """What is free in a domain of the lowest level; below 0 where more is used than there is."""
        return less(self.capacity(flavor, leaf), self.used(flavor, self.tree(flavor).place(leaf)))

    def used(self, flavor: int, place: DomainPath) -> Amounts:
        """What is used at a place, as a flavor sees it."""
        return self._used.get((flavor, place), {})

    def path_of(self, flavor: int, place: DomainPath) -> DomainPath | None:
        """The whole path of a place where pods stand; None where it is in no domain.

        Pods stay on a node that is cordoned or goes to another flavor, and are where its labels say. Kueue knows no nodes but those that
        take pods, and where places are counted as there, it is the same.
        """
        tree = self.tree(flavor)
        if self.graph.settings.places_pods == "counted":
            return tree.path_of(place)
        machine = self.machines.get(place[0]) if len(place) == 1 else None
        return None if machine is None else node_path(tree.topology, place[0], machine)

    def keeps_off(self, flavor: int, leaf: int, pod_set: PodSet) -> KeptOff | None:
        """What keeps pods of a pod set off a domain, whatever is free there. Only nodes keep pods off, and no wider domain."""
        tree = self.tree(flavor)
        if not tree.topology.ends_at_nodes:
            return None
        tolerations: list[Tolerance] = [*pod_set.tolerations, *self.graph.flavors[flavor].tolerations]
        return kept_off(self.machines[tree.domains[leaf].machines[0]], pod_set, tolerations)

    # --- what is used ---------------------------------------------------------------------------------------------------

    def holdings(self, workload: Workload) -> Iterator[PodsHeld]:
        """What a running workload holds of places."""
        for given in workload.assignments:
            if given.places:
                found = (self._index[name] for name in sorted(set(given.flavors.values())) if name in self._index)
                pod_set = next(each for each in workload.fact.pod_sets if each.name == given.pod_set)
                for flavor in (flavor for flavor in found if self.trees[flavor] is not None):
                    yield from held(flavor, pod_set, given.places)

    def add(self, holdings: Iterable[PodsHeld], everywhere: bool = True) -> None:
        """Note that pods stand somewhere; `everywhere`: under each flavor of the same nodes, else under their own alone."""
        self._change(holdings, 1, everywhere)

    def remove(self, holdings: Iterable[PodsHeld], everywhere: bool = True) -> None:
        """Undo `add`."""
        self._change(holdings, -1, everywhere)

    def _change(self, holdings: Iterable[PodsHeld], sign: int, everywhere: bool) -> None:
        for each in holdings:
            for flavor in self._sharing(each.flavor) if everywhere else (each.flavor,):
                used = dict(self.used(flavor, each.place))
                for resource in sorted(each.each):
                    used[resource] = used.get(resource, 0) + sign * each.pods * each.each[resource]
                self._used[flavor, each.place] = used

    def _sharing(self, flavor: int) -> list[int]:
        """The flavors that see the same places: those of nodes all of them, any other one itself alone."""
        if not self.tree(flavor).topology.ends_at_nodes:
            return [flavor]
        return [other for other, tree in enumerate(self.trees) if tree is not None and tree.topology.ends_at_nodes]

    def see_the_same(self, flavor: int, other: int) -> bool:
        """Whether a place of one flavor is the place of that name of another one."""
        return other in self._sharing(flavor)

    def has_room(self, holdings: Iterable[PodsHeld]) -> bool:
        """Whether pods find room just where they are to stand, all of them together, whatever the flavor of each.

        Flavors of one topology that ends above nodes may have some nodes in common; what they use of a domain together is within what all
        their nodes there have.
        """
        wanted = list(holdings)
        for number, each in enumerate(wanted):
            leaf = self.tree(each.flavor).leaves.get(each.place)
            if leaf is None:
                return False
            others = [*wanted[:number], *wanted[number + 1 :]]
            free: Amounts = self.free(each.flavor, leaf)
            for other in others:
                if other.place == each.place and self.see_the_same(each.flavor, other.flavor):
                    free = less(free, other.each, other.pods)
            if fitting(each.each, free)[0] < each.pods or not self._fits_beside_siblings(each, leaf, others):
                return False
        return True

    def _fits_beside_siblings(self, each: PodsHeld, leaf: int, others: Iterable[PodsHeld]) -> bool:
        """Whether pods fit into what the flavors of their topology leave of a domain together, where it ends above nodes."""
        siblings = of_one_topology(self.trees, each.flavor)
        if len(siblings) == 1:
            return True
        names: set[str] = set()
        for flavor in siblings:
            at = self.tree(flavor).leaves.get(each.place)
            names |= set() if at is None else set(self.tree(flavor).domains[at].machines)
        there = amounts_in(self.machines, sorted(names))
        left: Amounts = {resource: there[resource] for resource in self.capacity(each.flavor, leaf)}
        for flavor in siblings:
            left = less(left, self.used(flavor, each.place))
        for other in others:
            if other.place == each.place and other.flavor in siblings:
                left = less(left, other.each, other.pods)
        return fitting(each.each, left)[0] >= each.pods

    def seem_free(self, holdings: Iterable[PodsHeld]) -> bool:
        """Whether places seem to have room for pods, each pod set looked at by itself and `pods` not counted, as Kueue looks again.

        Pods that ask for nothing fit nowhere by this look (Kueue: TASFlavorSnapshot.Fits, SliceRequests.CountIn), so that a workload with a
        leader that asks for nothing is never admitted there.
        """
        for each in holdings:
            leaf = self.tree(each.flavor).leaves.get(each.place)
            asked = {resource: each.each[resource] for resource in each.each if resource != POD_COUNT}
            if leaf is None or not asked or fitting(asked, self.free(each.flavor, leaf))[0] < each.pods:
                return False
        return True

    def copy(self) -> "PlaceBook":
        """The same places, whose use goes its own way."""
        return self.over(self.graph, self.machines)

    def over(self, graph: PolicyGraph, machines: Mapping[str, Machine]) -> "PlaceBook":
        """The same use under a policy of the same flavors, over what there is now."""
        other = PlaceBook(graph, machines)
        other._used = dict(self._used)  # what is used at a place is written anew, never changed
        return other


def held(flavor: int, pod_set: PodSet, places: Iterable[PlacedPods]) -> Iterator[PodsHeld]:
    """What pods of a pod set hold at places of a flavor."""
    for place in places:
        yield PodsHeld(flavor, place.domain, place.pods, each_pod(pod_set))
