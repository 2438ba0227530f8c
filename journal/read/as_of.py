"""The state of the cluster as it was: recorded events are applied again, without deciding anything."""

from contextlib import suppress
from typing import Protocol

from ...engine.cores import Core
from ...engine.default_core import new_core
from ...engine.errors import FactError
from ...engine.events import AnyEvent
from ...engine.facts import PolicyActivated
from ...engine.policy_graph import PolicyGraph
from ..errors import DamagedError, JournalError, impossible_event
from ..journal import Journal
from ..recorded_policies import Compile, PolicyRefusedError, compile_recorded
from ..records import Progress, tell
from .snapshots import newest_core


class Follower(Protocol):
    """What recorded events are applied to: the core, or something that stands in for it."""

    def apply(self, event: AnyEvent, graph: PolicyGraph | None = None) -> None:
        """Take in an event, fact or decision, as it happened."""
        ...


def core_at(
    journal: Journal, seq: int | None = None, *, time: int | None = None, snapshots: bool = True, progress: Progress | None = None
) -> Core:
    """The core as it stood after the batch that holds event `seq`, or after all events up to and at `time`; neither: at the end.

    Nothing is decided again: the newest snapshot before that moment is taken, where there is one, and the events after it are applied.
    Without `snapshots` all events are: whoever can write to the database can forge a snapshot, which no evidence vouches for.
    Raises JournalError for a moment that the journal does not reach, and DamagedError for events that cannot have happened.
    """
    upto = moment(journal, seq, time=time)
    core = newest_core(journal, upto) if snapshots else None
    if core is not None:
        with suppress(DamagedError):  # is it the events? without the snapshot they tell
            follow(journal, core, after=core.seq, upto=upto, progress=progress)
            return core
    core = new_core()
    follow(journal, core, upto=upto, progress=progress)
    return core


def resume(journal: Journal, progress: Progress | None = None) -> Core:
    """A core at the end of a journal, to go on deciding with: what comes next is decided as if the journal had never been closed."""
    return core_at(journal, progress=progress)


def moment(journal: Journal, seq: int | None = None, *, time: int | None = None) -> int:
    """The sequence number of the last event at a moment, 0 before the first. Raises JournalError for one that has not come yet."""
    if seq is not None and time is not None:
        raise JournalError("a moment is a sequence number or a time, not both", "give one of them")
    last = journal.head.seq
    if time is not None:
        return journal.seq_at(time)
    if seq is None:
        return last
    if not 0 <= seq <= last:
        raise JournalError(f"`{journal.name}` has no event {seq}", f"its events are numbered from 1 to {last}")
    return seq


def follow(
    journal: Journal,
    follower: Follower,
    *,
    after: int = 0,
    upto: int | None = None,
    compile_policy: Compile = compile_recorded,
    progress: Progress | None = None,
) -> None:
    """Apply the batches after event `after`, up to the one that holds event `upto`, to a follower that stands at `after`.

    A batch is applied whole: between its decisions the cluster never was.
    """
    for recorded in journal.events(after):
        event = recorded.event
        if upto is not None and recorded.seq > upto and not event.is_decision:
            return
        graph = _graph(recorded.seq, event, compile_policy) if isinstance(event, PolicyActivated) else None
        try:
            follower.apply(event, graph)
        except (FactError, AssertionError, LookupError, ValueError) as error:  # only events that the core wrote itself are sure to fit
            raise impossible_event(recorded.seq, error) from None
        tell(progress, recorded.seq)


def _graph(seq: int, event: PolicyActivated, compile_policy: Compile) -> PolicyGraph:
    try:
        return compile_policy(event)
    except PolicyRefusedError as error:
        raise DamagedError(seq, f"the policy recorded at event {seq} does not compile: {error}", "run `gpol replay`") from None
