"""The journal: every event there was, in order, appended a batch at a time and never changed."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import sleep
from types import TracebackType
from typing import NamedTuple, ParamSpec, Self, TypeVar

from eventsourcing.persistence import PersistenceError

from ..engine.cores import EncodedEvents
from ..engine.events import AnyEvent
from .append_checks import backwards_error, check_batch, moved_error
from .errors import DamagedError, JournalError, UnavailableError
from .records import START, Head, ReadRow, Recorded, encoded_streams, is_sound_head, link, recorded_as, sound_head, sound_rows, stream_of
from .records import workload_stream as _workload_stream
from .store.location import locate
from .store.recorder import CommitError, HeadMovedError, NewEvent, Recorder, Snapshot
from .store.store import PlainRow, Store, Stored
from .store.writers import Writer

__all__ = ["Batch", "Journal", "Recorded"]

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


Wait = Callable[[], bool]
"""Called when there is nothing to read: lets some time pass, and says whether to look again."""


def pause() -> bool:
    """Wait for a quarter of a second, for ever again."""
    sleep(0.25)
    return True


class Batch(NamedTuple):
    """A fact and the decisions it caused, which stand or fall together."""

    fact: Recorded
    decisions: tuple[Recorded, ...]


class Journal:
    """An open journal; a context manager. One may append at a time, any number may read meanwhile and see whole batches only.

    A journal object is used by one thread at a time. Whatever goes wrong raises JournalError; DamagedError, one of them, names
    the event from which on the journal can't be trusted.
    """

    def __init__(self, store: Store, *, readonly: bool, to_audit: bool = False) -> None:
        self.name = store.name
        """What messages call it: its path, or its URL without a password."""
        self.readonly = readonly
        self._store = store
        self._recorder = Recorder(store, store.open(readonly=readonly, to_audit=to_audit))
        self._closed = False
        self._unsure = False  # whether what was last appended is there
        self._whole: Head | None = None  # where a reader is to take the journal to end, if not at its end
        try:
            if not readonly:
                self._head, self._time = self._end()
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path_or_url: str | os.PathLike[str]) -> Self:
        """Make a journal where there is nothing yet, and open it to append."""
        store = locate(path_or_url)
        store.create()
        return cls(store, readonly=False)

    @classmethod
    def open(cls, path_or_url: str | os.PathLike[str], readonly: bool = True) -> Self:
        """Open a journal that exists: to read, or also to append, which one program may do at a time."""
        return cls(locate(path_or_url), readonly=readonly)

    @classmethod
    def open_to_audit(cls, path_or_url: str | os.PathLike[str]) -> Self:
        """Open a journal that exists to say what is wrong with it: also one whose tables are not all as they should be."""
        return cls(locate(path_or_url), readonly=True, to_audit=True)

    def close(self) -> None:
        """Let go of the store, and let the next writer in. Closing twice is fine."""
        self._closed = True
        self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # --- appending --------------------------------------------------------------------------------------------------

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> Head:
        """Append batches in one transaction, all or none, and return the new head; once it returns, they are on the disk.

        A batch is one fact and then the decisions it caused, each with the fact's time and its seq as `cause`.
        """
        self._check_may_append()
        new: list[NewEvent] = []
        seq, time = self._head.seq, self._time
        for batch in batches:
            check_batch(batch, seq + 1, time)
            time = batch[0].time
            for event in batch:
                seq += 1
                new.append((stream_of(event), seq, event.kind, event.payload()))
        if new:
            self._head = self._append(new)
            self._time = time
        return self._head

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> Head:
        """Append whole batches as a core has encoded them, from the first fact at `begin` to the last one at `end`; see `append`."""
        self._check_may_append()
        if begin < self._time:
            raise backwards_error(self._head.seq + 1, begin, self._time)
        seqs = range(self._head.seq + 1, self._head.seq + 1 + len(events.payloads))
        new = list(zip(encoded_streams(events), seqs, events.kinds, events.payloads, strict=True))
        if new:
            self._head, self._time = self._append(new), end
        return self._head

    def _check_may_append(self) -> None:
        self._check_writable()
        if self._unsure:
            raise JournalError(f"how an earlier append to `{self.name}` ended is not known", "open it again, and go on from where it ends")

    def _append(self, new: Sequence[NewEvent]) -> Head:
        """Append, and say of whatever goes wrong whether the events are there all the same."""
        try:
            return self._ask(self._recorder.append, new, expected=self._head, as_writer=True)
        except UnavailableError as error:
            raise UnavailableError(f"{error.message}, and nothing was appended", error.remedy) from None
        except CommitError as failed:
            reason = self._store.explain(getattr(failed.__cause__, "orig", None)).message
            if failed.landed is False:
                raise UnavailableError(f"{reason}; the commit failed, and nothing was appended", "try again") from None
            self._unsure = True
            told, remedy = "are there all the same", "open the journal again, and go on from where it ends"
            if failed.landed is None:
                told = "are there or not"
                remedy = f"open the journal again and look at its head: they are there if it is {failed.head.seq}"
            raise UnavailableError(f"{reason}; the commit failed, and the events up to {failed.head.seq} {told}", remedy) from None

    def _check_writable(self) -> None:
        if self.readonly:
            raise JournalError(f"`{self.name}` was opened to read only", "open it with readonly=False")

    def _end(self) -> tuple[Head, int]:
        """The head, and the time of the last event. Nothing is appended to a journal whose last event is not sound."""
        head = sound_head(self._ask(self._recorder.head))
        if head == START:
            return START, 0
        *before, last = self._ask(self._recorder.page, max(0, head.seq - 2))
        chain = recorded_as(before[0]).chain if before else START.chain
        recorded = recorded_as(last)
        if (head.seq > 1 and not before) or link(chain, recorded.payload) != head.chain:
            raise DamagedError(head.seq, f"event {head.seq}, the last of `{self.name}`, does not match its chain value")
        return head, recorded.event.time

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def head(self) -> Head:
        """The last event's sequence number and chain value; 0 and 32 zero bytes where there is none.

        Raises DamagedError where the last row is no event; `end_before` passes over it.
        """
        if not self.readonly:
            return self._head
        return self._whole if self._whole is not None else sound_head(self._ask(self._recorder.head))

    @property
    def last_row(self) -> int:
        """The number of the last row, whatever is in it."""
        return self._ask(self._recorder.head).seq

    def end_before(self, seq: int) -> None:
        """From now on read the journal as if it ended before event `seq`, with the last row before it that may be an event."""
        self._whole = START
        while (seq := seq - 1) > 0:
            row = next(iter(self._ask(self._recorder.page, seq - 1, seq)), None)
            if row is not None and is_sound_head(Head(row[0], row[2])):
                self._whole = Head(row[0], row[2])
                return

    def events(self, after: int = 0, upto: int | None = None, stream: str | None = None) -> Iterator[Recorded]:
        """The events after `after` up to and with `upto` (None: to the end), a page in memory at a time.

        With `stream`, those of one stream alone, found without reading the others.
        """
        if stream is not None:
            yield from self._of_stream(stream, after, upto)
            return
        for page in self.pages(after, upto):
            for row in page:
                yield Recorded(*row)

    def pages(self, after: int = 0, upto: int | None = None) -> Iterator[Sequence[ReadRow]]:
        """The same events a page at a time: of each its number, its payload and its chain value."""
        upto = self._within(upto)
        while page := self._ask(self._recorder.page, after, upto):
            good = sound_rows(page, after)
            if good:
                yield page[:good]
            if good < len(page):
                if page[good][0] != after + 1 + good:
                    raise DamagedError(after + 1 + good, f"event {after + 1 + good} of `{self.name}` is missing")
                recorded_as(page[good])
            after += len(page)

    def _within(self, upto: int | None) -> int | None:
        """How far to read, where the journal is to be taken to end before its end."""
        if self._whole is None:
            return upto
        return self._whole.seq if upto is None else min(upto, self._whole.seq)

    def batches(self, after: int = 0, upto: int | None = None) -> Iterator[Batch]:
        """Each fact with its decisions, in order; `after` and `upto` are the last events of batches."""
        return self.batches_of(self.events(after, upto), after)

    def batches_of(self, events: Iterable[Recorded], after: int) -> Iterator[Batch]:
        """Events that come after `after` as facts with their decisions."""
        fact: Recorded | None = None
        decisions: list[Recorded] = []
        for recorded in events:
            if recorded.event.is_decision:
                decisions.append(recorded)
                continue
            if fact is not None:
                yield Batch(fact, tuple(decisions))
            elif decisions:
                break
            fact, decisions = recorded, []
        if fact is not None:
            yield Batch(fact, tuple(decisions))
        elif decisions and after:
            raise JournalError(f"event {after} of `{self.name}` is not the last one of its batch", "read on after one that is, or after 0")
        elif decisions:
            raise DamagedError(1, f"`{self.name}` begins with a decision, which no fact caused")

    def tail(self, after: int = 0, wait: Wait = pause) -> Iterator[Batch]:
        """Each batch after event `after`, the last of a batch, and then each that is appended, until `wait` says that it is enough.

        Whatever a writer does meanwhile, no batch is missed, comes in part or out of order.
        """
        for start, head in self.growth(after, wait):
            yield from self.batches(start, head)

    def growth(self, after: int = 0, wait: Wait = pause) -> Iterator[tuple[int, int]]:
        """From which event to which there is more to read, at once and whenever the journal has grown, until `wait` says no more.

        What lies between are whole batches. Raises DamagedError for a journal that ends before event `after`, or does so later on.
        """
        while True:
            head = self.head.seq
            if head < after:
                message = f"`{self.name}` ends at event {head}, though there was an event {after}"
                raise DamagedError(head + 1, message, "find the whole journal, or read this one from its beginning")
            if head > after:
                yield after, head
                after = head
            elif not wait():
                return

    def of_workload(self, name: str, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The events of one workload, found without reading the others."""
        return self._of_stream(_workload_stream(name), after, upto)

    def _of_stream(self, stream: str, after: int, upto: int | None) -> Iterator[Recorded]:
        upto = self._within(upto)
        while page := self._ask(self._recorder.stream_page, stream, after, upto):
            for row in page:
                if row[0] <= after:  # it would be asked for without end
                    raise self._misplaced(row[0])
                after = row[0]
                yield recorded_as(row)

    def of_kinds(self, kinds: Sequence[str], after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The events of these kinds."""
        upto = self._within(upto)
        while kinds and (page := self._ask(self._recorder.page, after, upto, kinds)):
            yield from map(recorded_as, page)
            after = page[-1][0]

    def backwards(
        self, after: int = 0, upto: int | None = None, stream: str | None = None, kinds: Sequence[str] = ()
    ) -> Iterator[Recorded]:
        """The events at and before `upto` (None: from the end) down to those after `after`, newest first.

        With `stream` those of one stream alone, found without reading the others; with `kinds` only these.
        """
        upto = self.head.seq if upto is None else self._within(upto) or 0
        while page := self._ask(self._recorder.page_back, after, upto, stream, kinds):
            for row in page:
                if row[0] > upto:
                    raise self._misplaced(row[0])
                upto = row[0] - 1
                yield recorded_as(row)

    def _misplaced(self, seq: int) -> DamagedError:
        """The error for a row of a stream that stands there under another number than its own."""
        return DamagedError(seq, f"event {seq} of `{self.name}` stands at another place in its stream")

    def at(self, seq: int) -> Recorded:
        """One event."""
        found = next(self.events(seq - 1, seq), None) if seq > 0 else None
        if found is None:
            raise JournalError(f"`{self.name}` has no event {seq}", f"its events are numbered from 1 to {self.head.seq}")
        return found

    def seq_at(self, time: int) -> int:
        """The sequence number of the last event at or before a time, 0 where there is none. Times never fall, so bisection finds it."""
        low, high = 0, self.head.seq
        while low < high:
            middle = (low + high + 1) // 2
            if self.at(middle).event.time <= time:
                low = middle
            else:
                high = middle - 1
        return low

    # --- writers ----------------------------------------------------------------------------------------------------

    def writers(self) -> list[Writer]:
        """Which versions of gpol wrote the events, in order. No checkpoint vouches for it: the table is not part of the chain."""
        return self._ask(self._recorder.writers)

    def writer_of(self, seq: int) -> Writer | None:
        """Which version of gpol wrote an event; None where the journal does not say."""
        return max((writer for writer in self.writers() if writer.first_seq <= seq), default=None)

    # --- snapshots --------------------------------------------------------------------------------------------------

    def keep_snapshot(self, snapshot: Snapshot, instead_of: Sequence[int] = ()) -> None:
        """Keep a snapshot, and drop others; they are a cache, and no event hangs on them (`snapshots.py`)."""
        self._check_writable()
        self._ask(self._recorder.keep_snapshot, snapshot, instead_of)

    def drop_snapshots(self) -> None:
        """Drop all snapshots: the next state asked for is taken from all events."""
        self._check_writable()
        self._ask(self._recorder.drop_snapshots)

    def snapshot_seqs(self, upto: int | None = None) -> list[int]:
        """After which events there are snapshots, in order, up to `upto` (None: to the end, and beyond where something is wrong)."""
        return [seq for seq in self._ask(self._recorder.snapshot_seqs) if upto is None or seq <= upto]

    def snapshot(self, seq: int, *, content: bool = True) -> Snapshot:
        """The snapshot after an event, as it lies there; without its content where that is not needed."""
        found = self._ask(self._recorder.snapshot, seq, content=content)
        if found is None:
            raise JournalError(f"`{self.name}` has no snapshot after event {seq}", "take the state from its events")
        return found

    # --- for verification -------------------------------------------------------------------------------------------

    def plain_page(self, after: int | None, upto: int | None = None) -> list[PlainRow]:
        """For `verify`: the rows of `stored_page`, up to `upto`, in less time; none where a value is too damaged to be read."""
        return self._ask(self._recorder.plain_page, after, upto)

    def stored_page(self, after: int | None) -> list[Stored]:
        """For `verify`: the next rows as they lie in the store, however damaged; after None the first, even of numbers below 1."""
        return self._ask(self._recorder.stored_page, after)

    def structural_damage(self) -> str | None:
        """For `verify`: the first thing that the database itself finds wrong; None: nothing."""
        return self._ask(self._recorder.structural_damage)

    @property
    def table_damage(self) -> DamagedError | None:
        """For `verify`: what is wrong with the tables of a journal opened to be audited, for which it can't be opened otherwise."""
        return self._store.damage

    def structure_differences(self) -> list[str]:
        """For `fsck`: what of the tables and triggers is not as gpol makes them."""
        return self._ask(self._recorder.structure_differences)

    def surroundings(self) -> list[tuple[str, str]]:
        """For `fsck`: what lies beside the journal and who has it open, each as a kind of finding and a sentence."""
        return self._ask(self._recorder.surroundings)

    def _ask(self, question: Callable[_Asked, _Answer], *args: _Asked.args, **kwargs: _Asked.kwargs) -> _Answer:
        """Ask the recorder, and explain what goes wrong."""
        if self._closed:
            raise JournalError(f"`{self.name}` is closed", "open it again")
        try:
            return question(*args, **kwargs)
        except HeadMovedError as moved:
            raise moved_error(self.name, moved) from None
        except CommitError:
            raise
        except PersistenceError as error:
            raise self._store.explain(getattr(error.__cause__, "orig", None)) from None
