"""Objects of a cluster with Kueue, as the tests of import, export and decide hand them in."""

import json
from typing import Any

import yaml

Object = dict[str, Any]
API = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
NOW = "2026-03-01T00:00:00Z"


def made(kind: str, name: str, spec: Object | None = None, namespace: str = "") -> Object:
    """An object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, **({"spec": spec} if spec is not None else {})}


def queue(name: str = "q", gpu: Any = "8", **spec: Any) -> Object:
    """A ClusterQueue that owns so many GPUs."""
    flavor = {"name": "f", "resources": [{"name": GPU, "nominalQuota": gpu}]}
    return made(
        "ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [GPU], "flavors": [flavor]}], **spec}
    )


def workload(name: str, gpus: int, runs: bool = False) -> Object:
    """A workload of one pod, which waits or runs."""
    pod = {"containers": [{"name": "c", "resources": {"requests": {GPU: str(gpus)}}}]}
    whole = made("Workload", name, {"queueName": "l", "podSets": [{"name": "main", "count": 1, "template": {"spec": pod}}]}, "n")
    whole["metadata"]["creationTimestamp"] = NOW
    if runs:
        given = {"name": "main", "count": 1, "flavors": {GPU: "f"}, "resourceUsage": {GPU: str(gpus)}}
        reserved = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "lastTransitionTime": NOW}
        whole["status"] = {"admission": {"clusterQueue": "q", "podSetAssignments": [given]}, "conditions": [reserved]}
    return whole


FLAVOR, LOCAL = made("ResourceFlavor", "f"), made("LocalQueue", "l", {"clusterQueue": "q"}, "n")


def listed(*objects: Object) -> bytes:
    """A List in JSON."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()


GOOD = listed(FLAVOR, queue(), LOCAL, workload("a", 2))
GOOD_YAML = yaml.safe_dump(json.loads(GOOD)).encode()
