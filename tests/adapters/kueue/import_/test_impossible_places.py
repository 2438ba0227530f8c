"""Reservations in places that are not there, that hold more than there is, or that are for another number of pods: noted."""

import pytest

from ..conftest import Json, Maker

HOST = "kubernetes.io/hostname"
SAID = "Workload ns/w: status.admission.podSetAssignments:"


def cluster(kueue: Maker) -> tuple[Json, ...]:
    """A flavor that places pods on node `n1`, which has 4 cpu and room for 10 pods."""
    topology = kueue.obj("Topology", "dc", {"levels": [{"nodeLabel": HOST}]})
    status = {"allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}
    node = kueue.obj("Node", "n1", labels={HOST: "n1", "pool": "a"}, status=status) | {"apiVersion": "v1"}
    return kueue.queue(), kueue.local(), kueue.flavor(topologyName="dc", nodeLabels={"pool": "a"}), topology, node


def held(kueue: Maker, name: str = "w", count: int = 2, done: int = 0, **pods: int) -> Json:
    """A workload of 1 cpu a pod that holds quota, with so many pods on each node."""
    status = kueue.admitted(usage={"cpu": str(count)}, count=count)
    domains = [{"values": [node], "count": on_node} for node, on_node in pods.items()]
    status["admission"]["podSetAssignments"][0]["topologyAssignment"] = {"levels": [HOST], "domains": domains}
    if done:
        status["reclaimablePods"] = [{"name": "main", "count": done}]
    return kueue.work(name, sets=[kueue.pods(count=count)], status=status)


def test_places_that_hold_what_they_say(kueue: Maker) -> None:
    """Nothing is said of them: not of a full node, and not of pods that are done and keep their places."""
    assert kueue.notes(*cluster(kueue), held(kueue, n1=2), held(kueue, "v", n1=2)) == []
    assert kueue.notes(*cluster(kueue), held(kueue, n1=2, done=1)) == []


def test_a_node_that_is_not_there(kueue: Maker) -> None:
    """The workload goes on, and what it has there counts for nothing."""
    told = f"{SAID} has pods on n2, where the dump has no node that is ready: they take no room, and go on"
    assert kueue.notes(*cluster(kueue), held(kueue, n1=1, n2=1)) == [told]


def test_more_than_a_node_has(kueue: Maker) -> None:
    """All that stand there are counted together; the one with whom it is too much is named."""
    told = f"{SAID} has pods on n1, and with them more cpu is used there than there is: nothing of it is free"
    assert kueue.notes(*cluster(kueue), held(kueue, "a", n1=2), held(kueue, "w", count=3, n1=3)) == [told]


@pytest.mark.parametrize("pods", [1, 3])
def test_another_number_of_pods(pods: int, kueue: Maker) -> None:
    """Nobody knows where the others stand."""
    told = f"{SAID} has places for {pods} pods of main, and counts 2: they stand where it says"
    assert told in kueue.notes(*cluster(kueue), held(kueue, n1=pods))
