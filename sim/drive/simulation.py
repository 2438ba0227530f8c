"""The simulation: jobs are submitted, run for their duration and end; evicted jobs run again. Nothing is random.

`driver.py` defines the order of what happens at the same time. Submissions keep the order of the input.
"""

from collections.abc import Generator, Iterable, Iterator

from ...engine.facts import SimulationStarted
from .driver import OnEvict, Runs, drive, noted
from .job import Job, JobSource
from .player import PlayedBatch, Player
from .policy import Policy

__all__ = ["OnEvict", "Simulation"]


class Simulation:
    """Plays jobs under a policy until all that can end has ended.

    With the `source` of the jobs its settings are the fact after the policy's activation: a journal begins with its policy, as one does
    that `gpol run` makes, and says before the first job how it came about.
    """

    def __init__(
        self, policy: Policy, jobs: Iterable[Job], player: Player, on_evict: OnEvict = "restart", source: JobSource | None = None
    ) -> None:
        self.policy = policy
        self.player = player
        self.source = source
        self._runs = Runs(on_evict)
        self._submissions = _Submissions(jobs, player, self._runs)

    def run(self) -> Generator[PlayedBatch]:
        """Yield every batch: the policy's activation at the first submission's time, then all that follows. Raises EndlessError."""
        try:
            start = self._submissions.time or 0
            yield from noted(self._runs, [self.player.step(self.policy.activation(start), self.policy.graph)])
            if self.source is not None:
                yield self.player.step(self._settings(start, self.source))
            yield from drive(self.player, self._runs, self._submissions)
        finally:
            self.player.flush()

    def _settings(self, time: int, source: JobSource) -> SimulationStarted:
        return SimulationStarted(time=time, on_evict=self._runs.on_evict, source=source.name, source_digest=source.digest)


class _Submissions:
    """The jobs that are still to come."""

    def __init__(self, jobs: Iterable[Job], player: Player, runs: Runs) -> None:
        self._jobs: Iterator[Job] = iter(jobs)
        self._player = player
        self._runs = runs
        self._next = next(self._jobs, None)

    @property
    def time(self) -> int | None:
        """When the next job is submitted."""
        return None if self._next is None else self._next.fact.time

    def arrive(self) -> Iterator[PlayedBatch]:
        """Submit the next job."""
        assert self._next is not None
        job, self._next = self._next, next(self._jobs, None)
        self._runs.submit(job.fact.workload, job.duration)
        yield self._player.step(job.fact)
