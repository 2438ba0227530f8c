"""The journal, the clock and the policy fail: nothing is decided or written that is not committed, and all goes on afterwards."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from failing_cluster import POLICY, FailingCluster, play
from gpol.adapters.live import decider as module
from gpol.adapters.live.stamps import Stamps
from gpol.engine.events import WorkloadAdmitted
from gpol.engine.facts import PolicyActivated, WorkloadSubmitted


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every new connection to a journal gets no more pages than its file has: SQLite says that the disk is full."""
    connect = sqlite3.connect

    def limited(*args: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", limited)
        yield


@pytest.mark.slow
def test_the_disk_of_the_journal_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written to the cluster until there is room; then all goes on, nothing lost and nothing doubled."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 2)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        with ExitStack() as disk:
            disk.enter_context(full_disk(monkeypatch))
            async with cluster.gpol() as service:
                labels = {f"label-{number}": "x" * 63 for number in range(60)}
                for number in range(6):
                    cluster.kueue.submit(f"w{number}", 1, labels=labels)
                await cluster.until(lambda: "no room left" in service.health.problems().get("journal", ""))
                await cluster.settle()
                decided = {event.workload for event in cluster.events(WorkloadAdmitted)}
                assert {f"default/{name}" for name in cluster.kueue.running} <= decided
                assert len(cluster.kueue.running) < 7
                disk.close()
                await cluster.until(lambda: len(cluster.kueue.running) == 7)
                await cluster.until(lambda: "journal" not in service.health.problems())
                await cluster.settle()
        assert len(cluster.events(WorkloadSubmitted)) == 7

    play(monkeypatch, tmp_path, act)


def test_an_older_copy_of_the_journal_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is decided with it; with the newest copy all goes on."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        copy, newest = tmp_path / "copy.db", tmp_path / "newest.db"
        shutil.copy(cluster.journal, copy)
        async with cluster.gpol():
            cluster.kueue.submit("b", 2)
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
        shutil.copy(cluster.journal, newest)
        shutil.copy(copy, cluster.journal)
        async with cluster.gpol() as service:
            cluster.kueue.submit("c", 2)
            await cluster.until(lambda: "it is an older copy" in service.health.problems().get("journal", ""))
            await cluster.settle()
            assert cluster.kueue.running == {"a", "b"}
        shutil.copy(newest, cluster.journal)
        async with cluster.gpol():
            await cluster.until(lambda: cluster.kueue.running == {"a", "b", "c"})

    play(monkeypatch, tmp_path, act)


def test_the_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times of facts stay where they are until the clock has passed them; everything is decided all the same."""
    ahead = [3_600]

    async def act(cluster: FailingCluster) -> None:
        real = Stamps(0)

        def stamps(last: int) -> Stamps:
            return Stamps(last, lambda: (real.now() + ahead[0] * 1_000_000) * 1_000)

        opened = module.LiveDecider.open
        monkeypatch.setattr(module.LiveDecider, "open", lambda place, make_core: opened(place, make_core, stamps))
        async with cluster.gpol():
            cluster.kueue.submit("a", 8)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            ahead[0] = 0
            cluster.kueue.submit("b", 8, 5)
            await cluster.until(lambda: cluster.kueue.running == {"b"})
        async with cluster.gpol():
            cluster.kueue.finish("b")
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        times = [event.time for event in cluster.events()]
        assert times == sorted(times)

    play(monkeypatch, tmp_path, act)


def test_a_policy_that_is_refused_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one with an error, nor one without a queue in which somebody runs, nor one that asks what Kueue does not say: the earlier one
    decides on, and it is said why."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol() as service:
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
            by_user = POLICY + 'deny ada { where workload.user = "ada" } because "she left"\n'
            told: list[str] = []
            for text in (POLICY + "queue other {", POLICY.replace("queue wide", "queue narrow"), by_user):
                cluster.write_policy(text)
                await cluster.until(lambda: "is refused" in service.health.problems().get("policy", ""))
                told.append(service.health.problems()["policy"].partition("goes on: ")[2])
                running = len(cluster.kueue.running)
                cluster.kueue.submit(f"b{running}", 1)
                await cluster.until(lambda: f"b{running}" in cluster.kueue.running)  # noqa: B023
                cluster.write_policy(POLICY)
                await cluster.until(lambda: "policy" not in service.health.problems())
            assert ["GP004" in told[0], "runs there" in told[1], "who has submitted it" in told[2]] == [True] * 3
            cluster.write_policy(POLICY.replace("8", "10"))
            cluster.kueue.submit("c", 2)
            await cluster.until(lambda: "c" in cluster.kueue.running)

    play(monkeypatch, tmp_path, act)


def test_a_policy_that_is_refused_at_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The earlier one, which the journal has, decides on; and the changed one takes over as soon as nothing keeps it from that."""

    async def act(cluster: FailingCluster) -> None:
        async with cluster.gpol():
            cluster.kueue.submit("a", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a"})
        cluster.write_policy(POLICY.replace("queue wide", "queue narrow"))
        async with cluster.gpol() as service:
            await cluster.until(lambda: "is refused" in service.health.problems().get("policy", ""))
            cluster.kueue.submit("b", 4)
            await cluster.until(lambda: cluster.kueue.running == {"a", "b"})
            cluster.kueue.finish("a")
            cluster.kueue.finish("b")
            await cluster.until(lambda: len(cluster.events(PolicyActivated)) == 2)
            assert "policy" not in service.health.problems()
        assert ["narrow" in event.text for event in cluster.events(PolicyActivated)] == [False, True]

    play(monkeypatch, tmp_path, act)
