"""Pods that stand on nodes: of which PodGroup they are, and what room they take.

Source: Volcano, getJobID in pkg/scheduler/api/job_info.go.
"""

from ....kueue.read.fields import Fields
from ....kueue.read.pods import requests
from .network_objects import StandingPod

_GROUP_NAME = "scheduling.k8s.io/group-name"
"""The annotation of a pod that names its PodGroup."""

_ENDED = ("Failed", "Succeeded")


def standing_pod(namespace: str, name: str, file: str, whole: Fields) -> StandingPod | None:
    """A Pod; None for one that has ended, or is on no node yet."""
    metadata, spec = whole.sub("metadata"), whole.sub("spec")
    node = spec.optional_name("nodeName")
    if not node or whole.sub("status").text("phase") in _ENDED:
        return None
    group = metadata.sub("annotations").text(_GROUP_NAME)
    return StandingPod(f"{namespace}/{name}", file, f"{namespace}/{group}" if group else "", node, requests(spec))
