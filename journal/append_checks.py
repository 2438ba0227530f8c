"""What may be appended to a journal: whole batches, in the order of their times, behind the head that the writer knows."""

from collections.abc import Sequence

from ..engine.events import AnyEvent
from ..engine.facts import Event
from .errors import DamagedError, JournalError
from .store.recorder import HeadMovedError


def moved_error(name: str, moved: HeadMovedError) -> JournalError:
    """What it means that a journal does not end as its writer believes."""
    ends, expected = moved.found.seq, moved.expected.seq
    if ends == expected:
        return DamagedError(ends, f"event {ends}, the last of `{name}`, is another one than it was; nothing was appended")
    return JournalError(
        f"somebody else has appended to `{name}`: it ends at event {ends}, not as expected at {expected}; nothing was appended",
        "open it again, and go on from where it ends",
    )


def check_batch(batch: Sequence[AnyEvent], seq: int, time: int) -> None:
    """Raise JournalError unless a batch can have happened at `seq`, after `time`. An event that is not one of ours is an error too."""
    remedy = "append one fact and then the decisions that the core took for it"
    for event in batch:
        if not isinstance(event, Event):
            raise JournalError(f"the batch at {seq} holds something that is no event", remedy)
    if not batch or batch[0].is_decision:
        raise JournalError(f"the batch at {seq} does not begin with a fact", remedy)
    fact = batch[0]
    if fact.time < time:
        raise backwards_error(seq, fact.time, time)
    for place, decision in enumerate(batch[1:], seq + 1):
        if not decision.is_decision:
            raise JournalError(f"event {place} is a second fact in its batch", remedy)
        if getattr(decision, "cause", None) != seq or decision.time != fact.time:
            raise JournalError(f"the decision at event {place} was not caused by the fact at event {seq} in the same moment", remedy)


def backwards_error(seq: int, time: int, before: int) -> JournalError:
    """What it means that a fact is older than the one before it."""
    return JournalError(f"time runs backwards at event {seq}: {time} comes after {before}", "append facts in the order of their times")
