"""Replaying and verifying the journal of `benchmarks/replay.py`."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from gpol.compiled.fast_core import fast_core
from gpol.engine.default_core import new_core
from gpol.journal.audit.verify import verify
from gpol.journal.journal import Journal
from replay import beginning, make, whole

from .figure import Figure, cpu_seconds


def audit(runs: int) -> Iterator[Figure]:
    """Processor time for each event of a long journal; the definition replays its beginning."""
    with TemporaryDirectory() as folder:
        place, part = Path(folder) / "all.db", Path(folder) / "part.db"
        make(place)
        beginning(place, part)
        plain, few = whole(part, new_core())
        found = [whole(place, fast_core(print, is_long=True)) for _ in range(runs)]
        values = tuple(seconds / events * 1e6 for seconds, events in found)
        yield Figure("audit", "replay, for each event", "us", values, 1, 1e6 / 120_000, plain / few * 1e6)
        values = tuple(_verify(place) for _ in range(runs))
        yield Figure("audit", "verify, for each event", "us", values)


def _verify(place: Path) -> float:
    with Journal.open(place) as journal:
        return cpu_seconds(lambda: verify(journal)) / journal.head.seq * 1e6
