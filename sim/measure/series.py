"""The figures of a run over time, for charts: areas in at most a few thousand equal steps, however long the run is.

Areas are floats, because charts round anyway and amounts times microseconds can exceed 64 bits. `measure.py` has the exact sums.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...engine.events import AnyDecision, WorkloadEvicted
from ...engine.facts import Fact
from .measure import Measure

METRICS = ("used", "borrowed", "lent", "waiting")
"""GPUs that a queue uses, borrows, lends, and those that its waiting workloads ask for."""

MAX_STEPS = 1024
KEPT_EVICTIONS = 300


@dataclass(slots=True)
class Series:
    """Areas by [step, metric, queue] in thousandths of a GPU times microseconds; `width` microseconds a step.

    The steps start as seconds; when they run out, neighbours are added up and the steps become twice as wide.
    """

    names: list[str] = field(default_factory=list)
    start: int | None = None
    width: int = 1_000_000
    areas: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((MAX_STEPS, len(METRICS), 0)))
    evictions: deque[WorkloadEvicted] = field(default_factory=lambda: deque(maxlen=KEPT_EVICTIONS))
    eviction_count: int = 0
    _time: int = 0
    _now: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((len(METRICS), 0)))

    def take(self, fact: Fact, decisions: list[AnyDecision], measure: Measure) -> None:
        """Count the time up to a fact with the values before it, then take the values after it from the measure."""
        if self.start is None:
            self.start = self._time = fact.time
        self._spread(fact.time)
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                self.evictions.append(decision)
                self.eviction_count += 1
        self._look(measure)

    def _look(self, measure: Measure) -> None:
        if len(measure.queues) > len(self.names):
            self.names += sorted(measure.queues.keys() - set(self.names))
            grown = np.zeros((MAX_STEPS, len(METRICS), len(self.names)))
            grown[:, :, : self.areas.shape[2]] = self.areas
            self.areas = grown
        figures = [measure.queues[name] for name in self.names]
        values = [[each.used, each.borrowed, each.lent, each.waiting_gpus] for each in figures]
        self._now = np.ascontiguousarray(np.array(values, dtype=np.float64).reshape(-1, len(METRICS)).T)

    def _spread(self, time: int) -> None:
        """Add the values that held from the last fact to this one to the steps in between."""
        assert self.start is not None
        while time - self.start >= self.width * MAX_STEPS:
            pairs = self.areas[0::2] + self.areas[1::2]
            self.areas = np.concatenate((pairs, np.zeros_like(pairs)))
            self.width *= 2
        at = self._time
        while at < time:
            step = (at - self.start) // self.width
            until = min(time, self.start + (step + 1) * self.width)
            self.areas[step] += self._now * (until - at)
            at = until
        self._time = time

    def averages(self) -> tuple[list[int], npt.NDArray[np.float64]]:
        """The start of each step that was reached (microseconds), and GPUs by [step, metric, queue], for charts."""
        assert self.start is not None
        steps = (self._time - self.start) // self.width + 1
        lengths = np.full(steps, self.width, dtype=np.float64)
        lengths[-1] = max(1, self._time - self.start - (steps - 1) * self.width)
        return [self.start + step * self.width for step in range(steps)], self.areas[:steps] / lengths[:, None, None] / 1000
