"""Jobs as columns: many submissions in the order of their times, of which most say the same but for their names and times."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
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

_own = itemgetter("time", "workload", "created", "uid")
_parts = itemgetter("pod_sets", "labels", "namespace_labels")
_plain = itemgetter(*sorted(WorkloadSubmitted.model_fields.keys() - OF_ITS_OWN - {"kind", "v", "pod_sets", "labels", "namespace_labels"}))


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
        facts = facts if isinstance(facts, Sequence) else list(facts)
        kinds, numbers = _kinds_of(facts)
        times, called, created, uids = zip(*[_own(fact.__dict__) for fact in facts], strict=True) if facts else ((),) * 4
        names = {name: number for number, name in enumerate(dict.fromkeys(called))}
        columns = np.zeros((len(facts), COLUMNS), np.int64)
        columns[:, TIME], columns[:, KIND], columns[:, NAME] = times, numbers, [names[name] for name in called]
        columns[:, CREATED] = [NONE if moment is None else moment for moment in created]
        told = tuple(names)
        order = np.zeros(len(told), np.int64)
        order[np.argsort(np.array(told, object), kind="stable")] = range(len(told))
        columns[np.argsort(order[columns[:, NAME]], kind="stable"), RANK] = range(len(columns))
        return cls(kinds, told, uids if any(uids) else (), columns)

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


def _kinds_of(facts: Sequence[WorkloadSubmitted]) -> tuple[tuple[WorkloadSubmitted, ...], list[int]]:
    """The first submission that says something, of each that is said; and for all of them the number of what they say.

    Those that say the same in the same objects, as readers make them, are found without making a text of each.
    """
    by_parts, by_text, kinds, numbers = dict[Hashable, int](), dict[bytes, int](), list[WorkloadSubmitted](), list[int]()
    for fact in facts:
        said = fact.__dict__
        pod_sets, labels, namespace_labels = _parts(said)  # the facts keep pod sets alive, so that each has its own identity
        parts = (_plain(said), tuple(map(id, pod_sets)), tuple(labels.items()), tuple(namespace_labels.items()))
        number = by_parts.get(parts)
        if number is None:
            number = by_parts[parts] = by_text.setdefault(as_json(fact, exclude=OF_ITS_OWN), len(kinds))
            if number == len(kinds):
                kinds.append(fact)
        numbers.append(number)
    return tuple(kinds), numbers
