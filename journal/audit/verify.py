"""Verification: a journal agrees with itself, event by event, and with the evidence that is given.

`docs/audit.md` says what that proves, and what it cannot prove without evidence that is kept elsewhere.
"""

from collections.abc import Sequence

from ..errors import DamagedError, JournalError
from ..journal import Journal
from ..records import START, Head, Progress
from ..store.store import PlainRow, Stored
from .evidence import Evidence, EvidenceComparison
from .faults import Fault, VerifyReport
from .in_parts.verify_parts import right_upto
from .page_check import BEGINNING
from .row_checks import RowWalk, structure_faults, unreadable
from .traces import read_kept, traces

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
    comparison = EvidenceComparison(evidence or Evidence(), noted)
    check = _Check(journal, comparison)
    fault = check.events(progress) or comparison.end(check.head.seq) or check.trace() or next(iter(structure_faults(journal)), None)
    if fault is None and journal.table_damage is not None:
        meaning = "the database was changed by hand, or not made by gpol; `gpol fsck` says more"
        fault = Fault(None, journal.table_damage.message, "", "", meaning, kind="structure")
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
    """A walk over a journal, event by event beside the evidence, up to the first fault. `head` is the last good event.

    `kept` is what lay beside the events before the walk: a journal may grow meanwhile.
    """

    def __init__(self, journal: Journal, comparison: EvidenceComparison) -> None:
        self.journal = journal
        self.comparison = comparison
        self.head = START
        self.kept = read_kept(journal)

    def events(self, progress: Progress | None) -> Fault | None:
        """The first fault of any event."""
        try:
            place = BEGINNING if self.comparison.has_checkpoints else right_upto(self.journal, progress)
            fault = self._noted(place.head.seq)
            if fault is not None:
                return fault
            self.head = place.head
            walk = RowWalk(self.journal, place)
            after = self.head.seq or None  # None: from the first row on, whatever its number
            while True:
                rows = self.journal.plain_page(after)
                if rows and walk.take_page(rows):
                    fault = self._compare(rows)
                elif page := self.journal.stored_page(after):
                    fault = self._row_by_row(walk, page)
                else:
                    return None
                if fault is not None:
                    return fault
                after = self.head.seq
                if progress is not None:
                    progress(after)
        except DamagedError as error:
            return unreadable(self.head.seq + 1, error)

    def trace(self) -> Fault | None:
        """What beside the events remembers other ones."""
        return next(iter(traces(self.journal, self.kept, self.head.seq, self.comparison.proven.seq)), None)

    def _noted(self, upto: int) -> Fault | None:
        """What a noted head says against the events up to `upto`, which are right in themselves."""
        noted = self.comparison.noted
        if noted is None or noted.seq > upto:
            return None
        return self.comparison.take(Head(noted.seq, self.journal.at(noted.seq).chain), b"")

    def _compare(self, rows: Sequence[PlainRow]) -> Fault | None:
        """What the evidence says against rows that are right in themselves."""
        if self.comparison.is_over:
            self.head = Head(rows[-1][0], rows[-1][2])
            return None
        for seq, payload, chain, *_ in rows:
            head = Head(seq, chain)
            fault = self.comparison.take(head, payload)
            if fault is not None:
                return fault
            self.head = head
        return None

    def _row_by_row(self, walk: RowWalk, page: Sequence[Stored]) -> Fault | None:
        """The first fault of any row, told exactly."""
        for row in page:
            fault = next(iter(walk.take(row)), None) or self.comparison.take(walk.head, row.payload or b"")
            if fault is not None:
                return fault
            self.head = walk.head
        return None
