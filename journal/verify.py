"""Verification: nothing in the journal was changed, left out or put in since it was written."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError

from .chain import GENESIS, link
from .errors import JournalError
from .journal import Journal, Recorded, stream_of

Progress = Callable[[int], None]
"""Called now and then with the last seq that was looked at."""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """`good`, or the first bad seq and what is wrong there. `seq` and `chain` (hex) are the head as far as it is good."""

    good: bool
    seq: int
    chain: str
    bad_seq: int | None = None
    problem: str = ""


def verify(journal: Journal, progress: Progress | None = None, expected_head: tuple[int, str] | None = None) -> VerifyReport:
    """Check every event: gapless seqs, the chain over the stored bytes, columns and causes that agree with the payload.

    The chain alone cannot see that the end was cut off; `expected_head`, a seq and chain value kept elsewhere, can.
    """
    seq, chain, time, cause = 0, GENESIS, 0, 0
    expected = None
    try:
        for recorded in journal.events():
            problem = _problem(recorded, seq, chain, time, cause)
            if problem:
                return VerifyReport(False, seq, chain.hex(), seq + 1, problem)
            seq, chain, time = recorded.seq, recorded.chain, recorded.event.time
            cause = cause if recorded.event.is_decision else seq
            if expected_head is not None and seq == expected_head[0]:
                expected = chain.hex()
            if progress is not None and seq % 1_000 == 0:
                progress(seq)
    except JournalError as error:
        return VerifyReport(False, seq, chain.hex(), seq + 1, str(error))
    if expected_head is not None and expected != expected_head[1]:
        seen = f"the chain there is {expected}" if expected else f"the journal ends at {seq}"
        return VerifyReport(
            False, seq, chain.hex(), min(seq + 1, expected_head[0]), f"it should have {expected_head[1]} at {expected_head[0]}; {seen}"
        )
    return VerifyReport(True, seq, chain.hex())


def _problem(recorded: Recorded, seq: int, chain: bytes, time: int, cause: int) -> str:
    """What is wrong with an event that follows `seq`; nothing: an empty text."""
    if recorded.seq != seq + 1:
        return f"event {seq + 1} is missing; the next one is {recorded.seq}"
    expected = link(chain, recorded.payload)
    if recorded.chain != expected:
        return f"its bytes do not belong to its chain value: expected {expected.hex()}, found {recorded.chain.hex()}"
    try:
        event = recorded.event
    except ValidationError as error:
        return f"its payload is no event: {error.errors(include_url=False)[0]['msg']}"
    if event.payload() != recorded.payload:
        return "its payload is not in the form in which events are written"
    if (recorded.kind, recorded.stream, recorded.version) != (event.kind, stream_of(event), recorded.seq):
        return "its kind, stream or version column does not agree with its payload"
    if event.time < time:
        return f"its time {event.time} is before the time of the event before it, {time}"
    if event.is_decision and getattr(event, "cause", None) != cause:
        return f"it names {getattr(event, 'cause', None)} as its cause; the fact before it is {cause}"
    return ""
