"""The figures of what is played, from batches, from chunks of a closed loop and from stretches of given facts, whichever come."""

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from ....engine.cores import PlayedBatch, PlayedChunk
from ....engine.events import AnyDecision
from ....engine.facts import Fact
from ....engine.policy_graph import PolicyGraph
from ...drive.given_facts import PlayedStretch
from ..measure import Measure
from .column_measure import ColumnMeasure
from .stretch_measure import StretchMeasure
from .table_count import CountKernel


class BatchObserver(Protocol):
    """What wants to be told every batch, such as lines of charts."""

    def take(self, fact: Fact, decisions: list[AnyDecision], measure: Measure) -> None:
        """Take in a batch that the measure has counted."""
        ...


class HistoryMeasure:
    """Takes all that was played, in order, and tells the `observer`, if there is one.

    `find_kernel` is asked for what counts by columns: at the first chunk, and where a stretch is long. Without it, and for an observer,
    every event is looked at.
    """

    def __init__(
        self,
        observer: BatchObserver | None = None,
        find_kernel: Callable[[], CountKernel | None] = lambda: None,
    ) -> None:
        self._observer, self._find_kernel = observer, find_kernel
        self._measure = Measure()
        self._columns: ColumnMeasure | None = None
        self._stretches: StretchMeasure | None = None

    def take(self, played: PlayedBatch | PlayedChunk | PlayedStretch, graph: PolicyGraph) -> None:
        """Count what was decided by this policy."""
        if isinstance(played, tuple):
            self._take_batch(played, graph)
        elif self._observer is not None:
            self._take_batches(played, graph)
        elif isinstance(played, PlayedStretch):
            self._stretches = self._stretches or StretchMeasure(self.measure(), graph, self._find_kernel)
            self._stretches.take(played)
        else:
            self._take_chunk(played, graph)

    def _take_chunk(self, chunk: PlayedChunk, graph: PolicyGraph) -> None:
        if self._columns is None and self._kernel is not None:
            self._columns = ColumnMeasure(self._measure, graph, chunk.jobs, self._kernel)
        if self._columns is not None:
            self._columns.take(chunk)
        else:
            self._take_batches(chunk, graph)

    def _take_batches(self, played: PlayedChunk | PlayedStretch, graph: PolicyGraph) -> None:
        for batch in played.batches():
            self._take_batch(batch, graph)

    @cached_property
    def _kernel(self) -> CountKernel | None:
        """What counts chunks: found at the first one, as counting them in tables cannot begin later."""
        return self._find_kernel()

    def _take_batch(self, batch: PlayedBatch, graph: PolicyGraph) -> None:
        measure = self.measure()
        self._columns = self._stretches = None
        measure.take(*batch, graph)
        if self._observer is not None:
            self._observer.take(*batch, measure)

    def measure(self) -> Measure:
        """The figures of all that was taken."""
        if self._stretches is not None:
            return self._stretches.measure()
        return self._measure if self._columns is None else self._columns.measure()
