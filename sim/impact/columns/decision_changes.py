"""Which decisions differ between two histories, from columns: the tallies of `../history_diff.py`."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ....engine.outcome import history as h
from ....engine.outcome.history import Columns
from ..history_diff import Tally
from .job_fates import Flags
from .played_columns import Decisions


class DecisionChanges(NamedTuple):
    """`same` decisions are in both histories. Of the others: `tallies` by kind and queue, and the `first` moment of one (None: there is
    none)."""

    same: int
    tallies: dict[tuple[str, str], Tally]
    first: int | None

    @property
    def changed(self) -> int:
        """How many decisions differ; two that decide something else about one workload at one moment count once."""
        return sum(tally.gone + tally.new + tally.other for tally in self.tallies.values())


def decision_changes(before: Decisions, after: Decisions, queues: Mapping[int, str]) -> DecisionChanges:
    """Compare the decisions of two histories that were numbered alike; `queues` has the names of the queues by number."""
    keys = _keys(before, after)
    alone = [_occurring_once(keys[0], keys), _occurring_once(keys[1], keys)]
    _, old, new = np.intersect1d(keys[0][alone[0]], keys[1][alone[1]], assume_unique=True, return_indices=True)
    old, new = np.flatnonzero(alone[0])[old], np.flatnonzero(alone[1])[new]
    differs = before.queues[old] != after.queues[new]
    differs |= (_widened(before.content[old], after.content) != _widened(after.content[new], before.content)).any(axis=1)
    gone, come = alone[0].copy(), alone[1].copy()
    gone[old], come[new] = False, False
    found = _Found(queues)
    found.same = int((~differs).sum())
    for row, decisions, of in (("gone", before, gone), ("new", after, come)):
        found.add(row, decisions, np.flatnonzero(of))
    found.add("other", after, new[differs])
    _compare_repeated(before, after, keys, alone, found)
    return DecisionChanges(found.same, found.tallies, found.first)


def _keys(before: Decisions, after: Decisions) -> tuple[Columns, Columns]:
    """A number for each decision: the same for all of one kind about one name at one moment."""
    _, moments = np.unique(np.concatenate([before.times, after.times]), return_inverse=True)
    names = 1 + max(int(before.names.max(initial=0)), int(after.names.max(initial=0)))
    keys = (moments * 8 + np.concatenate([before.kinds, after.kinds])) * names + np.concatenate([before.names, after.names])
    return keys[: len(before.times)], keys[len(before.times) :]


def _occurring_once(keys: Columns, both: tuple[Columns, Columns]) -> Flags:
    """Which of some keys occur but once in each history."""
    often = [value[count > 1] for value, count in (np.unique(each, return_counts=True) for each in both)]
    return ~np.isin(keys, np.concatenate(often))


def _widened(content: Columns, other: Columns) -> Columns:
    return np.pad(content, ((0, 0), (0, max(0, other.shape[1] - content.shape[1]))), constant_values=h.NOTHING)


class _Found:
    """What was found so far."""

    def __init__(self, queues: Mapping[int, str]) -> None:
        self.same = 0
        self.tallies: dict[tuple[str, str], Tally] = {}
        self.first: int | None = None
        self._queues = queues

    def add(self, row: str, decisions: Decisions, which: Columns) -> None:
        """Count some decisions in one row of the tallies."""
        if not len(which):
            return
        first = int(decisions.times[which].min())
        self.first = first if self.first is None else min(first, self.first)
        pairs, counts = np.unique(np.stack([decisions.kinds[which], decisions.queues[which]]), axis=1, return_counts=True)
        for (kind, queue), count in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            tally = self.tallies.setdefault((h.EVENT_NAMES[kind], self._queues[queue]), Tally())
            setattr(tally, row, getattr(tally, row) + count)


def _compare_repeated(before: Decisions, after: Decisions, keys: tuple[Columns, Columns], alone: list[Flags], found: _Found) -> None:
    """Compare what is decided several times in one moment about one workload: equal ones first, and the others in their order."""
    left = [_without_equals(*each) for each in ((before, after, keys, alone), (after, before, keys[::-1], alone[::-1]))]
    found.same += int((~alone[1]).sum()) - sum(map(len, left[1].values()))
    for key in left[0].keys() | left[1].keys():
        gone, come = left[0].get(key, []), left[1].get(key, [])
        pairs = min(len(gone), len(come))
        found.add("gone", before, np.array(gone[pairs:], np.int64))
        found.add("other", after, np.array(come[:pairs], np.int64))
        found.add("new", after, np.array(come[pairs:], np.int64))


def _without_equals(some: Decisions, others: Decisions, keys: tuple[Columns, Columns], alone: list[Flags]) -> dict[int, list[int]]:
    """The repeated decisions of `some` that `others` lack, by key."""
    there = Counter(_said(others, keys[1], row) for row in np.flatnonzero(~alone[1]).tolist())
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(~alone[0]).tolist():
        said = _said(some, keys[0], row)
        if there[said] > 0:
            there[said] -= 1
        else:
            found.setdefault(said[0], []).append(row)
    return found


def _said(decisions: Decisions, keys: Columns, row: int) -> tuple[int, ...]:
    content = decisions.content[row]
    return (int(keys[row]), int(decisions.queues[row]), *content[content != h.NOTHING].tolist())
