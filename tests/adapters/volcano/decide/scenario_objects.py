"""Small scenarios for Volcano's passes, as data."""

from decimal import Decimal
from typing import Any

Object = dict[str, Any]


def node(name: str, cpu: str | Decimal = "8", memory: str = "64Gi", **more: Any) -> Object:
    """A node of 8 CPUs, if nothing else is said."""
    return {"metadata": {"name": name}, "spec": more, "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "20"}}}


def volcano_queue(name: str, **spec: Any) -> Object:
    """An open queue."""
    return {"metadata": {"name": name}, "spec": spec, "status": {"state": "Open"}}


def pod_group(name: str, queue: str = "q", phase: str = "Inqueue", **spec: Any) -> Object:
    """A PodGroup in namespace `n`."""
    return {"metadata": {"name": name, "namespace": "n"}, "spec": {"queue": queue, **spec}, "status": {"phase": phase}}


def pod(name: str, group: str, cpu: str = "1", on: str = "", **spec: Any) -> Object:
    """A pod of a PodGroup: it runs where a node is given, and waits otherwise."""
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
    return {
        "metadata": {"name": name, "namespace": "n", "uid": f"n-{name}", "annotations": {"scheduling.k8s.io/group-name": group}},
        "spec": {"containers": containers, **({"nodeName": on} if on else {}), **spec},
        "status": {"phase": "Running" if on else "Pending"},
    }


def scenario(nodes: list[Object], queues: list[Object], groups: list[Object], pods: list[Object], **more: Any) -> Object:
    """A scenario with gangs and shares by weight, if no other tiers are given."""
    plugins = [{"name": name} for name in ("priority", "gang", "conformance", "predicates", "proportion")]
    case = {"Nodes": nodes, "Queues": queues, "PodGroups": groups, "Pods": pods}
    return {"name": "s", "actions": ["enqueue", "allocate"], "tiers": [{"plugins": plugins}], "case": case, **more}
