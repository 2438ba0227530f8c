"""The recorder keeps the eventsourcing library's contract, proved by the library's own published test case, and adds its own."""

import tempfile
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent
from eventsourcing.tests.persistence import ApplicationRecorderTestCase
from gpol.journal.records import Head
from gpol.journal.store.location import locate
from gpol.journal.store.recorder import HeadMovedError, Recorder


def _recorder(place: Path | str) -> Recorder:
    store = locate(place)
    store.create()
    return Recorder(store, store.open(readonly=False))


class TestLibraryContract(ApplicationRecorderTestCase[Recorder]):
    """The published test case, with text originator ids, which are the only ones there are here."""

    def create_recorder(self) -> Recorder:
        """A recorder on a new file."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        recorder = _recorder(Path(folder.name) / "journal.db")
        self.addCleanup(recorder.close)
        return recorder

    def new_originator_id(self) -> UUID | str:
        """A stream's name."""
        return str(uuid4())


class TestLibraryContractOnPostgres(TestLibraryContract):
    """The same on PostgreSQL."""

    @pytest.fixture(autouse=True)
    def _take_place(self, postgres_place: str) -> None:
        self.place = postgres_place

    def create_recorder(self) -> Recorder:
        """A recorder in a new schema. The test case does not wait for its readers, whose connections are closed when they are back."""
        recorder = _recorder(self.place)
        before = set(threading.enumerate())
        self.addCleanup(recorder.close)
        self.addCleanup(lambda: [thread.join() for thread in set(threading.enumerate()) - before])
        return recorder


del ApplicationRecorderTestCase  # or it would be collected by itself


@pytest.fixture
def recorder(place: Path | str) -> Iterator[Recorder]:
    """A recorder of a new journal."""
    made = _recorder(place)
    yield made
    made.close()


def _stored(stream: str, version: int, state: bytes = b"state") -> StoredEvent:
    return StoredEvent(stream, version, "Kind", state)


def test_chain_covers_every_event_before(recorder: Recorder) -> None:
    """Each chain value is the SHA-256 of the one before and the bytes, from 32 zero bytes on."""
    recorder.insert_events([_stored("s", 1, b"one"), _stored("s", 2, b"two")])

    first = sha256(bytes(32) + b"one").digest()
    assert recorder.head() == Head(2, sha256(first + b"two").digest())


def test_failed_insert_leaves_no_gap(recorder: Recorder) -> None:
    """A batch that a constraint refuses leaves nothing behind, not even used-up numbers."""
    recorder.insert_events([_stored("s", 1)])
    with pytest.raises(IntegrityError):
        recorder.insert_events([_stored("s", 2), _stored("s", 1)])

    assert recorder.insert_events([_stored("s", 2)]) == [2]


def test_moved_head_refuses_append(recorder: Recorder) -> None:
    """An append that expects another head writes nothing."""
    before = recorder.head()
    recorder.insert_events([_stored("s", 1)])
    with pytest.raises(HeadMovedError, match="ends at event 1, not as expected at event 0"):
        recorder.append([("s", 2, "Kind", b"state")], expected=before)

    assert recorder.max_notification_id() == 1


def test_nothing_to_insert(recorder: Recorder) -> None:
    """An empty batch is no event and no error."""
    assert recorder.insert_events([]) == []
    assert recorder.max_notification_id() is None


def test_streams_read_by_version(recorder: Recorder) -> None:
    """One stream's events come by version, within bounds, both ways, limited."""
    recorder.insert_events([_stored(stream, version) for version in (1, 2, 3, 4) for stream in ("a", "b")])

    assert [event.originator_version for event in recorder.select_events("a", gt=1, lte=3)] == [2, 3]
    assert [event.originator_version for event in recorder.select_events("b", desc=True, limit=2)] == [4, 3]


def test_no_subscriptions(recorder: Recorder) -> None:
    """Subscribing is refused by name, as the library's own SQLite recorder does."""
    with pytest.raises(NotImplementedError, match="select_notifications"):
        recorder.subscribe()
