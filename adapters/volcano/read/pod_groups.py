"""PodGroups: what their objects say."""

from typing import cast

from ...kueue.read.fields import Fields
from ...kueue.read.selectors import conditions
from ..queue_names import DEFAULT_QUEUE
from . import volcano_fields as known
from .resource_lists import asked
from .topology.network_topologies import network_topology, sub_groups
from .volcano_objects import PHASES, PodGroup, PodGroupPhase

MOST_PODS = 1_000_000
"""Pods of a gang."""

_NO_PODS = "is 0 or missing: it counts as a gang of one pod"
_TASKS = "is left out: a PodGroup says what all its pods ask for together, and not what those of each task do"
_TOPOLOGY = "is left out: it says on which nodes the pods stand, and the dump has no HyperNodes"
_SUB_GROUPS = "is left out: the gang counts as a whole"
_NOT_PREEMPTABLE = "is left out: in Volcano its pods may not be evicted if they say so themselves; here they may be"
_ANNOTATION = "is left out: plugins of Volcano go by it, and gpol does not"
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
"""What Go reads as true."""


def pod_group(namespace: str, name: str, file: str, whole: Fields, places: bool = False) -> PodGroup:
    """A PodGroup of v1beta1; with `places` also how near one another its pods are to stand."""
    metadata = whole.sub("metadata")
    spec, status = whole.sub("spec").known(known.POD_GROUP), whole.sub("status").known(known.POD_GROUP_STATUS)
    phase = cast(PodGroupPhase, status.one_of("phase", PHASES, "Pending"))
    labels = metadata.text_map("labels") if metadata.has("labels") else {}
    if phase != "Completed":
        _note_unused(spec, metadata.sub("annotations"), labels, places)
    return PodGroup(
        namespace=namespace,
        name=name,
        file=file,
        uid=metadata.text("uid"),
        created=metadata.time("creationTimestamp"),
        kind=next((owner.text("kind") for owner in metadata.subs("ownerReferences")), ""),
        labels=labels,
        queue=spec.optional_name("queue") or DEFAULT_QUEUE,
        priority_class=spec.optional_name("priorityClassName"),
        min_member=_pods(spec),
        min_resources=asked(spec, "minResources") if spec.data.get("minResources") else None,
        phase=phase,
        running=status.whole("running", 0, 0),
        scheduled=_scheduled(whole),
        topology=network_topology(spec) if places else None,
        sub_groups=sub_groups(spec) if places else (),
    )


def _pods(spec: Fields) -> int:
    pods = spec.whole("minMember", 0, 0, MOST_PODS)
    if not pods:
        spec.found.note("spec.minMember", _NO_PODS)
    return pods or 1


def _scheduled(whole: Fields) -> int | None:
    """When the gang last got what it needs."""
    for condition in conditions(whole):
        if condition.text("type") == "Scheduled" and condition.text("status") == "True":
            return condition.time("lastTransitionTime")
    return None


def _note_unused(spec: Fields, annotations: Fields, labels: dict[str, str], places: bool) -> None:
    """Say which fields count in Volcano and not here."""
    unused = [("minTaskMember", _TASKS), *(() if places else (("networkTopology", _TOPOLOGY), ("subGroupPolicy", _SUB_GROUPS)))]
    for field, text in unused:
        if spec.data.get(field) not in (None, [], {}):
            spec.found.note(f"spec.{field}", text)
    for annotation in known.POD_GROUP_ANNOTATIONS:
        if annotations.has(annotation):
            spec.found.note(f"metadata.annotations.{annotation}", _ANNOTATION)
    for place, said in (("annotations", annotations.data), ("labels", labels)):
        if known.PREEMPTABLE in said:
            if said[known.PREEMPTABLE] not in _TRUE:
                spec.found.note(f"metadata.{place}.{known.PREEMPTABLE}", _NOT_PREEMPTABLE)
            break  # Volcano looks at the label only where there is no annotation
