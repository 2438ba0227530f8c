"""Reservations whose pods cannot stand as the objects say: in places that are not there, or more of them than there is room for.

Kueue holds such a reservation, and so does the import: what a place does not have is not free there. It is noted, as whoever reads the
decisions would look for the room. So are pods that are not as many as their places say: nobody knows where the others stand.
"""

from collections.abc import Mapping, Sequence

from ....engine.event_parts import POD_COUNT
from ....engine.facts import NodeAdded
from ..problems import Findings
from ..read.objects import KueueTopology, Objects, PodSetAssignment, ResourceFlavor
from .topologies import topologies_of_flavors

_FIELD = "status.admission.podSetAssignments"

PlaceThere = tuple[str, tuple[str, ...]]
"""A topology that ends at nodes, by its name, or else a flavor, as each sees its own use alone above nodes; and a place there."""


def check_places(objects: Objects, nodes: Sequence[NodeAdded], found: Findings) -> None:
    """Report the places of workloads that hold quota, as far as they count; `nodes` are those that are imported, by the names of places."""
    topologies = topologies_of_flavors(objects)
    having = _having(objects, topologies, nodes)
    used: dict[PlaceThere, dict[str, int]] = {}
    for workload in objects.workloads:
        if workload.admission is None or workload.finished:
            continue
        found.begin("Workload", workload.key, workload.file)
        asked = {pods.name: pods.requests for pods in workload.pod_sets}
        for given in workload.admission.assignments:
            flavor = _flavor_of(given, topologies)
            if flavor is None:
                continue
            stand = sum(place.pods for place in given.places)
            done = workload.reclaimable.get(given.pod_set, 0)  # pods that are done keep their places
            if not given.count <= stand <= given.count + done:
                found.note(_FIELD, f"has places for {stand} pods of {given.pod_set}, and counts {given.count}: they stand where it says")
            for place in given.places:
                _note_place(
                    (_space(flavor, topologies[flavor]), place.domain), place.pods, asked.get(given.pod_set, {}), having, used, found
                )


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
    found: Findings,
) -> None:
    """Note a place that is not there, or in which pods use more than there is, once these are there, too."""
    name = "/".join(at[1])
    if at not in having:
        found.note(_FIELD, f"has pods on {name}, where the dump has no node that is ready: they take no room, and go on")
        return
    there, short = used.setdefault(at, {}), []
    for resource, amount in sorted({**asked, POD_COUNT: 1}.items()):
        there[resource] = there.get(resource, 0) + amount * pods
        if amount and there[resource] > having[at].get(resource, 0):
            short.append(resource)
    if short:
        found.note(
            _FIELD, f"has pods on {name}, and with them more {' and '.join(short)} is used there than there is: nothing of it is free"
        )
