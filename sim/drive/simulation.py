"""The simulation: jobs are submitted, run for their duration and end; evicted jobs run again. Nothing is random.

`driver.py` defines the order of what happens at the same time. Submissions keep the order of the input.
"""

from collections.abc import Generator, Iterable, Iterator

from ...engine.cores import JobLoop, PlayedBatch, PlayedChunk
from ...engine.facts import NodeAdded, SimulationStarted, WorkloadSubmitted
from .driver import OnEvict, Runs, drive, too_late, work_of
from .job import Job, JobSource
from .player import Player
from .policy import Policy

__all__ = ["OnEvict", "Simulation"]

CHUNK = 10_000
"""After how many events a core that plays by itself hands over what it has played."""


class Simulation:
    """Plays jobs under a policy until all that can end has ended.

    With the `source` of the jobs its settings are the fact after the policy's activation: a journal begins with its policy, as one does
    that `gpol run` makes, and says before the first job how it came about. The `nodes` come after that, at the same moment.
    """

    def __init__(
        self,
        policy: Policy,
        jobs: Iterable[Job],
        player: Player,
        on_evict: OnEvict = "restart",
        source: JobSource | None = None,
        nodes: Iterable[NodeAdded] = (),
    ) -> None:
        self.policy = policy
        self.player = player
        self.source = source
        self.jobs = list(jobs)
        self.on_evict: OnEvict = on_evict
        self.nodes = list(nodes)

    def run(self) -> Generator[PlayedBatch]:
        """Yield every batch: the policy's activation at the first submission's time, then all that follows. Raises EndlessError."""
        for played in self.chunks():
            if isinstance(played, tuple):
                yield played
                continue
            batches = played.batches()
            if played.too_late is not None:  # as `drive` has it: the batch is kept, and not told
                batches = iter(list(batches)[:-1])
            yield from batches

    def chunks(self) -> Generator[PlayedBatch | PlayedChunk]:
        """Yield the same, in chunks where the core plays by itself. Raises EndlessError."""
        try:
            start = self.jobs[0].fact.time if self.jobs else 0
            yield self.player.step(self.policy.activation(start), self.policy.graph)
            if self.source is not None:
                yield self.player.step(self._settings(start, self.source))
            for node in self.nodes:
                yield self.player.step(node.model_copy(update={"time": start}))
            facts, lengths = [job.fact for job in self.jobs], [job.duration for job in self.jobs]
            loop = self.player.core.closed_loop(facts, lengths, self.on_evict == "resume")
            if loop is None:
                yield from self._drive(Runs(self.on_evict), 0)
                return
            yield from self._play(loop)
            submitted, left, turns = loop.left_over()
            self.player.count_turns(turns)
            yield from self._drive(Runs.resumed(left, self.on_evict), submitted)
        finally:
            self.player.flush()

    def _play(self, loop: JobLoop) -> Iterator[PlayedChunk]:
        """Let the core play by itself, as far as it can."""
        goes_on = True
        self.player.flush()
        while goes_on:
            chunk = loop.play(CHUNK)
            self.player.keep(chunk)
            yield chunk
            if chunk.too_late is not None:
                raise too_late(chunk.too_late)
            goes_on = chunk.goes_on

    def _drive(self, runs: Runs, submitted: int) -> Iterator[PlayedBatch]:
        """Play the jobs that are still to be submitted, fact by fact."""
        return drive(self.player, runs, _Submissions(self.jobs[submitted:], self.player, runs))

    def _settings(self, time: int, source: JobSource) -> SimulationStarted:
        return SimulationStarted(time=time, on_evict=self.on_evict, source=source.name, source_digest=source.digest)


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

    @property
    def fact(self) -> WorkloadSubmitted | None:
        """The submission of the next job."""
        return None if self._next is None else self._next.fact

    def arrive(self) -> Iterator[PlayedBatch]:
        """Submit the next job."""
        assert self._next is not None
        job, self._next = self._next, next(self._jobs, None)
        self._runs.submit(job.fact, work_of(job.fact, job.duration))
        yield self._player.step(job.fact)
