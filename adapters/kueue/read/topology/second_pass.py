"""What Kueue knows of a workload that it looks at again for places: nodes that it has lost, and what checks ask of the nodes of its pods.

Source: Kueue, pkg/scheduler/flavorassigner/tas_flavorassigner.go and pkg/workload (OwnedBySinglePod).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .. import known_fields as known
from ..fields import Fields
from ..objects import KueueAdmission, KueuePodSet
from ..selectors import toleration

_OF_GROUP = "kueue.x-k8s.io/is-group-workload"
_ONE_POD = "counts for nothing: the workload is that of a single Pod, which moves nowhere, and Kueue leaves it its places"
_KEPT = "has updates of its pods by a check: they go on counting, should the workload wait again"


def lost_nodes(whole: Fields, status: Fields, admission: KueueAdmission) -> tuple[str, ...]:
    """The nodes that a workload which holds quota has lost, in their order: those on which pods of it stand."""
    rows = [row.known(known.UNHEALTHY_NODE).name("name") for row in status.subs("unhealthyNodes")]
    there = {place.domain[-1] for given in admission.assignments for place in given.places}
    for name in rows:
        if name not in there:
            status.found.note("status.unhealthyNodes", f"names {name}, on which it has no pods: that counts for nothing")
    lost = tuple(dict.fromkeys(name for name in rows if name in there))
    if lost and _is_of_single_pod(whole):
        status.found.note("status.unhealthyNodes", _ONE_POD)
        return ()
    return lost


def _is_of_single_pod(whole: Fields) -> bool:
    """Whether a workload is that of one Pod alone, and of no group of Pods."""
    metadata = whole.sub("metadata")
    owners = list(metadata.subs("ownerReferences"))
    if metadata.sub("annotations").text(_OF_GROUP) == "true" or len(owners) != 1:
        return False
    return (owners[0].text("kind"), owners[0].text("apiVersion")) == ("Pod", "v1")


def updated(pod_sets: tuple[KueuePodSet, ...], status: Fields, admission: KueueAdmission) -> tuple[KueuePodSet, ...]:
    """The pod sets with what ready checks ask of their nodes beside them, where they have places or are to get some."""
    placed = {given.pod_set for given in admission.assignments if given.places or given.delayed}
    found = {pods.name: pods for pods in pod_sets}
    for name, update in _updates(status):
        if name in placed and name in found:
            found[name] = _merged(found[name], update)
    if any(found[pods.name] is not pods for pods in pod_sets):
        status.found.note("status.admissionChecks", _KEPT)
    return tuple(found[pods.name] for pods in pod_sets)


def _updates(status: Fields) -> Iterator[tuple[str, Fields]]:
    """What ready checks ask for, by pod set."""
    for row in status.subs("admissionChecks"):
        if row.text("state") == "Ready":
            for update in row.subs("podSetUpdates"):
                yield update.known(known.POD_SET_UPDATE).text("name", "main"), update


def _merged(pods: KueuePodSet, update: Fields) -> KueuePodSet:
    """A pod set with an update; one that contradicts it is reported, as Kueue finds no places then."""
    labels: Mapping[str, str] = update.text_map("nodeSelector") if update.has("nodeSelector") else {}
    against = sorted(key for key in labels if pods.node_selector.get(key, labels[key]) != labels[key])
    if against:
        cause = f"asks for other nodes than pod set `{pods.name}`, by label {against[0]}: Kueue never finds places for it"
        update.wrong("nodeSelector", cause, "correct the update, or leave this workload out")
    more = tuple(toleration(row) for row in update.subs("tolerations"))
    if not labels and not more:
        return pods
    return replace(pods, node_selector={**pods.node_selector, **labels}, tolerations=(*pods.tolerations, *more))
