"""Topologies: as items of a policy, which flavors place their pods in one, and what of it gpol decides otherwise than Kueue.

A flavor whose Topology is not in the dump is one without a topology here, and the ClusterQueues that name it are held, as in Kueue.
"""

from collections.abc import Iterable, Iterator, Mapping

from ....dsl.syntax import tree
from ....engine.event_parts import PlacedPods, Placement
from ..problems import Findings
from ..read.objects import HOSTNAME, CheckRule, ClusterQueue, KueueTopology, Objects, PodSetAssignment, ResourceFlavor
from .tree_shorthands import name

MULTI_KUEUE = "kueue.x-k8s.io/multikueue"
"""The controller of checks that send workloads to other clusters. Places are found there."""

PROVISIONING = "kueue.x-k8s.io/provisioning-request"
"""The controller of checks that make machines for a workload. Places are found once these are there."""


def topologies_of_flavors(objects: Objects) -> dict[str, KueueTopology]:
    """The topology of each flavor that places its pods in one that is there, in order of name."""
    known = {topology.name: topology for topology in objects.topologies}
    placing = sorted((flavor.name, flavor.topology) for flavor in objects.flavors if flavor.topology in known)
    return {flavor: known[topology] for flavor, topology in placing}


# --- in the policy


def topology_items(objects: Objects) -> Iterator[tree.TopologyItem]:
    """The topologies that flavors name, in order of name; each level is called as its label."""
    used = {topology.name: topology for topology in topologies_of_flavors(objects).values()}
    for topology in (used[key] for key in sorted(used)):
        yield tree.TopologyItem(name(topology.name), tuple(map(_level, topology.levels)))


def _level(label: str) -> tree.LevelStatement:
    return tree.LevelStatement(name(label), None if label == HOSTNAME else label)


def placed_in(flavor: ResourceFlavor, objects: Objects) -> tuple[tree.PlacedIn, ...]:
    """What a flavor says of its topology; nothing where it has none that is there."""
    has_one = any(topology.name == flavor.topology for topology in objects.topologies)
    return (tree.PlacedIn(name(flavor.topology)),) if has_one else ()


def lacking(queue: ClusterQueue, objects: Objects) -> Iterator[tuple[str, str]]:
    """The flavors of a ClusterQueue whose topology is not there, each with that topology: Kueue admits nothing in it then."""
    there = {topology.name for topology in objects.topologies}
    wanted = {flavor.name: flavor.topology for flavor in objects.flavors if flavor.topology}
    for flavor in sorted(_flavors(queue)):
        if wanted.get(flavor, "") not in {"", *there}:
            yield flavor, wanted[flavor]


def _flavors(queue: ClusterQueue) -> set[str]:
    return {flavor.flavor for group in queue.groups for flavor in group.flavors}


# --- what is decided otherwise


def check_topologies(objects: Objects, in_cycles: bool, found: Findings) -> None:
    """Report what Kueue places otherwise, or a policy cannot say; topologies that no flavor names are noted."""
    used = {topology.name for topology in topologies_of_flavors(objects).values()}
    for topology in objects.topologies:
        found.begin("Topology", topology.name, topology.file)
        if topology.name not in used:
            found.note("", "is left out: no ResourceFlavor names it")
        elif not in_cycles and not topology.ends_at_nodes:
            cause = f"ends above {HOSTNAME}, so that pods get no nodes, which a policy that decides at once cannot say"
            found.problem("spec.levels", cause, f"import it with a profile of Kueue, or let its last level be {HOSTNAME}")
    known = {topology.name for topology in objects.topologies}
    for flavor in (flavor for flavor in objects.flavors if flavor.topology not in {"", *known}):
        found.begin("ResourceFlavor", flavor.name, flavor.file)
        found.note("spec.topologyName", "is no Topology of the dump: nothing gets places on it")
    if not in_cycles:
        _check_labels(objects, found)
    for queue in objects.cluster_queues:
        found.begin("ClusterQueue", queue.name, queue.file)
        _check_delays(queue, objects, in_cycles, found)


def _check_labels(objects: Objects, found: Findings) -> None:
    """Report flavors whose labels do not say which nodes are theirs alone: what is decided at once goes by what the nodes of each have."""
    placing = topologies_of_flavors(objects)
    flavors = [flavor for flavor in objects.flavors if flavor.name in placing]
    for flavor in flavors:
        found.begin("ResourceFlavor", flavor.name, flavor.file)
        narrower = [other.name for other in flavors if other is not flavor and set(flavor.labels) <= set(other.labels)]
        if not flavor.labels:
            cause = "has none, so that nothing says which nodes are of it, and a policy that decides at once goes by what these have"
            found.problem("spec.nodeLabels", cause, "add a label that its nodes have, or import it with a profile of Kueue")
        elif narrower:
            cause = f"are labels of all nodes of {narrower[0]}, too, and in a policy that decides at once a node is of one flavor"
            found.problem("spec.nodeLabels", cause, "add a label that tells the two apart, or import it with a profile of Kueue")


def _check_delays(queue: ClusterQueue, objects: Objects, in_cycles: bool, found: Findings) -> None:
    """Report checks of a ClusterQueue because of which Kueue finds places after it has given quota, where a policy cannot say that."""
    controllers = {check.name: check.controller for check in objects.checks if check.active}
    for rule in queue.checks:
        controller = controllers.get(rule.check)
        concerned = _concerned(queue, CheckRule(rule.check, ()) if controller == MULTI_KUEUE else rule, objects)
        if concerned and (controller == MULTI_KUEUE or (controller == PROVISIONING and not in_cycles)):
            cause = f"has {rule.check} on {concerned[0]}, which has a topology: Kueue finds places after that check"
            where = "in another cluster" if controller == MULTI_KUEUE else "and a policy that decides at once with the quota"
            found.problem("spec.admissionChecksStrategy", f"{cause}, {where}", "take the check or the topology out to import the rest")


def _concerned(queue: ClusterQueue, rule: CheckRule, objects: Objects) -> list[str]:
    """The flavors of a ClusterQueue with a topology to which a check applies, in order."""
    placing = {flavor.name for flavor in objects.flavors if flavor.topology}
    return sorted(flavor for flavor in _flavors(queue) & placing if not rule.flavors or flavor in rule.flavors)


def gives_nodes(queue: ClusterQueue, rule: CheckRule, objects: Objects) -> bool:
    """Whether a check of a ClusterQueue makes the nodes on which pods then get places."""
    provides = any(check.name == rule.check and check.controller == PROVISIONING for check in objects.checks)
    return provides and bool(_concerned(queue, rule, objects))


# --- places


def places_that_count(given: PodSetAssignment, topologies: Mapping[str, KueueTopology], found: Findings) -> tuple[PlacedPods, ...]:
    """Where pods stand in the topology of their flavor; nowhere, as in Kueue, where they have places in another one. That is noted."""
    if not given.places:
        return ()
    of_flavors = [topologies[flavor] for flavor in sorted(set(given.flavors.values())) if flavor in topologies]
    if not of_flavors:
        found.note("status.admission.podSetAssignments", "has places on a flavor without a topology: they take no room")
        return ()
    if all(topology.told != given.levels for topology in of_flavors):
        found.note(
            "status.admission.podSetAssignments", "has places in other levels than its topology has now: as in Kueue, they take no room"
        )
        return ()
    return given.places


def has_all_places(pods: int, places: Iterable[PlacedPods], done: int) -> bool:
    """Whether places are for so many pods; `done` others are at their end, and may keep theirs, as in Kueue."""
    return pods <= sum(place.pods for place in places) <= pods + done


def one_place_each(placements: tuple[Placement, ...], done: Mapping[str, int]) -> tuple[Placement, ...]:
    """Placements as a policy that decides at once takes them: with one place for each pod, or with none at all.

    Pods that are `done`, by pod set, and keep their places are counted, and charged nothing. Where a pod set has places for another
    number of pods, nobody knows where the pods of its workload stand together.
    """
    placed = [given for given in placements if given.places]
    if not all(has_all_places(given.count, given.places, done.get(given.pod_set, 0)) for given in placed):
        return tuple(given.model_copy(update={"places": ()}) for given in placements)
    standing = {given.pod_set: sum(place.pods for place in given.places) for given in placed}
    return tuple(given.model_copy(update={"count": standing.get(given.pod_set, given.count)}) for given in placements)


def are_to_come(given: PodSetAssignment, topologies: Mapping[str, KueueTopology], found: Findings) -> bool:
    """Whether pods are to get places later; on a flavor without a topology they get none, which is noted."""
    if given.delayed and not any(flavor in topologies for flavor in sorted(set(given.flavors.values()))):
        found.note("status.admission.podSetAssignments", "waits for places on a flavor without a topology: there it gets none")
        return False
    return given.delayed
