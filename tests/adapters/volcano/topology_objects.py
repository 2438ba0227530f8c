"""HyperNodes, nodes and pods, short to write."""

from typing import Any

from .volcano_objects import GPU, Json


def by_name(kind: str, *names: str) -> list[Json]:
    """Members by their names."""
    return [member(kind, exactMatch={"name": name}) for name in names]


def member(kind: str, **selector: Any) -> Json:
    """A member of a HyperNode."""
    return {"type": kind, "selector": selector}


def hyper_node(name: str, tier: int, *members: Json, **spec: Any) -> Json:
    """A HyperNode."""
    said = {"tier": tier, "members": list(members), **spec}
    return {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": {"name": name}, "spec": said}


def node(name: str, gpus: int = 8, ready: str = "True", spec: Json | None = None, **labels: str) -> Json:
    """A Node with 8 GPUs and 64 cpu."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec or {},
        "status": {
            "allocatable": {GPU: str(gpus), "cpu": "64", "pods": "110"},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def pod(name: str, node: str, gpus: int, group: str = "", phase: str = "Running") -> Json:
    """A pod in namespace `ns` on a node, of a PodGroup."""
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    containers = [{"name": "c", "resources": {"requests": {GPU: str(gpus)}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "annotations": annotations},
        "spec": {"nodeName": node, "containers": containers} if node else {"containers": containers},
        "status": {"phase": phase},
    }


def fabric() -> list[Json]:
    """Two spines of two leaves with two nodes each: `a1-0` is in leaf `a1`, and that in spine `a`. Tier 2 is called spine."""
    leaves = [(spine, f"{spine}{leaf}") for spine in "ab" for leaf in "12"]
    return [
        *(hyper_node(spine, 2, *by_name("HyperNode", f"{spine}1", f"{spine}2"), tierName="spine") for spine in "ab"),
        *(hyper_node(leaf, 1, *by_name("Node", f"{leaf}-0", f"{leaf}-1")) for _, leaf in leaves),
        *(node(f"{leaf}-{number}") for _, leaf in leaves for number in (0, 1)),
    ]
