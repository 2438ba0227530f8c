"""Somebody edits by hand what gpol and Kueue write: what runs is what the journal says again, or an operator is told."""

from pathlib import Path
from typing import Any

import pytest
from failing_cluster import FailingCluster, play
from fake_errors import ApiError as StoreError
from fake_kinds import ADMISSION_CHECK
from gpol.adapters.kueue.live.protocol import DECIDED
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import WorkloadSubmitted
from kueue_model import POD


def by_kueue(cluster: FailingCluster) -> list[str]:
    """Why the operator `kueue` has evicted, in order."""
    actions = [event for event in cluster.events() if event.kind == "OperatorAction" and event.action == "evict"]
    return [action.note for action in actions]


async def full(cluster: FailingCluster) -> None:
    """One workload runs and takes all there is, and another one waits."""
    cluster.kueue.submit("runs", 8)
    await cluster.until(lambda: cluster.kueue.running == {"runs"})
    cluster.kueue.submit("waits", 8)
    await cluster.until(lambda: cluster.is_waiting("waits"))
    await cluster.settle()


def test_ready_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs by no decision is stopped. It waits on, and runs when it is its turn."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
            cluster.write_check("waits", "Ready")
            await cluster.until(lambda: cluster.check("waits")["state"] in ("Retry", "Pending"))
            await cluster.settle()
            assert cluster.kueue.running == {"runs"}
            cluster.kueue.admitted = [each for each in cluster.kueue.admitted if each[0] == "runs"]
            cluster.kueue.finish("runs")
            await cluster.until(lambda: cluster.kueue.running == {"waits"})

    play(monkeypatch, tmp_path, act)


def test_ready_by_hand_while_gpol_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped after the start, and decided then."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
        cluster.kueue.submit("new", 4)
        await cluster.until(lambda: cluster.check("new"))
        for name in ("new", "waits"):
            cluster.write_check(name, "Ready")
        await cluster.until(lambda: cluster.kueue.running == {"runs", "new", "waits"})
        cluster.kueue.admitted = [each for each in cluster.kueue.admitted if each[0] == "runs"]
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"runs"})
            await cluster.settle()
            assert cluster.kueue.running == {"runs"}
            cluster.kueue.finish("runs")
            await cluster.until(lambda: cluster.kueue.running == {"waits"})

    play(monkeypatch, tmp_path, act)


def test_retry_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops, and is decided anew; one that waits waits on."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
            cluster.write_check("waits", "Retry")
            await cluster.settle()
            cluster.write_check("runs", "Retry", podSetUpdates=[])
            await cluster.until(lambda: by_kueue(cluster))
            await cluster.until(lambda: cluster.kueue.running)
            await cluster.settle()
            assert len(cluster.kueue.running) == 1
        assert len(cluster.events(WorkloadSubmitted)) == 2

    play(monkeypatch, tmp_path, act)


def test_rejected_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue deactivates it; its place is free, and it is decided anew once it is active again."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
            cluster.write_check("runs", "Rejected", podSetUpdates=[])
            await cluster.until(lambda: cluster.kueue.running == {"waits"})
            cluster.kueue.activate("runs", True)
            cluster.kueue.finish("waits")
            await cluster.until(lambda: cluster.kueue.running == {"runs"})

    play(monkeypatch, tmp_path, act)


def test_pending_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue lets one run on that was admitted, so it counts; and it can be evicted as before."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
            for name in ("runs", "waits"):
                cluster.write_check(name, "Pending", podSetUpdates=[], message="by hand")
            await cluster.settle()
            assert cluster.kueue.running == {"runs"}
            assert not cluster.events(WorkloadEvicted)
            cluster.kueue.submit("important", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"important"})
        assert [event.workload for event in cluster.events(WorkloadEvicted)] == ["default/runs"]

    play(monkeypatch, tmp_path, act)


def test_the_condition_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs by no decision that it shows: it is stopped, and decided anew."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("runs", 8)
            await cluster.until(lambda: cluster.kueue.running == {"runs"})
            await cluster.settle()
            workload = cluster.kueue.workload("runs")
            assert workload is not None
            rows = [row for row in workload["status"]["conditions"] if row["type"] != DECIDED]
            cluster.write_status("runs", {"conditions": rows})
            await cluster.until(lambda: len(cluster.kueue.admitted) == 2)
            assert by_kueue(cluster) == ["it runs by no decision that it shows"]

    play(monkeypatch, tmp_path, act)


def test_what_is_said_of_its_pods_is_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue refuses that while it is let run; before, gpol writes over it."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
            other: list[Any] = [{"name": "main", "nodeSelector": {"model": "a100"}}]
            with pytest.raises(StoreError, match="immutable"):
                cluster.write_check("runs", "Ready", podSetUpdates=other)
            cluster.write_check("waits", "Pending", podSetUpdates=other)
            cluster.kueue.finish("runs")
            await cluster.until(lambda: cluster.kueue.running == {"waits"})
            (update,) = cluster.check("waits")["podSetUpdates"]
            assert update["nodeSelector"] == {"model": "h100"}

    play(monkeypatch, tmp_path, act)


def test_the_label_of_a_pod_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gpol does not see the pod then: it waits only until Kueue counts none."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("runs", 8)
            await cluster.until(lambda: cluster.kueue.running == {"runs"})
            (pod,) = cluster.kueue.pods("runs")
            labels = {"metadata": {"labels": {"gpol.dev/workload": None}}}
            cluster.store.merge_patch(POD, pod["metadata"]["name"], labels, namespace="default")
            monkeypatch.setattr(cluster.kueue, "end_pods", lambda name: False)
            cluster.kueue.submit("important", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"important"})
            assert len(cluster.kueue.pods("runs")) == 1

    play(monkeypatch, tmp_path, act)


def test_the_check_is_taken_out_of_the_cluster_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue admits everybody who waits. Once it is put back, and those are stopped, gpol decides about them; who ran before runs on."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await full(cluster)
            cluster.kueue.has_check = False
            await cluster.until(lambda: cluster.kueue.running == {"runs", "waits"})
            cluster.kueue.has_check = True
            await cluster.until(lambda: cluster.check("waits") and cluster.check("runs"))
            await cluster.settle()
            cluster.kueue.activate("waits", False)
            await cluster.until(lambda: cluster.kueue.running == {"runs"})
            cluster.kueue.activate("waits", True)
            await cluster.settle()
            assert cluster.kueue.running == {"runs"}
            assert not cluster.events(WorkloadEvicted)
            cluster.kueue.finish("runs")
            await cluster.until(lambda: cluster.kueue.running == {"waits"})
        assert len(cluster.events(WorkloadAdmitted)) == 2

    play(monkeypatch, tmp_path, act)


def test_the_check_is_given_to_another_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gpol answers it no more, and says so; once it is gpol's again, what was decided meanwhile is carried out."""

    async def act(cluster: FailingCluster) -> None:
        def controlled_by(controller: str) -> None:
            cluster.store.merge_patch(ADMISSION_CHECK, "gpol", {"spec": {"controllerName": controller}})

        controlled_by("example.com/other")
        async with cluster.gpol() as service:
            await cluster.until(lambda: "belongs to controller example.com/other" in str(service.health.problems()))
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.events(WorkloadAdmitted))
            await cluster.settle()
            assert cluster.check("a")["state"] == "Pending"
            assert cluster.kueue.running == set()
            controlled_by("gpol.dev/policy")
            await cluster.until(lambda: cluster.kueue.running == {"a"})

    play(monkeypatch, tmp_path, act)
