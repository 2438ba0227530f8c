"""Nodes, and the pods that take room there beside those that Kueue places.

Kueue tells the two apart by the annotations of a pod: one that asks for a topology was placed, and is charged to its workload. Any other
pod on a node takes what it asks for from what is allocatable there, and its own place, until it has ended.
Source: Kueue, pkg/controller/tas/pod_usage_controller.go and pkg/util/tas/tas.go.
"""

from typing import cast

from .....engine.event_parts import POD_COUNT, Taint
from ..fields import Fields, shortened
from ..objects import ClusterNode, OtherPod
from ..pods import requests
from ..quantity import amount
from ..selectors import TaintEffect, conditions, taint

_OF_PLACED = (
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-unconstrained-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
    "kueue.x-k8s.io/podset-slice-required-topology-constraints",
)
"""Annotations of pods that Kueue has placed, each of them enough."""

_ENDED = ("Failed", "Succeeded")


def node(name: str, file: str, whole: Fields) -> ClusterNode:
    """A Node; one that does not say that it is ready is not."""
    metadata, spec = whole.sub("metadata"), whole.sub("spec")
    ready = [each.text("status") for each in conditions(whole) if each.text("type") == "Ready"]
    return ClusterNode(
        name=name,
        file=file,
        labels=metadata.text_map("labels") if metadata.has("labels") else {},
        taints=tuple(dict.fromkeys(_taint(row) for row in spec.subs("taints"))),
        cordoned=spec.flag("unschedulable", False),
        ready=ready[:1] == ["True"],
        allocatable=_allocatable(whole.sub("status")),
    )


def _taint(row: Fields) -> Taint:
    read = taint(row)
    return Taint(key=read.key or "-", value=read.value, effect=cast(TaintEffect, read.effect))


def _allocatable(status: Fields) -> dict[str, int]:
    """What pods may use by resource, in gpol's smallest unit; no pods where the node does not say how many there may be."""
    found = {POD_COUNT: 0}
    for resource, quantity in status.requests("allocatable").items():
        if quantity < 0:
            status.wrong(f"allocatable.{shortened(resource)}", "is below 0", "write 0 or more")
        found[resource] = max(0, amount(quantity, resource))
    return {resource: found[resource] for resource in sorted(found)}


def other_pod(name: str, file: str, whole: Fields) -> OtherPod | None:
    """A Pod that takes room on its node; None for one that was placed, has ended, or is on no node yet."""
    metadata, spec = whole.sub("metadata"), whole.sub("spec")
    place = spec.optional_name("nodeName")
    if not place or whole.sub("status").text("phase") in _ENDED:
        return None
    if any(metadata.sub("annotations").data.get(annotation) is not None for annotation in _OF_PLACED):
        return None
    return OtherPod(name, file, place, requests(spec))
