"""The journal: batches go in whole or not at all, come out as they went in, and streams are found without reading the rest."""

import sqlite3
from pathlib import Path

import pytest
from gpol.engine.events import AnyEvent
from gpol.journal.audit.verify import verify
from gpol.journal.errors import DamagedError, JournalError, UnavailableError
from gpol.journal.journal import Journal
from gpol.journal.records import Head, workload_stream
from gpol.journal.store import recorder as recorder_module


def _flat(batches: list[list[AnyEvent]]) -> list[AnyEvent]:
    return [event for batch in batches for event in batch]


def test_events_come_back(journal: Journal, place: Path, history) -> None:
    """What was appended is read back, numbered from 1 without gaps, by the writer, by a reader meanwhile, and after reopening."""
    batches = history(10)
    head = journal.append(batches[:4])
    assert head == journal.head
    journal.append(batches[4:])
    expected = [(seq, event.payload(), event) for seq, event in enumerate(_flat(batches), 1)]

    with Journal.open(place, readonly=True) as reader:
        assert [(each.seq, each.payload, each.event) for each in reader.events()] == expected
        assert reader.head == journal.head
    assert [(each.seq, each.payload, each.event) for each in journal.events()] == expected
    journal.close()
    with Journal.open(place, readonly=False) as again:
        assert [(each.seq, each.payload, each.event) for each in again.events()] == expected


def test_bounds(journal: Journal, history) -> None:
    """Reading starts after one number and ends with another."""
    journal.append(history(10))

    assert [each.seq for each in journal.events(after=3, upto=6)] == [4, 5, 6]
    assert [each.seq for each in journal.events(after=100)] == []
    assert journal.at(5).seq == 5
    for seq in (0, -1, 100):
        with pytest.raises(JournalError, match=f"no event {seq}"):
            journal.at(seq)


def test_small_pages(journal: Journal, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages end by count and by bytes, and no event falls between two."""
    journal.append(history(30))
    count = journal.head.seq
    for limit, size in ((7, 1 << 20), (1_000, 300), (1, 1)):
        monkeypatch.setattr(recorder_module, "PAGE_EVENTS", limit)
        monkeypatch.setattr(recorder_module, "PAGE_BYTES", size)

        assert [each.seq for each in journal.events()] == list(range(1, count + 1))
        assert verify(journal).seq == count


def test_backwards(journal: Journal, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest come first, over pages of any size: all, those between two numbers, of one stream, of some kinds."""
    journal.append(history(10))
    forwards = {
        (): list(journal.events()),
        (3, 6): list(journal.events(3, 6)),
        (2, 20, "workload/v"): list(journal.events(2, 20, "workload/v")),
        (0, None, None, ("TimeAdvanced", "WorkloadEvicted")): list(journal.of_kinds(("TimeAdvanced", "WorkloadEvicted"))),
    }
    assert all(forwards.values())
    for size in (1, 2, 1_000):
        monkeypatch.setattr(recorder_module, "PAGE_EVENTS", size)
        for arguments, events in forwards.items():
            assert list(journal.backwards(*arguments)) == events[::-1]  # type: ignore[arg-type]


def test_batches(journal: Journal, history) -> None:
    """Facts come with their decisions, as they were appended."""
    batches = history(8)
    journal.append(batches)

    assert [[batch.fact.event, *(each.event for each in batch.decisions)] for batch in journal.batches()] == batches


def test_workload_stream(journal: Journal, history) -> None:
    """A workload's events are found by its name, whatever a name looks like."""
    journal.append(history(8))

    assert [(each.seq, each.event.kind) for each in journal.of_workload("w2")] == [
        (5, "WorkloadSubmitted"),
        (7, "WorkloadAdmitted"),
        (8, "WorkloadFinished"),
    ]
    assert [each.seq for each in journal.of_workload("w2", after=5, upto=7)] == [7]
    assert list(journal.of_workload("policy")) == []


@pytest.mark.parametrize("seq", [0, -5])
def test_an_event_before_the_first_ends_its_stream(journal: Journal, history, hood, seq: int) -> None:
    """It would be asked for again and again."""
    journal.append(history(8))
    hood("UPDATE events SET seq = ? WHERE seq = 1", seq)
    with pytest.raises(DamagedError, match=f"event {seq} .*stands at another place in its stream"):
        list(journal.events(stream="policy"))


def test_an_event_behind_its_place_ends_its_stream(journal: Journal, history, hood) -> None:
    """Read backwards, it would be asked for again and again."""
    journal.append(history(8))
    hood("UPDATE events SET seq = 99 WHERE seq = 5")
    with pytest.raises(DamagedError, match=r"event 99 .*stands at another place in its stream"):
        list(journal.backwards(upto=20, stream=workload_stream("w2")))


def test_kinds(journal: Journal, history) -> None:
    """Events of some kinds come in order; of no kind, none."""
    journal.append(history(8))

    assert [each.seq for each in journal.of_kinds(["WorkloadFinished", "PolicyActivated"])] == [1, 8, 15]
    assert list(journal.of_kinds([])) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda batch: [], "does not begin with a fact"),
        (lambda batch: batch[1:], "does not begin with a fact"),
        (lambda batch: [batch[0], batch[0]], "event 3 is a second fact"),
        (lambda batch: [batch[0], batch[1].model_copy(update={"cause": 1})], "event 3 was not caused by the fact at event 2"),
        (lambda batch: [batch[0], batch[1].model_copy(update={"time": batch[0].time + 1})], "event 3 was not caused"),
        (lambda batch: [batch[0].model_copy(update={"time": 5})], "time runs backwards at event 2: 5 comes after"),
        (lambda batch: [batch[0], {"kind": "WorkloadAdmitted"}], "no event"),
    ],
)
def test_malformed_batches(journal: Journal, history, spoil, words: str) -> None:
    """A batch that can't have happened is refused, and the good batches appended with it are not kept either."""
    good, bad = history(2)
    with pytest.raises(JournalError, match=words) as caught:
        journal.append([good, spoil(bad)])

    assert caught.value.remedy
    assert journal.head == Head(0, bytes(32))
    assert list(journal.events()) == []
    journal.append([good, bad])
    assert journal.head.seq == 4


def test_time_is_remembered(journal: Journal, place: Path, history) -> None:
    """Time may not run backwards across a restart either; standing still is fine."""
    first = history(1)[0]
    journal.append([first])
    journal.close()
    with Journal.open(place, readonly=False) as again:
        with pytest.raises(JournalError, match="time runs backwards"):
            again.append([[first[0].model_copy(update={"time": first[0].time - 1})]])
        again.append([[first[0]]])
        assert again.head.seq == 2


def test_nothing_to_append(journal: Journal) -> None:
    """No batches are no error."""
    assert journal.append([]) == Head(0, bytes(32))


def test_readers_cannot_append(journal: Journal, place: Path, history) -> None:
    """A journal opened to read refuses to append."""
    with Journal.open(place, readonly=True) as reader, pytest.raises(JournalError, match="opened to read only"):
        reader.append(history(1))


def test_closed(journal: Journal, history) -> None:
    """A closed journal says so, however it is used; closing twice is fine."""
    journal.close()
    journal.close()
    for use in (lambda: journal.append(history(1)), lambda: list(journal.events()), lambda: list(journal.of_workload("w"))):
        with pytest.raises(JournalError, match="is closed"):
            use()


@pytest.mark.sqlite
def test_second_writer_cannot_interleave(journal: Journal, place: Path, history) -> None:
    """Where somebody got past the lock, the expected head stops whoever comes second; what was there first stays as it is."""
    batches = history(3)
    journal.append(batches[:1])
    place.with_name("journal.db-lock").unlink()
    with Journal.open(place, readonly=False) as other:
        other.append(batches[1:2])
        with pytest.raises(JournalError, match="it ends at event 4, not as expected at 1; nothing was appended"):
            journal.append(batches[1:2])
        other.append(history(2, start=5)[:1])

    assert verify(journal).good
    assert [each.seq for each in journal.events()] == [1, 2, 3, 4, 5]


def test_another_end_of_the_same_length(journal: Journal, history, hood) -> None:
    """Nothing is appended where the last event is not the one that the writer knows, though its number is the same."""
    batches = history(3)
    journal.append(batches[:1])
    hood("UPDATE events SET chain = ? WHERE seq = 1", b"x" * 32)
    with pytest.raises(DamagedError, match=r"event 1, the last of .*, is another one than it was; nothing was appended") as caught:
        journal.append(batches[1:2])

    assert caught.value.seq == 1
    assert hood("SELECT count(*) FROM events") == [(1,)]


@pytest.mark.sqlite
def test_full_disk(journal: Journal, history) -> None:
    """An append that finds no room says so, leaves nothing behind, and can be made again when there is room."""
    batches = history(60)
    journal.append(batches[:1])
    with journal._recorder._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(JournalError, match=r"no room left .*nothing was appended") as caught:
        journal.append(batches[1:])
    assert "free some disk space" in caught.value.remedy
    assert [each.seq for each in journal.events()] == [1]

    with journal._recorder._engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 100000")
    journal.append(batches[1:])
    assert verify(journal).good


@pytest.mark.sqlite
@pytest.mark.parametrize("lands", [False, True])
def test_failed_commit(journal: Journal, place: Path, history, monkeypatch: pytest.MonkeyPatch, lands: bool) -> None:
    """Where the disk fails at the commit, the journal looks and says which: nothing is there, or all is, and it has to be opened again."""
    batches = history(3)
    journal.append(batches[:1])
    dialect = journal._recorder._engine.dialect
    commit = dialect.do_commit

    def failing(connection: sqlite3.Connection) -> None:
        monkeypatch.setattr(dialect, "do_commit", commit)
        if lands:
            connection.commit()
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        raise error

    monkeypatch.setattr(dialect, "do_commit", failing)
    told = "the commit failed, and the events up to 7 are there all the same" if lands else "the commit failed, and nothing was appended"
    with pytest.raises(UnavailableError, match=f"the disk failed on .*{told}"):
        journal.append(batches[1:])
    if lands:
        with pytest.raises(JournalError, match="is not known; open it again"):
            journal.append(batches[1:])
    else:
        journal.append(batches[1:])
    journal.close()

    with Journal.open(place, readonly=False) as again:
        assert again.head.seq == verify(again).seq == 7


@pytest.mark.sqlite
def test_locked(journal: Journal, place: Path, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that another program keeps locked is reported as that."""
    journal.close()
    monkeypatch.setattr("gpol.journal.store.sqlite._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Journal.open(place, readonly=False) as again, pytest.raises(JournalError, match="locked by another program"):
        again.append(history(1))
    other.close()


def test_gap_is_not_read_over(journal: Journal, place: Path, history, hood) -> None:
    """Reading stops at a missing event and names it."""
    journal.append(history(4))
    journal.close()
    hood("DELETE FROM events WHERE seq = 3")
    with Journal.open(place, readonly=True) as reader, pytest.raises(DamagedError, match=r"event 3 of .* is missing") as caught:
        list(reader.events())

    assert caught.value.seq == 3


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        ("UPDATE events SET payload = ? WHERE seq = 8", [b"{}"]),
        ("UPDATE events SET chain = ? WHERE seq = 8", [b"\0"]),
        ("UPDATE events SET chain = ? WHERE seq = 8", [bytes(32)]),
        ("DELETE FROM events WHERE seq = 7", []),
        ("DELETE FROM events WHERE seq < 8", []),
    ],
)
def test_nothing_is_appended_to_a_broken_end(journal: Journal, place: Path, history, hood, statement: str, arguments: list[bytes]) -> None:
    """A journal whose last link is broken does not open to append; it still opens to be read."""
    journal.append(history(4))
    journal.close()
    hood(statement, *arguments)
    with pytest.raises(DamagedError) as caught:
        Journal.open(place, readonly=False)
    assert caught.value.seq in (8, None)

    Journal.open(place, readonly=True).close()


@pytest.mark.sqlite
@pytest.mark.parametrize("columns", ["chain = NULL, payload = NULL", "payload = CAST(payload AS TEXT)", "chain = 7"])
def test_nothing_is_appended_to_another_form(journal: Journal, place: Path, history, hood, columns: str) -> None:
    """Nor does one whose last row is not stored as rows are, which SQLite lets happen."""
    journal.append(history(4))
    journal.close()
    hood("PRAGMA writable_schema = ON")
    hood("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
    hood("PRAGMA writable_schema = RESET")
    hood(f"UPDATE events SET {columns} WHERE seq = 8")

    with pytest.raises(DamagedError):
        Journal.open(place, readonly=False)


def test_begins_with_decision(journal: Journal, place: Path, history, hood) -> None:
    """A journal that begins with a decision is damaged, not empty."""
    journal.append(history(2))
    journal.close()
    hood("DELETE FROM events WHERE seq IN (1, 2)")
    for seq in (3, 4):
        hood("UPDATE events SET seq = ? WHERE seq = ?", seq - 2, seq)
    with Journal.open(place, readonly=True) as reader, pytest.raises(DamagedError, match="begins with a decision"):
        list(reader.batches())
