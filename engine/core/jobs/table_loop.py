"""The closed loop: jobs are played by the kernel, so many events at a time, and what was played is read from the tables.

`sim/drive/driver.py` defines the order of what happens at the same time; the kernel (`kernels/loop/play.py`) keeps it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...cores import EncodedEvent, PlayedBatch, RunningJob
from ...facts import WorkloadSubmitted
from ...intake.jobs import ENDLESS, Jobs
from ...outcome.history import Columns, Decided, NumberOf
from .. import columns as c
from ..store import TableStore
from ..tables import Ints, longer, zeros
from .decided import what_was_decided
from .job_rows import JobRows
from .payloads import Payloads
from .story import Story


@dataclass(frozen=True, slots=True)
class _Chunk:
    """See `gpol.engine.cores.PlayedChunk`."""

    jobs: Jobs
    events: Ints
    tape: Ints
    goes_on: bool
    too_late: str | None
    batches: Callable[[], Iterator[PlayedBatch]]
    batch: Callable[[int], PlayedBatch]
    encoded: Callable[[], Iterator[EncodedEvent]]
    decided: Callable[[NumberOf], Decided]


class TableLoop:
    """Plays jobs through tables in which nobody waits or runs yet."""

    def __init__(
        self, store: TableStore, facts: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns, resume: bool, until: int
    ) -> None:
        self.store, self.facts = store, facts
        self.rows = JobRows.of(store, facts, lengths)
        self._payloads = Payloads(store.graph, self.rows)
        store.tables = store.tables._replace(job=self.rows.table, ends=zeros(64, c.END_WIDTH), past=zeros(64, c.EVENT_WIDTH))
        state = store.tables.state
        for column in (c.NEXT_JOB, c.ENDS, c.ADMISSIONS, c.PAST_END, c.LAST_OUTSIDE):
            state[column] = 0
        state[c.STAGE], state[c.RESUMES], state[c.HORIZON] = c.CHOOSING, resume, until

    def play(self, most: int) -> _Chunk:
        """Play facts until there are so many events."""
        store = self.store
        store.tables.state[c.PAST_END] = store.tables.state[c.TAPE_END] = 0
        store.grow()
        first, submitted = int(store.tables.state[c.SEQ]) + 1, int(store.tables.state[c.NEXT_JOB])
        while (why := store.kernels.play(store.tables, most)) == c.MORE_ROOM:
            self._make_room()
        t = store.tables
        events, tape = t.past[: t.state[c.PAST_END]].copy(), t.tape[: t.state[c.TAPE_END]].copy()
        self._bring_up_to_date()
        late = self.facts[t.state[c.LATE]].workload if why == c.TOO_LATE else None
        story = Story(self.store, self.rows, events, tape, first, submitted)
        encoded, decided = partial(self._payloads.encoded, story), partial(what_was_decided, store, events, tape)
        return _Chunk(self.rows.jobs, events, tape, why == c.ENOUGH, late, story.batches, story.batch, encoded, decided)

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
            left = None if job[c.J_LENGTH] == ENDLESS else job[c.J_LENGTH]
            found.append(RunningJob(name, left, job[c.J_STARTED] if running else -1, job[c.J_ADMISSION] if running else -1))
            if job[c.J_TURNS_SINCE] == t.state[c.LAST_OUTSIDE] and job[c.J_TURNS]:
                turns[name] = job[c.J_TURNS]
        return int(t.state[c.NEXT_JOB]), found, turns
