"""Reservations in places that are not there, that hold more than there is, or that are for another number of pods: noted."""

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PlacedPods
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadPlaced
from gpol.engine.facts import PolicyActivated
from gpol.engine.workload import Workload

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


@pytest.mark.parametrize(
    ("profile", "then"),
    [
        ("kueue.classical", "they take no room, and go on"),
        ("gpol.fair", "gpol treats n2 as lost: these pods get other places, or the workload is evicted"),
    ],
)
def test_a_node_that_is_not_there(profile: str, then: str, kueue: Maker) -> None:
    """In cycles the workload goes on, and what it has there counts for nothing. At once it has lost the node."""
    told = f"{SAID} has pods on n2, but the dump has no ready node there: {then}"
    assert kueue.notes(*cluster(kueue), held(kueue, n1=1, n2=1), profile=profile) == [told]


@pytest.mark.parametrize("unhealthy", [(), ("n2",), ("n2", "n1")])
@pytest.mark.parametrize(("count", "kind"), [(4, WorkloadPlaced), (5, WorkloadEvicted)])
def test_a_lost_node_is_told_once(unhealthy: tuple[str, ...], count: int, kind: type, kueue: Maker) -> None:
    """At once, who loses a node by the adoption has other places or is evicted with that: that Kueue says so, too, is not told again."""
    work = held(kueue, count=count, n1=1, n2=count - 1)
    work["status"]["unhealthyNodes"] = [{"name": name} for name in unhealthy]
    made, _ = play(kueue, *cluster(kueue), work)
    assert [type(event) for event in made] == [kind]
    also = [note for note in kueue.notes(*cluster(kueue), work, profile="gpol.fair") if "unhealthyNodes" in note]
    told = "Workload ns/w: status.unhealthyNodes: names n1 beside nodes that are not there: only those are treated as lost"
    assert also == ([told] if "n1" in unhealthy else [])


def test_a_lost_node_that_is_there(kueue: Maker) -> None:
    """That Kueue takes it for unhealthy is all that says so: who has pods there is evicted, and may come back to a node that is ready."""
    work = held(kueue, n1=2)
    work["status"]["unhealthyNodes"] = [{"name": "n1"}]
    made, _ = play(kueue, *cluster(kueue), work)
    assert [type(event) for event in made] == [WorkloadEvicted, WorkloadAdmitted]


def test_one_that_stops_already(kueue: Maker) -> None:
    """At once it waits again, so that its places are of no account; in cycles it still holds them."""
    work = held(kueue, n1=1, n2=2)
    work["status"]["conditions"].append(kueue.true("Evicted", "Preempted"))
    assert len([note for note in kueue.notes(*cluster(kueue), work) if note.startswith(SAID)]) == 2
    assert [note for note in kueue.notes(*cluster(kueue), work, profile="gpol.fair") if note.startswith(SAID)] == []


def test_more_than_a_node_has(kueue: Maker) -> None:
    """All that stand there are counted together; the one with whom it is too much is named."""
    told = f"{SAID} has pods on n1, and all pods there use more cpu than there is: none of it is free"
    assert kueue.notes(*cluster(kueue), held(kueue, "a", n1=2), held(kueue, "w", count=3, n1=3)) == [told]


NUMBERS = [(1, "lists places for 1 pod of main, but counts 2 pods"), (3, "lists places for 3 pods of main, but counts 2 pods")]


@pytest.mark.parametrize(("pods", "said"), NUMBERS)
def test_another_number_of_pods(pods: int, said: str, kueue: Maker) -> None:
    """Nobody knows where the others stand. In cycles those that are said count, as in Kueue."""
    assert kueue.notes(*cluster(kueue), held(kueue, n1=pods)) == [f"{SAID} {said}: only the listed places are used"]


@pytest.mark.parametrize(("pods", "said"), NUMBERS)
def test_another_number_of_pods_at_once(pods: int, said: str, kueue: Maker) -> None:
    """Every pod has one place there, so the workload has none, goes on, and takes room nowhere; of its places nothing else is said."""
    work = held(kueue, n9=pods)
    why = "the workload is imported without places, so gpol does not know where its pods are: here each pod needs one place"
    assert kueue.notes(*cluster(kueue), work, profile="gpol.fair") == [f"{SAID} {said}: {why}"]
    made, workload = play(kueue, *cluster(kueue), work)
    assert made == []
    assert [(given.count, given.places) for given in workload.assignments] == [(2, ())]


@pytest.mark.parametrize("done", [1, 2])
def test_pods_that_are_done_at_once(done: int, kueue: Maker) -> None:
    """They keep their places, as if they had ended since, and are charged nothing."""
    work = held(kueue, n1=2, done=done)
    assert kueue.notes(*cluster(kueue), work, profile="gpol.fair") == []
    made, workload = play(kueue, *cluster(kueue), work)
    assert made == []
    assert [given.places for given in workload.assignments] == [(PlacedPods(domain=("n1",), pods=2),)]
    assert sum(amount for _, amount in workload.usage) == (2 - done) * 1000


def play(kueue: Maker, *objects: Json) -> tuple[list[object], Workload]:
    """What `gpol.fair` decides of the facts of objects, each fact decided before the next one; and workload `w` as it is then."""
    imported, graph, core = kueue.load(*objects, profile="gpol.fair"), kueue.checked(*objects, profile="gpol.fair").graph, new_core()
    assert graph is not None
    text = kueue.text(*objects, profile="gpol.fair")
    core.step(PolicyActivated(time=kueue.now, file="kueue.gpol", text=text, digest=graph.digest), graph)
    made: list[object] = [event for fact in imported.facts for event in core.step(fact)]
    workload = core.workload("ns/w")
    assert workload is not None
    return made, workload
