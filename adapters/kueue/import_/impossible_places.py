"""Reservations whose pods cannot stand as the objects say: in places that are not there, or more of them than there is room for.

Kueue holds such a reservation, and so does the import: what a place does not have is not free there. It is noted, as whoever reads the
decisions would look for the room. So are pods that are not as many as their places say: nobody knows where the others stand. A policy that
decides at once gives every pod one place, so there the workload is imported without any; and what stands on a node that is not there has
lost it.
"""

from collections.abc import Iterator, Mapping, Sequence

from ....engine.event_parts import POD_COUNT
from ....engine.facts import NodeAdded
from ..problems import Findings
from ..read.objects import KueueAdmission, KueueTopology, KueueWorkload, Objects, PodSetAssignment, ResourceFlavor
from .topologies import has_all_places, topologies_of_flavors

_FIELD = "status.admission.podSetAssignments"

PlaceThere = tuple[str, tuple[str, ...]]
"""A topology that ends at nodes, by its name, or else a flavor, as each sees its own use alone above nodes; and a place there."""


def check_places(objects: Objects, nodes: Sequence[NodeAdded], in_cycles: bool, found: Findings) -> None:
    """Report the places of workloads that hold quota, as far as they count; `nodes` are those that are imported, by the names of places."""
    topologies = topologies_of_flavors(objects)
    having = _having(objects, topologies, nodes)
    used: dict[PlaceThere, dict[str, int]] = {}
    for workload in objects.workloads:
        admission = workload.admission
        if admission is None or workload.finished or (admission.evicting and not in_cycles):  # at once, that one waits again already
            continue
        found.begin("Workload", workload.key, workload.file)
        asked = {pods.name: pods.requests for pods in workload.pod_sets}
        if not _note_numbers(workload, admission, topologies, in_cycles, found) and not in_cycles:
            continue
        for given, flavor in _placed(admission, topologies):
            for place in given.places:
                at = _space(flavor, topologies[flavor]), place.domain
                _note_place(at, place.pods, asked.get(given.pod_set, {}), having, used, in_cycles, found)


def _placed(admission: KueueAdmission, topologies: Mapping[str, KueueTopology]) -> Iterator[tuple[PodSetAssignment, str]]:
    """The assignments whose places count, each with the flavor in whose topology they do."""
    for given in admission.assignments:
        flavor = _flavor_of(given, topologies)
        if flavor is not None:
            yield given, flavor


def _note_numbers(
    workload: KueueWorkload, admission: KueueAdmission, topologies: Mapping[str, KueueTopology], in_cycles: bool, found: Findings
) -> bool:
    """Note places for another number of pods; returns whether all are for the right one."""
    are_right = True
    for given, _ in _placed(admission, topologies):
        if not has_all_places(given.count, given.places, workload.reclaimable.get(given.pod_set, 0)):
            are_right = False
            stand = sum(place.pods for place in given.places)
            cause = f"lists places for {_pods(stand)} of {given.pod_set}, but counts {_pods(given.count)}"
            left_out = "the workload is imported without places, so gpol does not know where its pods are: here each pod needs one place"
            found.note(_FIELD, f"{cause}: {'only the listed places are used' if in_cycles else left_out}")
    return are_right


def _pods(number: int) -> str:
    return f"{number} {'pod' if number == 1 else 'pods'}"


def _flavor_of(given: PodSetAssignment, topologies: Mapping[str, KueueTopology]) -> str | None:
    """The flavor in whose topology the places of an assignment count; None where it has none that do."""
    of_flavors = [flavor for flavor in sorted(set(given.flavors.values())) if flavor in topologies]
    return next((flavor for flavor in of_flavors if given.places and topologies[flavor].told == given.levels), None)


def _space(flavor: str, topology: KueueTopology) -> str:
    return f"topology {topology.name}" if topology.ends_at_nodes else f"flavor {flavor}"


def _having(objects: Objects, topologies: Mapping[str, KueueTopology], nodes: Sequence[NodeAdded]) -> dict[PlaceThere, dict[str, int]]:
    """What there is in each place: what its nodes have together."""
    having: dict[PlaceThere, dict[str, int]] = {}
    for flavor in (flavor for flavor in objects.flavors if flavor.name in topologies):
        topology = topologies[flavor.name]
        for node in nodes:
            if _is_of(node, flavor) and all(level in node.labels for level in topology.levels):
                place = (node.node,) if topology.ends_at_nodes else tuple(node.labels[level] for level in topology.levels)
                there = having.setdefault((_space(flavor.name, topology), place), {})
                if topology.ends_at_nodes:
                    there.update(node.capacity)
                else:
                    for resource, amount in node.capacity.items():
                        there[resource] = there.get(resource, 0) + amount
    return having


def _is_of(node: NodeAdded, flavor: ResourceFlavor) -> bool:
    return all(node.labels.get(key) == value for key, value in flavor.labels)


def _note_place(
    at: PlaceThere,
    pods: int,
    asked: Mapping[str, int],
    having: Mapping[PlaceThere, dict[str, int]],
    used: dict[PlaceThere, dict[str, int]],
    in_cycles: bool,
    found: Findings,
) -> None:
    """Note a place that is not there, or in which pods use more than there is, once these are there, too."""
    name = "/".join(at[1])
    if at not in having:
        stay = "they take no room, and go on"
        lost = f"gpol treats {name} as lost: these pods get other places, or the workload is evicted"
        found.note(_FIELD, f"has pods on {name}, but the dump has no ready node there: {stay if in_cycles else lost}")
        return
    there, short = used.setdefault(at, {}), []
    for resource, amount in sorted({**asked, POD_COUNT: 1}.items()):
        there[resource] = there.get(resource, 0) + amount * pods
        if amount and there[resource] > having[at].get(resource, 0):
            short.append(resource)
    if short:
        found.note(_FIELD, f"has pods on {name}, and all pods there use more {' and '.join(short)} than there is: none of it is free")
