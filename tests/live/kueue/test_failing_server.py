"""gpol, the API server and Kueue fail: whatever is lost on the way, each decision is carried out, and once."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from failing_cluster import POLICY, FailingCluster, play
from fake_kinds import ADMISSION_CHECK
from gpol.engine.events import WorkloadAdmitted
from gpol.engine.facts import PolicyActivated, WorkloadCancelled, WorkloadSubmitted
from kueue_steps import is_true


def test_nobody_new_runs_while_gpol_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who runs goes on; after its start gpol takes in what has changed meanwhile."""

    async def act(cluster: FailingCluster) -> None:
        cluster.kueue.submit("a", 4)
        cluster.kueue.submit("b", 2)
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
        cluster.kueue.submit("c", 6)
        cluster.kueue.finish("a")
        cluster.kueue.delete("b")
        await cluster.settle()
        assert cluster.kueue.running == set()
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"c"})

    play(monkeypatch, tmp_path, act)


@pytest.mark.parametrize("is_forgotten", [False, True])
@pytest.mark.parametrize("in_stream", [False, True])
def test_the_api_server_goes_down_and_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_forgotten: bool, in_stream: bool
) -> None:
    """It says that it cannot follow; afterwards all that has changed is found, also where the version of the watch is too old (410)."""

    async def act(cluster: FailingCluster) -> None:
        cluster.faults.expired_in_stream = in_stream
        cluster.kueue.submit("a", 4)
        async with cluster.gpol() as service:
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            await cluster.server.go_down()
            await cluster.until(lambda: "cannot follow workloads" in " ".join(service.health.problems().values()))
            cluster.kueue.finish("a")
            cluster.kueue.submit("b", 8)
            if is_forgotten:
                cluster.store.compact()
            await cluster.server.come_up()
            await cluster.until(lambda: cluster.kueue.running == {"b"})
            await cluster.until(lambda: not service.health.problems())

    play(monkeypatch, tmp_path, act)


def test_the_check_could_not_be_said_to_be_active(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue reserves nothing as long as nobody says it: it is said again until it is taken."""

    async def act(cluster: FailingCluster) -> None:
        cluster.faults.answer(500, method="PATCH", path="*/admissionchecks/*/status", times=2)
        async with cluster.gpol() as service:
            await cluster.until(lambda: "is not active" in service.health.problems().get("admission check", ""))
            await cluster.until(lambda: is_true(cluster.store.get(ADMISSION_CHECK, "gpol"), "Active") and not service.health.problems())

    play(monkeypatch, tmp_path, act)


@pytest.mark.parametrize("cut", ["reset_watches", "end_watches", "expire_watches", "hold_watches"])
def test_watches_are_cut_or_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: str) -> None:
    """No change is lost, and none is taken in twice."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await cluster.until(lambda: cluster.faults.open_watches >= 2)
            for number in range(4):
                getattr(cluster.faults, cut)()
                cluster.kueue.submit(f"w{number}", 2)
                await cluster.settle()
                cluster.faults.release_watches()
            await cluster.until(lambda: len(cluster.kueue.running) == 4)
            cluster.faults.hold_watches()
            cluster.kueue.finish("w0")
            cluster.kueue.delete("w1")
            cluster.kueue.submit("w0-again", 4)
            cluster.faults.release_watches()
            await cluster.until(lambda: cluster.kueue.running == {"w2", "w3", "w0-again"})
        assert len(cluster.events(WorkloadSubmitted)) == len(cluster.events(WorkloadAdmitted)) == 5

    play(monkeypatch, tmp_path, act)


@pytest.mark.parametrize("fault", ["conflict", "lost request", "lost answer", "overloaded", "failed"])
def test_a_write_is_refused_or_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """The workload is read again before anything else is done with it."""

    async def act(cluster: FailingCluster) -> None:
        place = {"method": "PATCH", "path": "*/workloads/*/status", "times": 3}
        match fault:
            case "conflict":
                cluster.faults.answer(409, **place)  # type: ignore[arg-type]
            case "lost request":
                cluster.faults.lose_request(**place)  # type: ignore[arg-type]
            case "lost answer":
                cluster.faults.lose_answer(**place)  # type: ignore[arg-type]
            case "overloaded":
                cluster.faults.answer(429, retry_after=0, **place)  # type: ignore[arg-type]
            case _:
                cluster.faults.answer(500, **place)  # type: ignore[arg-type]
        async with cluster.gpol():
            for name in ("a", "b", "c"):
                cluster.kueue.submit(name, 2)
            await cluster.until(lambda: cluster.kueue.running == {"a", "b", "c"})
            cluster.kueue.submit("large", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"large"})
        assert not cluster.faults.unused()

    play(monkeypatch, tmp_path, act)


def test_the_state_of_the_cluster_goes_back_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after restoring a backup of etcd. Who ran then, and was evicted since, is stopped and decided anew."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("small", 8)
            await cluster.until(lambda: cluster.kueue.running == {"small"})
            await cluster.settle()
            backup = cluster.store.backup()
            cluster.kueue.submit("large", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"large"})
            for number in range(20):  # so that the versions are ahead for long
                cluster.kueue.submit(f"later{number}", 8)
            await cluster.settle()
            cluster.store.restore(backup)
            cluster.kueue.running, marks = {"small"}, list(cluster.kueue.admitted)
            await cluster.until(lambda: len(cluster.kueue.admitted) > len(marks))
            await cluster.settle()
            assert cluster.kueue.running == {"small"}
        cancelled = {event.workload for event in cluster.events(WorkloadCancelled)}
        assert "default/large" in cancelled
        assert len(cancelled) == 21

    play(monkeypatch, tmp_path, act)


def test_one_of_two_gpols_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other waits, and takes over when the first ends."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol("one", with_lease=True) as one:
            await cluster.until(lambda: "lease" not in one.health.problems() and len(cluster.events(PolicyActivated)) == 1)
            async with cluster.gpol("two", with_lease=True) as two:
                await cluster.until(lambda: "one holds the Lease" in two.health.problems().get("lease", ""))
                cluster.kueue.submit("a", 4)
                await cluster.until(lambda: cluster.kueue.running == {"a"})
        async with cluster.gpol("two", with_lease=True):
            cluster.kueue.submit("b", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})

    play(monkeypatch, tmp_path, act)


def test_kueue_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gpol's answers wait for it in the workloads."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            cluster.kueue.submit("b", 8)
            for name in ("a", "b"):
                cluster.kueue.reserve(name)
            cluster.kueue_is_down = True
            await cluster.until(lambda: cluster.check("a").get("state") == "Ready")
            await cluster.settle()
            assert (cluster.kueue.running, cluster.check("b")["state"]) == (set(), "Pending")
            cluster.kueue_is_down = False
            await cluster.until(lambda: cluster.kueue.running == {"a"})

    play(monkeypatch, tmp_path, act)


def test_a_workload_goes_between_decision_and_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write reaches nobody, not even another workload of its name, and its place is free."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            await cluster.until(lambda: cluster.faults.open_watches >= 2)
            cluster.faults.answer(500, method="PATCH", path="*/workloads/*/status", times=3)
            cluster.kueue.submit("a", 8)
            cluster.kueue.reserve("a")
            await cluster.until(lambda: cluster.journal.exists() and cluster.events(WorkloadAdmitted))
            cluster.faults.hold_watches()
            cluster.kueue.delete("a")
            cluster.kueue.submit("a", 4)
            cluster.kueue.submit("b", 4)
            cluster.faults.release_watches()
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})

    play(monkeypatch, tmp_path, act)


def test_one_that_takes_over_goes_by_the_policy_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gpol that has waited for the Lease since before the policy was changed does not bring the earlier one back."""

    async def act(cluster: FailingCluster) -> None:
        async with AsyncExitStack() as first:
            one = await first.enter_async_context(cluster.gpol("one", with_lease=True))
            await cluster.until(lambda: "lease" not in one.health.problems() and len(cluster.events(PolicyActivated)) == 1)
            async with cluster.gpol("two", with_lease=True) as two:
                await cluster.until(lambda: "one holds the Lease" in two.health.problems().get("lease", ""))
                cluster.write_policy(POLICY.replace("8", "16"))
                cluster.kueue.submit("large", 16)
                await cluster.until(lambda: cluster.kueue.running == {"large"})
                await first.aclose()
                cluster.kueue.submit("small", 1)
                await cluster.until(lambda: cluster.is_waiting("small"))
        assert len(cluster.events(PolicyActivated)) == 2, "the earlier policy came back"

    play(monkeypatch, tmp_path, act)
