"""Keeps a core in step with a journal that another process writes.

The core that decides is not asked: a question takes seconds where there are thousands of workloads, and until it was answered nothing
would be decided. The journal tells everything, and whatever is answered is committed.
"""

from dataclasses import dataclass

from ...compiled.core_to_ask import quick
from ...engine.cores import Core
from ...engine.facts import PolicyActivated
from ...journal.errors import DamagedError
from ...journal.journal import Journal
from ...journal.read.as_of import core_at, follow
from ...journal.recorded_policies import last_activation
from ...journal.records import START, Head
from ..answers import DecidingPolicy


@dataclass(frozen=True, slots=True)
class Followed:
    """A journal as it was read: the core after its last event, that event's link in the chain, what tells it from others, its policy."""

    place: str
    core: Core
    head: Head
    identity: str
    policy: DecidingPolicy | None


class JournalFollower:
    """Follows a journal at a place, a file or a URL. Nothing is open between two calls, so that the process may be copied."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._known: Followed | None = None

    def catch_up(self) -> Followed:
        """The journal as it is now. Raises JournalError."""
        with Journal.open(self._place) as journal:
            known = self._known
            if known is None or not _goes_on(journal, known):
                self._known = None
                core = core_at(journal)
            elif known.head.seq == journal.head.seq:
                return known
            else:
                core, self._known = known.core, None  # a core that could not follow to the end is of no use any more
                follow(journal, core, after=core.seq, upto=journal.head.seq)
            core = quick(core)
            chain = journal.at(core.seq).chain if core.seq else START.chain
            identity = journal.at(1).chain.hex()[:32] if core.seq else ""
            self._known = Followed(self._place, core, Head(core.seq, chain), identity, _active_policy(journal, core.seq))
            return self._known


def _goes_on(journal: Journal, known: Followed) -> bool:
    """Whether a journal has the events that are known of it. Another one may have been put in its place, such as a backup."""
    seq, chain = known.head
    try:
        return seq <= journal.head.seq and (journal.at(seq).chain if seq else START.chain) == chain
    except DamagedError:
        return False


def _active_policy(journal: Journal, seq: int) -> DecidingPolicy | None:
    recorded = last_activation(journal, seq)
    if recorded is None or not isinstance(recorded.event, PolicyActivated):
        return None
    event = recorded.event
    return DecidingPolicy(
        file=event.file, digest=event.digest, since=event.time, seq=recorded.seq, by=event.by or None, note=event.note or None
    )
