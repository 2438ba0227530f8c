"""What can be wrong with an event as it is stored, row by row: `verify` stops at the first fault, `fsck` goes on after it."""

import re
from collections.abc import Sequence
from hashlib import sha256

from ...engine.events import AnyEvent
from ..errors import DamagedError, FutureError
from ..journal import Journal
from ..records import Head, link, parse, stream_of
from ..store.store import SOUND_TYPES, PlainRow, Stored
from .faults import Fault
from .page_check import BEGINNING, Place, place_after


class RowWalk:
    """A walk over the rows of a journal. After each fault it goes on with the stored values, so that one fault is reported once.

    `head` is where it stands, `time` the time of the event there. `cause` is the seq of the last fact; 0: there was none yet; None: it is
    not known, as an event is missing or cannot be read.
    """

    def __init__(self, journal: Journal, place: Place = BEGINNING) -> None:
        self.journal = journal
        self.head = place.head
        self.time = place.time
        self.cause: int | None = place.cause
        self._chains: tuple[bytes, ...] = (place.head.chain,)
        """What the next chain value may follow from: two, where the stored one is not the computed one; none, where an event is missing."""

    def take_page(self, rows: Sequence[PlainRow]) -> bool:
        """Go over the next rows, if nothing is wrong with any of them and with the one before; else stay, and return False."""
        if self._chains != (self.head.chain,) or self.cause is None:
            return False
        place = place_after(rows, Place(self.head, self.time, self.cause))
        if place is None:
            return False
        self.head, self.time, self.cause = place
        self._chains = (self.head.chain,)
        return True

    def take(self, row: Stored) -> list[Fault]:
        """All that is wrong with the next row, what is behind the others first."""
        if row.seq < 1:
            problem, meaning = f"a row numbered {row.seq} stands before event 1", "it was put in, or renumbered"
            return [Fault(1, problem, "event 1", f"event {row.seq}", meaning, kind="stray")]
        faults = self._place(row)
        if row.types != SOUND_TYPES:
            faults.append(
                Fault(
                    row.seq,
                    f"event {row.seq} is stored in another form",
                    SOUND_TYPES,
                    row.types,
                    "the row was altered after it was written",
                    kind="stored",
                )
            )
            self._go_on(row, (), None)
            return faults
        payload = row.payload or b""
        chain = self._link(row, payload, faults)
        event: AnyEvent | None = None
        try:
            event = parse(row.seq, payload)
        except DamagedError as error:
            kind = "future" if isinstance(error, FutureError) else "unreadable"
            faults.append(Fault(row.seq, error.message, "an event as docs/events.md describes it", shown(payload), _FORGED, kind=kind))
        else:
            faults += [*_columns(row, event), *_form(row, payload, event), *self._order(row, event)]
        self._go_on(row, chain, event)
        return faults

    def _go_on(self, row: Stored, chains: tuple[bytes, ...], event: AnyEvent | None) -> None:
        self.head = Head(row.seq, row.chain or b"")
        self._chains = chains
        if event is None:
            self.cause = None
            return
        self.time = event.time
        if not event.is_decision:
            self.cause = row.seq

    def _place(self, row: Stored) -> list[Fault]:
        seq = self.head.seq + 1
        if row.seq == seq:
            return []
        self._chains, self.cause = (), None
        found, meaning = f"event {row.seq} follows event {seq - 1}", "events were deleted or renumbered"
        return [Fault(seq, f"event {seq} is missing", f"event {seq}", found, meaning, kind="missing", events=row.seq - seq)]

    def _link(self, row: Stored, payload: bytes, faults: list[Fault]) -> tuple[bytes, ...]:
        """What the next chain value may follow from; a link that does not hold is added to the faults."""
        found = row.chain or b""
        computed = [link(chain, payload) for chain in self._chains]
        if not computed or found in computed:
            return (found,)
        problem, meaning = f"event {row.seq} does not match its chain value", self._altered(row, computed[0])
        faults.append(Fault(row.seq, problem, computed[0].hex(), found.hex(), meaning, kind="chain"))
        return (found, computed[0])

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

    def _order(self, row: Stored, event: AnyEvent) -> list[Fault]:
        seq, time = row.seq, event.time
        if time < self.time:
            return [Fault(seq, f"time runs backwards at event {seq}", f"{self.time} or later", str(time), _FORGED, kind="time")]
        if not event.is_decision or self.cause is None:
            return []
        if self.cause == 0:
            return [Fault(seq, "the journal begins with a decision", "a fact", event.kind, _FORGED, kind="cause")]
        cause = getattr(event, "cause", None)
        if cause != self.cause:
            problem = f"event {seq} names a cause that it cannot have"
            return [Fault(seq, problem, f"event {self.cause}", f"event {cause}", _FORGED, kind="cause")]
        if time != self.time:
            return [Fault(seq, f"event {seq} is not at the time of its cause", str(self.time), str(time), _FORGED, kind="time")]
        return []


_FORGED = "the chain is whole, so this was not altered later: a program that is not gpol wrote it, or the chain was computed anew"

_COLUMN_ALTERED = "the column was altered; payload and chain value are as written"


def _columns(row: Stored, event: AnyEvent) -> list[Fault]:
    """The columns only repeat the payload. The chain does not cover them, so they are compared."""
    if (row.kind, row.stream, row.version) == (event.kind.encode(), stream_of(event).encode(), row.seq):
        return []
    expected = {"kind": event.kind, "stream": stream_of(event), "version": str(row.seq)}
    found = {"kind": _text(row.kind), "stream": _text(row.stream), "version": str(row.version)}
    column = next((column for column in expected if expected[column] != found[column]), "version")
    problem = f"the column `{column}` of event {row.seq} does not say what its payload says"
    return [Fault(row.seq, problem, expected[column], found[column], _COLUMN_ALTERED, kind="column")]


def _form(row: Stored, payload: bytes, event: AnyEvent) -> list[Fault]:
    written = event.payload()
    if written == payload:
        return []
    return [Fault(row.seq, f"event {row.seq} is not written in its one form", shown(written), shown(payload), _FORGED, kind="form")]


def structure_faults(journal: Journal) -> list[Fault]:
    """What the database itself finds wrong with how it keeps the journal."""
    try:
        found = journal.structural_damage()
    except DamagedError as error:
        return [unreadable(None, error)]
    if found is None:
        return []
    meaning = "every event that can be read is as it was written, but looking one up by its stream may miss it"
    return [Fault(None, "the file is damaged", "ok", found, meaning, kind="file")]


def unreadable(seq: int | None, error: DamagedError) -> Fault:
    """A place from which on nothing can be read."""
    meaning = "what is stored was altered or the disk failed; take a copy that verifies"
    return Fault(seq, "the journal cannot be read on", "a sound database", error.message, meaning, kind="file")


def shown(payload: bytes) -> str:
    """A payload for people; of a long one the beginning, to the end of a word so that no hash is cut, and the hash of the whole."""
    text = _text(payload)
    beginning = _BEGINNING.match(text)
    if beginning is None or beginning.end() == len(text):
        return text
    return f"{beginning[0]}... ({len(payload)} bytes, sha256 {sha256(payload).hexdigest()})"


_BEGINNING = re.compile(r".{200}[\w:.-]{0,100}", re.DOTALL)


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")
