"""Jobs as columns: many submissions in the order of their times, of which most say the same but for their names and times."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from ..event_parts import as_json, unchecked
from ..facts import WorkloadSubmitted
from ..outcome.history import Columns

TIME, CREATED, NAME, RANK, KIND, COLUMNS = range(6)
"""When a job is submitted, and when an outside system saw it first (NONE: nobody says it); the number of its name; its place among all jobs
in the order of their names; and what else it says, by number."""

NONE = -1

ENDLESS = -1
"""How long a job runs whose end nobody knows."""

OF_ITS_OWN = {"time", "workload", "created", "uid"}
"""In what two submissions differ that say the same."""


@dataclass(frozen=True)
class Jobs(Sequence[WorkloadSubmitted]):
    """Submissions, made when they are asked for. `kinds` has the first one that says something, `columns` a row for each job; `names` are
    in the order in which they first occur, and `uids` empty, or one for each job."""

    kinds: tuple[WorkloadSubmitted, ...]
    names: tuple[str, ...]
    uids: tuple[str, ...]
    columns: Columns

    @classmethod
    def of(cls, facts: Iterable[WorkloadSubmitted]) -> "Jobs":
        """The columns of submissions; of such columns, themselves."""
        if isinstance(facts, Jobs):
            return facts
        kinds, numbers, names = list[WorkloadSubmitted](), dict[bytes, int](), dict[str, int]()
        rows, uids = list[tuple[int, int, int, int, int]](), list[str]()
        for fact in facts:
            said = as_json(fact, exclude=OF_ITS_OWN)
            kind = numbers.setdefault(said, len(kinds))
            if kind == len(kinds):
                kinds.append(fact)
            created = NONE if fact.created is None else fact.created
            rows.append((fact.time, created, names.setdefault(fact.workload, len(names)), 0, kind))
            uids.append(fact.uid)
        columns = np.array(rows, np.int64).reshape(len(rows), COLUMNS)
        told = tuple(names)
        order = np.zeros(len(told), np.int64)
        order[np.argsort(np.array(told, object), kind="stable")] = range(len(told))
        columns[np.argsort(order[columns[:, NAME]], kind="stable"), RANK] = range(len(columns))
        return cls(tuple(kinds), told, tuple(uids) if any(uids) else (), columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[WorkloadSubmitted]:
        return map(self._made, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> WorkloadSubmitted: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[WorkloadSubmitted]: ...
    def __getitem__(self, at: int | slice) -> WorkloadSubmitted | Sequence[WorkloadSubmitted]:
        if isinstance(at, slice):
            return [self._made(job) for job in range(*at.indices(len(self)))]
        return self._made(range(len(self))[at])

    def _made(self, job: int) -> WorkloadSubmitted:
        first, (time, created, uid) = self.kinds[self.columns[job, KIND]], self.own(job)
        own = {"time": time, "workload": self.name(job), "created": created}
        fields = {**first.__dict__, **own, "uid": uid}
        return unchecked(WorkloadSubmitted, fields, first.__pydantic_fields_set__ | own.keys())

    def own(self, job: int) -> tuple[int, int | None, str]:
        """When a job is submitted and was created, and its identity outside."""
        time, created, *_ = self.columns[job].tolist()
        return time, None if created == NONE else created, self.uids[job] if self.uids else ""

    def name(self, job: int) -> str:
        """The name of a job."""
        return self.names[int(self.columns[job, NAME])]
