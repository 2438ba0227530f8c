"""Replaying and verifying a journal that a simulation makes, and a long one on all processors."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TypeVar

from gpol.adapters.traces import read_jobs
from gpol.cli.speed.garbage import seldom_collecting
from gpol.cli.speed.kernels import core_for_part
from gpol.compiled.fast_core import fast_core
from gpol.dsl import check
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.audit.in_parts.replay_parts import replay_in_parts
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from gpol.journal.read.snapshots import Snapshotter
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from joblib import cpu_count

from .figure import Figure, cpu_seconds
from .start import PHILLY, ROOT

POLICY = ROOT / "examples" / "philly" / "full.gpol"
QUEUES = ("6214e9", "7f04ca", "b436b2")

JOBS, MANY_JOBS = 82_000, 667_000
"""How many are generated where the trace is not at hand, and for a journal of 2,000,000 events."""

PART = 20_000
"""So many events the definition replays."""

_Answer = TypeVar("_Answer")


def audit(runs: int) -> Iterator[Figure]:
    """Processor time for each event of a journal, where the definition replays its beginning; then the clock for a long one."""
    with TemporaryDirectory() as folder:
        place, part = Path(folder) / "all.db", Path(folder) / "part.db"
        make(place)
        beginning(place, part)
        plain, few = whole(part, new_core())
        found = [whole(place, fast_core(print, is_long=True)) for _ in range(runs)]
        values = tuple(seconds / events * 1e6 for seconds, events in found)
        yield Figure("audit", "replay, for each event", "us", values, 1, 1e6 / 120_000, plain / few * 1e6)
        with Journal.open(place) as journal:
            values = tuple(cpu_seconds(partial(verify, journal)) / journal.head.seq * 1e6 for _ in range(runs))
        yield Figure("audit", "verify, for each event", "us", values)
        yield from _on_all_processors(Path(folder) / "long.db", runs)


def _on_all_processors(place: Path, runs: int) -> Iterator[Figure]:
    """A long journal on one processor and on all in turn, with the time to start other processes. On a machine with one: nothing."""
    if cpu_count() == 1:
        return
    make(place, generated(MANY_JOBS))
    with Journal.open(place) as journal:
        events = journal.head.seq
        alone, together, verified = list[float](), list[float](), list[float]()
        for _ in range(runs):
            with seldom_collecting():
                seconds, report = _clock(lambda: replay(journal, decider=fast_core(print, is_long=True)))
            alone.append(seconds / events * 1e6)
            seconds, same = _clock(lambda: replay_in_parts(journal, partial(core_for_part, None)))
            assert same == report
            together.append(seconds / events * 1e6)
            seconds, good = _clock(lambda: verify(journal))
            assert good.good
            verified.append(seconds / events * 1e6)
    yield Figure("audit", "replay of 2,000,000 events on one processor, for each event, on the clock", "us", tuple(alone))
    yield Figure("audit", "replay, on all processors, for each event, on the clock", "us", tuple(together))
    ratios = tuple(many / one for one, many in zip(alone, together, strict=True))
    yield Figure("audit", "time on all processors, as a part of the time on one", "", ratios, goal=1 / 1.7)
    yield Figure("audit", "verify, on all processors, for each event, on the clock", "us", tuple(verified), goal=1e6 / 250_000)


def _clock(work: Callable[[], _Answer]) -> tuple[float, _Answer]:
    """Seconds on the clock for some work, and what comes of it."""
    begin = perf_counter()
    answer = work()
    return perf_counter() - begin, answer


def generated(count: int) -> list[Job]:
    """Jobs of which a few at a time run; each makes three events."""
    second, pods = 1_000_000, [(PodSet(requests={"gpu": f"{gpus}"}),) for gpus in (1, 1, 1, 2, 4, 8)]
    return [
        Job(
            WorkloadSubmitted(
                time=number * 100 * second, workload=f"job-{number}", queue=QUEUES[number % 3], pod_sets=pods[number * 7 % 6]
            ),
            (60 + number * 7_919 % 20_000) * second,
        )
        for number in range(count)
    ]


def make(place: Path, played: list[Job] | None = None) -> None:
    """A journal of jobs, else of the trace where it is at hand, under `full.gpol`, with snapshots."""
    player = Player(fast_core(print, is_long=True))
    with Journal.create(place) as journal, Snapshotter(journal, player.core) as player.sink:
        jobs = played or (read_jobs(PHILLY, "philly") if PHILLY.exists() else generated(JOBS))
        for _ in Simulation(Policy.of(check(POLICY.read_text(encoding="utf-8"), POLICY.name)), jobs, player).chunks():
            pass


def whole(place: Path, core: Core) -> tuple[float, int]:
    """Processor time of a replay, and how many events it was."""
    with Journal.open(place) as journal, seldom_collecting():  # as the command does
        begin = process_time()
        report = replay(journal, decider=core)
        assert report.same, report
        return process_time() - begin, report.seq


def beginning(place: Path, part: Path) -> None:
    """Copy the first events of a journal, whole batches."""
    with Journal.open(place) as source, Journal.create(part) as target:
        batches, events = [], 0
        for batch in source.batches():
            batches.append([batch.fact.event, *(recorded.event for recorded in batch.decisions)])
            events += len(batches[-1])
            if events >= PART:
                break
        target.append(batches)
