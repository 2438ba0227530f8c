"""Verification: nothing in a journal was altered, left out or put in between since it was written.

What that proves, and what it can't prove without a chain value kept elsewhere, is told in `docs/audit.md`.
"""

from dataclasses import dataclass

from ..engine.events import AnyEvent
from .errors import DamagedError, JournalError
from .journal import Journal
from .records import START, Head, Progress, link, parse, stream_of
from .store import SOUND_TYPES, Stored


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong first: at event `seq` (None: in the file, but at no event), what was expected, what was found, what it means."""

    seq: int | None
    problem: str
    expected: str
    found: str
    meaning: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The outcome: all is good up to event `seq`, whose chain value (hexadecimal) is `chain`. A fault ends the search."""

    seq: int
    chain: str
    fault: Fault | None = None

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return self.fault is None

    @property
    def bad_seq(self) -> int | None:
        """The first event that is wrong; None: none is."""
        return None if self.fault is None else self.fault.seq

    @property
    def problem(self) -> str:
        """What is wrong; nothing: an empty text."""
        return "" if self.fault is None else self.fault.problem


def verify(journal: Journal, progress: Progress | None = None, expected_head: tuple[int, str] | None = None) -> VerifyReport:
    """Check every event of a journal, in memory that does not depend on its length, and report the first fault.

    `expected_head` is a sequence number and chain value (hexadecimal) noted down earlier: the journal must still have that
    event; it may have grown since. Raises JournalError for a journal that cannot be read at all, and for an expected head that
    cannot be one.
    """
    check = _Check(journal, None if expected_head is None else _parse_head(*expected_head))
    fault = check.events(progress) or check.end() or _structure(journal)
    return VerifyReport(check.head.seq, check.head.chain.hex(), fault)


def _parse_head(seq: int, text: str) -> Head:
    try:
        chain = bytes.fromhex(text)
    except ValueError:
        chain = b""
    if len(chain) != len(START.chain) or seq < 1:
        raise JournalError("the expected head is not one", "give a sequence number from 1 and a chain value of 64 hexadecimal digits")
    return Head(seq, chain)


class _Check:
    """A walk over a journal. `head` is the last good event, `time` its time, `cause` the seq of the last fact (0: none yet)."""

    def __init__(self, journal: Journal, expected: Head | None) -> None:
        self.journal = journal
        self.expected = expected
        self.head = START
        self.time = 0
        self.cause = 0

    def events(self, progress: Progress | None) -> Fault | None:
        """The first fault of any event."""
        try:
            while page := self.journal.stored_page(self.head.seq):
                for row in page:
                    fault = self._row(row)
                    if fault is not None:
                        return fault
                if progress is not None:
                    progress(self.head.seq)
        except DamagedError as error:
            return _unreadable(self.head.seq + 1, error)
        return None

    def end(self) -> Fault | None:
        """Whether an event is gone that was there when the expected head was noted down."""
        if self.expected is None or self.expected.seq <= self.head.seq:
            return None
        meaning = f"{self.expected.seq - self.head.seq} events at the end were deleted, or this is an older copy"
        return Fault(self.head.seq + 1, "the end is missing", f"event {self.expected.seq}", f"the last is event {self.head.seq}", meaning)

    def _row(self, row: Stored) -> Fault | None:
        chain = link(self.head.chain, row.payload or b"")
        fault = self._place(row) or self._link(row, chain)
        if fault is not None:
            return fault
        assert row.payload is not None
        try:
            event = parse(row.seq, row.payload)
        except DamagedError as error:
            return Fault(row.seq, error.message, "an event as docs/events.md describes it", _shown(row.payload), _FORGED)
        fault = _columns(row, event) or _form(row, event) or self._order(row, event)
        if fault is None:
            self.head = Head(row.seq, chain)
            self.time = event.time
            self.cause = self.cause if event.is_decision else row.seq
        return fault

    def _place(self, row: Stored) -> Fault | None:
        seq = self.head.seq + 1
        if row.seq != seq:
            meaning = "events were deleted or renumbered"
            return Fault(seq, f"event {seq} is missing", f"event {seq}", f"event {row.seq} follows event {self.head.seq}", meaning)
        if row.types != SOUND_TYPES:
            return Fault(seq, f"event {seq} is stored in another form", SOUND_TYPES, row.types, "the row was altered after it was written")
        return None

    def _link(self, row: Stored, chain: bytes) -> Fault | None:
        found = row.chain or b""
        if chain != found:
            problem = f"event {row.seq} does not match its chain value"
            return Fault(row.seq, problem, chain.hex(), found.hex(), self._altered(row, chain))
        if self.expected is not None and row.seq == self.expected.seq and chain != self.expected.chain:
            meaning = "it or one before it was replaced, and the chain was computed anew: this is not the history that was noted down"
            return Fault(row.seq, f"event {row.seq} is not the one that was noted down", self.expected.chain.hex(), chain.hex(), meaning)
        return None

    def _altered(self, row: Stored, chain: bytes) -> str:
        """Which of the two was altered, told by the next event: its chain value was computed from the one that used to stand here."""
        try:
            following = next(iter(self.journal.stored_page(row.seq)), None)
        except DamagedError:
            following = None
        if following is not None and following.chain == link(chain, following.payload or b""):
            return "its chain value was altered; the event itself is as it was written"
        if following is not None and following.chain == link(row.chain or b"", following.payload or b""):
            return "its payload was altered after it was written, or an event was put in, taken out or swapped here"
        return "its payload or its chain value was altered after it was written"

    def _order(self, row: Stored, event: AnyEvent) -> Fault | None:
        if event.time < self.time:
            return Fault(row.seq, f"time runs backwards at event {row.seq}", f"{self.time} or later", str(event.time), _FORGED)
        if not event.is_decision:
            return None
        if self.cause == 0:
            return Fault(row.seq, "the journal begins with a decision", "a fact", event.kind, _FORGED)
        cause = getattr(event, "cause", None)
        if cause != self.cause:
            return Fault(row.seq, f"event {row.seq} names a cause that it cannot have", f"event {self.cause}", f"event {cause}", _FORGED)
        if event.time != self.time:
            return Fault(row.seq, f"event {row.seq} is not at the time of its cause", str(self.time), str(event.time), _FORGED)
        return None


_FORGED = "the chain is whole, so this was not altered later: a program that is not gpol wrote it, or the chain was computed anew"

_COLUMN_ALTERED = "the column was altered; payload and chain value are as written"


def _columns(row: Stored, event: AnyEvent) -> Fault | None:
    """The columns only repeat the payload. The chain does not cover them, so they are compared."""
    if (row.kind, row.stream, row.version) == (event.kind.encode(), stream_of(event).encode(), row.seq):
        return None
    expected = {"kind": event.kind, "stream": stream_of(event), "version": str(row.seq)}
    found = {"kind": _text(row.kind), "stream": _text(row.stream), "version": str(row.version)}
    for column in expected:
        if expected[column] != found[column]:
            problem = f"the column `{column}` of event {row.seq} does not say what its payload says"
            return Fault(row.seq, problem, expected[column], found[column], _COLUMN_ALTERED)
    return None


def _form(row: Stored, event: AnyEvent) -> Fault | None:
    payload = event.payload()
    if payload == row.payload:
        return None
    return Fault(row.seq, f"event {row.seq} is not written in its one form", _shown(payload), _shown(row.payload or b""), _FORGED)


def _structure(journal: Journal) -> Fault | None:
    """Every event is good; what is left is what they are found by."""
    try:
        found = journal.structural_damage()
    except DamagedError as error:
        return _unreadable(None, error)
    if found is None:
        return None
    return Fault(None, "the file is damaged", "ok", found, "every event is as it was written, but looking one up by its stream may miss it")


def _unreadable(seq: int | None, error: DamagedError) -> Fault:
    meaning = "the file was altered or the disk failed; take a copy that verifies"
    return Fault(seq, "the file cannot be read on", "a sound SQLite file", error.message, meaning)


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def _shown(payload: bytes) -> str:
    text = _text(payload)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(payload)} bytes)"
