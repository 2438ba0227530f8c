"""What the journal's tests share: one event of every kind, and histories made of them."""

import gc
import os
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gpol.engine.event_parts import (
    Assignment,
    Charge,
    FlavorAttempt,
    FlavorObstacle,
    Limit,
    MovedPods,
    Operand,
    PlacedPods,
    Placement,
    PodSet,
    PodSetChange,
    RuleRef,
)
from gpol.engine.events import (
    AnyEvent,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadResized,
)
from gpol.engine.facts import (
    CapacityChanged,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    OperatorAction,
    PolicyActivated,
    ProfileText,
    SimulationStarted,
    TimeAdvanced,
    UsageReported,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from gpol.engine.outcome.grounds import Why
from gpol.journal.journal import Journal

START_TIME = 1_767_323_045_000_000
"""2026-01-02T03:04:05Z."""

SECOND = 1_000_000

Batches = list[list[AnyEvent]]

_RECLAIM = RuleRef(name="reclaim-owned", file="cluster.gpol", line=31)


def _samples() -> list[AnyEvent]:
    """One event of every kind, with every field filled, facts first."""
    time = START_TIME
    return [
        PolicyActivated(
            time=time,
            file="cluster.gpol",
            text='policy "acme" {\n  use gpol.fair\n}\n',
            profiles=(ProfileText(name="gpol.fair", text='profile "gpol.fair" {\n  share borrowed\n}\n'),),
            digest="sha256:" + "5d" * 32,
            by="grace",
        ),
        CapacityChanged(time=time, flavor="a100", capacity={"memory": "2Ti", "gpu": "8"}),
        NodeAdded(time=time, node="rack1-n7", labels={"zone": "b", "gpu.product": "A100"}, capacity={"gpu": "8", "cpu": "96"}),
        NodeChanged(time=time, node="rack1-n7", labels={"gpu.product": "A100", "zone": "b"}, capacity={"gpu": "7", "cpu": "96"}),
        NodeRemoved(time=time, node="rack1-n7"),
        SimulationStarted(time=time, on_evict="resume", source="jobs.csv.gz", source_digest="sha256:" + "c4" * 32),
        WorkloadSubmitted(
            time=time,
            workload="bert-7",
            queue="nlp",
            namespace="nlp-prod",
            user="ada",
            group="nlp",
            workload_kind="Job",
            labels={"tier": "prod", "exam": "no"},
            priority="batch",
            pod_sets=(
                PodSet(name="driver", requests={"cpu": "500m", "memory": "1Gi"}),
                PodSet(name="worker", count=4, requests={"gpu": "2", "cpu": "8"}, flavors=("h100", "a100")),
            ),
        ),
        WorkloadAdopted(
            time=time,
            workload="team-a/train-7",
            queue="team-a",
            since=time - 3_600_000_000,
            placements=(
                Placement(
                    pod_set="main",
                    count=4,
                    flavors={"cpu": "h100", "nvidia.com/gpu": "h100"},
                    usage={"cpu": "16", "nvidia.com/gpu": 32},
                ),
            ),
        ),
        UsageReported(time=time, local_queue="team-a/batch", consumed={"cpu": "3500m", "nvidia.com/gpu": 12}),
        WorkloadUpdated(time=time, workload="bert-7", priority=-5, hold=False, reclaimable={"worker": 2}),
        WorkloadFinished(time=time, workload="bert-7"),
        WorkloadCancelled(time=time, workload='größe "7"\n'),
        TimeAdvanced(time=time),
        OperatorAction(time=time, by="grace", action="evict", workload="bert-7", note="moving racks"),
        WorkloadAdmitted(
            time=time,
            cause=6,
            workload="bert-7",
            queue="nlp",
            priority=100,
            reason="FitsAfterEviction",
            assignments=(
                Assignment(pod_set="driver", count=1, flavors={"cpu": "h100", "memory": "h100"}),
                Assignment(pod_set="worker", count=4, flavors={"cpu": "a100", "gpu": "a100"}),
            ),
            usage=(Charge(flavor="a100", resource="gpu", amount=8_000),),
            borrowed=(Charge(flavor="a100", resource="gpu", amount=2_000),),
            replaces="bert-6",
            passed_over=(
                FlavorAttempt(
                    pod_set="worker",
                    flavor="h100",
                    resources=("cpu", "gpu"),
                    borrows=True,
                    obstacles=(FlavorObstacle(kind="short", resource="gpu", asked=8_000, limit=3_000),),
                ),
            ),
            why=Why(rule=_RECLAIM, operands=(Operand(name="workload.queue.share", value="3/4"),)),
        ),
        WorkloadEvicted(
            time=time,
            cause=6,
            workload="edu-3",
            queue="students",
            priority=-5,
            reason="Preempted",
            beneficiary="bert-7",
            preemption="reclaim",
            usage=(Charge(flavor="a100", resource="gpu", amount=4_000),),
            why=Why(
                rule=_RECLAIM,
                limit=Limit(
                    node="nlp",
                    limit="owned",
                    flavor="a100",
                    resource="gpu",
                    asked=8_000,
                    available=5_000,
                    deficit=3_000,
                    source=RuleRef(name="nlp", file="cluster.gpol", line=12),
                ),
            ),
        ),
        WorkloadDeferred(
            time=time,
            cause=6,
            workload="team-a/train-8",
            queue="team-a",
            reason="WaitingForQuota",
            outcome="no candidates",
            waits="parked",
            alike=True,
            attempts=(
                FlavorAttempt(
                    pod_set="main",
                    flavor="l40s",
                    resources=("cpu", "nvidia.com/gpu"),
                    borrows=False,
                    obstacles=(FlavorObstacle(kind="taint", detail="spot=true:NoSchedule"),),
                ),
                FlavorAttempt(
                    pod_set="main",
                    flavor="h100",
                    resources=("cpu", "nvidia.com/gpu"),
                    borrows=True,
                    obstacles=(FlavorObstacle(kind="short", resource="nvidia.com/gpu", asked=8, limit=5),),
                ),
            ),
            why=Why(
                operands=(Operand(name="because of", value="namespace"),),
                limit=Limit(
                    node="team-a",
                    limit="owned",
                    flavor="h100",
                    resource="nvidia.com/gpu",
                    asked=8,
                    available=5,
                    deficit=3,
                    source=RuleRef(name="team-a", file="cluster.gpol", line=12),
                ),
            ),
        ),
        WorkloadPlaced(
            time=time,
            cause=6,
            workload="team-a/train-7",
            queue="team-a",
            reason="NodeLost",
            assignments=(
                Assignment(
                    pod_set="main",
                    count=4,
                    flavors={"nvidia.com/gpu": "h100"},
                    places=(PlacedPods(domain=("n1",), pods=3), PlacedPods(domain=("n4",), pods=1)),
                ),
            ),
            why=Why(operands=(Operand(name="lost node", value="n2"),)),
        ),
        WorkloadMoved(
            time=time,
            cause=6,
            workload="train-9",
            queue="nlp",
            priority=100,
            reason="Consolidated",
            beneficiary="bert-7",
            moves=(MovedPods(pod_set="main", pods=1, from_place=("n1",), to_place=("n4",)),),
            assignments=(
                Assignment(
                    pod_set="main",
                    count=4,
                    flavors={"gpu": "h100"},
                    places=(PlacedPods(domain=("n1",), pods=3), PlacedPods(domain=("n4",), pods=1)),
                ),
            ),
            why=Why(),
        ),
        WorkloadResized(
            time=time,
            cause=6,
            workload="train-9",
            queue="nlp",
            priority=100,
            reason="RoomForMore",
            changes=(PodSetChange(pod_set="main", added=2, places=(PlacedPods(domain=("n2",), pods=2),)),),
            assignments=(
                Assignment(
                    pod_set="main",
                    count=6,
                    flavors={"gpu": "h100"},
                    places=(PlacedPods(domain=("n1",), pods=4), PlacedPods(domain=("n2",), pods=2)),
                ),
            ),
            usage=(Charge(flavor="h100", resource="gpu", amount=6000),),
            borrowed=(Charge(flavor="h100", resource="gpu", amount=2000),),
            why=Why(
                rule=RuleRef(name="nlp", file="cluster.gpol", line=12),
                operands=(Operand(name="asks", value="2 gpu on h100"),),
            ),
        ),
        WorkloadReplaced(
            time=time,
            cause=6,
            workload="team-a/grow-1",
            queue="team-a",
            by="team-a/grow-2",
            usage=(Charge(flavor="h100", resource="nvidia.com/gpu", amount=4),),
            why=Why(),
        ),
        WorkloadRejected(
            time=time,
            cause=6,
            workload="edu-4",
            queue="students",
            reason="Denied",
            why=Why(rule=RuleRef(name="too-big", file="cluster.gpol", line=40)),
        ),
    ]


def _history(count: int, start: int = 1) -> Batches:
    """`count` batches of about three events, a second apart: a policy first, then submissions that are admitted, and finishes.

    `start` is the seq of the first event.
    """
    batches: Batches = []
    seq = start
    for number in range(count):
        time = START_TIME + (start + number) * SECOND
        if number == 0:
            batch: list[AnyEvent] = [PolicyActivated(time=time, file="c.gpol", text='policy "c" {}\n', digest="sha256:" + "0" * 64)]
        elif number % 3 == 0:
            batch = [WorkloadFinished(time=time, workload=f"w{number - 1}")]
        else:
            queue = f"q{number % 2}"
            charge = (Charge(flavor="a100", resource="gpu", amount=1_000 * number),)
            batch = [
                WorkloadSubmitted(time=time, workload=f"w{number}", queue=queue, pod_sets=(PodSet(requests={"gpu": 1_000 * number}),)),
                WorkloadEvicted(
                    time=time,
                    cause=seq,
                    workload="v",
                    queue="q1",
                    priority=0,
                    reason="Preempted",
                    beneficiary=f"w{number}",
                    preemption="other",
                    usage=charge,
                    why=Why(),
                ),
                WorkloadAdmitted(
                    time=time,
                    cause=seq,
                    workload=f"w{number}",
                    queue=queue,
                    priority=0,
                    reason="FitsOwned",
                    assignments=(),
                    usage=charge,
                    borrowed=(),
                    why=Why(),
                ),
            ]
        batches.append(batch)
        seq += len(batch)
    return batches


@pytest.fixture
def samples() -> list[AnyEvent]:
    """One event of every kind."""
    return _samples()


@pytest.fixture
def history() -> Callable[..., Batches]:
    """Makes histories: `history(count, start=1)`."""
    return _history


@pytest.fixture
def peak_memory() -> Callable[[Callable[[], Any]], int]:
    """The bytes that a call holds at most, on top of what is there: the least of three calls, each after a collection.

    A collection empties Python's lists of free objects, and what is then made anew (some 40 kB) is counted or not,
    by the moment at which it ran: one peak alone is no measure.
    """

    def peak(call: Callable[[], Any]) -> int:
        gc.collect()
        tracemalloc.start()
        call()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    return lambda call: min(peak(call) for _ in range(3))


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of tests that are about SQLite."""
    config.addinivalue_line("markers", "sqlite: about the file that a journal is in SQLite; other tests run on every store")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with a journal on every store, unless it is about one."""
    if "place" in metafunc.fixturenames and metafunc.definition.get_closest_marker("sqlite") is None:
        metafunc.parametrize("place", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a test's journal is to be: a path, or the URL of another store."""
    if getattr(request, "param", "sqlite") == "postgresql":
        url: str = request.getfixturevalue("postgres_place")
        return url
    return tmp_path / "journal.db"


@pytest.fixture
def journal(place: Path | str) -> Iterator[Journal]:
    """A new journal, open to append."""
    with Journal.create(place) as made:
        yield made


@pytest.fixture
def hood(place: Path | str) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
    """Opens the hood of a journal: `hood(statement, *arguments)` changes what it likes, and gives the rows. `?` stands for an argument."""
    connections: list[Any] = []

    def execute(statement: str, *arguments: object) -> list[tuple[Any, ...]]:
        if not connections:
            connections.append(_open_hood(place))
        if isinstance(place, str):
            statement = statement.replace("%", "%%").replace("?", "%s")
        cursor = connections[0].execute(statement, arguments)
        return cursor.fetchall() if cursor.description else []

    yield execute
    for connection in connections:
        connection.close()


def _open_hood(place: Path | str) -> Any:
    """A connection of the database's own library, without the triggers that stop changes."""
    if isinstance(place, Path):
        connection: Any = sqlite3.connect(place, isolation_level=None)
        triggers = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    else:
        import psycopg

        plain, _, name = place.rpartition("&journal=")
        connection = psycopg.connect(plain, autocommit=True)
        connection.execute(f"SET search_path TO {name}")
        triggers = [name for (name,) in connection.execute("SELECT tgname FROM pg_trigger WHERE tgrelid = 'events'::regclass")]
    for trigger in triggers:
        connection.execute(f"DROP TRIGGER {trigger}" + (" ON events" if isinstance(place, str) else ""))
    return connection


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """What is synced from now on, `file` or `folder`, and when names are given by this function of `os`, in order: `watch("replace")`."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to tell a folder's handle from a file's")

    def start(naming: str) -> list[str]:
        told: list[str] = []
        sync, name = os.fsync, getattr(os, naming)

        def synced(handle: int) -> None:
            told.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
            sync(handle)

        def named(before: Path, after: Path) -> None:
            told.append("name")
            name(before, after)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(os, naming, named)
        return told

    return start
