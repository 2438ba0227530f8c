"""What the page of a run needs of its events: lines of charts, what evictions cost, and who waited longest, and why."""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappush, heappushpop

from ...engine.events import AnyDecision
from ...engine.explain.standing import Standing
from ...engine.facts import Fact
from ...journal.journal import Journal
from ..drive.driver import OnEvict
from ..drive.job import JobSource
from ..impact.standing_lookup import standings_at
from ..impact.workload_fates import Fate, Fates
from ..measure.measure import Measure
from ..measure.series import Series

MOST_WAITERS = 10
"""How many workloads are told of that waited longest."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a simulation was told: what becomes of evicted jobs, the file that its jobs come from and its form."""

    on_evict: OnEvict
    source: JobSource
    form: str


@dataclass(frozen=True, slots=True)
class LongWait:
    """A workload that waited for long, and where it stood when that wait began (None: it was in no line)."""

    fate: Fate
    standing: Standing | None


class RunRecord:
    """Takes every batch of a run in order. `lost` is GPU-time that evictions made vain, by queue: thousandths of a GPU times microseconds.

    `over` is told of each workload that is over, and at the end of all others.
    """

    def __init__(self, on_evict: OnEvict, over: Callable[[Fate], None] | None = None) -> None:
        self.series = Series()
        self.lost: dict[str, int] = {}
        self._fates = Fates(on_evict)
        self._over = over
        self._seq = 0
        self._longest: list[_Entry] = []

    def take(self, fact: Fact, decisions: list[AnyDecision], measure: Measure) -> None:
        """Take in a batch that the measure has counted."""
        self.series.take(fact, decisions, measure)
        self._seq += 1 + len(decisions)
        self._fates.take(fact, decisions, self._seq, 1)  # who is over is let go at once: no two have the same name
        self._collect()

    def finish(self, journal: Journal) -> tuple[LongWait, ...]:
        """Who waited longest, the longest first; `journal` has the events, and tells why they waited."""
        self.rest()
        fates = [entry.fate for entry in sorted(self._longest, key=lambda entry: entry.rank, reverse=True)]
        found = standings_at(journal, {(fate.longest_from, fate.submission[0]) for fate in fates})
        return tuple(LongWait(fate, found.get((fate.longest_from, fate.submission[0]))) for fate in fates)

    def rest(self) -> None:
        """The history ends here: count those that are not over, too."""
        self._fates.rest()
        self._collect()

    def _collect(self) -> None:
        """Count those that are over, and let them go, but for the longest waits."""
        for fate in self._fates.over.values():
            self.lost[fate.queue] = self.lost.get(fate.queue, 0) + fate.lost
            if self._over is not None:
                self._over(fate)
            if fate.longest <= 0:
                continue
            if len(self._longest) < MOST_WAITERS:
                heappush(self._longest, _Entry(fate))
            else:
                heappushpop(self._longest, _Entry(fate))
        self._fates.over.clear()


@dataclass(slots=True)
class _Entry:
    """A fate in the order of waits; of two that are as long the one that began first counts as longer."""

    fate: Fate
    rank: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.rank = (self.fate.longest, -self.fate.longest_from)

    def __lt__(self, other: "_Entry") -> bool:
        return self.rank < other.rank
