"""Where the time goes on the main paths: the processor time of each part for an event, without that of the parts inside it.

What one fact takes alone is in `one_fact.py`.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from gpol.adapters.traces import read_jobs
from gpol.cli.run import fact_lines
from gpol.cli.speed.garbage import seldom_collecting
from gpol.compiled.fast_core import fast_core
from gpol.dsl import check
from gpol.engine.core.jobs.given_loop import GivenLoop
from gpol.engine.core.jobs.job_rows import JobRows
from gpol.engine.core.jobs.kernel_loop import KernelLoop
from gpol.engine.core.jobs.payloads import Payloads
from gpol.engine.intake.jobs import Jobs
from gpol.journal.audit import replay_walk
from gpol.journal.audit.recorded_facts import RecordedFacts
from gpol.journal.audit.replay import replay
from gpol.journal.journal import Journal
from gpol.journal.read import snapshots
from gpol.journal.store import recorder
from gpol.journal.store.recorder import Recorder
from gpol.journal.store.sqlite import SqliteStore
from gpol.sim.drive import player
from gpol.sim.drive.policy import Policy
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.never_ran import NeverRan

from .audit import make
from .closed_loop import played
from .figure import Figure
from .many_facts import FOLDER, play_file, write_facts
from .start import CAMPUS, PHILLY, ROOT

GROUP = "where time goes"
FACTS = 60_000

Parts = Mapping[str, tuple[Any, str]]
"""Functions by what they do, each with what it is an attribute of."""

_KEEP: Parts = {
    "the chain": (recorder, "links"),
    "rows for the store": (Recorder, "_rows"),
    "insert": (SqliteStore, "insert"),
    "begin and commit": (Recorder, "append"),
    "streams": (Journal, "append_encoded"),
    "snapshots": (snapshots, "keep_snapshot"),
}

SIMULATE: Parts = {
    "jobs as columns": (Jobs, "of"),
    "rows of jobs": (JobRows, "of"),
    "decide": (KernelLoop, "run"),
    "decisions as bytes": (Payloads, "decisions"),
    **_KEEP,
    "figures": (HistoryMeasure, "take"),
}

RUN: Parts = {
    "read facts": (fact_lines.Facts, "_read"),
    "rows of facts": (GivenLoop, "_take_in"),
    "decide": (KernelLoop, "run"),
    "decisions as bytes": (Payloads, "decisions"),
    "facts decided one by one": (player.Player, "step"),
    **_KEEP,
    "figures": (HistoryMeasure, "take"),
    "who never ran": (NeverRan, "take"),
}

REPLAY: Parts = {
    "read": (Recorder, "page"),
    "facts as columns": (RecordedFacts, "of"),
    "rows of jobs": (GivenLoop, "_take_in"),
    "decide": (KernelLoop, "run"),
    "decisions as bytes": (Payloads, "decisions"),
    "the chain": (replay_walk, "are_linked"),
}


def where(runs: int) -> Iterator[Figure]:
    """The parts of a simulation and of a run with a journal, and of a replay."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "all.db")
        campus = Policy.of(check((FOLDER / "campus.gpol").read_text(encoding="utf-8"), "campus.gpol"))
        write_facts(campus, folder / "many.jsonl", FACTS)
        philly = PHILLY.exists()
        trace, file = (PHILLY, "philly/full.gpol") if philly else (CAMPUS, "campus/campus.gpol")
        jobs = read_jobs(trace, "philly" if philly else None)
        policy = Policy.of(check((ROOT / "examples" / file).read_text(encoding="utf-8"), Path(file).name))
        paths: dict[str, tuple[Parts, Callable[[], int]]] = {
            "simulate with a journal": (SIMULATE, lambda: played(policy, jobs, fast_core(print, is_long=True), True)),
            "run with a journal": (RUN, lambda: play_file(campus, folder / "many.jsonl", fast_core(print))),
            "replay": (REPLAY, lambda: _replay(folder / "all.db")),
        }
        for path, (parts, work) in paths.items():
            found = [_taken(parts, work) for _ in range(runs)]
            for part in found[0]:
                yield Figure(GROUP, f"{path}: {part}", "us", tuple(each[part] for each in found))


def _replay(place: Path) -> int:
    with Journal.open(place) as journal, seldom_collecting():
        report = replay(journal, decider=fast_core(print, is_long=True))
    assert report.same, report
    return report.seq


def _taken(parts: Parts, work: Callable[[], int]) -> dict[str, float]:
    """Microseconds of each part for an event, of all else, and of all; `work` says how many events it was."""
    with timed(parts) as took:
        begin = time.thread_time_ns()
        events = work()
        whole = time.thread_time_ns() - begin
    told = {**{name: took[name] for name in parts}, "the rest": whole - took.total(), "all, with what measuring the parts takes": whole}
    return {name: nanoseconds / 1000 / events for name, nanoseconds in told.items()}


@contextmanager
def timed(parts: Parts) -> Iterator[Counter[str]]:
    """Count the nanoseconds that this thread spends in each part, but not in one that it calls."""
    took, inside = Counter[str](), [0]

    def around(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timing(*args: Any, **named: Any) -> Any:
            begin = time.thread_time_ns()
            inside.append(0)
            try:
                return call(*args, **named)
            finally:
                spent = time.thread_time_ns() - begin
                took[name] += spent - inside.pop()
                inside[-1] += spent

        return timing

    with ExitStack() as stack:
        for name, (owner, called) in parts.items():
            stack.enter_context(mock.patch.object(owner, called, around(name, getattr(owner, called))))
        yield took
