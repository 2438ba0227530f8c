"""Looking at some moments of a history that was played in columns: it is played again, as far as they are, and told there."""

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from ....engine.cores import Core, PlayedBatch
from ....engine.explain.pending import standing as standing_of
from ....engine.explain.standing import Standing
from ....engine.facts import Fact, TimeAdvanced, WorkloadSubmitted
from ....engine.intake.jobs import NAME
from ....engine.outcome import history as h
from ....engine.outcome.history import Columns
from ....engine.policy_graph import PolicyGraph
from ..standing_lookup import WorkloadMoment
from ..workload_fates import Fate, Fates
from .played_columns import CHUNK, JobsToPlay, Played, Tools, begun

_KIND, _TIME, _JOB = range(3)


class Revisited:
    """A history that was played before, under a policy."""

    def __init__(self, todo: JobsToPlay, played: Played, graph: PolicyGraph, tools: Tools) -> None:
        self.todo, self.played, self._graph, self._tools = todo, played, graph, tools
        self._facts = np.flatnonzero(played.events[:, _KIND] <= h.ADVANCING)

    def batches_at(self, time: int) -> Iterator[tuple[int, PlayedBatch]]:
        """All batches of a moment, each with the number of its fact."""
        for core, batch in self._visit(np.flatnonzero(self.played.events[:, _TIME] == time)):
            yield core.seq - len(batch[1]), batch

    def fates(self, jobs: Collection[int]) -> list[Fate]:
        """What became of some jobs."""
        names, fates = self.todo.jobs.columns[:, NAME], Fates(self.todo.on_evict)
        numbers = {job: int((names[: job + 1] == names[job]).sum()) for job in jobs}
        events = self.played.events
        for core, (fact, decisions) in self._visit(np.flatnonzero(np.isin(events[:, _JOB], list(jobs)))):
            kind, _, job = events[core.seq - len(decisions) - len(self.todo.opening) - 1].tolist()
            mine: Fact = fact if job in numbers and kind != h.ADVANCING else TimeAdvanced(time=fact.time)
            followed = {*fates.live, mine.workload} if isinstance(mine, WorkloadSubmitted) else fates.live
            fates.take(mine, [decision for decision in decisions if decision.workload in followed], core.seq, numbers.get(job, 0))
        fates.now = self.played.fates.end
        fates.rest()
        return [fates.over[self.todo.jobs.name(job), numbers[job]] for job in jobs]

    def standings(self, wanted: Iterable[WorkloadMoment]) -> dict[WorkloadMoment, Standing]:
        """Where each workload stood after the batch that ends with the event; without those that were not live then."""
        names: dict[int, list[str]] = {}
        for seq, workload in sorted(set(wanted)):
            names.setdefault(seq, []).append(workload)
        found = {}
        for core, _ in self._visit(np.array(list(names), np.int64) - len(self.todo.opening) - 1):
            for workload in names[core.seq]:
                if (standing := standing_of(core, workload)) is not None:
                    found[core.seq, workload] = standing
        return found

    def _visit(self, rows: Columns) -> Iterator[tuple[Core, PlayedBatch]]:
        """The batches of some events, in order, each with the core right behind it."""
        core, at = self._tools.core(), 0
        loop = begun(core, self.todo, self._graph)
        assert loop is not None, "it was played before"
        for fact in np.unique(self._facts[np.searchsorted(self._facts, rows, side="right") - 1]).tolist():
            while at < fact:
                at += len(loop.play(min(CHUNK, fact - at)).events)
            chunk = loop.play(1)
            at += len(chunk.events)
            yield core, chunk.batch(0)
