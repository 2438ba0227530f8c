"""Nodes, and pods that take room there."""

from typing import Any

import pytest
from gpol.adapters.kueue.read.objects import ClusterNode
from gpol.engine.event_parts import Taint

from ...conftest import Json, Maker

READY = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]


def node(kueue: Maker, spec: Json | None = None, **status: Any) -> Json:
    """A node that is ready, and that has 4 cpu."""
    data = kueue.obj("Node", "n1", spec, labels={"rack": "r1"}, status={"conditions": READY, "allocatable": {"cpu": "4"}, **status})
    return {**data, "apiVersion": "v1"}


def pod(kueue: Maker, spec: Json | None = None, phase: str = "Running", **metadata: Any) -> Json:
    """A pod on that node that asks for 1 cpu."""
    containers = [{"resources": {"requests": {"cpu": "1"}}}, {"resources": {"limits": {"memory": "1Ki"}}}]
    data = kueue.obj("Pod", "p", {"nodeName": "n1", "containers": containers, **(spec or {})}, namespace="ns", status={"phase": phase})
    return {**data, "apiVersion": "v1", "metadata": {**data["metadata"], **metadata}}


def read(kueue: Maker, data: Json) -> ClusterNode:
    """A node as it is read."""
    return kueue.load(data).objects.nodes[0]


def test_what_a_node_has(kueue: Maker) -> None:
    """Labels, taints, and what is allocatable in smallest units; no pods where it does not say how many."""
    taints = [
        {"key": "gpu", "value": "h100", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
        {"key": "x", "effect": "NoExecute"},
    ]
    made = read(kueue, node(kueue, {"taints": taints}, allocatable={"cpu": "3920m", "memory": "1Ki", "nvidia.com/gpu": "8", "pods": "110"}))
    assert (made.name, made.labels, made.ready, made.cordoned) == ("n1", {"rack": "r1"}, True, False)
    assert made.allocatable == {"cpu": 3920, "memory": 1024, "nvidia.com/gpu": 8, "pods": 110}
    assert made.taints == (Taint(key="gpu", value="h100", effect="NoSchedule"), Taint(key="x", effect="NoExecute"))
    assert read(kueue, node(kueue)).allocatable == {"cpu": 4000, "pods": 0}


@pytest.mark.parametrize(("conditions", "ready"), [(READY, True), ([], False), ([{"type": "Ready", "status": "Unknown"}], False)])
def test_which_nodes_are_ready(conditions: list[Json], ready: bool, kueue: Maker) -> None:
    """Those that say so in so many words; one of which nothing is known is not."""
    assert read(kueue, node(kueue, conditions=conditions)).ready is ready


def test_a_cordoned_node_is_told(kueue: Maker) -> None:
    """Its field is called `unschedulable`."""
    assert read(kueue, node(kueue, {"unschedulable": True})).cordoned


def test_a_node_that_has_less_than_nothing_is_refused(kueue: Maker) -> None:
    """No node says that."""
    said = kueue.problems(node(kueue, allocatable={"cpu": "-1"}))
    assert said == ["Node n1: status.allocatable.cpu: is below 0; write 0 or more"]


def test_a_pod_that_takes_room(kueue: Maker) -> None:
    """What its containers ask for, on the node on which it runs."""
    (made,) = kueue.load(pod(kueue)).objects.pods
    assert (made.name, made.node, made.requests) == ("ns/p", "n1", {"cpu": 1000, "memory": 1024})


@pytest.mark.parametrize(
    "annotation",
    ["required-topology", "preferred-topology", "unconstrained-topology", "slice-required-topology", "slice-required-topology-constraints"],
)
def test_a_pod_that_kueue_placed_is_charged_elsewhere(annotation: str, kueue: Maker) -> None:
    """Each annotation that asks for a topology is enough, whatever it says; the size of slices alone is none of them."""
    assert kueue.load(pod(kueue, annotations={f"kueue.x-k8s.io/podset-{annotation}": ""})).objects.pods == []
    assert kueue.load(pod(kueue, annotations={"kueue.x-k8s.io/podset-slice-size": "2"})).objects.pods != []


@pytest.mark.parametrize(("spec", "phase"), [({"nodeName": ""}, "Pending"), ({}, "Succeeded"), ({}, "Failed")])
def test_a_pod_that_takes_no_room(spec: Json, phase: str, kueue: Maker) -> None:
    """One that is on no node yet, and one that has ended."""
    assert kueue.load(pod(kueue, spec, phase)).objects.pods == []
