"""The figures of a closed loop of jobs, from the columns of what was played: those of `Measure`, without an object for each event.

Where numbers are beyond what 64 bits are proven to hold, `Measure` itself counts. Charts (`Series`) want every event, and have none here.
"""

from collections.abc import Sequence

from ....engine.cores import PlayedChunk, View
from ....engine.facts import WorkloadSubmitted
from ....engine.policy_graph import PolicyGraph
from ..measure import Measure
from .job_asks import JobAsks
from .kernels.count_events import count_events
from .table_count import CountKernel, TableCount, fits_tables


class ColumnMeasure:
    """Counts chunks of a closed loop, in order.

    It begins with a measure that has counted the activation of the policy `graph`, and in which no workload is live. `jobs` are those of
    the loop, in the order of their submissions; `kernel` is `count_events` as it stands, or compiled.
    """

    def __init__(self, measure: Measure, graph: PolicyGraph, jobs: Sequence[WorkloadSubmitted], kernel: CountKernel = count_events) -> None:
        if measure.start is None or measure.live:
            raise ValueError("counting by columns begins under a policy, and before the first workload")
        self._measure, self._graph = measure, graph
        self._count = TableCount(measure, graph, lambda numbers: JobAsks.of(graph, numbers, jobs), kernel) if fits_tables(measure) else None

    def take(self, chunk: PlayedChunk) -> None:
        """Count a chunk. Raises AccountError where its events contradict each other or what came before; then the count is over.

        Of a chunk that ends too late the last batch is counted as well.
        """
        if self._count is not None and self._count.fits(chunk.events, chunk.tape):
            self._count.count(chunk.events, chunk.tape)
            return
        measure, self._count = self.measure(), None
        for fact, decisions in chunk.batches():
            measure.take(fact, decisions, self._graph)

    def measure(self, view: View | None = None) -> Measure:
        """The measure that all this makes; always the same object, brought up to date.

        It may take the batches that come after the last chunk; no chunk may follow then. Nothing that follows in a simulation asks which
        pods were given what, and the columns do not say it; where it is asked, `view` of the core that has played them tells it.
        """
        if self._count is not None:
            self._count.bring_up_to_date()
        for workload in () if view is None else view.workloads():
            self._measure.live[workload.name].give(workload.assignments)
        return self._measure
