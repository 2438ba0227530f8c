"""Jobs as rows for the closed loop: all that follows from what they ask for is worked out once for all that ask for the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...errors import FactError
from ...facts import WorkloadSubmitted
from ...guard import Type, fields
from ...intake.changes import submitted
from ...intake.check import check_entry
from ...intake.rejection import rejection
from ...intake.routing import route
from ...policy_graph import PolicyGraph
from ...workload import Workload
from .. import columns as c
from ..policy_tables import BeyondBoundsError
from ..store import TableStore
from ..tables import Ints, zeros

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
    """The jobs of a closed loop, in the order of their submissions: `facts`, and `table` with a row for each."""

    store: TableStore
    facts: Sequence[WorkloadSubmitted]
    table: Ints
    _kinds: list[_Kind] = field(default_factory=list)
    _numbers: dict[object, int] = field(default_factory=dict)
    _kind_of: list[int] = field(default_factory=list)
    _named: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, store: TableStore, facts: Sequence[WorkloadSubmitted], lengths: Sequence[int]) -> "JobRows":
        """The rows of jobs and how long they run, in microseconds."""
        rows = cls(store, facts, zeros(len(facts), c.JOB_WIDTH))
        rows._fill(lengths)
        return rows

    def _fill(self, lengths: Sequence[int]) -> None:
        table, store, share = self.table, self.store, may_share(self.store.graph)
        self._kind_of = [self._kind(fact, share) for fact in self.facts]
        if not self._kind_of:
            return
        kinds, columns = np.array(self._kind_of, np.int64), np.array([kind.columns for kind in self._kinds], np.int64)
        table[:, c.J_SPEC : c.JOB_WIDTH] = columns[kinds]
        table[:, c.J_REFUSED] = np.array([kind.refused for kind in self._kinds], np.int64)[kinds]
        table[:, c.J_REJECTED] = np.array([kind.rejected for kind in self._kinds], np.int64)[kinds]
        table[:, c.J_TIME], table[:, c.J_LENGTH] = [fact.time for fact in self.facts], lengths
        table[:, c.J_NAME] = [store.name_id(fact.workload) for fact in self.facts]
        table[:, c.J_SUBMITTED] = [fact.time if fact.created is None else fact.created for fact in self.facts]
        table[np.argsort(np.array([fact.workload for fact in self.facts], object), kind="stable"), c.J_RANK] = range(len(table))
        table[:, c.J_ADMISSION] = c.NONE
        for job, fact in enumerate(self.facts):
            if fact.uid:
                table[job, c.J_UID] = store.text(fact.uid)
            table[job, c.J_REPLACES] = c.NONE if fact.replaces is None else store.name_id(fact.replaces)
            if store.tells_apart and table[job, c.J_QUEUE] != c.NONE:
                table[job, c.J_SHAPE] = store.shape_id(int(table[job, c.J_QUEUE]), fact.workload)

    def _kind(self, fact: WorkloadSubmitted, share: bool) -> int:
        """The number of the kind of a job."""
        who = (fact.queue, fact.namespace, fact.user, fact.group, fact.workload_kind, fact.priority, fact.local_queue, fact.boost)
        labels = tuple(sorted(fact.labels.items())), tuple(sorted(fact.namespace_labels.items()))
        alone = None if share else (fact.workload, fact.time, fact.created)
        pod_sets = tuple([pod_set.__pydantic_serializer__.to_json(pod_set) for pod_set in fact.pod_sets])
        key = (who, labels, fact.hold, fact.misconfigured, fact.replaces, pod_sets, alone)
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self._kinds)
            self._kinds.append(self._new_kind(fact))
        return known

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
            for job, fact in enumerate(self.facts):
                self._named.setdefault(fact.workload, []).append(job)
        return self._named[name]

    def kind(self, job: int) -> int:
        """A number for all jobs whose submissions say the same but for their names, their times and their identity outside."""
        return self._kind_of[job]

    def workload(self, job: int, number: int = 0) -> Workload:
        """A job as a workload that has just been submitted, in its queue."""
        fact, first = self.facts[job], self._kinds[self._kind_of[job]].workload
        workload = submitted(fact, number)
        workload.queue, workload.priority, workload.pinned = first.queue, first.priority, first.pinned
        workload.shape = fact.workload if self.store.tells_apart and first.shape else first.shape
        return workload


def may_share(graph: PolicyGraph) -> bool:
    """Whether no rule of admission reads a field in which jobs of one kind may differ."""
    read = [field for rule in graph.admission for field in fields(rule.guard)]
    return all(field.path in _SHARED or field.label is not None or field.type is Type.AMOUNT for field in read)
