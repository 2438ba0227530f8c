"""The journal: batches of a fact and its decisions, appended whole and read in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from eventsourcing.persistence import OperationalError, StoredEvent
from sqlalchemy import Engine, select
from sqlalchemy.exc import DBAPIError

from ..engine.events import EVENT, AnyEvent
from . import store
from .errors import JournalError
from .recorder import CoreRecorder, Head
from .store import EVENTS

PAGE = 2_000
"""How many events are read at a time."""


@dataclass(frozen=True)
class Recorded:
    """An event as it is stored."""

    seq: int
    stream: str
    version: int
    kind: str
    payload: bytes
    chain: bytes

    @cached_property
    def event(self) -> AnyEvent:
        """The event itself. Raises pydantic's ValidationError for bytes that are none."""
        return EVENT.validate_json(self.payload)


def stream_of(event: AnyEvent) -> str:
    """The stream an event belongs to: its workload's, or that of the policy, the capacity or the clock."""
    workload = getattr(event, "workload", None)
    if workload is not None:
        return f"workload/{workload}"
    match event.kind:
        case "PolicyActivated":
            return "policy"
        case "TimeAdvanced":
            return "time"
        case _:
            return "capacity"


class Journal:
    """An open journal. One writer at a time; a second one gets an error, not a torn history."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self.recorder = CoreRecorder(engine)
        self._engine = engine
        self._head = self.recorder.head()

    @classmethod
    def create(cls, path_or_url: str | Path) -> "Journal":
        """A new, empty journal. Raises JournalError where something is there already."""
        path = store.location(path_or_url)
        engine = store.create(path)
        return cls(path, engine)

    @classmethod
    def open(cls, path_or_url: str | Path, readonly: bool = True) -> "Journal":
        """An existing journal. Raises JournalError where there is none or it cannot be read."""
        path = store.location(path_or_url)
        engine = store.open_existing(path, readonly)
        try:
            return cls(path, engine)
        except OperationalError as error:
            raise JournalError(f"`{path}` cannot be read: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._engine.dispose()

    @property
    def head(self) -> Head:
        """The seq and the chain value of the last event that this object knows of."""
        return self._head

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> Head:
        """Append batches, each a fact and its decisions, in one transaction; when this returns they are on disk.

        Raises JournalError, with nothing kept, for a batch that is not one, and ConflictError where somebody else wrote.
        """
        seq = self._head[0]
        stored = []
        for batch in batches:
            _check_batch(batch, cause=seq + 1)
            for event in batch:
                seq += 1
                stored.append(StoredEvent(stream_of(event), seq, event.kind, event.payload()))
        try:
            self._head = self.recorder.append(stored, expected_head=self._head[0])
        except OperationalError as error:
            raise JournalError(f"`{self.path}` cannot be written: {error}; nothing of this batch was kept") from error
        return self._head

    # --- reading ------------------------------------------------------------------------------------------------

    def events(self, after: int = 0, upto: int | None = None, stream: str | None = None) -> Iterator[Recorded]:
        """The events with seq above `after`, up to `upto`, in order; a page at a time."""
        while True:
            query = select(EVENTS).where(EVENTS.c.seq > after).order_by(EVENTS.c.seq).limit(PAGE)
            query = query if upto is None else query.where(EVENTS.c.seq <= upto)
            query = query if stream is None else query.where(EVENTS.c.stream == stream)
            page = self._read(query)
            for row in page:
                yield Recorded(*row)
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def batches(self, after: int = 0, upto: int | None = None) -> Iterator[list[Recorded]]:
        """The batches whose fact has a seq above `after`, up to `upto`: the fact first, then its decisions."""
        batch: list[Recorded] = []
        for recorded in self.events(after):
            if not recorded.event.is_decision:
                if batch:
                    yield batch
                if upto is not None and recorded.seq > upto:
                    return
                batch = []
            batch.append(recorded)
        if batch:
            yield batch

    def seq_at(self, time: int) -> int:
        """The seq of the last event at or before a time; 0 if there is none. Times never decrease, so this is a search."""
        low, high = 0, self._head[0]
        while low < high:
            middle = (low + high + 1) // 2
            recorded = next(self.events(after=middle - 1, upto=middle), None)
            if recorded is not None and recorded.event.time <= time:
                low = middle
            else:
                high = middle - 1
        return low

    def _read(self, query: object) -> Sequence[tuple[int, str, int, str, bytes, bytes]]:
        try:
            with self.recorder.reading() as connection:
                return connection.execute(query).all()  # type: ignore[call-overload, no-any-return]
        except DBAPIError as error:
            raise JournalError(f"`{self.path}` cannot be read: {error.orig}") from error


def _check_batch(batch: Sequence[AnyEvent], cause: int) -> None:
    if not batch or batch[0].is_decision:
        raise JournalError("a batch starts with a fact")
    for event in batch[1:]:
        if not event.is_decision:
            raise JournalError("a batch holds one fact")
        if getattr(event, "cause", None) != cause:
            raise JournalError(f"a decision of the batch names {getattr(event, 'cause', None)} as its cause; its fact is {cause}")
