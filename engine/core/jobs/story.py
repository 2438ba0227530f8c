"""What a loop played in one go, told in full: as facts and decisions."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ...cores import PlayedBatch
from ...explain.decisions import tell
from ...facts import Fact, TimeAdvanced, WorkloadFinished
from ...guard import Field
from ...guard_truth import own_value
from ...intake.holds import turned_away
from ...intake.rejection import rejection
from ...outcome.decision import Hold, Outcome
from ...workload import Workload
from .. import columns as c
from ..outcomes import Tape
from ..store import TableStore
from ..tables import Ints
from .job_rows import JobRows


class Story:
    """The events of a chunk as `columns`, the first of them with the number `first`, and the tape that tells of them.

    `submitted` jobs were submitted before the chunk.
    """

    def __init__(self, store: TableStore, rows: JobRows, events: Ints, tape: Ints, first: int, submitted: int) -> None:
        self.graph, self.rows, self.first, self.columns, self.tape = store.graph, rows, first, events, tape
        self._in_cycles = store.tables.state[c.IN_CYCLES] == 1
        self._names, self._demand = store.names, store.demands.at
        self._submitted, self._at = submitted, 0

    @cached_property
    def events(self) -> list[list[int]]:
        """A list of columns for each event."""
        found: list[list[int]] = self.columns.tolist()
        return found

    @cached_property
    def reader(self) -> Tape:
        """Reads outcomes from the tape."""
        return Tape(self.graph, self.tape.tolist(), self._names, self._demand, self._text)

    @cached_property
    def _submitted_by(self) -> list[int]:
        """How many jobs were submitted up to each event."""
        counts: list[int] = (np.cumsum(self.columns[:, c.E_KIND] == c.SUBMITTING) + self._submitted).tolist()
        return counts

    def _workload(self, name: str) -> Workload:
        """The workload that had a name when what is told happened; a name may be used again once it is free."""
        jobs = self.rows.named(name)
        return self.rows.workload(jobs[bisect_left(jobs, self._submitted_by[self._at]) - 1])

    def batches(self) -> Iterator[PlayedBatch]:
        """All facts, with what each caused."""
        for at, event in enumerate(self.events):
            if event[c.E_KIND] <= c.ADVANCING:
                yield self.batch(at)

    def batch(self, at: int) -> PlayedBatch:
        """The fact in a row, and what it caused."""
        event, outcomes, self._at = self.events[at], list[Outcome](), at
        job, block = event[c.E_JOB], event[c.E_BLOCK]
        if event[c.E_KIND] == c.SUBMITTING and self.rows.table[job, c.J_REJECTED]:
            rejected = rejection(self.graph, self.rows.workload(job))
            assert rejected is not None
            outcomes.append(rejected)
        if block != c.NONE:
            outcomes += self.reader.in_cycle(block, self._turned_away) if self._in_cycles else self.reader.at_once(block)
        return self._fact(event), tell(self.graph, outcomes, event[c.E_TIME], self.first + at)

    def _fact(self, event: list[int]) -> Fact:
        if event[c.E_KIND] == c.ADVANCING:
            return TimeAdvanced(time=event[c.E_TIME])
        fact = self.rows.facts[event[c.E_JOB]]
        return fact if event[c.E_KIND] == c.SUBMITTING else WorkloadFinished(time=event[c.E_TIME], workload=fact.workload)

    def _text(self, name: str, field: Field) -> str:
        return str(own_value(self.graph, self._workload(name), field))

    def _turned_away(self, name: str) -> Hold:
        return next(turned_away(self.graph, self._workload(name)))
