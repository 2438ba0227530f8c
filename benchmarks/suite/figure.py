"""A figure that was measured: several runs, and the definition beside them."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time


@dataclass(frozen=True)
class Figure:
    """What was measured, in which `unit`; `values` has one for each run, `size` is how many things each of them did.

    `definition` is what the definition took for `definition_size` of these things in the same run of the suite; None: it was not asked.
    `goal` is what the figure is to be at most; None: no goal is set.
    """

    group: str
    name: str
    unit: str
    values: tuple[float, ...]
    size: int = 1
    goal: float | None = None
    definition: float | None = None
    definition_size: int = 1

    @property
    def median(self) -> float:
        """The median of all runs."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """How far the least and the greatest value are apart, in parts of the median."""
        return (max(self.values) - min(self.values)) / abs(self.median) if self.median else 0.0

    @property
    def times_faster(self) -> float | None:
        """How many times longer the definition takes for each thing."""
        if self.definition is None or not self.median:
            return None
        return (self.definition / self.definition_size) / (self.median / self.size)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of this process for some work."""
    begin = process_time()
    work()
    return process_time() - begin
