"""Replaying and verifying the journal of `benchmarks/replay.py`, and a long one on all processors."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TypeVar

from gpol.cli.speed.garbage import seldom_collecting
from gpol.cli.speed.kernels import core_for_part
from gpol.compiled.fast_core import fast_core
from gpol.engine.default_core import new_core
from gpol.journal.audit.in_parts.replay_parts import replay_in_parts
from gpol.journal.audit.replay import replay
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from joblib import cpu_count
from replay import beginning, generated, make, whole

from .figure import Figure, cpu_seconds

JOBS = 667_000
"""They make 2,000,000 events."""

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
    make(place, generated(JOBS))
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
    yield Figure("audit", "the second in parts of the first", "", ratios, goal=1 / 1.7)
    yield Figure("audit", "verify, on all processors, for each event, on the clock", "us", tuple(verified), goal=1e6 / 250_000)


def _clock(work: Callable[[], _Answer]) -> tuple[float, _Answer]:
    """Seconds on the clock for some work, and what comes of it."""
    begin = perf_counter()
    answer = work()
    return perf_counter() - begin, answer
