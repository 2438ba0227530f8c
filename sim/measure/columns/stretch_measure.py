"""The figures of given facts, from the columns of what was played: those of `Measure`, without an object for each event."""

from collections.abc import Callable

import numpy as np

from ....engine.events import WorkloadAdmitted
from ....engine.outcome.history import CANCELLING
from ....engine.policy_graph import PolicyGraph
from ....journal.decode import decode
from ...drive.given_facts import PlayedStretch
from ..measure import Measure
from ..workload_account import WorkloadAccount
from . import count_columns as c
from .count_tables import with_names
from .given_asks import GivenAsks
from .live_rows import are_countable
from .table_count import CountKernel, TableCount, fits_tables

FEW = 1_000
"""Stretches with fewer events are counted from objects until one is longer: that takes less than loading the kernel."""

MOST_LIVE = 4
"""With so many times as many live workloads as events, counting a stretch in tables costs more than it saves: who is live has to be written
into them, and read from them."""

MOST_ROWS = 100_000
"""After so many submissions, and four for each that is live, the tables are made anew: they keep the rows of those that are over."""


class StretchMeasure:
    """Counts stretches that one policy `graph` has decided, from where a measure stands that has counted its activation."""

    def __init__(self, measure: Measure, graph: PolicyGraph, find_kernel: Callable[[], CountKernel | None]) -> None:
        self._measure, self._graph, self._find_kernel = measure, graph, find_kernel
        self._count: _StretchCount | None = None

    def take(self, stretch: PlayedStretch) -> None:
        """Count a stretch. Raises AccountError where its events contradict each other or what came before."""
        if self._count is not None and self._count.is_worn:
            self.measure()
        if self._count is None and self._pays(stretch) and (kernel := self._find_kernel()) is not None:
            self._count = _StretchCount(self._measure, self._graph, kernel)
        if self._count is not None and self._count.knows(stretch) and self._count.fits(stretch.events, stretch.tape):
            self._count.take(stretch)
            return
        measure = self.measure()
        for fact, decisions in stretch.batches():
            measure.take(fact, decisions, self._graph)

    def _pays(self, stretch: PlayedStretch) -> bool:
        """Whether a stretch can be counted in tables, and that takes less."""
        measure, events = self._measure, len(stretch.events)
        is_long = events >= FEW and len(measure.live) <= MOST_LIVE * events
        return is_long and fits_tables(measure) and are_countable(measure, self._graph)

    def measure(self) -> Measure:
        """The measure that all this makes; always the same object, brought up to date. It may take batches until the next stretch."""
        if self._count is not None:
            self._count.bring_up_to_date()
            self._count = None
        return self._measure


class _StretchCount(TableCount):
    """Counts stretches in tables. `_admitted` has what is to be known of those who were admitted: their admissions, or their accounts."""

    _asks: GivenAsks

    def __init__(self, measure: Measure, graph: PolicyGraph, kernel: CountKernel) -> None:
        facts = [live.fact for live in measure.live.values()]
        super().__init__(measure, graph, lambda numbers: GivenAsks(graph, numbers, facts), kernel)
        self._admitted: dict[int, bytes | WorkloadAccount] = dict(enumerate(measure.live.values()))

    @property
    def is_worn(self) -> bool:
        """Whether most rows are those of workloads that are over."""
        rows = len(self._asks.job)
        return rows > MOST_ROWS and rows > 4 * int((self._tables.live[:, c.STATE] != c.GONE).sum())

    def knows(self, stretch: PlayedStretch) -> bool:
        """Whether each workload of a stretch was live at some time, or comes in it; else events contradict what came before, and `Measure`
        says how."""
        come = {stretch.given.workloads[place] for place in stretch.submitted}
        return all(name is None or name in come or name in self._asks.last for name in set(stretch.workloads))

    def take(self, stretch: PlayedStretch) -> None:
        """Count a stretch that fits, and of which all workloads are known."""
        events, t = stretch.events.copy(), self._tables
        rows = events[:, c.E_JOB] = self._asks.take(stretch)
        facts, places = np.array(stretch.fact_rows), stretch.places
        cancels = (places >= 0) & (np.array(stretch.given.kinds)[places] == CANCELLING)
        events[facts[cancels], c.IS_CANCELLATION] = 1
        live = t.live if len(t.live) >= self._asks.names else with_names(t.live, 2 * self._asks.names)
        self._tables = t._replace(job=self._asks.job, kind=self._asks.kind, ask=self._asks.ask, live=live)
        self.count(events, stretch.tape)
        admitted, payloads = np.flatnonzero(events[:, c.E_KIND] == c.ADMITTING), dict(stretch.decisions())
        self._admitted.update((job, payloads[row]) for job, row in zip(rows[admitted].tolist(), admitted.tolist(), strict=True))

    def bring_up_to_date(self) -> None:
        """Make the measure what it would be, had it taken all batches itself."""
        super().bring_up_to_date()
        for live in self._measure.live.values():
            known = self._admitted.get(self._asks.last[live.fact.workload])
            if isinstance(known, WorkloadAccount):
                live.flavors, live.given = known.flavors, known.given
            elif known is not None:
                decision = decode(known)
                assert isinstance(decision, WorkloadAdmitted)
                live.give(decision.assignments)
