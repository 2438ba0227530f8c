"""What an audited replay costs, in processor time an event: reading, the chain, deciding again, encoding, comparing.

Run `python benchmarks/replay.py [JOURNAL]`, on a journal such as `gpol simulate --journal` makes. Without one it is made of the Philly
trace where that is in `../shared/traces`, else of as many generated jobs. Compiled kernels decide; they are made first where they are
missing. The definition replays the beginning of the same journal, in the same run. Medians of some rounds, and the spread.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from gpol.adapters.traces import read_jobs
from gpol.cli.speed.garbage import seldom_collecting
from gpol.compiled.compile_once import compile_once
from gpol.compiled.fast_core import fast_core
from gpol.compiled.kernel_folder import kernel_folder
from gpol.compiled.kernel_source import CORE
from gpol.dsl.analysis.checker import check
from gpol.engine.core.jobs.given_loop import GivenLoop
from gpol.engine.core.jobs.kernel_loop import KernelLoop
from gpol.engine.core.jobs.payloads import Payloads
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.journal.audit import replay_walk
from gpol.journal.audit.recorded_facts import RecordedFacts
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from gpol.journal.read.snapshots import Snapshotter
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation

ROOT = Path(__file__).parents[1]
TRACE = ROOT.parent / "shared" / "traces" / "philly_sia" / "philly.csv"
POLICY = ROOT / "examples" / "philly" / "full.gpol"
QUEUES = ("6214e9", "7f04ca", "b436b2")
ROUNDS = 5
PART = 20_000
"""So many events the definition replays."""

PARTS: dict[str, tuple[Any, str]] = {
    "facts as columns": (RecordedFacts, "of"),
    "rows of jobs": (GivenLoop, "_take_in"),
    "decide": (KernelLoop, "run"),
    "encode": (Payloads, "decisions"),
    "chain": (replay_walk, "linked"),
}


def jobs() -> list[Job]:
    """The trace, or as many generated jobs."""
    return list(read_jobs(TRACE, "philly")) if TRACE.exists() else generated(82_000)


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
    """A journal of jobs, else of `jobs()`, under `full.gpol`, with snapshots."""
    player = Player(fast_core(print, is_long=True))
    with Journal.create(place) as journal, Snapshotter(journal, player.core) as player.sink:
        for _ in Simulation(Policy.of(check(POLICY.read_text(encoding="utf-8"), POLICY.name)), played or jobs(), player).chunks():
            pass


@contextmanager
def timed(took: Counter[str]) -> Iterator[None]:
    """Count the processor time of each part, and of reading."""

    def around(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timing(*args: Any) -> Any:
            begin = time.process_time()
            result = call(*args)
            took[name] += time.process_time() - begin  # type: ignore[assignment]
            return result

        return timing

    def reading(journal: Journal, *between: Any) -> Iterator[Any]:
        found = pages(journal, *between)
        while page := around("read", next)(found, None):
            yield page

    pages = Journal.pages
    with ExitStack() as stack:
        for name, (owner, method) in PARTS.items():
            stack.enter_context(mock.patch.object(owner, method, around(name, getattr(owner, method))))
        stack.enter_context(mock.patch.object(Journal, "pages", reading))
        yield


def whole(place: Path, core: Core, took: Counter[str] | None = None) -> tuple[float, int]:
    """Processor time of a replay, and how many events it was."""
    with Journal.open(place) as journal, ExitStack() as stack:
        if took is not None:
            stack.enter_context(timed(took))
        stack.enter_context(seldom_collecting())  # as the command does
        begin = time.process_time()
        report = replay(journal, decider=core)
        assert report.same, report
        return time.process_time() - begin, report.seq


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


def told(what: str, per_event: list[float]) -> None:
    """Print a median with its spread, in microseconds and events a second."""
    low, middle, high = min(per_event), median(per_event), max(per_event)
    print(f"{what:22} {middle * 1e6:8.2f} us an event ({low * 1e6:.2f} to {high * 1e6:.2f}), {1 / middle:12,.0f} events/s")


def main() -> None:
    """Measure and print."""
    folder = kernel_folder()
    assert folder is not None
    compile_once(folder, (CORE,))
    with TemporaryDirectory() as temporary:
        place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary) / "replay.db"
        if len(sys.argv) < 2:
            make(place)
        rounds, took, verified, events = [], Counter[str](), [], 1
        for _ in range(ROUNDS):
            seconds, events = whole(place, fast_core(print, is_long=True))
            rounds.append(seconds / events)
            with Journal.open(place) as journal:
                begin = time.process_time()
                assert verify(journal).good
                verified.append((time.process_time() - begin) / events)
        in_parts = [whole(place, fast_core(print, is_long=True), took)[0] for _ in range(ROUNDS)]
        print(f"{events} events; processor time, medians of {ROUNDS} rounds")
        told("replay, arrays", rounds)
        for name in ("read", *PARTS):
            print(f"    {name:18} {took[name] / ROUNDS / events * 1e6:8.2f} us")
        rest = sum(in_parts) - sum(took.values())
        print(f"    {'compare, the rest':18} {rest / ROUNDS / events * 1e6:8.2f} us")
        told("verify", verified)
        part = Path(temporary) / "part.db"
        beginning(place, part)
        sides = []
        for _ in range(3):
            (plain, count), (fast, _) = whole(part, new_core()), whole(part, fast_core(print, is_long=True))
            sides.append((plain / count, fast / count))
        told(f"first {PART}: definition", [plain for plain, _ in sides])
        told(f"first {PART}: arrays", [fast for _, fast in sides])
        print(f"ratio {median(plain / fast for plain, fast in sides):.1f}")


if __name__ == "__main__":
    main()
