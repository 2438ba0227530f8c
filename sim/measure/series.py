"""The figures of a run over time, for charts: of each queue what it uses, borrows, lends and waits for; of each flavor what exists."""

from collections import deque
from dataclasses import dataclass, field

from ...engine.events import AnyDecision, WorkloadEvicted
from ...engine.facts import Fact
from .measure import Measure
from .queue_figures import QueueFigures
from .step_areas import MAX_STEPS, StepAreas, Values

__all__ = ["KEPT_EVICTIONS", "MAX_STEPS", "METRICS", "Series"]

METRICS = ("used", "borrowed", "lent", "waiting")
"""GPUs that a queue uses, borrows, lends, and those that its waiting workloads ask for."""

KEPT_EVICTIONS = 300

_NOTHING = QueueFigures("")
"""Of a queue that is no longer counted, such as no queue at all once nobody is in it."""

FlavorResource = tuple[str, str]
"""A flavor and a resource."""


@dataclass(slots=True)
class Series:
    """`queues` has areas of METRICS by queue, in thousandths of a GPU times microseconds.

    `slots` has what is in use and what exists by flavor and resource, in smallest units; `used` and `existed` are the same as exact sums.
    """

    queues: StepAreas = field(default_factory=lambda: StepAreas(len(METRICS)))
    slots: StepAreas = field(default_factory=lambda: StepAreas(2))
    used: dict[FlavorResource, int] = field(default_factory=dict)
    existed: dict[FlavorResource, int] = field(default_factory=dict)
    evictions: deque[WorkloadEvicted] = field(default_factory=lambda: deque(maxlen=KEPT_EVICTIONS))
    eviction_count: int = 0
    _time: int | None = None
    _uses: dict[FlavorResource, int] = field(default_factory=dict)
    _exists: dict[FlavorResource, int] = field(default_factory=dict)

    def take(self, fact: Fact, decisions: list[AnyDecision], measure: Measure) -> None:
        """Count the time up to a fact with the values before it, then take the values after it from the measure."""
        self._pass_time(fact.time)
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                self.evictions.append(decision)
                self.eviction_count += 1
        self._look(measure)

    def _pass_time(self, time: int) -> None:
        elapsed = time - (time if self._time is None else self._time)
        self._time = time
        for sums, now in ((self.used, self._uses), (self.existed, self._exists)):
            for slot, amount in now.items() if elapsed else ():
                sums[slot] = sums.get(slot, 0) + amount * elapsed
        self.queues.pass_time(time)
        self.slots.pass_time(time)

    def _look(self, measure: Measure) -> None:
        if unmet := measure.queues.keys() - set(self.queues.names):
            self.queues.name_also(sorted(unmet))
        figures = [measure.queues.get(name, _NOTHING) for name in self.queues.names]
        self.queues.hold([[each.used, each.borrowed, each.lent, each.waiting_gpus] for each in figures])
        self._uses, self._exists = dict(measure.used), dict(measure.capacity)
        if unknown := (self._uses.keys() | self._exists.keys()) - set(self.slots.names):
            self.slots.name_also(sorted(unknown))
        self.slots.hold([[self._uses.get(slot, 0), self._exists.get(slot, 0)] for slot in self.slots.names])

    def averages(self) -> tuple[list[int], Values]:
        """The start of each step that was reached (microseconds), and GPUs by [step, metric, queue], for charts."""
        moments, averages = self.queues.averages()
        return moments, averages / 1000
