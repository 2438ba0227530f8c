"""Workloads run that the journal does not have as running: those of another journal or another policy, and those that are over in it."""

from pathlib import Path

import pytest
from failing_cluster import POLICY, FailingCluster, play
from gpol.adapters.live.decider import LiveDecider
from gpol.adapters.live.stamps import Stamps
from gpol.engine.default_core import thaw
from gpol.engine.events import WorkloadEvicted, WorkloadRejected
from gpol.engine.facts import WorkloadAdopted, WorkloadCancelled, WorkloadSubmitted


def problems(cluster: FailingCluster) -> dict[str, str]:
    """What is told of workloads."""
    return {name: told for service in cluster.at_work for work in service.metrics.works for name, told in work.of_objects().items()}


def end_in_the_journal(cluster: FailingCluster, name: str) -> None:
    """The journal has a workload as over, as after it was opened for another cluster, or after a restore of etcd."""
    with LiveDecider.open(str(cluster.journal), lambda frozen: thaw(*frozen), Stamps) as decider:
        decider.begin(lambda events: None)
        decider.play(WorkloadCancelled(time=decider.moment, workload=f"default/{name}"))
        decider.commit(lambda events: None)


def test_a_policy_without_a_queue_for_who_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a new journal and a policy of another cluster: who runs is left alone and named, who waits is turned away."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("runs", 4)
            await cluster.until(lambda: cluster.kueue.running == {"runs"})
            cluster.kueue.submit("waits", 8)
            await cluster.until(lambda: cluster.is_waiting("waits"))
        cluster.journal.unlink()
        cluster.kueue.admitted.clear()
        cluster.write_policy(POLICY.replace("wide", "narrow"))
        async with cluster.gpol():
            await cluster.until(lambda: "no queue of the policy is for it" in problems(cluster).get("default/runs", ""))
            await cluster.until(lambda: cluster.events(WorkloadRejected))
            await cluster.settle()
            assert cluster.kueue.running == {"runs"}
        assert [event.workload for event in cluster.events(WorkloadSubmitted)] == ["default/waits"]

    play(monkeypatch, tmp_path, act)


def test_one_that_runs_and_is_over_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken in as running before anybody else gets its place, and counts: it can be evicted as before."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("runs", 8)
            await cluster.until(lambda: cluster.kueue.running == {"runs"})
        end_in_the_journal(cluster, "runs")
        async with cluster.gpol():
            cluster.kueue.submit("also", 4)
            await cluster.until(lambda: cluster.is_waiting("also"))
            await cluster.settle()
            assert cluster.kueue.running == {"runs"}
            cluster.kueue.submit("important", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"important"})
        assert [event.workload for event in cluster.events(WorkloadAdopted)] == ["default/runs"]
        assert [event.workload for event in cluster.events(WorkloadEvicted)] == ["default/runs"]

    play(monkeypatch, tmp_path, act)


def test_one_that_waits_and_is_over_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks anew: an admission of its life that is over lets nobody run, also one that was never carried out."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("again", 8)
            await cluster.until(lambda: cluster.kueue.running == {"again"})
            cluster.kueue.submit("important", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"important"})
            await cluster.settle()
        with LiveDecider.open(str(cluster.journal), lambda frozen: thaw(*frozen), Stamps) as decider:
            decider.begin(lambda events: None)
            for name in ("important", "again"):  # the one is over, so the other is admitted, and then over as well
                decider.play(WorkloadCancelled(time=decider.moment, workload=f"default/{name}"))
            decider.commit(lambda events: None)
        async with cluster.gpol():
            await cluster.until(lambda: len(cluster.events(WorkloadSubmitted)) == 4)
            await cluster.settle()
            assert cluster.kueue.running == {"important"}

    play(monkeypatch, tmp_path, act)
