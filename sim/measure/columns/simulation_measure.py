"""The figures of a simulation, from batches and from chunks, whichever come."""

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from ....engine.cores import PlayedBatch, PlayedChunk
from ....engine.events import AnyDecision
from ....engine.facts import Fact
from ....engine.policy_graph import PolicyGraph
from ..measure import Measure
from .column_measure import ColumnMeasure
from .table_count import CountKernel


class BatchObserver(Protocol):
    """What wants to be told every batch, such as lines of charts."""

    def take(self, fact: Fact, decisions: list[AnyDecision], measure: Measure) -> None:
        """Take in a batch that the measure has counted."""
        ...


class SimulationMeasure:
    """Takes all that `Simulation.chunks` yields, in order, and tells the `observer`, if there is one.

    At the first chunk `find_kernel` is asked for what counts chunks by their columns. Without it, and for an observer, every event is
    looked at.
    """

    def __init__(
        self,
        observer: BatchObserver | None = None,
        find_kernel: Callable[[], CountKernel | None] = lambda: None,
    ) -> None:
        self._observer, self._find_kernel = observer, find_kernel
        self._measure = Measure()
        self._columns: ColumnMeasure | None = None

    def take(self, played: PlayedBatch | PlayedChunk, graph: PolicyGraph) -> None:
        """Count a batch or a chunk that was decided by this policy."""
        if isinstance(played, tuple):
            self._take_batch(played, graph)
            return
        if self._columns is None and (kernel := self._kernel) is not None:
            self._columns = ColumnMeasure(self._measure, graph, played.jobs, kernel)
        if self._columns is not None:
            self._columns.take(played)
            return
        for batch in played.batches():
            self._take_batch(batch, graph)

    @cached_property
    def _kernel(self) -> CountKernel | None:
        return self._find_kernel() if self._observer is None else None

    def _take_batch(self, batch: PlayedBatch, graph: PolicyGraph) -> None:
        measure = self.measure()
        self._columns = None
        measure.take(*batch, graph)
        if self._observer is not None:
            self._observer.take(*batch, measure)

    def measure(self) -> Measure:
        """The figures of all that was taken."""
        return self._measure if self._columns is None else self._columns.measure()
