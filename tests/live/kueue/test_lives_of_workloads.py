"""What becomes of workloads by what Kueue, their owners and their nodes do, through the whole of `gpol serve`."""

import json
from pathlib import Path
from typing import Any

import pytest
from failing_cluster import POLICY, FailingCluster, play
from fake_kinds import NODE
from gpol.adapters.kueue.live import carrying_out
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadReplaced
from gpol.engine.facts import NodeAdded, NodeChanged, NodeRemoved, WorkloadFinished, WorkloadSubmitted
from kueue_model import WORKLOADS
from kueue_steps import is_true

OF_NODES = """policy "live" { use gpol.fair }
flavor h100 { gpu from nodes where model = "h100" }
flavor a100 { gpu from nodes where model = "a100" }
queue wide {
  owns 64 gpu on h100
  owns 64 gpu on a100
}
"""
Json = dict[str, Any]


def test_pods_that_are_not_ready_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue stops the workload: it gives its place to others, and is decided anew."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.kueue.not_ready("a")
            await cluster.until(lambda: len(cluster.kueue.admitted) == 2)
        notes = [event.note for event in cluster.events() if event.kind == "OperatorAction" and event.action == "evict"]
        assert notes == ["PodsReadyTimeout"]
        assert len(cluster.events(WorkloadSubmitted)) == 1

    play(monkeypatch, tmp_path, act)


def test_an_owner_stops_a_job_and_lets_it_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others run meanwhile."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.kueue.submit("b", 8)
            cluster.kueue.activate("a", False)
            await cluster.until(lambda: cluster.kueue.running == {"b"})
            cluster.kueue.activate("a", True)
            await cluster.until(lambda: cluster.kueue.running == {"a"})

    play(monkeypatch, tmp_path, act)


def test_an_elastic_job_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The earlier slice counts until the later one is admitted in its place; its pods are those of the later one then."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("slice", 4)
            cluster.kueue.submit("other", 4)
            await cluster.until(lambda: cluster.kueue.running == {"slice", "other"})
            cluster.kueue.grow("slice", "grown", 6)
            await cluster.until(lambda: cluster.is_waiting("grown"))
            await cluster.settle()
            assert "slice" in cluster.kueue.running
            assert not cluster.events(WorkloadReplaced, WorkloadFinished)
            cluster.kueue.finish("other")
            await cluster.until(lambda: "grown" in cluster.kueue.running)
            await cluster.settle()
            cluster.kueue.running.discard("slice")
        (replaced,) = cluster.events(WorkloadReplaced)
        assert replaced.workload == "default/slice"

    play(monkeypatch, tmp_path, act)


@pytest.mark.parametrize("is_restarted", [False, True])
def test_an_elastic_job_is_evicted_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_restarted: bool) -> None:
    """The later slice is told, as the pods belong to it; nobody takes their place before they have ended."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("slice", 6)
            await cluster.until(lambda: cluster.kueue.running == {"slice"})
            cluster.kueue.grow("slice", "grown", 9)
            await cluster.until(lambda: cluster.is_waiting("grown"))
            await cluster.settle()
            if not is_restarted:
                cluster.kueue.submit("important", 8, 5)
                await cluster.until(lambda: cluster.kueue.running == {"important"})
        if is_restarted:
            cluster.kueue.submit("important", 8, 5)
            await cluster.settle()
            async with cluster.gpol():
                await cluster.until(lambda: cluster.kueue.running == {"important"})
        assert [event.workload for event in cluster.events(WorkloadEvicted)] == ["default/slice"]

    play(monkeypatch, tmp_path, act)


def test_nodes_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are what exists. Who runs on a node that is cordoned or gone runs on; nobody new is let run for whom there is no room."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.is_waiting("a"))
            assert cluster.kueue.running == set()
            cluster.add_node("n1", 8, model="h100")
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            cluster.store.merge_patch(NODE, "n1", {"spec": {"unschedulable": True}})
            cluster.kueue.submit("b", 4)
            await cluster.until(lambda: cluster.events(NodeRemoved) and cluster.is_waiting("b"))
            assert cluster.kueue.running == {"a"}
            cluster.store.merge_patch(NODE, "n1", {"spec": {"unschedulable": None}})
            await cluster.until(lambda: len(cluster.events(NodeAdded)) == 2)
            cluster.add_node("n2", 2, model="h100")
            cluster.add_node("other", 8, model="v100")
            await cluster.settle()
            assert cluster.kueue.running == {"a"}
            cluster.store.merge_patch(NODE, "n2", {"status": {"allocatable": {"nvidia.com/gpu": "4"}}}, subresource="status")
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
            cluster.store.delete(NODE, "n1")
            await cluster.until(lambda: len(cluster.events(NodeRemoved)) == 2)
            await cluster.settle()
            assert cluster.kueue.running == {"a", "b"}
        assert len(cluster.events(NodeChanged)) == 1
        assert not cluster.events(WorkloadEvicted)

    play(monkeypatch, tmp_path, act, OF_NODES)


def test_nodes_that_change_while_gpol_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are compared at its start."""

    async def act(cluster: FailingCluster) -> None:
        cluster.add_node("n1", 8, model="h100")
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        cluster.store.delete(NODE, "n1")
        cluster.add_node("n2", 8, model="a100")
        cluster.kueue.submit("b", 8)
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
        (update,) = cluster.check("b")["podSetUpdates"]
        assert update["nodeSelector"] == {"model": "a100"}

    play(monkeypatch, tmp_path, act, OF_NODES)


def test_several_pod_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets its flavor, and all of them or none run."""

    async def act(cluster: FailingCluster) -> None:
        cluster.add_node("n1", 4, model="h100")
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", driver={"gpus": 4}, workers={"gpus": 2, "count": 4})
            await cluster.until(lambda: cluster.is_waiting("a"))
            await cluster.settle()
            assert cluster.kueue.running == set()
            cluster.add_node("n2", 12, model="a100")
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            updates = {each["name"]: each for each in cluster.check("a")["podSetUpdates"]}
        assert sorted(updates) == ["driver", "workers"]
        for update in updates.values():
            assert update["nodeSelector"]["model"] == json.loads(update["annotations"]["gpol.dev/flavors"])["gpu"]

    play(monkeypatch, tmp_path, act, OF_NODES)


@pytest.mark.parametrize("form", ["node selector", "affinity"])
@pytest.mark.parametrize("policy", [OF_NODES, POLICY.replace("flavor h100", 'flavor h100 {\n gpu 8\n label model="x"\n}\nflavor a100')])
def test_pods_that_select_other_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, policy: str) -> None:
    """They get no flavor whose labels they exclude: Kueue would finish the workload for good, or its pods would find no node."""
    wanted = {"model": "a100"}
    requirement = {"key": "model", "operator": "NotIn", "values": ["h100", "x"]}
    term = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    affinity = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}}
    if policy is not OF_NODES:
        policy = policy.replace('"h100"', '"a100"').replace("owns 8 gpu on h100", "\n  owns 8 gpu on h100\n  owns 8 gpu on a100\n")

    async def act(cluster: FailingCluster) -> None:
        cluster.add_node("n1", 8, model="h100")
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", main={"gpus": 4, "spec": {"nodeSelector": wanted} if form == "node selector" else affinity})
            await cluster.until(lambda: cluster.is_waiting("a"))
            await cluster.settle()
            cluster.add_node("n2", 8, model="a100")
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            (update,) = cluster.check("a")["podSetUpdates"]
            assert update["nodeSelector"] == wanted
        workload = cluster.kueue.workload("a")
        assert workload is not None
        assert not is_true(workload, "Finished")

    play(monkeypatch, tmp_path, act, policy)


def test_a_template_that_says_what_gpol_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not decided: Kueue would finish the workload for good."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit_pods("a", main={"gpus": 1, "metadata": {"labels": {"gpol.dev/workload": "copied"}}})
            cluster.kueue.submit("b", 1)
            await cluster.until(lambda: cluster.kueue.running == {"b"})
            await cluster.settle()
        workload = cluster.store.get(WORKLOADS, "a", "default")
        assert not is_true(workload, "Finished")
        assert [event.workload for event in cluster.events(WorkloadAdmitted)] == ["default/b"]

    play(monkeypatch, tmp_path, act)


def test_pods_that_do_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a node that is lost: whoever is to take their place waits, and its check says for whom."""
    monkeypatch.setattr(carrying_out, "TOLD_SECONDS", 0.3)

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("low", 8)
            await cluster.until(lambda: cluster.kueue.running == {"low"})
            cluster.pods_stay = True
            cluster.kueue.submit("high", 8, 5)
            told = "admitted, and waits for others to stop: default/low"
            await cluster.until(lambda: told in cluster.check("high").get("message", ""))
            await cluster.settle()
            assert "high" not in cluster.kueue.running
            cluster.pods_stay = False
            await cluster.until(lambda: cluster.kueue.running == {"high"})

    play(monkeypatch, tmp_path, act)
