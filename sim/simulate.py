"""Virtual time: jobs are submitted, run for their duration, and end; evicted ones run again. Nothing is random.

At one and the same time ends come first, in the order of the admissions, then what time alone decides, then submissions
in the order of the input. A policy that decides in cycles takes in submissions first.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

from ..engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadFinished, WorkloadRejected, WorkloadReplaced
from .play import Batch, EndlessError, Player
from .policy import Policy
from .workload import LAST_MOMENT, Job

OnEvict = Literal["restart", "resume"]
"""Whether an evicted job has to run its whole duration again, or only what was left of it."""


@dataclass(slots=True)
class _Run:
    """A job that is not over: what is left of it and, while it runs, when it started and its number among admissions."""

    left: int
    started: int = -1
    number: int = -1


class Simulation:
    """Plays jobs under a policy until all that can end has ended."""

    def __init__(self, policy: Policy, jobs: Iterable[Job], player: Player, on_evict: OnEvict = "restart") -> None:
        self.policy = policy
        self.jobs = iter(jobs)
        self.player = player
        self.on_evict = on_evict
        self._runs: dict[str, _Run] = {}
        self._ends: list[tuple[int, int, str]] = []
        self._admissions = 0

    def run(self) -> Generator[Batch]:
        """Yield every batch: the policy's activation at the first submission's time, then all that follows. Raises EndlessError."""
        try:
            job = next(self.jobs, None)
            start = job.fact.time if job is not None else 0
            yield from self._noted([self.player.step(self.policy.activation(start), self.policy.graph)])
            while True:
                end, wake, collects = self._next_end(), self.player.next_wake(), self.player.core.collects
                if end is not None and (job is None or end[0] <= job.fact.time) and (wake is None or end[0] <= wake):
                    heappop(self._ends)
                    del self._runs[end[2]]
                    yield from self._noted([self.player.step(WorkloadFinished(time=end[0], workload=end[2]))])
                elif wake is not None and (job is None or wake < job.fact.time + (not collects)):
                    yield from self._noted(self.player.advance(wake))
                elif job is not None:
                    self._runs[job.fact.workload] = _Run(job.duration)
                    yield from self._noted([self.player.step(job.fact)])
                    job = next(self.jobs, None)
                else:
                    return
        finally:
            self.player.flush()

    def _next_end(self) -> tuple[int, int, str] | None:
        """The next end of a running job; ends of runs that were cut short by an eviction are dropped."""
        while self._ends:
            _, number, name = self._ends[0]
            run = self._runs.get(name)
            if run is not None and run.number == number:
                return self._ends[0]
            heappop(self._ends)
        return None

    def _noted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Keep account of what starts and stops."""
        for fact, decisions in batches:
            for decision in decisions:
                self._note(decision)
            yield fact, decisions

    def _note(self, decision: AnyDecision) -> None:
        run = self._runs[decision.workload]
        match decision:
            case WorkloadAdmitted():
                self._admissions += 1
                run.started, run.number = decision.time, self._admissions
                end = decision.time + run.left
                if end > LAST_MOMENT:
                    raise EndlessError(f"`{decision.workload}` would not end before the year 10000; shorten the jobs")
                heappush(self._ends, (end, run.number, decision.workload))
            case WorkloadEvicted():
                if self.on_evict == "resume":
                    run.left -= decision.time - run.started
                run.number = -1
            case WorkloadReplaced() | WorkloadRejected():
                del self._runs[decision.workload]
