"""Virtual time: jobs are submitted, run for their duration, and end; evicted ones run again. Nothing is random.

What comes first at one moment is told in `driving.py`; submissions come in the order of the input.
"""

from collections.abc import Generator, Iterable, Iterator

from .driving import OnEvict, Runs, drive, noted
from .play import Batch, Player
from .policy import Policy
from .workload import Job

__all__ = ["OnEvict", "Simulation"]


class Simulation:
    """Plays jobs under a policy until all that can end has ended."""

    def __init__(self, policy: Policy, jobs: Iterable[Job], player: Player, on_evict: OnEvict = "restart") -> None:
        self.policy = policy
        self.player = player
        self._runs = Runs(on_evict)
        self._submissions = _Submissions(jobs, player, self._runs)

    def run(self) -> Generator[Batch]:
        """Yield every batch: the policy's activation at the first submission's time, then all that follows. Raises EndlessError."""
        try:
            start = self._submissions.time or 0
            yield from noted(self._runs, [self.player.step(self.policy.activation(start), self.policy.graph)])
            yield from drive(self.player, self._runs, self._submissions)
        finally:
            self.player.flush()


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

    def arrive(self) -> Iterator[Batch]:
        """Submit the next job."""
        assert self._next is not None
        job, self._next = self._next, next(self._jobs, None)
        self._runs.submit(job.fact.workload, job.duration)
        yield self._player.step(job.fact)
