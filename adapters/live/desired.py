"""What the journal wants of each workload: its last decision about it, by the workload's uid.

It is a fold of the journal, and nothing else remembers it: after a restart the same is wanted as before. A workload's own events are found
in the journal without reading the others, so nobody has to fold all of it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ...engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced
from ...engine.facts import WorkloadAdopted, WorkloadSubmitted
from ...journal.journal import Journal
from ...journal.records import workload_stream
from .decider import Numbered

EffectiveDecision = WorkloadAdmitted | WorkloadEvicted | WorkloadRejected | WorkloadReplaced
"""The decisions that are to have an effect, or that end what came before; those that only say who waits are not among them."""


class Desired(NamedTuple):
    """A decision that is to be carried out, with its sequence number."""

    seq: int
    event: EffectiveDecision


class PastRun(NamedTuple):
    """An admission that was carried out, and the eviction that ended it; None where no decision did."""

    admitted: WorkloadAdmitted
    evicted: WorkloadEvicted | None


class DesiredStates:
    """The last decision about each workload. `live` are the names and uids of all workloads that are live at the end of the journal.

    About others nothing is decided before their submission is told (`take`); what was decided before is looked up when it is asked for.
    """

    def __init__(self, journal: Journal, live: Iterable[tuple[str, str]]) -> None:
        self._journal = journal
        self._wanted = {name: (uid, self._look_up(name, uid)) for name, uid in live}

    def of(self, name: str, uid: str, is_marked: bool = True) -> Desired | None:
        """What is wanted of a workload; None where nothing was decided about it yet, or it runs as it was adopted.

        One that is over, and bears no mark (`is_marked`), is not looked up: a decision about it was never carried out, and is taken anew.
        """
        known = self._wanted.get(name)
        if known is None or known[0] != uid:
            if not is_marked:
                return None
            known = self._wanted[name] = uid, self._look_up(name, uid)
        return known[1]

    def take(self, events: Iterable[Numbered]) -> None:
        """Take in what was decided, in order."""
        for seq, event in events:
            if isinstance(event, WorkloadSubmitted):
                self._wanted[event.workload] = event.uid, None
            elif isinstance(event, WorkloadAdopted):
                self._set(event.workload, None)
            elif isinstance(event, EffectiveDecision):
                self._set(event.workload, Desired(seq, event))

    def forget(self, name: str) -> None:
        """Drop what is known of a workload that is gone; it is looked up again if it is asked for."""
        self._wanted.pop(name, None)

    def past_run(self, name: str, mark: int) -> PastRun | None:
        """The last admission of a workload that was carried out by event `mark` or before; None if there was none."""
        evicted: WorkloadEvicted | None = None
        for seq, event in ((each.seq, each.event) for each in self._journal.backwards(stream=workload_stream(name))):
            if isinstance(event, WorkloadSubmitted) or (isinstance(event, WorkloadAdmitted) and seq <= mark):
                return PastRun(event, evicted) if isinstance(event, WorkloadAdmitted) else None
            if isinstance(event, WorkloadEvicted):
                evicted = event
        return None

    def _set(self, name: str, desired: Desired | None) -> None:
        known = self._wanted.get(name)
        if known is not None:
            self._wanted[name] = known[0], desired

    def _look_up(self, name: str, uid: str) -> Desired | None:
        latest: Desired | None = None
        is_known = False
        for seq, event in ((each.seq, each.event) for each in self._journal.backwards(stream=workload_stream(name))):
            if isinstance(event, WorkloadSubmitted):
                return latest if event.uid == uid else None
            if not is_known and isinstance(event, EffectiveDecision | WorkloadAdopted):
                latest, is_known = (None if isinstance(event, WorkloadAdopted) else Desired(seq, event)), True
        return None
