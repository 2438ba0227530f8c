"""Verification: nothing in a journal was altered, left out or put in between since it was written.

What that proves, and what it can't prove without evidence kept elsewhere, is told in `docs/audit.md`.
"""

from ..engine.events import AnyEvent
from .errors import DamagedError, JournalError
from .evidence import Comparison, Evidence
from .faults import Fault, VerifyReport
from .journal import Journal
from .records import START, Head, Progress, link, parse, stream_of
from .store import SOUND_TYPES, Stored

__all__ = ["Fault", "VerifyReport", "verify"]


def verify(
    journal: Journal,
    progress: Progress | None = None,
    expected_head: tuple[int, str] | None = None,
    evidence: Evidence | None = None,
) -> VerifyReport:
    """Check every event of a journal, in memory that does not depend on its length, and report the first fault.

    `expected_head` is a sequence number and chain value (hexadecimal) noted down earlier: the journal must still have that
    event; it may have grown since. `evidence` are checkpoints signed earlier: the journal must still begin with what each of them signs.
    Raises JournalError for a journal that cannot be read at all, and for an expected head that cannot be one.
    """
    noted = None if expected_head is None else _parse_head(*expected_head)
    comparison = Comparison(evidence or Evidence(), noted)
    check = _Check(journal, comparison)
    fault = check.events(progress) or comparison.end(check.head.seq) or _structure(journal)
    # Where the evidence names a range, what lies in it agrees with itself, but is not known to be good.
    good = check.head if fault is None or fault.within is None else comparison.proven
    return VerifyReport(good.seq, good.chain.hex(), fault, comparison.signed)


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

    def __init__(self, journal: Journal, comparison: Comparison) -> None:
        self.journal = journal
        self.comparison = comparison
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
        head = Head(row.seq, chain)
        fault = _columns(row, event) or _form(row, event) or self._order(row, event) or self.comparison.take(head, row.payload)
        if fault is None:
            self.head = head
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
