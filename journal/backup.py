"""Copies of a journal that others may be writing: to any store, from any store, verified before they are there. A restore is the same."""

import os

from eventsourcing.persistence import PersistenceError

from .audit.verify import verify
from .errors import DamagedError
from .journal import Journal
from .records import Head, Progress
from .store.location import locate
from .store.recorder import NewEvent, Recorder
from .store.sqlite import SqliteStore
from .store.store import SOUND_TYPES, Store, Stored


def backup(source: str | os.PathLike[str], destination: str | os.PathLike[str], progress: Progress | None = None) -> Head:
    """Copy a journal as it is now to where there is nothing yet, and return the head of the copy.

    The copy has the same events with the same numbers, bytes and chain. It is made under another name, verified, compared with the
    head that the journal had in the beginning, and only then put in place. `progress` counts every event twice: once it is copied, and
    once it is verified. Raises TakenError where there is something at the destination, and DamagedError for a journal that is not whole.
    """
    told = progress or (lambda _seq: None)
    with Journal.open(source) as journal:
        start, target = journal.head, locate(destination)
        draft = target.draft()
        try:
            _copy(locate(source), journal, draft, start, told)
            head = _verified(journal, draft, start, told)
            target.put_in_place(draft)
        except BaseException:
            draft.discard()
            raise
    return head


def _copy(source: Store, journal: Journal, draft: Store, start: Head, told: Progress) -> None:
    """Copy a file as a file, and anything else event by event."""
    if isinstance(source, SqliteStore) and isinstance(draft, SqliteStore):
        source.copy_into(draft, lambda left, pages: told(start.seq * (pages - left) // max(pages, 1)))
    else:
        _copy_events(journal, draft, start, told)


def _copy_events(journal: Journal, draft: Store, start: Head, told: Progress) -> None:
    """Append every event up to the head to a new journal, and see that the chain comes out as it was."""
    draft.create()
    recorder = Recorder(draft, draft.open(readonly=False))
    try:
        done = 0
        while done < start.seq:
            rows = [row for row in journal.stored_page(done) if row.seq <= start.seq]
            head = recorder.append([_event(row, seq) for seq, row in enumerate(rows, done + 1)])
            if not rows or head != (rows[-1].seq, rows[-1].chain):
                raise DamagedError(None, f"`{journal.name}` is damaged: an event from {done + 1} to {head.seq or start.seq} was altered")
            done = head.seq
            told(done)
        recorder.add_writers([writer for writer in journal.writers() if writer.first_seq <= start.seq])
    except PersistenceError as error:
        raise draft.explain(getattr(error.__cause__, "orig", None)) from None
    finally:
        recorder.close()


def _event(row: Stored, seq: int) -> NewEvent:
    """The event of a row. Raises DamagedError for one that is not as a row should be, or not the next one."""
    if row.seq != seq or row.types != SOUND_TYPES or not isinstance(row.version, int):
        raise DamagedError(seq, f"event {seq} is missing, or stored in another form")
    assert row.stream is not None
    assert row.kind is not None
    assert row.payload is not None
    try:
        return row.stream.decode(), row.version, row.kind.decode(), row.payload
    except UnicodeDecodeError:
        raise DamagedError(seq, f"event {seq} has columns that are no text") from None


def _verified(journal: Journal, draft: Store, start: Head, told: Progress) -> Head:
    """The head of a copy that is good, and has what the journal had in the beginning."""
    with Journal(draft, readonly=True) as copy:
        expected = (start.seq, start.chain.hex()) if start.seq else None
        report = verify(copy, lambda seq: told(start.seq + min(seq, start.seq)), expected)
    if report.fault is not None:
        message = f"the copy of `{journal.name}` does not verify, so there is none: {report.problem}"
        raise DamagedError(report.bad_seq, message, "run `gpol verify` on the journal itself")
    return Head(report.seq, bytes.fromhex(report.chain))
