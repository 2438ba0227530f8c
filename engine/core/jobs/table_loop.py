"""The closed loop: jobs are played by the kernel, so many events at a time, and what was played is read from the tables.

`sim/drive/driver.py` defines the order of what happens at the same time; the kernel (`kernels/loop/play.py`) keeps it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...cores import PlayedBatch, RunningJob
from ...explain.decisions import tell
from ...facts import Fact, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from ...guard import Field
from ...guard_truth import own_value
from ...intake.holds import turned_away
from ...intake.rejection import rejection
from ...outcome.decision import Hold, Outcome
from ...policy_graph import PolicyGraph
from .. import columns as c
from ..outcomes import Tape
from ..store import TableStore
from ..tables import Ints, longer, zeros
from .job_rows import JobRows


class _Chunk(NamedTuple):
    """See `gpol.engine.cores.PlayedChunk`; the first event has the number `first`."""

    events: Ints
    tape: Ints
    first: int
    goes_on: bool
    too_late: str | None
    batches: Callable[[], Iterator[PlayedBatch]]


class TableLoop:
    """Plays jobs through tables in which nobody waits or runs yet."""

    def __init__(self, store: TableStore, facts: Sequence[WorkloadSubmitted], lengths: Sequence[int], resume: bool) -> None:
        self.store, self.facts = store, facts
        self.rows = JobRows.of(store, facts, lengths)
        store.tables = store.tables._replace(job=self.rows.table, ends=zeros(64, c.END_WIDTH), past=zeros(64, c.EVENT_WIDTH))
        state = store.tables.state
        for column in (c.NEXT_JOB, c.ENDS, c.ADMISSIONS, c.PAST_END, c.LAST_OUTSIDE):
            state[column] = 0
        state[c.STAGE], state[c.RESUMES] = c.CHOOSING, resume

    def play(self, most: int) -> _Chunk:
        """Play facts until there are so many events."""
        store = self.store
        store.tables.state[c.PAST_END] = store.tables.state[c.TAPE_END] = 0
        store.grow()
        first = int(store.tables.state[c.SEQ]) + 1
        while (why := store.kernels.play(store.tables, most)) == c.MORE_ROOM:
            self._make_room()
        t = store.tables
        events, tape = t.past[: t.state[c.PAST_END]].copy(), t.tape[: t.state[c.TAPE_END]].copy()
        self._bring_up_to_date()
        late = self.facts[t.state[c.LATE]].workload if why == c.TOO_LATE else None
        return _Chunk(events, tape, first, why == c.ENOUGH, late, lambda: self._told(events, tape.tolist(), first))

    def _make_room(self) -> None:
        """Make room for one more fact and all that follows from it."""
        store = self.store
        if store.tables.state[c.FREE_ROW] == c.NONE:
            store.more_rows()
        t = store.tables
        rows = len(t.work)
        if len(t.past) - t.state[c.PAST_END] <= 4 * rows + 4:
            t = t._replace(past=longer(t.past, int(t.state[c.PAST_END]) + 4 * rows + 5))
        if len(t.ends) - t.state[c.ENDS] <= rows:
            t = t._replace(ends=longer(t.ends, int(t.state[c.ENDS]) + rows + 1))
        store.tables = t
        store.grow_further() if t.state[c.STAGE] == c.DECIDING else store.grow()

    def _bring_up_to_date(self) -> None:
        """Let the store know who is live now."""
        store, work, names = self.store, self.store.tables.work, self.store.tables.name
        live = np.flatnonzero(work[:, c.NUMBER])
        before, store.known = store.known, {}
        for row, number, name in zip(live.tolist(), work[live, c.NUMBER].tolist(), work[live, c.NAME].tolist(), strict=True):
            known = before.get(store.names[name])
            workload = known[0] if known is not None and known[0].number == number else self.rows.workload(int(names[name, c.JOB]), number)
            store.known[store.names[name]] = workload, row
        store.given = {name: given for name, given in store.given.items() if name in store.known}

    # --- what the definition of the loop goes on with -------------------------------------------------------------------

    def left_over(self) -> tuple[int, list[RunningJob], dict[str, int]]:
        """See `gpol.engine.cores.JobLoop`."""
        t = self.store.tables
        found, turns = [], {}
        for name in sorted(self.store.known, key=lambda name: self.store.known[name][0].number):
            job = t.job[t.name[self.store.name_ids[name], c.JOB]].tolist()
            running = job[c.J_ADMISSION] != c.NONE
            found.append(RunningJob(name, job[c.J_LENGTH], job[c.J_STARTED] if running else -1, job[c.J_ADMISSION] if running else -1))
            if job[c.J_TURNS_SINCE] == t.state[c.LAST_OUTSIDE] and job[c.J_TURNS]:
                turns[name] = job[c.J_TURNS]
        return int(t.state[c.NEXT_JOB]), found, turns

    # --- telling --------------------------------------------------------------------------------------------------------

    def _told(self, events: Ints, tape: list[int], first: int) -> Iterator[PlayedBatch]:
        graph, jobs = self.store.graph, {self.facts[job].workload: job for job in sorted({*events[:, c.E_JOB].tolist()} - {c.NONE})}
        reader = Tape(graph, tape, self.store.names, self.store.demands.at, lambda name, field: self._text(jobs, name, field))
        rows = events.tolist()
        for at, (kind, time, job, _, _, _, block, _) in enumerate(rows):
            if kind > c.ADVANCING:
                continue
            outcomes: list[Outcome] = []
            if kind == c.SUBMITTING and at + 1 < len(rows) and rows[at + 1][c.E_KIND] == c.REJECTING:
                rejected = rejection(graph, self.rows.workload(job))
                assert rejected is not None
                outcomes.append(rejected)
            if block != c.NONE:
                if not self.store.tables.state[c.IN_CYCLES]:
                    outcomes += reader.at_once(block)
                else:
                    outcomes += reader.in_cycle(block, lambda name: self._turned_away(graph, jobs[name]))
            yield self._fact(kind, time, job), tell(graph, outcomes, time, first + at)

    def _fact(self, kind: int, time: int, job: int) -> Fact:
        if kind == c.SUBMITTING:
            return self.facts[job]
        return WorkloadFinished(time=time, workload=self.facts[job].workload) if kind == c.FINISHING else TimeAdvanced(time=time)

    def _text(self, jobs: dict[str, int], name: str, field: Field) -> str:
        return str(own_value(self.store.graph, self.rows.workload(jobs[name]), field))

    def _turned_away(self, graph: PolicyGraph, job: int) -> Hold:
        return next(turned_away(graph, self.rows.workload(job)))
