"""Facts in a row, played by the kernel (`kernels/loop/play.py`) so many events at a time; what was played is read from the tables."""

from collections.abc import Callable

import numpy as np

from ...intake.sayings import KeptSaying
from .. import columns as c
from ..store import TableStore
from ..tables import Ints, longer, zeros


class KernelLoop:
    """What a closed loop and a loop over given facts have in common."""

    def __init__(self, store: TableStore) -> None:
        self.store = store

    def begin(self, jobs: Ints, given: Ints, is_given: bool) -> None:
        """Begin with the first of these jobs or given facts."""
        store = self.store
        t = store.tables
        ends, past = (table if len(table) else zeros(64, table.shape[1]) for table in (t.ends, t.past))
        store.tables = t._replace(job=jobs, given=given, ends=ends, past=past)
        for column in (c.NEXT_JOB, c.ENDS, c.ADMISSIONS, c.PAST_END, c.LAST_OUTSIDE):
            t.state[column] = 0
        t.state[c.STAGE], t.state[c.IS_GIVEN] = c.CHOOSING, is_given

    def run(self, most: int, kept: Callable[[int], KeptSaying]) -> tuple[int, Ints, Ints]:
        """Play facts until there are so many events; why it stopped, the events and the tape. `kept` gives what is kept of a job."""
        store, before = self.store, self.store.tables.when[:, c.NUMBER].copy()
        store.tables.state[c.PAST_END] = store.tables.state[c.TAPE_END] = 0
        store.grow()
        while (why := store.kernels.play(store.tables, most)) == c.MORE_ROOM:
            self._make_room()
        self._bring_up_to_date(before, kept)
        t = store.tables
        return why, t.past[: t.state[c.PAST_END]].copy(), t.tape[: t.state[c.TAPE_END]].copy()

    def _make_room(self) -> None:
        """Make room for one more fact and all that follows from it."""
        store = self.store
        if store.tables.state[c.FREE_ROW] == c.NONE:
            store.more_rows()
        t = store.tables
        rows = len(t.work)
        if len(t.past) - t.state[c.PAST_END] <= 4 * rows + 4:
            t = t._replace(past=longer(t.past, int(t.state[c.PAST_END]) + 4 * rows + 5, int(t.state[c.PAST_END])))
        if len(t.ends) - t.state[c.ENDS] <= rows:
            t = t._replace(ends=longer(t.ends, int(t.state[c.ENDS]) + rows + 1, int(t.state[c.ENDS])))
        store.tables = t
        store.grow_further() if t.state[c.STAGE] == c.DECIDING else store.grow()

    def _bring_up_to_date(self, before: Ints, kept: Callable[[int], KeptSaying]) -> None:
        """Let the store know who is live now; `before` are the numbers of the submissions of those who were, by row."""
        store, t, now = self.store, self.store.tables, self.store.tables.when[:, c.NUMBER]
        for row in np.flatnonzero((before > 0) & (now[: len(before)] == 0)).tolist():
            store.kept[row] = None
        new = np.flatnonzero(now > before.max(initial=0))
        for row, job in zip(new.tolist(), t.name[t.work[new, c.NAME], c.JOB].tolist(), strict=True):
            store.kept[row] = kept(job)
        store.given = {name: given for name, given in store.given.items() if store.row(name) != c.NONE}
