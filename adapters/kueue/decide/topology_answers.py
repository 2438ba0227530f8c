"""What answers to scenarios say of places: where pods stand, and what is used there, as Kueue tells both."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....engine.event_parts import POD_COUNT, Assignment, PlacedPods, PodSet
from ..import_.node_facts import domain_name, is_of_flavor
from ..import_.topologies import topologies_of_flavors
from ..read.objects import ClusterNode, KueueTopology, Objects
from ..read.quantity import kueue_amount

Uses = dict[str, int]
"""Amounts by resource, in gpol's smallest units."""


def places_answer(objects: Objects, assignments: Iterable[Assignment]) -> dict[str, Any]:
    """Where the pods of each pod set stand that has places: levels, and domains with their pods in order."""
    topologies = topologies_of_flavors(objects)
    found: dict[str, Any] = {}
    for given in assignments:
        topology = next((topologies[flavor] for flavor in sorted(set(given.flavors.values())) if flavor in topologies), None)
        if topology is not None and given.places:
            found[given.pod_set] = placement(topology, given.places)
    return found


def placement(topology: KueueTopology, places: Iterable[PlacedPods]) -> dict[str, Any]:
    """Pods in domains of a topology, as an answer has them."""
    return {"levels": list(topology.told), "domains": [[list(place.domain), place.pods] for place in places]}


def usage_answer(objects: Objects, held: Iterable[tuple[Sequence[PodSet], Sequence[Assignment]]]) -> dict[str, Any]:
    """What workloads use of each lowest domain of each flavor with a topology, as Kueue counts it; `held` are the pod sets and
    assignments of those that run.

    Flavors whose topologies end at nodes share them: there each flavor shows what all of them use. Any other shows its own. A flavor that
    no ClusterQueue has a quota of is not shown.
    """
    topologies = topologies_of_flavors(objects)
    used = _used(topologies, held)
    offered = {flavor.flavor for queue in objects.cluster_queues for group in queue.groups for flavor in group.flavors}
    found: dict[str, Any] = {}
    for flavor in (flavor for flavor in objects.flavors if flavor.name in offered.intersection(topologies)):
        topology = topologies[flavor.name]
        of_flavor = used["" if topology.ends_at_nodes else flavor.name]
        nodes = [node for node in objects.nodes if _takes_pods(node) and is_of_flavor(node, flavor, topology)]
        leaves = sorted({_leaf(node, topology) for node in nodes})
        found[flavor.name] = {leaf: _as_kueue(of_flavor.get(leaf, {})) for leaf in leaves}
    return found


def _used(
    topologies: Mapping[str, KueueTopology], held: Iterable[tuple[Sequence[PodSet], Sequence[Assignment]]]
) -> dict[str, dict[str, Uses]]:
    """What is used by flavor and domain; that on nodes stands by the flavor "", once for all flavors."""
    used: dict[str, dict[str, Uses]] = {"": {}, **{flavor: {} for flavor in topologies}}
    for pod_sets, assignments in held:
        asked = {pods.name: {**pods.requests, POD_COUNT: 1} for pods in pod_sets}
        for given in assignments:
            for flavor in sorted(set(given.flavors.values()).intersection(topologies)):
                of_flavor = used["" if topologies[flavor].ends_at_nodes else flavor]
                for place in given.places:
                    _add(of_flavor.setdefault(",".join(place.domain), {}), asked[given.pod_set], place.pods)
    return used


def _add(total: Uses, asked: Mapping[str, int], pods: int) -> None:
    for resource, amount in asked.items():
        total[resource] = total.get(resource, 0) + amount * pods


def _takes_pods(node: ClusterNode) -> bool:
    """Whether Kueue counts a node at all."""
    return node.ready and not node.cordoned


def _leaf(node: ClusterNode, topology: KueueTopology) -> str:
    """The lowest domain of a node, as Kueue names it."""
    return domain_name(node, (topology,)) if topology.ends_at_nodes else ",".join(node.labels[level] for level in topology.levels)


def _as_kueue(uses: Uses) -> Uses:
    return {resource: kueue_amount(uses[resource], resource) for resource in sorted(uses)}
