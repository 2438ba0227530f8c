"""Looking up where workloads stood at several moments of a journal, in one walk over it."""

from collections.abc import Iterable

from ..engine.reference import Core
from ..engine.reference.whereabouts import Standing
from ..journal.asof import follow
from ..journal.journal import Journal

Place = tuple[int, str]
"""An event's seq and a workload."""


def standings_at(journal: Journal, wanted: Iterable[Place]) -> dict[Place, Standing]:
    """Where each workload stood after the batch that holds the event; without those that were not live then. Raises DamagedError."""
    core, found = Core(), {}
    for seq, workload in sorted(set(wanted)):
        follow(journal, core, after=core.seq, upto=seq)
        standing = core.standing(workload)
        if standing is not None:
            found[seq, workload] = standing
    return found
