"""The recorder: stored events in, in one transaction, with a gapless sequence of our own and the chain; and out again.

It implements the eventsourcing library's `ApplicationRecorder`, so that the library's own test case can judge it and its
applications can use it. SQLAlchemy Core, one `executemany` for a batch.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any
from uuid import UUID

from eventsourcing.persistence import ApplicationRecorder, IntegrityError, Notification, OperationalError, StoredEvent, Subscription
from sqlalchemy import Connection, Engine, func, insert, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import IntegrityError as BrokenConstraint

from .chain import GENESIS, link
from .errors import ConflictError
from .store import EVENTS

Head = tuple[int, bytes]
"""The seq and the chain value of the last event; (0, 32 zero bytes) before the first."""


class CoreRecorder(ApplicationRecorder):
    """Appends to and reads the table `events` of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._writes = engine
        self._reads = engine.execution_options(reads=True)
        self._lock = Lock()

    # --- writing ------------------------------------------------------------------------------------------------

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Append events in one transaction; return their seqs. All or none is kept.

        With `expected_head`, the seq that must be the last one: raises ConflictError where it is not. Raises the
        library's IntegrityError for a (stream, version) that is there already.
        """
        seq, _ = self.append(stored_events, kwargs.get("expected_head"))
        return list(range(seq - len(stored_events) + 1, seq + 1))

    def append(self, stored_events: Sequence[StoredEvent], expected_head: int | None = None) -> Head:
        """Append events in one transaction; return the new head."""
        with self._lock, _errors(), self._writes.begin() as connection:
            seq, chain = _head(connection)
            if expected_head is not None and seq != expected_head:
                raise ConflictError(
                    f"the journal ends at {seq}, not at {expected_head}: somebody else writes to it; stop one of the writers"
                )
            rows = []
            for stored in stored_events:
                seq += 1
                chain = link(chain, stored.state)
                rows.append(
                    {
                        "seq": seq,
                        "stream": str(stored.originator_id),
                        "version": stored.originator_version,
                        "kind": stored.topic,
                        "payload": stored.state,
                        "chain": chain,
                    }
                )
            if rows:
                connection.execute(insert(EVENTS), rows)
        return seq, chain

    # --- reading ------------------------------------------------------------------------------------------------

    def reading(self) -> Connection:
        """A connection that only reads."""
        return self._reads.connect()

    def head(self) -> Head:
        """The seq and the chain value of the last event."""
        with _errors(), self._reads.connect() as connection:
            return _head(connection)

    def select_events(
        self, originator_id: UUID | str, *, gt: int | None = None, lte: int | None = None, desc: bool = False, limit: int | None = None
    ) -> Sequence[StoredEvent]:
        """The events of one stream, by version."""
        query = select(EVENTS.c.version, EVENTS.c.kind, EVENTS.c.payload).where(EVENTS.c.stream == str(originator_id))
        if gt is not None:
            query = query.where(EVENTS.c.version > gt)
        if lte is not None:
            query = query.where(EVENTS.c.version <= lte)
        query = query.order_by(EVENTS.c.version.desc() if desc else EVENTS.c.version)
        with _errors(), self._reads.connect() as connection:
            rows = connection.execute(query if limit is None else query.limit(limit)).all()
        return [StoredEvent(originator_id, version, kind, payload) for version, kind, payload in rows]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Events of all streams, by seq."""
        query = select(EVENTS).order_by(EVENTS.c.seq).limit(limit)
        if start is not None:
            query = query.where(EVENTS.c.seq >= start if inclusive_of_start else EVENTS.c.seq > start)
        if stop is not None:
            query = query.where(EVENTS.c.seq <= stop)
        if topics:
            query = query.where(EVENTS.c.kind.in_(topics))
        with _errors(), self._reads.connect() as connection:
            rows = connection.execute(query).all()
        return [Notification(row.stream, row.version, row.kind, row.payload, id=row.seq) for row in rows]

    def max_notification_id(self) -> int | None:
        """The seq of the last event."""
        with _errors(), self._reads.connect() as connection:
            return connection.execute(select(func.max(EVENTS.c.seq))).scalar()

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> Subscription[ApplicationRecorder]:
        """SQLite tells no reader of a write, so there is nothing to subscribe to; read on from the last seq instead."""
        raise NotImplementedError("a journal on SQLite has no subscriptions; read on from the last seq")


def _head(connection: Connection) -> Head:
    row = connection.execute(select(EVENTS.c.seq, EVENTS.c.chain).order_by(EVENTS.c.seq.desc()).limit(1)).first()
    return (0, GENESIS) if row is None else (row.seq, row.chain)


@contextmanager
def _errors() -> Iterator[None]:
    """The library's errors in place of the database's."""
    try:
        yield
    except BrokenConstraint as error:
        raise IntegrityError(str(error.orig)) from error
    except DBAPIError as error:
        raise OperationalError(str(error.orig)) from error
