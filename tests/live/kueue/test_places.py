"""Flavors that give places: each pod set gets one node selector, and it admits the nodes of its place in the journal and no others."""

import json
from pathlib import Path
from typing import Any

import pytest
from failing_cluster import FailingCluster, play
from fake_kinds import NODE
from gpol.adapters.live.wording import why_it_waits
from gpol.engine.event_parts import PlacedPods
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.explain.pending import standing
from gpol.engine.facts import NodeAdded, NodeChanged, NodeRemoved, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from gpol.journal.journal import Journal
from gpol.journal.read.as_of import resume

HOST = "kubernetes.io/hostname"
ON_NODES = """policy "live" {
  use gpol.fair
  when a node is lost evict
}
topology fabric {
  level rack from label "rack"
  level host from node
}
flavor h100 {
  gpu from nodes where model = "h100"
  placed in fabric
}
queue wide { owns 64 gpu on h100 }
"""
IN_RACKS = """policy "live" { use kueue.classical }
topology fabric {
  level block from label "block"
  level rack from label "rack"
}
flavor h100 {
  gpu as owned
  placed in fabric
  label model = "h100"
}
queue wide { owns 64 gpu on h100 }
"""
AMOUNTS = ON_NODES.replace("  placed in fabric\n", "").replace("  when a node is lost evict\n", "")


def add(cluster: FailingCluster, name: str, gpus: int = 8, **labels: str) -> None:
    """A node comes, whose hostname is not its name."""
    cluster.add_node(name, gpus, **{HOST: f"host-of-{name}", "model": "h100", "rack": "r1", "block": "b1", **labels})


def selector(cluster: FailingCluster, name: str, pod_set: int = 0) -> dict[str, str]:
    """The node selector of pods, as gpol has answered."""
    found: dict[str, str] = cluster.check(name)["podSetUpdates"][pod_set]["nodeSelector"]
    return found


def places(cluster: FailingCluster, name: str) -> list[tuple[PlacedPods, ...]]:
    """The places of the pod sets of a workload by its last admission."""
    admitted = [event for event in cluster.events(WorkloadAdmitted) if event.workload == f"default/{name}"]
    return [given.places for given in admitted[-1].assignments]


def why(cluster: FailingCluster, name: str) -> str:
    """Why a workload waits, as its check would say."""
    with Journal.open(cluster.journal) as journal:
        place = standing(resume(journal), f"default/{name}", briefly=True)
    assert place is not None
    return why_it_waits(place)


def problem(cluster: FailingCluster, name: str) -> str:
    """What is told of a workload or a node."""
    told = [each for service in cluster.at_work for work in service.metrics.works for key, each in work.of_objects().items() if key == name]
    return " ".join(told)


def test_a_place_is_the_hostname_of_its_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pods of a pod set stand on one node; who finds none large enough waits, though several have room together."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1")
        add(cluster, "n2", 4)
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", main={"gpus": 2, "count": 4})
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            assert selector(cluster, "a") == {"model": "h100", HOST: "host-of-n1"}
            assert places(cluster, "a") == [(PlacedPods(domain=("n1",), pods=4),)]
            update = cluster.check("a")["podSetUpdates"][0]
            assert json.loads(update["annotations"]["gpol.dev/place"]) == ["n1"]
            cluster.kueue.submit_pods("b", main={"gpus": 2, "count": 3})
            await cluster.until(lambda: cluster.is_waiting("b"))
            add(cluster, "n3", 4)
            await cluster.settle()
            assert cluster.kueue.running == {"a"}
            assert "room for 2 of 3 pods within one host; closest is n2" in why(cluster, "b")
            cluster.kueue.finish("a")
            await cluster.until(lambda: cluster.kueue.running == {"b"})
            assert selector(cluster, "b")[HOST] == "host-of-n1"

    play(monkeypatch, tmp_path, act, ON_NODES)


def test_a_rack_is_the_labels_of_all_levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Racks of different blocks may have one name; pods of a rack may stand on any nodes in it."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1", 4)
        add(cluster, "n2", 4)
        add(cluster, "n3", 4, block="b2")
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", main={"gpus": 4, "count": 2})
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            assert selector(cluster, "a") == {"model": "h100", "block": "b1", "rack": "r1"}
            cluster.kueue.submit_pods("b", main={"gpus": 4, "count": 1})
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
            assert selector(cluster, "b") == {"model": "h100", "block": "b2", "rack": "r1"}
            cluster.kueue.submit_pods("c", main={"gpus": 4, "spec": {"nodeSelector": {"rack": "r1"}}})
            await cluster.until(lambda: "select nodes by `rack`" in problem(cluster, "default/c"))
        assert [event.workload for event in cluster.events(WorkloadSubmitted)] == ["default/a", "default/b"]

    play(monkeypatch, tmp_path, act, IN_RACKS)


def test_each_pod_set_has_its_own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that asks for nothing that the policy counts gets none."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1", 4)
        add(cluster, "n2", 4)
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", driver={"gpus": 4}, workers={"gpus": 2, "count": 2}, logger={"gpus": 0})
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            driver, workers, logger = cluster.check("a")["podSetUpdates"]
            assert {driver["nodeSelector"][HOST], workers["nodeSelector"][HOST]} == {"host-of-n1", "host-of-n2"}
            assert HOST not in logger.get("nodeSelector", {})

    play(monkeypatch, tmp_path, act, ON_NODES)


def test_what_keeps_pods_off_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A taint, a selector of the pods, too little memory, a cordon."""

    async def act(cluster: FailingCluster) -> None:
        for name in ("tainted", "small", "cordoned", "unselected"):
            add(cluster, name, disk="hdd" if name == "unselected" else "ssd")
            has = {"nvidia.com/gpu": "8", "memory": "1Gi" if name == "small" else "64Gi", "pods": "110"}
            cluster.store.merge_patch(NODE, name, {"status": {"allocatable": has}}, subresource="status")
        cluster.store.merge_patch(NODE, "tainted", {"spec": {"taints": [{"key": "broken", "effect": "NoSchedule"}]}})
        cluster.store.merge_patch(NODE, "cordoned", {"spec": {"unschedulable": True}})
        async with cluster.gpol():
            container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1", "memory": "8Gi"}}}
            cluster.kueue.submit_pods("a", main={"gpus": 1, "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [container]}})
            await cluster.until(lambda: cluster.is_waiting("a"))
            await cluster.settle()
            assert cluster.kueue.running == set()
            cluster.store.merge_patch(NODE, "tainted", {"spec": {"taints": None}})
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            assert selector(cluster, "a")[HOST] == "host-of-tainted"

    play(monkeypatch, tmp_path, act, ON_NODES.replace("use gpol.fair", "use gpol.fair\n  ignore memory"))


def test_nodes_that_no_selector_tells_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a hostname, and two with the same: nobody is sent there, and they are named."""

    async def act(cluster: FailingCluster) -> None:
        cluster.add_node("nameless", 8, model="h100", rack="r1")
        add(cluster, "twin-1", 8, **{HOST: "twin"})
        add(cluster, "twin-2", 8, **{HOST: "twin"})
        cluster.add_node("of-others", 8, model="other")
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.is_waiting("a"))
            await cluster.settle()
            assert cluster.kueue.running == set()
            assert "has no label kubernetes.io/hostname" in problem(cluster, "node nameless")
            assert "of another node, twin" in problem(cluster, "node twin-1")
            assert not problem(cluster, "node of-others")
            cluster.store.delete(NODE, "twin-1")
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            assert selector(cluster, "a")[HOST] == "twin"
            assert not problem(cluster, "node twin-2")

    play(monkeypatch, tmp_path, act, ON_NODES)


def lose(cluster: FailingCluster, node: str, how: str) -> None:
    """A node goes for good."""
    if how == "deleted":
        cluster.store.delete(NODE, node)
    else:
        taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
        cluster.store.merge_patch(NODE, node, {"spec": {"taints": [taint]}})


@pytest.mark.parametrize("how", ["deleted", "out of service"])
@pytest.mark.parametrize("word", ["evict", "wait"])
def test_a_lost_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, word: str) -> None:
    """The policy's word counts. A node that is cordoned, not ready, or of another rack by its labels is not lost."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1")
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.store.merge_patch(NODE, "n1", {"spec": {"unschedulable": True}, "metadata": {"labels": {"model": "x", "rack": None}}})
            await cluster.until(lambda: cluster.events(NodeChanged))
            status = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}
            cluster.store.merge_patch(NODE, "n1", status, subresource="status")
            add(cluster, "n2")
            await cluster.until(lambda: len(cluster.events(NodeAdded)) == 2)
            assert cluster.kueue.running == {"a"}
            assert not cluster.events(NodeRemoved)
            lose(cluster, "n1", how)
            await cluster.until(lambda: cluster.events(NodeRemoved))
            if word == "wait":
                await cluster.settle()
                assert selector(cluster, "a")[HOST] == "host-of-n1"
                assert not cluster.events(WorkloadEvicted)
                return
            await cluster.until(lambda: cluster.check("a").get("podSetUpdates") and selector(cluster, "a")[HOST] == "host-of-n2")
            assert cluster.events(WorkloadEvicted)[0].preemption == "node-lost"

    play(monkeypatch, tmp_path, act, ON_NODES.replace("lost evict", f"lost {word}"))


def test_a_lost_node_in_cycles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says of a workload that it has lost its node: it goes on until Kueue stops it, and gets a place elsewhere then."""
    policy = IN_RACKS.replace('level rack from label "rack"', "level host from node")

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1")
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", main={"gpus": 4, "count": 2})
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            assert selector(cluster, "a") == {"model": "h100", HOST: "host-of-n1"}
            add(cluster, "n2")
            cluster.store.delete(NODE, "n1")
            await cluster.until(lambda: cluster.events(NodeRemoved))
            await cluster.settle()
            assert cluster.kueue.running == {"a"}
            assert not cluster.events(WorkloadEvicted)
            cluster.kueue.not_ready("a")
            await cluster.until(lambda: cluster.check("a").get("podSetUpdates") and selector(cluster, "a")[HOST] == "host-of-n2")

    play(monkeypatch, tmp_path, act, policy)


def test_whoever_stops_is_in_the_way_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as its pods run nobody is sent to its node, though the flavor has enough on others."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1")
        add(cluster, "n2")
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            on = selector(cluster, "a")[HOST]
            cluster.pods_stay = True
            cluster.kueue.activate("a", False)
            await cluster.until(lambda: any(event.kind == "OperatorAction" for event in cluster.events()))
            free = next(name for name in ("n1", "n2") if f"host-of-{name}" != on)
            cluster.store.merge_patch(NODE, free, {"spec": {"unschedulable": True}})
            await cluster.until(lambda: cluster.events(NodeChanged))
            cluster.kueue.submit("b", 4)
            await cluster.until(lambda: len(cluster.events(WorkloadAdmitted)) == 2)
            await cluster.settle()
            assert cluster.kueue.running == set()
            cluster.pods_stay = False
            await cluster.until(lambda: cluster.kueue.running == {"b"})
            assert selector(cluster, "b")[HOST] == on

    play(monkeypatch, tmp_path, act, ON_NODES)


@pytest.mark.parametrize("policy", [ON_NODES, IN_RACKS])
def test_another_journal_finds_the_places_in_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str) -> None:
    """Who runs is taken in where it stands, and nobody else is sent there. One whose node is gone meanwhile has lost it."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1", 8)
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", main={"gpus": 4, "count": 2})
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        cluster.journal.unlink()
        cluster.kueue.admitted.clear()
        add(cluster, "n2", 4, rack="r2")
        async with cluster.gpol():
            cluster.kueue.submit_pods("b", main={"gpus": 4})
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
            [adopted] = cluster.events(WorkloadAdopted)
            domain = ("n1",) if policy is ON_NODES else ("b1", "r1")
            assert adopted.placements[0].places == (PlacedPods(domain=domain, pods=2),)
            assert selector(cluster, "b")[HOST if policy is ON_NODES else "rack"] == ("host-of-n2" if policy is ON_NODES else "r2")

    play(monkeypatch, tmp_path, act, policy)


@pytest.mark.parametrize("how", ["deleted", "out of service"])
@pytest.mark.parametrize("word", ["evict", "wait"])
def test_a_node_that_went_before_it_is_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, how: str, word: str
) -> None:
    """It is lost with the adoption, and the policy's word counts; no other fact says it once more, which would be refused."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1", 8)
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        cluster.journal.unlink()
        cluster.kueue.admitted.clear()
        lose(cluster, "n1", how)
        async with cluster.gpol():
            await cluster.until(lambda: cluster.events(WorkloadAdopted))
            if word == "evict":
                await cluster.until(lambda: cluster.events(WorkloadEvicted))
                await cluster.until(lambda: cluster.kueue.running == set())
            else:
                await cluster.settle()
        assert [event.preemption for event in cluster.events(WorkloadEvicted)] == ["node-lost"] * (word == "evict")
        with Journal.open(cluster.journal) as journal:
            [workload] = resume(journal).state.workloads.values()
        assert workload.lost_nodes == (("n1",) if word == "wait" else ())
        assert not cluster.events(WorkloadUpdated)
        assert [record.getMessage() for record in caplog.records if "is refused" in record.getMessage()] == []

    play(monkeypatch, tmp_path, act, ON_NODES.replace("lost evict", f"lost {word}"))


def test_a_policy_begins_to_give_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who runs goes on, and is named, as nobody knows where; who waits asks for one place, and no other policy decides meanwhile."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1", 4)
        add(cluster, "n2", 4)
        async with cluster.gpol():
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.kueue.submit_pods("b", main={"gpus": 4, "count": 2})
            cluster.kueue.submit("c", 4, 5)
            await cluster.until(lambda: cluster.kueue.running == {"a", "c"} and cluster.is_waiting("b"))
            cluster.write_policy(ON_NODES)
            await cluster.until(lambda: "nobody knows on which nodes" in problem(cluster, "default/a"))
            cluster.kueue.finish("a")
            cluster.kueue.finish("c")
            await cluster.settle()
            assert not cluster.kueue.running
            add(cluster, "n3", 8)
            await cluster.until(lambda: cluster.kueue.running == {"b"})
            assert selector(cluster, "b")[HOST] == "host-of-n3"
            cluster.kueue.submit_pods("d", main={"gpus": 4, "count": 2})
            await cluster.until(lambda: cluster.is_waiting("d"))
            cluster.write_policy(AMOUNTS)
            await cluster.until(lambda: cluster.kueue.running == {"b", "d"})
            assert selector(cluster, "d") == {"model": "h100"}
        assert not cluster.events(WorkloadEvicted)

    play(monkeypatch, tmp_path, act, AMOUNTS)


def test_a_policy_that_gives_places_evicts_nobody_for_what_cannot_be_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it begins it would place this workload on two nodes: it asks for one place before that, and nobody goes for it."""
    wider = ON_NODES.replace("placed in fabric", "placed on nodes")

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1", 4)
        add(cluster, "n2", 4)
        async with cluster.gpol():
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.kueue.submit_pods("b", 5, main={"gpus": 4, "count": 2})
            await cluster.until(lambda: cluster.is_waiting("b"))
            cluster.write_policy(wider)
            await cluster.until(lambda: "nobody knows on which nodes" in problem(cluster, "default/a"))
            await cluster.settle()
            assert cluster.kueue.running == {"a"}
            add(cluster, "n3", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
        assert not cluster.events(WorkloadEvicted)

    play(monkeypatch, tmp_path, act, AMOUNTS.replace("owns 64 gpu on h100", "\n  owns 4 gpu on h100\n  borrows nothing\n"))


def test_a_node_is_cordoned_between_decision_and_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was decided is not written any more: the workload asks anew."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1")
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.pods_stay = True
            cluster.kueue.submit("b", 8, 5)
            await cluster.until(lambda: len(cluster.events(WorkloadAdmitted)) == 2)
            cluster.store.merge_patch(NODE, "n1", {"spec": {"unschedulable": True}})
            await cluster.until(lambda: cluster.events(NodeChanged))
            cluster.pods_stay = False
            await cluster.until(lambda: len([event for event in cluster.events(WorkloadSubmitted) if event.workload == "default/b"]) == 2)
            await cluster.settle()
            assert cluster.kueue.running == set()
            cluster.store.merge_patch(NODE, "n1", {"spec": {"unschedulable": None}})
            await cluster.until(lambda: cluster.kueue.running == {"b"})

    play(monkeypatch, tmp_path, act, ON_NODES)


def test_a_job_that_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pods stay where they are, and one selector cannot say both: it goes on as it is, and the growth is named."""

    async def act(cluster: FailingCluster) -> None:
        add(cluster, "n1")
        async with cluster.gpol():
            cluster.kueue.submit("slice", 4)
            await cluster.until(lambda: cluster.kueue.running == {"slice"})
            cluster.kueue.grow("slice", "grown", 6)
            await cluster.until(lambda: "let this job not grow" in problem(cluster, "default/grown"))
            await cluster.settle()
            assert cluster.kueue.running == {"slice"}
        events: list[Any] = cluster.events(WorkloadSubmitted, WorkloadEvicted)
        assert [event.workload for event in events] == ["default/slice"]

    play(monkeypatch, tmp_path, act, ON_NODES)
