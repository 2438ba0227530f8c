"""Nodes as facts: what is free there for those that Kueue places."""

from typing import Any

from gpol.engine.event_parts import Taint
from gpol.engine.facts import NodeAdded

from ..conftest import Json, Maker

HOST = "kubernetes.io/hostname"
READY = [{"type": "Ready", "status": "True"}]


def cluster(kueue: Maker, *labels: str) -> tuple[Json, ...]:
    """A ClusterQueue with a flavor that places pods on nodes of pool `a`, by these labels."""
    topology = kueue.obj("Topology", "dc", {"levels": [{"nodeLabel": label} for label in labels or ("rack", HOST)]})
    return kueue.queue(), kueue.flavor(topologyName="dc", nodeLabels={"pool": "a"}), topology


def node(kueue: Maker, name: str, spec: Json | None = None, allocatable: Json | None = None, ready: bool = True, **labels: str) -> Json:
    """A node of pool `a` with 4 cpu and room for 10 pods."""
    labels = {HOST: f"host-{name}", "rack": "r1", "pool": "a", **labels}
    status = {"allocatable": allocatable or {"cpu": "4", "pods": "10"}, "conditions": READY if ready else []}
    return kueue.obj("Node", name, spec, labels=labels, status=status) | {"apiVersion": "v1"}


def pod(kueue: Maker, name: str, on: str, **requests: str) -> Json:
    """A pod on a node."""
    spec = {"nodeName": on, "containers": [{"resources": {"requests": requests}}]}
    return kueue.obj("Pod", name, spec, namespace="ns") | {"apiVersion": "v1"}


def nodes(kueue: Maker, *objects: Json, **options: Any) -> list[NodeAdded]:
    """The facts about nodes, which come first."""
    made = kueue.load(*objects, **options).facts
    found = [fact for fact in made if isinstance(fact, NodeAdded)]
    assert made[: len(found)] == found
    return found


def test_what_is_told_of_a_node(kueue: Maker) -> None:
    """Labels, taints, whether it is cordoned, and what it has; before the workloads, in order of name."""
    tainted = node(kueue, "b", {"taints": [{"key": "gpu", "effect": "NoSchedule"}], "unschedulable": True})
    first, second = nodes(kueue, *cluster(kueue), tainted, node(kueue, "a"), kueue.local(), kueue.work())
    assert first == NodeAdded(
        time=kueue.now, node="host-a", labels={HOST: "host-a", "pool": "a", "rack": "r1"}, capacity={"cpu": 4000, "pods": 10}
    )
    assert (second.node, second.taints, second.cordoned) == ("host-b", (Taint(key="gpu", effect="NoSchedule"),), True)


def test_what_a_node_is_called(kueue: Maker) -> None:
    """By its hostname in a topology that ends at nodes, as Kueue calls it where it says where pods are; else by its own name."""
    assert [fact.node for fact in nodes(kueue, *cluster(kueue, HOST), node(kueue, "a"))] == ["host-a"]
    assert [fact.node for fact in nodes(kueue, *cluster(kueue, "rack"), node(kueue, "a"))] == ["a"]


def test_other_pods_take_room(kueue: Maker) -> None:
    """What they ask for, and a place of a pod each, on the node that they name by its own name."""
    pods = (pod(kueue, "p", "a", cpu="1"), pod(kueue, "q", "a", cpu="500m", memory="1Gi"), pod(kueue, "r", "b"))
    first, second = nodes(kueue, *cluster(kueue), node(kueue, "a"), node(kueue, "b"), *pods)
    assert (first.capacity, second.capacity) == ({"cpu": 2500, "pods": 8}, {"cpu": 4000, "pods": 9})


def test_nothing_is_less_than_nothing(kueue: Maker) -> None:
    """Where pods use more than there is, nothing is left, and that is noted; `pods` count where the node does not say how many."""
    full = node(kueue, "a", allocatable={"cpu": "1"})
    objects = (*cluster(kueue), full, pod(kueue, "p", "a", cpu="2"))
    assert [fact.capacity for fact in nodes(kueue, *objects)] == [{"cpu": 0, "pods": 0}]
    told = "Node a: status.allocatable: has less {} than its pods use: it counts as if it had none left"
    assert kueue.notes(*objects) == [told.format("cpu"), told.format("pods")]


def test_nodes_that_count_for_nothing(kueue: Maker) -> None:
    """Those that are not ready, of no flavor, or without a label of a level: each is noted, and the label is named."""
    objects = (*cluster(kueue), node(kueue, "a", ready=False), node(kueue, "b", pool="b"))
    lacking = node(kueue, "c")
    del lacking["metadata"]["labels"]["rack"]
    assert nodes(kueue, *objects, lacking) == []
    assert kueue.notes(*objects, lacking) == [
        "Node c: metadata.labels: has no label rack, a level of Topology dc, in which ResourceFlavor base places pods: it is left out",
        "Node b: metadata.labels: is of no ResourceFlavor with a topology: it is left out",
        "Node a: status.conditions: is not ready: Kueue places nothing there, and it is left out",
    ]


def test_without_topologies_no_node_counts(kueue: Maker) -> None:
    """Nor does any pod; the same where the topology of a flavor is not there."""
    for flavor in (kueue.flavor(), kueue.flavor(topologyName="dc")):
        objects = (kueue.queue(), flavor, node(kueue, "a"), pod(kueue, "p", "a"))
        assert nodes(kueue, *objects) == []
        told = "counts for nothing: no ResourceFlavor has a topology that is there"
        assert [note for note in kueue.notes(*objects) if told in note] == [f"Node a: {told}", f"Pod ns/p: {told}"]


def test_pods_of_other_nodes_are_noted(kueue: Maker) -> None:
    """The dump lacks their node."""
    objects = (*cluster(kueue), pod(kueue, "p", "gone"))
    assert kueue.notes(*objects) == ["Pod ns/p: spec.nodeName: is no node of the dump: the pod takes no room"]


def test_two_nodes_of_one_hostname_are_refused(kueue: Maker) -> None:
    """Kueue adds up what they have, and goes by the labels and taints of either."""
    same = {HOST: "x"}
    (said,) = kueue.problems(*cluster(kueue), node(kueue, "a", **same), node(kueue, "b", **same))
    assert said.startswith("Node b: metadata.labels: has the hostname of another node, x: Kueue adds both up")
    assert len(nodes(kueue, *cluster(kueue, "rack"), node(kueue, "a", **same), node(kueue, "b", **same))) == 2


def test_a_node_that_no_fact_can_tell_is_refused(kueue: Maker) -> None:
    """With more resources than a fact has room for."""
    many = {f"example.com/r{number}": "1" for number in range(64)}
    (said,) = kueue.problems(*cluster(kueue), node(kueue, "a", allocatable=many))
    assert said.startswith("Node a: cannot be imported: capacity: Value should have at most 64 items")


def test_nodes_are_told_at_the_time_of_the_facts(kueue: Maker) -> None:
    """As everything that an import tells."""
    assert [fact.time for fact in nodes(kueue, *cluster(kueue), node(kueue, "a"), clock=kueue.now + 1)] == [kueue.now + 1]
