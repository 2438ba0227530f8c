"""The event loop of virtual time: it plays the next end of a workload, the next wake of the core or the next arrival from outside.

Of several at the same time, ends come first, in the order of admission; then wakes, at which only time has changed; then arrivals, in
their own order. Submissions that would only wait come before the ends, as long as the next one is such: so what ends at that moment finds
them waiting, and its room does not go to somebody whom they evict at once. Under a policy that decides in cycles all ends come first, and
arrivals before wakes.

The work of an elastic workload is pods times time: with half of its pods it takes twice as long for the rest of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, NamedTuple, Protocol

from ...engine.cores import PlayedBatch, RunningJob
from ...engine.elastic.pod_counts import is_elastic
from ...engine.event_parts import Assignment, Placement
from ...engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced, WorkloadResized
from ...engine.facts import Fact, WorkloadFinished, WorkloadSubmitted
from ...engine.units import LAST_MOMENT
from .player import EndlessError, Player

OnEvict = Literal["restart", "resume"]
"""Whether an evicted job has to run its whole duration again, or only what was left of it."""


class RunEnd(NamedTuple):
    """When a running workload ends. Of two that end at the same time, the one admitted first comes first."""

    time: int
    admission: int
    workload: str
    resizes: int = 0


@dataclass(slots=True)
class _Run:
    """A live workload: its remaining work (None: unknown) and, while it runs, the number of its admission, and since when it runs with so
    many pods, after so many resizes, having `done` so much before. Work is in microseconds or, of an elastic workload, in pods times
    microseconds; of all others `pods` is 1."""

    left: int | None
    submission: int
    started: int = -1
    admission: int = -1
    elastic: bool = False
    pods: int = 1
    done: int = 0
    resizes: int = 0


def too_late(workload: str) -> EndlessError:
    """A workload would run beyond all calendars."""
    return EndlessError(f"`{workload}` would not end before the year 10000; shorten the jobs")


def work_of(fact: WorkloadSubmitted, length: int) -> int:
    """The work of a workload that runs so long with all its pods: of an elastic one in pods times microseconds."""
    return length * sum(pod_set.count for pod_set in fact.pod_sets) if is_elastic(fact) else length


def pods_at_work(given: Iterable[Assignment | Placement]) -> int:
    """How many pods of an elastic workload do its work."""
    return sum(each.count for each in given)


class Runs:
    """The remaining work of each live workload, and the end times of those that run."""

    def __init__(self, on_evict: OnEvict = "restart") -> None:
        self.on_evict = on_evict
        self._live: dict[str, _Run] = {}
        self._ends: list[RunEnd] = []
        self._admissions = 0
        self._unknown = 0

    def submit(self, fact: WorkloadSubmitted, work: int | None, submission: int = 0) -> None:
        """Add a workload with so much work once admitted (see `work_of`; None: unknown). `submission` distinguishes workloads of one
        name."""
        self._live[fact.workload] = _Run(work, submission, elastic=is_elastic(fact))
        self._unknown += work is None

    @classmethod
    def resumed(cls, jobs: Iterable[RunningJob], on_evict: OnEvict) -> "Runs":
        """What a closed loop left over."""
        runs = cls(on_evict)
        for job in jobs:
            runs._live[job.workload] = _Run(job.left, 0, job.started, job.admission)
            runs._unknown += job.left is None
            runs._admissions = max(runs._admissions, job.admission)
            if job.admission >= 0 and job.left is not None:
                heappush(runs._ends, RunEnd(job.started + job.left, job.admission, job.workload))
        return runs

    def submission(self, workload: str) -> int | None:
        """The number of the live submission of this name; None if there is none."""
        run = self._live.get(workload)
        return None if run is None else run.submission

    def over(self, workload: str) -> None:
        """Remove a workload that has ended, for whatever reason."""
        self._unknown -= self._live.pop(workload).left is None

    def start(self, workload: str, since: int, given: Iterable[Assignment | Placement]) -> None:
        """Note that a workload runs since a moment with what it was given. Raises EndlessError if it would end after the year 9999."""
        run = self._live[workload]
        self._admissions += 1
        run.admission, run.done, run.resizes = self._admissions, 0, 0
        self._run_on(workload, since, given)

    def resize(self, workload: str, time: int, given: Iterable[Assignment | Placement]) -> None:
        """Note that a running workload has other pods from now. Raises EndlessError if it would end after the year 9999."""
        run = self._live[workload]
        run.done += (time - run.started) * run.pods
        run.resizes += 1
        self._run_on(workload, time, given)

    def _run_on(self, workload: str, since: int, given: Iterable[Assignment | Placement]) -> None:
        run = self._live[workload]
        run.started, run.pods = since, pods_at_work(given) if run.elastic else 1
        if run.left is None or run.pods == 0:
            return
        end = since - (run.done - run.left) // run.pods
        if end > LAST_MOMENT:
            raise too_late(workload)
        heappush(self._ends, RunEnd(end, run.admission, workload, run.resizes))

    def stop(self, workload: str, time: int) -> None:
        """Note that a running workload was evicted and waits again."""
        run = self._live[workload]
        if self.on_evict == "resume" and run.left is not None:
            run.left -= run.done + (time - run.started) * run.pods
        run.admission = -1

    def note(self, decision: AnyDecision) -> None:
        """Note what a decision starts, stops or ends."""
        match decision:
            case WorkloadAdmitted():
                self.start(decision.workload, decision.time, decision.assignments)
            case WorkloadResized():
                self.resize(decision.workload, decision.time, decision.assignments)
            case WorkloadEvicted():
                self.stop(decision.workload, decision.time)
            case WorkloadReplaced() | WorkloadRejected():
                self.over(decision.workload)

    def next_end(self) -> RunEnd | None:
        """The next end of a running workload. Ends of runs that an eviction cut short or that were resized are dropped."""
        while self._ends:
            run = self._live.get(self._ends[0].workload)
            if run is not None and (run.admission, run.resizes) == (self._ends[0].admission, self._ends[0].resizes):
                return self._ends[0]
            heappop(self._ends)
        return None

    @property
    def endless(self) -> int:
        """How many live workloads have an unknown run time."""
        return self._unknown

    @property
    def only_endless(self) -> bool:
        """Whether there are live workloads, and all of them have an unknown run time."""
        return 0 < len(self._live) == self._unknown


class Arrivals(Protocol):
    """What comes from outside, in order."""

    @property
    def time(self) -> int | None:
        """When the next one arrives; None if no more arrive."""
        ...

    @property
    def fact(self) -> Fact | None:
        """The next one; None if no more arrive."""
        ...

    def arrive(self) -> Iterable[PlayedBatch]:
        """Play the next one. One that has become impossible gives no batch."""
        ...


def drive(player: Player, runs: Runs, arrivals: Arrivals, until: int = LAST_MOMENT) -> Iterator[PlayedBatch]:
    """Play arrivals, ends and wakes until no more follow. Raises EndlessError.

    If only workloads with an unknown run time are left, wakes are played up to the moment `until`.
    """
    while True:
        end, wake, arrival = runs.next_end(), player.next_wake(), arrivals.time
        if arrival is None and end is None and wake is not None and wake > until and runs.only_endless:
            return
        at_end = end is not None and end.time == arrival and (wake is None or wake > end.time) and not player.core.decides_in_cycles
        if at_end and isinstance(arrivals.fact, WorkloadSubmitted) and player.core.only_waits(arrivals.fact):
            yield from noted(runs, arrivals.arrive())
        elif end is not None and (arrival is None or end.time <= arrival) and (wake is None or end.time <= wake):
            runs.over(end.workload)
            time = max(end.time, player.core.time)  # it may have run longer already, where histories part
            yield from noted(runs, [player.step(WorkloadFinished(time=time, workload=end.workload))])
        elif wake is not None and (arrival is None or wake < arrival + (not player.core.decides_in_cycles)):
            yield from noted(runs, player.advance(wake))
        elif arrival is not None:
            yield from noted(runs, arrivals.arrive())
        else:
            return


def noted(runs: Runs, batches: Iterable[PlayedBatch]) -> Iterator[PlayedBatch]:
    """Pass batches on, and note what each starts and stops."""
    for fact, decisions in batches:
        for decision in decisions:
            runs.note(decision)
        yield fact, decisions
