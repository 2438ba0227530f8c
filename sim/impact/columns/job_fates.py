"""What became of each job, from columns: the sums of `../workload_fates.py`, and who fares worse or better."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....engine.intake.jobs import RANK, Jobs
from ....engine.outcome import history as h
from ....engine.outcome.history import Columns
from ...drive.driver import OnEvict
from ...measure.gpu_amounts import requested
from ..workload_fates import MOST_AFFECTED

_MOST = float(2**61)
"""Sums that doubles put below that are proven to fit 64 bits."""

Flags = NDArray[np.bool_]
"""Whether something is so, row by row."""

_KIND, _TIME, _JOB = range(3)
_NO_EVENT = -1


class JobFates(NamedTuple):
    """Columns with a row for each job: how long it waited up to the `end` (microseconds); GPU-time of runs that an eviction made vain, and
    of the others (thousandths of a GPU times microseconds); and the kind of the last event about it."""

    end: int
    waited: Columns
    lost: Columns
    got: Columns
    last: Columns

    def waits(self) -> Flags:
        """Whether each still waits at the end."""
        found: Flags = (self.last == h.SUBMITTING) | (self.last == h.EVICTING_ONE)
        return found


def job_fates(events: Columns, gpus: Columns, jobs: int, end: int, on_evict: OnEvict) -> JobFates | None:
    """The fates of so many jobs by `events` [event, (kind, time, job)] and the GPUs of admissions; None where 64 bits may not hold them."""
    rows = np.flatnonzero((events[:, _JOB] != _NO_EVENT) & (events[:, _KIND] != h.DEFERRING))
    rows = rows[np.argsort(events[rows, _JOB], kind="stable")]
    kind, time, job = events[rows].T
    is_last = np.append(job[1:] != job[:-1], True)[: len(job)]
    following = np.where(is_last, _NO_EVENT, np.append(kind[1:], _NO_EVENT)[: len(kind)])
    length = np.where(is_last, end, np.append(time[1:], end)[: len(time)]) - time
    runs = kind == h.ADMITTING
    if np.bincount(job[runs], weights=gpus[rows[runs]].astype(float) * length[runs]).max(initial=0) >= _MOST:
        return None
    area = np.where(runs, gpus[rows], 0) * length
    in_vain = (following == h.EVICTING_ONE) & (on_evict == "restart")
    waits = (kind == h.SUBMITTING) | (kind == h.EVICTING_ONE)
    last = np.full(jobs, _NO_EVENT, np.int64)
    last[job[is_last]] = kind[is_last]
    return JobFates(
        end,
        waited=_sums(job[waits], length[waits], jobs),
        lost=_sums(job[in_vain], area[in_vain], jobs),
        got=_sums(job[~in_vain], area[~in_vain], jobs),
        last=last,
    )


def _sums(job: Columns, amounts: Columns, jobs: int) -> Columns:
    found = np.zeros(jobs, np.int64)
    np.add.at(found, job, amounts)
    return found


def requested_gpus(jobs: Jobs, kinds: Columns) -> Columns | None:
    """The GPUs that each job asks for, in thousandths; None where 64 bits may not hold them."""
    asked = [requested(fact.pod_sets) for fact in jobs.kinds]
    return None if max(asked, default=0) >= _MOST else np.array(asked, np.int64)[kinds]


class EffectOnJobs(NamedTuple):
    """How many jobs fare worse and better, and the numbers of those that are affected most, in order."""

    worse: int
    better: int
    most: tuple[int, ...]


def effect(before: JobFates, after: JobFates, gpus: Columns, jobs: Jobs) -> EffectOnJobs | None:
    """What another policy does to each job, as `Affected` says; None where 64 bits may not hold it."""
    until = max(before.end, after.end)
    waited = [fates.waited + np.where(fates.waits(), until - fates.end, 0) for fates in (before, after)]
    extra = waited[1] - waited[0]
    if float((np.abs(extra).astype(float) * gpus).max(initial=0)) >= _MOST:
        return None
    refused = (after.last == h.REJECTING).astype(np.int64) - (before.last == h.REJECTING)
    cost = np.where(refused > 0, before.got, np.where(refused < 0, 0, extra * gpus + after.lost - before.lost))
    harm = np.where(refused != 0, refused, np.where(cost != 0, cost, extra))
    differs = np.flatnonzero((harm != 0) | (_state(before) != _state(after)))
    order = np.lexsort((jobs.columns[differs, RANK], -np.abs(extra[differs]), -np.abs(cost[differs])))
    return EffectOnJobs(int((harm > 0).sum()), int((harm < 0).sum()), tuple(differs[order[:MOST_AFFECTED]].tolist()))


def _state(fates: JobFates) -> Columns:
    """The kind of the last event, for all who wait the same."""
    return np.where(fates.waits(), h.SUBMITTING, fates.last)
