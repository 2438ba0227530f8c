"""Driving virtual time: what comes next of ends, of moments at which time alone decides, and of what arrives from outside.

At one and the same time ends come first, in the order of the admissions, then what time alone decides, then arrivals in their own
order. A policy that decides in cycles takes in arrivals first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, NamedTuple, Protocol

from ..engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadFinished, WorkloadRejected, WorkloadReplaced
from .play import Batch, EndlessError, Player
from .workload import LAST_MOMENT

OnEvict = Literal["restart", "resume"]
"""Whether an evicted job has to run its whole duration again, or only what was left of it."""


class End(NamedTuple):
    """When a running workload ends; of two at one moment the one that was admitted first comes first."""

    time: int
    admission: int
    workload: str


@dataclass(slots=True)
class _Run:
    """A workload that is not over: what is left of it (None: nobody knows); while it runs, since when and its number among admissions."""

    left: int | None
    submission: int
    started: int = -1
    admission: int = -1


class Runs:
    """What is left to run of each live workload, and when those that run end."""

    def __init__(self, on_evict: OnEvict = "restart") -> None:
        self.on_evict = on_evict
        self._live: dict[str, _Run] = {}
        self._ends: list[End] = []
        self._admissions = 0
        self._unknown = 0

    def submit(self, workload: str, length: int | None, submission: int = 0) -> None:
        """A workload came that runs so long once it is admitted, or nobody knows how long; `submission` tells those of one name apart."""
        self._live[workload] = _Run(length, submission)
        self._unknown += length is None

    def submission(self, workload: str) -> int | None:
        """Which submission of this name is live; None: none is."""
        run = self._live.get(workload)
        return None if run is None else run.submission

    def over(self, workload: str) -> None:
        """A workload is over, for whatever reason."""
        self._unknown -= self._live.pop(workload).left is None

    def start(self, workload: str, since: int) -> None:
        """A workload runs since a moment. Raises EndlessError where it would not end in any calendar."""
        run = self._live[workload]
        self._admissions += 1
        run.started, run.admission = since, self._admissions
        if run.left is None:
            return
        end = since + run.left
        if end > LAST_MOMENT:
            raise EndlessError(f"`{workload}` would not end before the year 10000; shorten the jobs")
        heappush(self._ends, End(end, run.admission, workload))

    def stop(self, workload: str, time: int) -> None:
        """A running workload has to wait again."""
        run = self._live[workload]
        if self.on_evict == "resume" and run.left is not None:
            run.left -= time - run.started
        run.admission = -1

    def note(self, decision: AnyDecision) -> None:
        """Keep account of what a decision starts, stops or ends."""
        match decision:
            case WorkloadAdmitted():
                self.start(decision.workload, decision.time)
            case WorkloadEvicted():
                self.stop(decision.workload, decision.time)
            case WorkloadReplaced() | WorkloadRejected():
                self.over(decision.workload)

    def next_end(self) -> End | None:
        """The next end of a running workload; ends of runs that were cut short are dropped."""
        while self._ends:
            run = self._live.get(self._ends[0].workload)
            if run is not None and run.admission == self._ends[0].admission:
                return self._ends[0]
            heappop(self._ends)
        return None

    @property
    def endless(self) -> int:
        """How many workloads are live of which nobody knows when they end."""
        return self._unknown

    @property
    def only_endless(self) -> bool:
        """Whether workloads are live, and nobody knows of any of them when it ends."""
        return 0 < len(self._live) == self._unknown


class Arrivals(Protocol):
    """What comes from outside, in order."""

    @property
    def time(self) -> int | None:
        """When the next one arrives; None: none does any more."""
        ...

    def arrive(self) -> Iterable[Batch]:
        """Play the next one; nothing comes of one that has become impossible."""
        ...


def drive(player: Player, runs: Runs, arrivals: Arrivals, until: int = LAST_MOMENT) -> Iterator[Batch]:
    """Play arrivals, ends and wakes until all that can end has ended. Raises EndlessError.

    Where only workloads are left of which nobody knows when they end, wakes are played up to the moment `until`.
    """
    while True:
        end, wake, arrival = runs.next_end(), player.next_wake(), arrivals.time
        if arrival is None and end is None and wake is not None and wake > until and runs.only_endless:
            return
        if end is not None and (arrival is None or end.time <= arrival) and (wake is None or end.time <= wake):
            runs.over(end.workload)
            time = max(end.time, player.core.time)  # it may have run longer already, where histories part
            yield from noted(runs, [player.step(WorkloadFinished(time=time, workload=end.workload))])
        elif wake is not None and (arrival is None or wake < arrival + (not player.core.collects)):
            yield from noted(runs, player.advance(wake))
        elif arrival is not None:
            yield from noted(runs, arrivals.arrive())
        else:
            return


def noted(runs: Runs, batches: Iterable[Batch]) -> Iterator[Batch]:
    """Keep account of what starts and stops, batch by batch."""
    for fact, decisions in batches:
        for decision in decisions:
            runs.note(decision)
        yield fact, decisions
