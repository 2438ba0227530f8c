"""Jobs as rows for the closed loop: all that follows from what they ask for is worked out once for all that ask for the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...errors import FactError
from ...facts import WorkloadSubmitted
from ...guard import Type, fields
from ...intake import jobs as j
from ...intake.changes import submitted
from ...intake.check import check_entry
from ...intake.jobs import Jobs
from ...intake.rejection import rejection
from ...intake.routing import route
from ...intake.sayings import KeptSaying, Saying, kept
from ...outcome.history import Columns
from ...policy_graph import PolicyGraph
from ...workload import Workload
from .. import columns as c
from ..store import TableStore
from ..tables import BeyondBoundsError, Ints, zeros

_SHARED = ("queue", "priority", "pods", "kind", "user", "group", "namespace", "evictions", "admitted")
"""Fields in which two jobs do not differ whose submissions say the same but for their names and times."""


class _Kind(NamedTuple):
    """What jobs have in common whose submissions say the same but for their names and times; `workload` is the first of them."""

    workload: Workload
    refused: bool
    rejected: bool
    columns: tuple[int, ...]


@dataclass(slots=True)
class JobRows:
    """The jobs of a closed loop, in the order of their submissions: as `facts`, as columns, and `table` with a row for each."""

    store: TableStore
    facts: Sequence[WorkloadSubmitted]
    jobs: Jobs
    table: Ints
    _kinds: list[_Kind] = field(default_factory=list)
    _said: dict[int, Saying] = field(default_factory=dict)
    _kind_of: Columns = field(default_factory=lambda: zeros(0))
    _named: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, store: TableStore, facts: Sequence[WorkloadSubmitted], lengths: Sequence[int] | Columns) -> "JobRows":
        """The rows of jobs and how long they run, in microseconds (ENDLESS: nobody knows it)."""
        rows = cls(store, facts, Jobs.of(facts), zeros(len(facts), c.JOB_WIDTH))
        rows._fill(lengths)
        return rows

    def _fill(self, lengths: Sequence[int] | Columns) -> None:
        table, store, jobs = self.table, self.store, self.jobs
        if not len(jobs):
            return
        if may_share(store.graph):
            self._kind_of, first = jobs.columns[:, j.KIND], jobs.kinds
        else:
            self._kind_of, first = np.arange(len(jobs)), tuple(self.facts)
        self._kinds = [self._new_kind(fact) for fact in first]
        kinds, columns = self._kind_of, np.array([kind.columns for kind in self._kinds], np.int64)
        table[:, c.J_SPEC : c.JOB_WIDTH] = columns[kinds]
        table[:, c.J_REFUSED] = np.array([kind.refused for kind in self._kinds], np.int64)[kinds]
        table[:, c.J_REJECTED] = np.array([kind.rejected for kind in self._kinds], np.int64)[kinds]
        table[:, c.J_NAME] = np.array(store.numbered(jobs.names), np.int64)[jobs.columns[:, j.NAME]]
        table[:, c.J_REPLACES] = np.array([self._replaces(fact) for fact in first], np.int64)[kinds]
        table[:, c.J_TIME], table[:, c.J_RANK], created = jobs.columns[:, j.TIME], jobs.columns[:, j.RANK], jobs.columns[:, j.CREATED]
        table[:, c.J_SUBMITTED] = np.where(created == j.NONE, table[:, c.J_TIME], created)
        table[:, c.J_LENGTH], table[:, c.J_ADMISSION] = lengths, c.NONE
        for job, uid in enumerate(jobs.uids):
            table[job, c.J_UID] = store.text(uid)
        if store.tells_apart:
            for job in np.flatnonzero(table[:, c.J_QUEUE] != c.NONE).tolist():
                table[job, c.J_SHAPE] = store.shape_id(int(table[job, c.J_QUEUE]), jobs.name(job))

    def _replaces(self, fact: WorkloadSubmitted) -> int:
        return c.NONE if fact.replaces is None else self.store.name_id(fact.replaces)

    def _new_kind(self, fact: WorkloadSubmitted) -> _Kind:
        graph, workload = self.store.graph, submitted(fact, 0)
        nothing = (0,) * (c.JOB_WIDTH - c.J_SPEC)
        try:
            check_entry(graph, fact)
            route(graph, workload)
            self.store.vet(workload)
        except (FactError, BeyondBoundsError):
            return _Kind(workload, True, False, nothing)
        standing = self.store.standing(workload)
        columns = {
            c.J_SPEC: standing.demand,
            c.J_SHAPE: standing.shape,
            c.J_QUEUE: workload.queue,
            c.J_PRIORITY: workload.priority,
            c.J_PINNED: workload.pinned,
            c.J_LOCAL_QUEUE: standing.local_queue,
            c.J_HELD: standing.held,
            c.J_TURNED_AWAY: standing.turned_away,
        }
        rejected = rejection(graph, workload) is not None
        return _Kind(workload, False, rejected, tuple(int(columns.get(column, 0)) for column in range(c.J_SPEC, c.JOB_WIDTH)))

    def named(self, name: str) -> list[int]:
        """The jobs of a name, in the order in which they are submitted."""
        if not self._named:
            for job, number in enumerate(self.table[:, c.J_NAME].tolist()):
                self._named.setdefault(self.store.names[number], []).append(job)
        return self._named[name]

    def alike(self) -> Columns:
        """Of each job a number that those share whose submissions say the same but for names and times; NONE of one that says when it was
        created, or what it is outside."""
        created, uids = self.jobs.columns[:, j.CREATED], self.jobs.uids
        says_more = (created != j.NONE) | (np.array(uids, object) != "") if uids else created != j.NONE
        return np.where(says_more, c.NONE, self._kind_of)

    def workload(self, job: int) -> Workload:
        """A job as a workload that has just been submitted, in its queue."""
        fact, first = self.facts[job], self._kinds[self._kind_of[job]].workload
        workload = submitted(fact, 0)
        workload.queue, workload.priority, workload.pinned = first.queue, first.priority, first.pinned
        return workload

    def kept(self, job: int) -> KeptSaying:
        """What the store keeps of a job while it is live."""
        kind = int(self._kind_of[job])
        said = self._said.get(kind)
        if said is None:
            said = self._said[kind] = self.store.sayings.of(self._kinds[kind].workload)
        return kept(said, *self.jobs.own(job))


def may_share(graph: PolicyGraph) -> bool:
    """Whether no rule of admission reads a field in which jobs of one kind may differ."""
    read = [field for rule in graph.admission for field in fields(rule.guard)]
    return all(field.path in _SHARED or field.label is not None or field.type is Type.AMOUNT for field in read)
