"""Nodes that workloads have lost, places that come later, and what checks ask of the nodes of pods: read, and as facts."""

from typing import Any

import pytest
from gpol.engine.facts import Fact, NodeAdded, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from gpol.engine.policy_graph import Check

from ...conftest import Json, Maker

HOST = "kubernetes.io/hostname"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"


def cluster(kueue: Maker, controller: str = PROVISIONING) -> list[Json]:
    """A queue of one flavor with a topology, two nodes, and a check."""
    queue = kueue.queue(admissionChecksStrategy={"admissionChecks": [{"name": "prov"}]})
    topology = kueue.obj("Topology", "dc", {"levels": [{"nodeLabel": HOST}]})
    check = kueue.obj("AdmissionCheck", "prov", {"controllerName": controller}, status={"conditions": [kueue.true("Active")]})
    ready = {"allocatable": {"cpu": "100", "gpu": "100", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}
    nodes = [kueue.obj("Node", name, labels={HOST: name, "pool": "a"}, status=ready) | {"apiVersion": "v1"} for name in ("n1", "n2")]
    return [*nodes, queue, kueue.flavor("base", topologyName="dc", nodeLabels={"pool": "a"}), kueue.local(), topology, check]


def work(kueue: Maker, *nodes: str, pods: Json | None = None, **said: Any) -> Json:
    """A workload whose two pods stand on these nodes, or are to get their places later; with more of its status, or its metadata."""
    held = kueue.admitted("a", "base", None, 2, kueue.true("Admitted"))
    given = {"topologyAssignment": {"levels": [HOST], "domains": [{"values": [node], "count": 1} for node in nodes]}}
    held["admission"]["podSetAssignments"][0] |= given if nodes else {"delayedTopologyRequest": "Pending"}
    metadata = {key: said.pop(key) for key in ("ownerReferences", "annotations") if key in said}
    sets = [kueue.pods(count=2) | (pods or {})]
    return kueue.work(sets=sets, status={**held, **said}, **metadata)


def facts(kueue: Maker, workload: Json) -> tuple[list[Fact], list[str]]:
    """The facts of a workload but for its submission, and what is noted of it."""
    made = kueue.load(*cluster(kueue), workload)
    return [fact for fact in made.facts if not isinstance(fact, NodeAdded | WorkloadSubmitted)], [
        note.text for note in made.notes if note.kind == "Workload"
    ]


def test_lost_nodes_are_a_fact(kueue: Maker) -> None:
    """It comes after the adoption, and names those alone on which the workload has pods."""
    told, notes = facts(kueue, work(kueue, "n1", "n2", unhealthyNodes=[{"name": "n9"}, {"name": "n2"}]))
    assert [fact.kind for fact in told] == ["WorkloadAdopted", "WorkloadUpdated"]
    assert isinstance(told[1], WorkloadUpdated)
    assert told[1].lost_nodes == ("n2",)
    assert notes == ["names n9, on which it has no pods: that counts for nothing"]


@pytest.mark.parametrize(
    ("owners", "annotations", "moves"),
    [
        ([{"kind": "Pod", "apiVersion": "v1"}], {}, False),
        ([{"kind": "Pod", "apiVersion": "v1"}], {"kueue.x-k8s.io/is-group-workload": "true"}, True),
        ([{"kind": "Pod", "apiVersion": "v1"}] * 2, {}, True),
        ([{"kind": "Job", "apiVersion": "batch/v1"}], {}, True),
    ],
)
def test_a_single_pod_moves_nowhere(owners: list[Json], annotations: Json, moves: bool, kueue: Maker) -> None:
    """As in Kueue its workload keeps its places; noted."""
    data = work(kueue, "n1", "n2", unhealthyNodes=[{"name": "n1"}], ownerReferences=owners, annotations=annotations)
    told, notes = facts(kueue, data)
    assert any(isinstance(fact, WorkloadUpdated) and fact.lost_nodes for fact in told) == moves
    assert bool(notes) != moves


def test_places_that_come_later_are_said_of_the_adopted(kueue: Maker) -> None:
    """And the check that provides the nodes is one for nodes in the policy."""
    (adopted,), _ = facts(kueue, work(kueue))
    assert isinstance(adopted, WorkloadAdopted)
    assert [(each.places, each.delayed) for each in adopted.placements] == [((), True)]
    graph = kueue.checked(*cluster(kueue)).graph
    assert graph is not None
    assert graph.queues[0].checks == (Check("prov", (), gives_nodes=True),)
    assert "needs check prov for nodes" in kueue.text(*cluster(kueue))


def test_on_a_flavor_without_a_topology_none_come(kueue: Maker) -> None:
    """They are not waited for; noted."""
    made = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), work(kueue))
    (adopted,) = (fact for fact in made.facts if isinstance(fact, WorkloadAdopted))
    assert not adopted.placements[0].delayed
    assert "waits for places on a flavor without a topology: there it gets none" in [note.text for note in made.notes]


def test_a_policy_that_decides_at_once_has_no_check_for_nodes(kueue: Maker) -> None:
    """It would find places with the quota."""
    (said,) = kueue.problems(*cluster(kueue), profile="gpol.fair")
    assert "and a policy that decides at once with the quota" in said


def test_what_a_ready_check_asks_of_nodes_is_honoured(kueue: Maker) -> None:
    """Node selectors and tolerations count beside those of the pods; labels and annotations decide nothing."""
    update = {"name": "main", "nodeSelector": {"made": "1"}, "tolerations": [{"key": "t", "operator": "Exists"}], "labels": {"a": "b"}}
    states = [{"name": "prov", "state": "Ready", "podSetUpdates": [update]}, {"name": "q", "state": "Pending", "podSetUpdates": [update]}]
    made = kueue.load(*cluster(kueue), work(kueue, admissionChecks=states))
    (submitted,) = (fact for fact in made.facts if isinstance(fact, WorkloadSubmitted))
    assert submitted.pod_sets[0].node_selector == {"made": "1"}
    assert [each.key for each in submitted.pod_sets[0].tolerations] == ["t"]
    assert "has updates of its pods by a check: they go on counting, should the workload wait again" in [note.text for note in made.notes]


def test_an_update_that_contradicts_its_pods_is_refused(kueue: Maker) -> None:
    """Kueue never finds places for them."""
    pods = kueue.pods(count=2)
    pods["template"]["spec"]["nodeSelector"] = {"made": "2"}
    states = [{"name": "prov", "state": "Ready", "podSetUpdates": [{"name": "main", "nodeSelector": {"made": "1"}}]}]
    (said,) = kueue.problems(*cluster(kueue), work(kueue, pods=pods, admissionChecks=states))
    assert "asks for other nodes than pod set `main`, by label made: Kueue never finds places for it" in said
