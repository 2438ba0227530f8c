"""The recorder: the journal's table behind the `eventsourcing` library's `ApplicationRecorder`, in SQLAlchemy Core.

It adds two things to that interface: every event gets a link in the hash chain, and an append may name the head that it
expects to find. Sequence numbers are given out inside the write transaction, so there are no gaps, and no reader ever sees a
later one before an earlier one.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

from eventsourcing import persistence
from eventsourcing.persistence import ApplicationRecorder, Notification, StoredEvent, Subscription
from sqlalchemy import Connection, Engine, LargeBinary, Row, Select, case, cast, delete, func, insert, select, type_coerce
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from ..errors import JournalError
from ..records import START, Head, links
from .store import PlainRow, Store, Stored, writing
from .tables import EVENTS, SNAPSHOTS
from .writers import Writer, add_writers, read_writers, record_writer

PAGE_EVENTS = 1_000
PAGE_BYTES = 1 << 20
"""A page ends at this many events or payload bytes, so that memory does not depend on what a journal holds."""


_AT_ONCE = 50
"""So many rows are fetched from the database in one go."""


class HeadMovedError(persistence.IntegrityError):
    """An append that expected another head than there is: somebody else has appended meanwhile. Nothing was written."""

    def __init__(self, expected: Head, found: Head) -> None:
        super().__init__(f"the journal ends at event {found.seq}, not as expected at event {expected.seq}")
        self.expected = expected
        self.found = found


class CommitError(persistence.OperationalError):
    """A commit that failed. `landed`: whether the events up to `head` are there all the same; None: nobody can tell now."""

    def __init__(self, head: Head, landed: bool | None) -> None:
        super().__init__(f"the commit of the events up to {head.seq} failed")
        self.head = head
        self.landed = landed


Unread = Row[Any, Any, Any]
"""An event that nobody has looked at: its seq, payload and chain value. The last two are bytes unless the journal is damaged."""


NewEvent = tuple[str, int, str, bytes]
"""An event to append: its stream, its version there, its kind and its payload."""


class Snapshot(NamedTuple):
    """A state of the core as the journal keeps it: after event `seq`, whose chain value is `chain`; `digest` is that of `content`.

    It is a cache, so nobody has looked at it: but for `seq`, anything may be there. `content` is None where it was not asked for, or is
    longer than any that is written.
    """

    seq: int
    chain: object
    format: object
    digest: object
    content: object


MOST_CONTENT = 1 << 27
"""How long the content of a snapshot may be to be read."""


class Recorder(ApplicationRecorder):
    """Records events in one journal. Safe to use from several threads. Originator ids are text."""

    def __init__(self, store: Store, engine: Engine) -> None:
        super().__init__()
        self._store = store
        self._engine = engine
        self._one_writer = Lock()  # fairer than SQLite's own way of waiting
        self._writer_recorded = False
        self._stream = EVENTS.c.stream.type.dialect_impl(engine.dialect).bind_processor(engine.dialect)

    def close(self) -> None:
        """Close all connections, once an append that is under way is done, and let the next writer in."""
        with self._one_writer:
            self._engine.dispose()

    # --- writing ----------------------------------------------------------------------------------------------------

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> list[int]:
        """Append events in one transaction and return their sequence numbers.

        Raises the library's IntegrityError for a version that its stream has already.
        """
        if not stored_events:
            return []
        events = [(str(stored.originator_id), stored.originator_version, stored.topic, stored.state) for stored in stored_events]
        last = self.append(events).seq
        return list(range(last - len(stored_events) + 1, last + 1))

    def append(self, events: Sequence[NewEvent], expected: Head | None = None, *, as_writer: bool = False) -> Head:
        """Append events in one transaction, all or none, and return the new head.

        With `as_writer` the first of these transactions also records which program writes (`writers.py`).

        Raises HeadMovedError unless the head is as expected, CommitError where it is the commit that fails, and the library's
        errors for anything else that goes wrong; but for CommitError nothing was appended.
        """
        appended: Head | None = None
        with self._one_writer, _library_errors(), self._engine.connect().execution_options(writing=True) as connection:
            try:
                with connection.begin():
                    head = _head(connection)
                    if expected is not None and head != expected:
                        raise HeadMovedError(expected, head)
                    rows, last = self._rows(events, head)
                    if rows:
                        self._store.insert(connection, rows)
                        if as_writer and not self._writer_recorded:
                            record_writer(connection, head, self._store.name)
                    appended = last
            except DBAPIError as error:
                if appended is None:
                    raise
                raise CommitError(appended, _landed(connection, appended)) from error
        self._writer_recorded = self._writer_recorded or (as_writer and bool(rows))
        return appended

    def _rows(self, events: Sequence[NewEvent], head: Head) -> tuple[list[tuple[object, ...]], Head]:
        """Rows with the next sequence numbers and links of the chain, and the head that they lead to."""
        if not events:
            return [], head
        streams, versions, kinds, payloads = zip(*events, strict=True)
        as_stored = streams if self._stream is None else map(self._stream, streams)
        seqs, chains = range(head.seq + 1, head.seq + 1 + len(events)), links(head.chain, payloads)
        return list(zip(seqs, as_stored, versions, kinds, payloads, chains, strict=True)), Head(seqs[-1], chains[-1])

    def keep_snapshot(self, snapshot: Snapshot, instead_of: Sequence[int]) -> None:
        """Keep a snapshot in place of the one that is there and of others, in one transaction of its own."""
        places = SNAPSHOTS.c.seq
        with self._one_writer, _library_errors(), writing(self._engine) as connection:
            connection.execute(delete(SNAPSHOTS).where(places.in_([*instead_of, snapshot.seq])))
            connection.execute(insert(SNAPSHOTS), snapshot._asdict())

    def add_writers(self, writers: list[Writer]) -> None:
        """Add rows about who wrote the events, as another journal has them."""
        with self._one_writer, _library_errors(), writing(self._engine) as connection:
            add_writers(connection, writers)

    def drop_snapshots(self) -> None:
        """Drop all snapshots."""
        with self._one_writer, _library_errors(), writing(self._engine) as connection:
            connection.execute(delete(SNAPSHOTS))

    # --- reading, as the library does ---------------------------------------------------------------------------------

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> list[StoredEvent]:
        """Events of one stream in order of version."""
        columns = EVENTS.c
        query = select(columns.stream, columns.version, columns.kind, columns.payload).where(columns.stream == originator_id)
        if gt is not None:
            query = query.where(columns.version > gt)
        if lte is not None:
            query = query.where(columns.version <= lte)
        rows = self._all(query.order_by(columns.version.desc() if desc else columns.version).limit(limit))
        return [StoredEvent(*row) for row in rows]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> list[Notification]:
        """Events of all streams in order of sequence number, from `start` to `stop`, both included unless told otherwise."""
        columns = EVENTS.c
        query = select(columns.stream, columns.version, columns.kind, columns.payload, columns.seq)
        if start is not None:
            query = query.where(columns.seq >= start if inclusive_of_start else columns.seq > start)
        if stop is not None:
            query = query.where(columns.seq <= stop)
        if topics:
            query = query.where(columns.kind.in_(topics))
        rows = self._all(query.order_by(columns.seq).limit(limit))
        return [Notification(*row) for row in rows]

    def max_notification_id(self) -> int | None:
        """The last sequence number, or None where there are no events."""
        return self.head().seq or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> Subscription[ApplicationRecorder]:
        """Not offered, as with the library's own SQLite recorder: SQLite tells nobody of a commit."""
        raise NotImplementedError("a journal cannot be subscribed to; ask select_notifications for what follows the last one seen")

    # --- reading, as the journal does ---------------------------------------------------------------------------------

    def head(self) -> Head:
        """The last event's sequence number and chain value."""
        with _library_errors(), self._engine.connect() as connection:
            return _head(connection)

    def page(self, after: int, upto: int | None = None, kinds: Sequence[str] = ()) -> list[Unread]:
        """The next events after `after`, up to `upto`, of these kinds (none given: all). Empty: there are no more."""
        query = _UNREAD.where(EVENTS.c.seq > after)
        if upto is not None:
            query = query.where(EVENTS.c.seq <= upto)
        if kinds:
            query = query.where(EVENTS.c.kind.in_(kinds))
        return self._unread(query.order_by(EVENTS.c.seq))

    def stream_page(self, stream: str, after: int, upto: int | None = None) -> list[Unread]:
        """The next events of one stream whose version (in a journal: sequence number) is above `after`, up to `upto`."""
        query = _UNREAD.where(EVENTS.c.stream == stream, EVENTS.c.version > after)
        if upto is not None:
            query = query.where(EVENTS.c.version <= upto)
        return self._unread(query.order_by(EVENTS.c.version))

    def page_back(self, after: int, upto: int, stream: str | None = None, kinds: Sequence[str] = ()) -> list[Unread]:
        """The events at and before `upto` down to those after `after`, newest first, of this stream and these kinds (none given: all)."""
        place = EVENTS.c.seq if stream is None else EVENTS.c.version  # the same number; each has its index
        query = _UNREAD.where(place > after, place <= upto)
        if stream is not None:
            query = query.where(EVENTS.c.stream == stream)
        if kinds:
            query = query.where(EVENTS.c.kind.in_(kinds))
        return self._unread(query.order_by(place.desc()))

    def plain_page(self, after: int | None, upto: int | None = None) -> list[PlainRow]:
        """The rows of `stored_page`, up to `upto`, in less time; none where a value is so damaged that it cannot be read."""
        query = _PLAIN if after is None else _PLAIN.where(EVENTS.c.seq > after)
        if upto is not None:
            query = query.where(EVENTS.c.seq <= upto)
        with _library_errors(), self._engine.connect() as connection:
            try:
                return _whole_page(connection, query)
            except (DBAPIError, UnicodeDecodeError):
                return []

    def stored_page(self, after: int | None) -> list[Stored]:
        """The next rows as they lie there; after None the first, whatever their numbers.

        Where they can't be read on, the page ends early; where not even one can be, this raises.
        """
        rows: list[Stored] = []
        query = self._store.stored if after is None else self._store.stored.where(EVENTS.c.seq > after)
        with _library_errors(), self._engine.connect() as connection:
            try:
                rows.extend(Stored._make(row) for row in _page(connection, query))
            except (DBAPIError, UnicodeDecodeError):
                if not rows:
                    raise
        return rows

    def writers(self) -> list[Writer]:
        """Which programs wrote the events, in order."""
        with _library_errors(), self._engine.connect() as connection:
            return read_writers(connection)

    def snapshot_seqs(self) -> list[int]:
        """Where there are snapshots, in order."""
        return [seq for (seq,) in self._all(select(SNAPSHOTS.c.seq).order_by(SNAPSHOTS.c.seq))]

    def snapshot(self, seq: int, *, content: bool) -> Snapshot | None:
        """The snapshot after an event, with or without its content."""
        columns = SNAPSHOTS.c
        short = case((func.length(columns.content) <= (MOST_CONTENT if content else -1), columns.content))
        query = select(
            columns.seq, *(cast(each, LargeBinary) for each in (columns.chain, columns.digest)), columns.format, cast(short, LargeBinary)
        )
        row = next(iter(self._all(query.where(columns.seq == seq))), None)
        return None if row is None else Snapshot(row[0], row[1], row[3], row[2], row[4])

    def structural_damage(self) -> str | None:
        """The first thing that the database itself finds wrong with how it keeps the journal, indexes included; None: nothing."""
        with _library_errors(), self._engine.connect() as connection:
            return self._store.structural_damage(connection)

    def structure_differences(self) -> list[str]:
        """What of the tables and triggers is not as gpol makes them."""
        from .table_checks import structure_differences

        with _library_errors(), self._engine.connect() as connection:
            return structure_differences(connection)

    def surroundings(self) -> list[tuple[str, str]]:
        """What lies beside the journal, and whether somebody has it open to append, each as a kind of finding and a sentence."""
        with _library_errors(), self._engine.connect() as connection:
            return self._store.surroundings(connection)

    def _unread(self, query: Select[Any]) -> list[Unread]:
        with _library_errors(), self._engine.connect() as connection:
            return _whole_page(connection, query)

    def _all(self, query: Select[Any]) -> Sequence[Any]:
        with _library_errors(), self._engine.connect() as connection:
            return connection.execute(query).all()


_LAST = select(EVENTS.c.seq, EVENTS.c.chain).order_by(EVENTS.c.seq.desc()).limit(1)

_BYTES = [type_coerce(column, NullType()) for column in (EVENTS.c.payload, EVENTS.c.chain)]
"""Payload and chain as they lie there, of whatever type."""

_UNREAD = select(EVENTS.c.seq, *_BYTES)

_PLAIN = select(EVENTS.c.seq, *_BYTES, EVENTS.c.stream, EVENTS.c.version, EVENTS.c.kind).order_by(EVENTS.c.seq)


def _head(connection: Connection) -> Head:
    row = connection.execute(_LAST).first()
    return START if row is None else Head(*row)


def _landed(connection: Connection, head: Head) -> bool | None:
    """Whether a commit that failed did lead to this head, as a new connection sees it once the old one is over.

    On PostgreSQL the new one gets the right to append when the old one has lost it, and no commit of the old one comes after that; but
    somebody else may have had the right in between, and gone on from there.
    """
    try:
        connection.invalidate()
        return connection.execute(select(EVENTS.c.chain).where(EVENTS.c.seq == head.seq)).scalar() == head.chain
    except (DBAPIError, JournalError):
        return None


def _page(connection: Connection, query: Select[Any]) -> Iterator[Row[Any]]:
    """Rows of a query, up to a page's worth of events or payload bytes; the payload is the second column."""
    size = 0
    for row in connection.execute(query.limit(PAGE_EVENTS)):
        yield row
        size += len(row[1]) if isinstance(row[1], bytes) else 0
        if size >= PAGE_BYTES:
            return


def _whole_page(connection: Connection, query: Select[Any]) -> list[Any]:
    """The same in less time; some more rows may come, and none where not all can be read."""
    page: list[Any] = []
    size = 0
    cursor = connection.execute(query.limit(PAGE_EVENTS)).cursor
    assert cursor is not None
    with closing(cursor):
        while size < PAGE_BYTES and (rows := _fetched(cursor, connection)):
            page += rows
            size += _size(rows)
    return page


def _fetched(cursor: DBAPICursor, connection: Connection) -> Sequence[Any]:
    """The next rows as the driver gives them, without an object of SQLAlchemy's for each; no type of their columns changes a value."""
    errors = connection.dialect.loaded_dbapi.Error
    try:
        return cursor.fetchmany(_AT_ONCE)
    except errors as error:
        raise DBAPIError.instance("", None, error, errors) from error


def _size(rows: Sequence[Any]) -> int:
    """How many bytes the payloads have together."""
    try:
        return sum(map(len, [row[1] for row in rows]))
    except TypeError:  # a payload that is a number, or none
        return sum(len(row[1]) for row in rows if isinstance(row[1], bytes))


@contextmanager
def _library_errors() -> Iterator[None]:
    """Raise the database's errors as the library's of the same name, with the original as their cause."""
    try:
        yield
    except DBAPIError as error:
        raise getattr(persistence, type(error).__name__, persistence.DatabaseError)(str(error.orig)) from error
    except UnicodeDecodeError as error:  # from a message of SQLite's that quotes what was damaged
        raise persistence.DatabaseError("the database is damaged") from error
