"""Amounts over time as areas in at most a few thousand equal steps, however long the run is.

Areas are floats, because charts round anyway and amounts times microseconds can exceed 64 bits. `measure.py` has the exact sums.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_STEPS = 1024

Values = npt.NDArray[np.float64]


@dataclass(slots=True)
class StepAreas:
    """Areas by [step, metric, name] in amounts times microseconds; `width` microseconds a step.

    The steps start as seconds; when they run out, neighbours are added up and the steps become twice as wide.
    """

    metrics: int
    names: list[Any] = field(default_factory=list)
    start: int | None = None
    width: int = 1_000_000
    areas: Values = field(default_factory=lambda: np.zeros(0))
    _time: int = 0
    _now: Values = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.areas = np.zeros((MAX_STEPS, self.metrics, 0))
        self._now = np.zeros((self.metrics, 0))

    def name_also(self, names: list[Any]) -> None:
        """Add names of which nothing was known so far."""
        self.names += names
        grown = np.zeros((MAX_STEPS, self.metrics, len(self.names)))
        grown[:, :, : self.areas.shape[2]] = self.areas
        self.areas = grown

    def pass_time(self, time: int) -> None:
        """Add the values that held from the last moment to this one to the steps in between."""
        if self.start is None:
            self.start = self._time = time
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

    def hold(self, values: list[list[float]]) -> None:
        """The values from now on: of each name, in their order, those of each metric."""
        self._now = np.ascontiguousarray(np.array(values, dtype=np.float64).reshape(-1, self.metrics).T)

    @property
    def end(self) -> int:
        """The last moment that was reached."""
        return self._time

    def averages_until(self, until: int, width: int) -> Values:
        """Amounts by [step, metric, name] in steps of `width`, a multiple of its own, up to a moment that is not before its end.

        So several can be drawn on one axis. After its end there is nothing.
        """
        assert self.start is not None
        steps, factor = max(1, -(-(until - self.start) // width)), width // self.width
        merged = np.add.reduceat(self.areas, range(0, MAX_STEPS, factor))
        areas = np.zeros((steps, *merged.shape[1:]))
        areas[: len(merged)] = merged[:steps]
        lengths = np.full(steps, width, dtype=np.float64)
        lengths[-1] = max(1, until - self.start - (steps - 1) * width)
        return np.asarray(areas / lengths[:, None, None])

    def averages(self) -> tuple[list[int], Values]:
        """The start of each step that lasted (microseconds), and amounts by [step, metric, name], for charts."""
        assert self.start is not None
        steps = max(1, -(-(self._time - self.start) // self.width))  # none that begins at the end
        lengths = np.full(steps, self.width, dtype=np.float64)
        lengths[-1] = max(1, self._time - self.start - (steps - 1) * self.width)
        return [self.start + step * self.width for step in range(steps)], self.areas[:steps] / lengths[:, None, None]
