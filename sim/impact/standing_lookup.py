"""Looks up the standings of workloads at several moments of a journal, in one pass over it."""

from collections.abc import Iterable

from ...engine.default_core import new_core
from ...engine.explain.pending import standing as standing_of
from ...engine.explain.standing import Standing
from ...journal.journal import Journal
from ...journal.read.as_of import follow

WorkloadMoment = tuple[int, str]
"""The sequence number of an event, and a workload."""


def standings_at(journal: Journal, wanted: Iterable[WorkloadMoment]) -> dict[WorkloadMoment, Standing]:
    """Where each workload stood after the batch that holds the event; without those that were not live then. Raises DamagedError."""
    core, found = new_core(), {}
    for seq, workload in sorted(set(wanted)):
        follow(journal, core, after=core.seq, upto=seq)
        standing = standing_of(core, workload)
        if standing is not None:
            found[seq, workload] = standing
    return found
