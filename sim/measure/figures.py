"""Figures of a run as plain numbers: of each queue, and of all of them together."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from .measure import Measure
from .queue_figures import QueueFigures


@dataclass(frozen=True, slots=True)
class DeviceFigures:
    """What a queue owned and used of a device that is no GPU, in its own unit; areas are those times microseconds."""

    owned: int
    used_area: int
    borrowed_area: int
    lent_area: int

    @classmethod
    def of(cls, figures: QueueFigures) -> "dict[str, DeviceFigures]":
        """Those of a queue by the name of the resource, without the ones of which it had nothing."""
        found = {name: cls(each.owned, each.used_area, each.borrowed_area, each.lent_area) for name, each in sorted(figures.others.items())}
        return {name: each for name, each in found.items() if each != NO_DEVICES}


NO_DEVICES = DeviceFigures(0, 0, 0, 0)
"""Those of a queue that has nothing of a device."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a queue got; `devices` by the name of a resource that is no GPU.

    `owned` is thousandths of a GPU, areas are those times microseconds, waits microseconds (`p95_wait` seconds).
    """

    queue: str
    owned: int
    submitted: int
    admitted: int
    evicted: int
    ended: int
    rejected: int
    waiting: int
    used_area: int
    borrowed_area: int
    lent_area: int
    mean_wait: Fraction
    p95_wait: int
    longest_wait: int
    devices: dict[str, DeviceFigures]


@dataclass(frozen=True, slots=True)
class History:
    """A whole history: by queue in order of name, all together, when it began and ended, and how many events it has."""

    queues: tuple[Figures, ...]
    total: Figures
    start: int
    end: int
    facts: int
    decisions: int

    @classmethod
    def of(cls, measure: Measure) -> "History":
        """The figures of a run that was measured to its end."""
        queues = [measure.queues[name] for name in sorted(measure.queues)]
        return cls(
            queues=tuple(_figures(each) for each in queues),
            total=_figures(_sum(queues)),
            start=measure.start or 0,
            end=measure.end,
            facts=measure.facts,
            decisions=measure.decisions,
        )

    def of_queue(self, name: str) -> Figures:
        """The figures of one queue; of one that there is not, all are zero."""
        return next((each for each in self.queues if each.queue == name), _figures(QueueFigures(name)))


def _figures(queue: QueueFigures) -> Figures:
    return Figures(
        queue=queue.name,
        owned=queue.owned,
        submitted=queue.submitted,
        admitted=queue.admitted,
        evicted=queue.evicted,
        ended=queue.finished + queue.cancelled + queue.rejected,
        rejected=queue.rejected,
        waiting=len(queue.waiting),
        used_area=queue.used_area,
        borrowed_area=queue.borrowed_area,
        lent_area=queue.lent_area,
        mean_wait=queue.mean_wait(),
        p95_wait=queue.wait_percentile(95),
        longest_wait=queue.wait_most,
        devices=DeviceFigures.of(queue),
    )


_SUMS = (
    "owned",
    "submitted",
    "admitted",
    "evicted",
    "finished",
    "cancelled",
    "rejected",
    "used_area",
    "borrowed_area",
    "lent_area",
    "wait_total",
)


_DEVICE_SUMS = ("owned", "used_area", "borrowed_area", "lent_area")


def _sum(queues: Iterable[QueueFigures]) -> QueueFigures:
    """All queues as if they were one."""
    total = QueueFigures("")
    for queue in queues:
        for name in _SUMS:
            setattr(total, name, getattr(total, name) + getattr(queue, name))
        for device, figures in queue.others.items():
            for name in _DEVICE_SUMS:
                setattr(total.counted(device), name, getattr(total.counted(device), name) + getattr(figures, name))
        total.waiting |= queue.waiting
        total.waits += Counter(queue.waits)
        total.wait_most = max(total.wait_most, queue.wait_most)
    return total
