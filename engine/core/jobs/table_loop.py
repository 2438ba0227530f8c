"""The closed loop: jobs are played by the kernel, so many events at a time.

`sim/drive/driver.py` defines the order of what happens at the same time; the kernel (`kernels/loop/play.py`) keeps it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...cores import EncodedEvents, PlayedBatch, RunningJob
from ...facts import Fact, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from ...intake.jobs import ENDLESS, Jobs
from ...outcome.history import Columns, Decided, NumberOf
from ...workload import Workload
from .. import columns as c
from ..store import TableStore
from ..tables import Ints, zeros
from .decided import what_was_decided
from .fact_payloads import FactPayloads
from .job_rows import JobRows
from .kernel_loop import KernelLoop
from .payloads import Payloads
from .story import Story


@dataclass(frozen=True)
class _Chunk:
    """See `gpol.engine.cores.PlayedChunk`. `submitted` jobs were submitted before the chunk."""

    loop: "TableLoop"
    events: Ints
    tape: Ints
    goes_on: bool
    too_late: str | None
    first: int
    submitted: int

    @property
    def jobs(self) -> Jobs:
        return self.loop.rows.jobs

    @cached_property
    def _story(self) -> Story:
        return Story(self.loop.store, self.events, self.tape, self.first, self._workload)

    @cached_property
    def _submitted_by(self) -> list[int]:
        """How many jobs were submitted up to each event."""
        counts: list[int] = (np.cumsum(self.events[:, c.E_KIND] == c.SUBMITTING) + self.submitted).tolist()
        return counts

    def _workload(self, name: str, at: int) -> Workload:
        """The workload that had a name at an event; a name may be used again once it is free."""
        rows = self.loop.rows
        jobs = rows.named(name)
        return rows.workload(jobs[bisect_left(jobs, self._submitted_by[at]) - 1])

    def batches(self) -> Iterator[PlayedBatch]:
        for at, event in enumerate(self._story.events):
            if event[c.E_KIND] <= c.ADVANCING:
                yield self.batch(at)

    def batch(self, at: int) -> PlayedBatch:
        return self._fact(self._story.events[at]), self._story.decisions(at)

    def _fact(self, event: list[int]) -> Fact:
        if event[c.E_KIND] == c.ADVANCING:
            return TimeAdvanced(time=event[c.E_TIME])
        fact = self.loop.facts[event[c.E_JOB]]
        return fact if event[c.E_KIND] == c.SUBMITTING else WorkloadFinished(time=event[c.E_TIME], workload=fact.workload)

    def encoded(self) -> EncodedEvents:
        payload, as_json, named = self.loop.fact_payloads.payload, self.loop.payloads.names, self._story.named
        kinds, times, jobs = self.events[:, [c.E_KIND, c.E_TIME, c.E_JOB]].T.tolist()
        decisions, names = iter(self.loop.payloads.decisions(self._story)), self.loop.store.names
        return EncodedEvents(
            [c.EVENT_NAMES[kind] for kind in kinds],
            [None if kind == c.ADVANCING else names[name] for kind, name in zip(kinds, named, strict=True)],
            [
                next(decisions) if kind > c.ADVANCING else payload(kind, time, job, as_json[name])
                for kind, time, job, name in zip(kinds, times, jobs, named, strict=True)
            ],
        )

    def decided(self, number: NumberOf) -> Decided:
        return what_was_decided(self.loop.store, self.events, self.tape, number)


class TableLoop(KernelLoop):
    """Plays jobs through tables in which nobody waits or runs yet."""

    def __init__(
        self, store: TableStore, facts: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns, resume: bool, until: int
    ) -> None:
        super().__init__(store)
        self.facts = facts
        self.rows = JobRows.of(store, facts, lengths)
        self.payloads, self.fact_payloads = Payloads(store), FactPayloads(self.rows)
        self.begin(self.rows.table, zeros(0, c.GIVEN_WIDTH), False)
        store.tables.state[c.RESUMES], store.tables.state[c.HORIZON] = resume, until

    def play(self, most: int) -> _Chunk:
        """Play facts until there are so many events."""
        state = self.store.tables.state
        first, submitted = int(state[c.SEQ]) + 1, int(state[c.NEXT_JOB])
        why, events, tape = self.run(most, self.rows.kept)
        late = self.facts[self.store.tables.state[c.LATE]].workload if why == c.TOO_LATE else None
        return _Chunk(self, events, tape, why == c.ENOUGH, late, first, submitted)

    # --- what the definition of the loop goes on with -------------------------------------------------------------------

    def left_over(self) -> tuple[int, list[RunningJob], dict[str, int]]:
        """See `gpol.engine.cores.JobLoop`."""
        t = self.store.tables
        found, turns = [], {}
        for name in self.store.live_names():
            job = t.job[t.name[self.store.names.find(name), c.JOB]].tolist()
            running = job[c.J_ADMISSION] != c.NONE
            left = None if job[c.J_LENGTH] == ENDLESS else job[c.J_LENGTH]
            found.append(RunningJob(name, left, job[c.J_STARTED] if running else -1, job[c.J_ADMISSION] if running else -1))
            if job[c.J_TURNS_SINCE] == t.state[c.LAST_OUTSIDE] and job[c.J_TURNS]:
                turns[name] = job[c.J_TURNS]
        return int(t.state[c.NEXT_JOB]), found, turns
