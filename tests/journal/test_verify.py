"""Verification: whatever is altered is found, at the event where it was altered, and a journal that is whole is good."""

import random
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from gpol.engine.events import TimeAdvanced
from gpol.journal import recorder as recorder_module
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.records import stream_of
from gpol.journal.verify import Fault, VerifyReport, verify

COUNT = 29
"""Events of the written journal."""


@pytest.fixture
def written(place: Path, history) -> Path:
    """A closed journal of 29 events that is good, in one file."""
    with Journal.create(place) as journal:
        journal.append(history(13))
        assert journal.head.seq == COUNT
    return place


def _verify(place: Path, **options: object) -> VerifyReport:
    with Journal.open(place, readonly=True) as journal:
        return verify(journal, **options)  # type: ignore[arg-type]


def _fault(place: Path) -> Fault:
    report = _verify(place)
    assert report.fault is not None
    assert not report.good
    assert report.seq == (report.fault.seq or COUNT + 1) - 1
    assert (report.bad_seq, report.problem) == (report.fault.seq, report.fault.problem)
    return report.fault


def _open_hood(place: Path) -> sqlite3.Connection:
    """A connection that may change what it likes."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute("DROP TRIGGER events_no_delete")
    return connection


def _alter(place: Path, *statements: str) -> None:
    connection = _open_hood(place)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def _rechain(place: Path) -> None:
    """Compute the whole chain anew, as a forger would."""
    connection = _open_hood(place)
    chain = bytes(32)
    for seq, payload in connection.execute("SELECT seq, payload FROM events ORDER BY seq").fetchall():
        chain = sha256(chain + payload).digest()
        connection.execute("UPDATE events SET chain = ? WHERE seq = ?", (chain, seq))
    connection.close()


def test_whole_journal_is_good(written: Path) -> None:
    """A journal as it was written is good, and the report names its head."""
    with Journal.open(written, readonly=False) as journal:
        report = verify(journal)

        assert report == VerifyReport(COUNT, journal.head.chain.hex(), None)
        assert report.good
        assert (report.bad_seq, report.problem) == (None, "")


def test_empty_journal_is_good(journal: Journal) -> None:
    """Nothing is altered where there is nothing."""
    assert verify(journal).good
    assert verify(journal).seq == 0


def _payload_bits(place: Path) -> Iterator[tuple[int, int, int]]:
    """(seq, offset, bit): every bit of every payload and chain value, where it lies in the file."""
    connection = sqlite3.connect(place)
    rows = connection.execute("SELECT seq, payload, chain FROM events").fetchall()
    connection.close()
    data = place.read_bytes()
    for seq, payload, chain in rows:
        start = data.index(payload + chain)
        for offset in range(start, start + len(payload) + len(chain)):
            for bit in range(8):
                yield seq, offset, bit


def test_every_flipped_bit_is_found(written: Path) -> None:
    """A bit flipped in the file, in any payload or chain value, is found at the event it belongs to (a fixed sample of all bits)."""
    data = written.read_bytes()
    bits = list(_payload_bits(written))
    sample = random.Random(7).sample(bits, 250)
    assert {seq for seq, _, _ in sample} == set(range(1, COUNT + 1))
    for seq, offset, bit in sample:
        flipped = bytearray(data)
        flipped[offset] ^= 1 << bit
        written.write_bytes(flipped)

        assert _fault(written).seq == seq


def _contents(place: Path) -> list[tuple[int, bytes, bytes]]:
    with Journal.open(place, readonly=True) as journal:
        return [(each.seq, each.payload, each.chain) for each in journal.events()]


def _streams(place: Path) -> list[list[int]]:
    with Journal.open(place, readonly=True) as journal:
        return [[each.seq for each in journal.of_workload(f"w{number}")] for number in range(13)]


def test_any_damaged_byte_is_found_or_harmless(written: Path) -> None:
    """Whatever byte of the file goes bad: a fault, a refusal, or a journal that still holds and finds exactly what was written."""
    data = written.read_bytes()
    whole, streams = _contents(written), _streams(written)
    generator = random.Random(11)
    found = 0
    for offset in sorted({*range(100), *generator.sample(range(len(data)), 300)}):
        damaged = bytearray(data)
        damaged[offset] ^= 1 << generator.randrange(8)
        written.write_bytes(damaged)
        try:
            good = _verify(written).good
        except JournalError:
            good = False
        if good:
            assert (_contents(written), _streams(written)) == (whole, streams), f"byte {offset}"
        found += not good
    assert found > 100


@pytest.mark.parametrize("keep", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_cut_off_file_is_found(written: Path, keep: float) -> None:
    """A file that ends early is refused or found damaged."""
    data = written.read_bytes()
    written.write_bytes(data[: int(len(data) * keep)])
    try:
        assert not _verify(written).good
    except JournalError as error:
        assert "damaged" in error.message or "not a" in error.message  # noqa: PT017


def test_zeroed_page_is_found(written: Path) -> None:
    """A page of zeros where events were is damage, reported and not raised."""
    data = bytearray(written.read_bytes())
    page = data.index(b"w7") // 4096
    data[page * 4096 : (page + 1) * 4096] = bytes(4096)
    written.write_bytes(data)

    assert not _verify(written).good


@pytest.mark.parametrize(
    ("statement", "seq", "words"),
    [
        ("UPDATE events SET payload = replace(CAST(payload AS TEXT), 'w7', 'w8') WHERE seq = 16", 16, "another form"),
        (
            "UPDATE events SET payload = CAST(replace(CAST(payload AS TEXT), 'w7', 'w8') AS BLOB) WHERE seq = 16",
            16,
            "payload was altered after it was written, or",
        ),
        ("UPDATE events SET chain = zeroblob(32) WHERE seq = 16", 16, "chain value was altered; the event itself is as it was"),
        ("UPDATE events SET chain = zeroblob(32) WHERE seq = 29", 29, "payload or its chain value was altered"),
        ("UPDATE events SET chain = x'' WHERE seq = 16", 16, "chain value was altered; the event"),
        ("UPDATE events SET chain = hex(chain) WHERE seq = 16", 16, "stored in another form"),
        ("UPDATE events SET payload = x'' WHERE seq = 16", 16, "payload was altered"),
        ("UPDATE events SET kind = 'WorkloadFinished' WHERE seq = 16", 16, "column `kind`"),
        ("UPDATE events SET stream = 'workload/w8' WHERE seq = 16", 16, "column `stream`"),
        ("UPDATE events SET stream = CAST(x'ff77' AS TEXT) WHERE seq = 16", 16, "column `stream`"),
        ("UPDATE events SET kind = CAST(kind AS BLOB) WHERE seq = 16", 16, "stored in another form"),
        ("UPDATE events SET version = 400 WHERE seq = 16", 16, "column `version`"),
        ("DELETE FROM events WHERE seq = 16", 16, "event 16 is missing"),
        ("DELETE FROM events WHERE seq = 1", 1, "event 1 is missing"),
        ("DELETE FROM events WHERE seq BETWEEN 5 AND 9", 5, "event 5 is missing"),
        ("UPDATE events SET seq = seq + 100 WHERE seq = 29", 29, "event 29 is missing"),
        ("UPDATE events SET seq = -seq WHERE seq = 1", 1, "event 1 is missing"),
        ("INSERT INTO events SELECT 30, stream, 30, kind, payload, chain FROM events WHERE seq = 29", 30, "does not match its chain value"),
    ],
)
def test_altered_rows(written: Path, statement: str, seq: int, words: str) -> None:
    """Every way to alter a row is found at that row, with what is wrong and what it means."""
    _alter(written, statement)
    fault = _fault(written)

    assert fault.seq == seq
    assert words in f"{fault.problem}: {fault.meaning}"
    assert fault.expected != fault.found


def test_swapped_events(written: Path) -> None:
    """Two events that changed places are found at the first of them."""
    _alter(
        written,
        "CREATE TEMP TABLE pair AS SELECT * FROM events WHERE seq IN (8, 15)",
        "DELETE FROM events WHERE seq IN (8, 15)",
        "INSERT INTO events SELECT 23 - seq, stream, 23 - version, kind, payload, chain FROM pair",
    )

    assert _fault(written).seq == 8


def test_expected_and_found_are_given(written: Path) -> None:
    """A broken link is reported with the value that the bytes have and the one that stands there."""
    connection = sqlite3.connect(written)
    before, payload, chain = connection.execute(
        "SELECT (SELECT chain FROM events WHERE seq = 15), payload, chain FROM events WHERE seq = 16"
    ).fetchone()
    connection.close()
    altered = payload.replace(b"w7", b"w8")
    _alter(written, f"UPDATE events SET payload = x'{altered.hex()}' WHERE seq = 16")
    fault = _fault(written)

    assert (fault.expected, fault.found) == (sha256(before + altered).hexdigest(), chain.hex())


@pytest.mark.parametrize(
    ("seq", "old", "new", "words"),
    [
        (16, b'"v":1', b'"v":9', "version 9, unknown"),
        (16, b'"kind":"WorkloadSubmitted"', b'"kind":"Surprise"', "cannot be read"),
        (16, b'"v":1', b'"v": 1', "not written in its one form"),
        (16, b'"v":1,', b'"v":1,"v":1,', "not written in its one form"),
        (16, b'"namespace":"",', b"", "not written in its one form"),
        (16, b'"time":17', b'"time":16', "time runs backwards"),
        (17, b'"cause":16', b'"cause":12', "a cause that it cannot have"),
        (17, b'"cause":16', b'"cause":17', "a cause that it cannot have"),
    ],
)
def test_forged_events(written: Path, seq: int, old: bytes, new: bytes, words: str) -> None:
    """What no gpol would have written is found even where the chain was computed anew."""
    connection = _open_hood(written)
    (payload,) = connection.execute("SELECT payload FROM events WHERE seq = ?", (seq,)).fetchone()
    forged = payload.replace(old, new, 1)
    assert forged != payload
    connection.execute("UPDATE events SET payload = ? WHERE seq = ?", (forged, seq))
    connection.execute("CREATE TRIGGER events_no_update BEFORE UPDATE ON events WHEN 0 BEGIN SELECT 1; END")
    connection.execute("CREATE TRIGGER events_no_delete BEFORE DELETE ON events WHEN 0 BEGIN SELECT 1; END")
    connection.close()
    _rechain(written)
    fault = _fault(written)

    assert fault.seq == seq
    assert words in fault.problem
    assert "the chain was computed anew" in fault.meaning


def test_decisions_go_with_their_fact(place: Path, history) -> None:
    """A decision at another time than its fact, or before any fact, is found where the chain is whole."""
    batches = history(2)
    fact, *decisions = batches[1]
    for events, seq, words in (
        ([*batches[0], fact, decisions[0].model_copy(update={"time": fact.time + 1})], 3, "not at the time of its cause"),
        ([decisions[0]], 1, "begins with a decision"),
    ):
        place.unlink(missing_ok=True)
        Journal.create(place).close()
        connection = sqlite3.connect(place, isolation_level=None)
        for number, event in enumerate(events, 1):
            row = (number, stream_of(event), number, event.kind, event.payload(), b"")
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.close()
        _rechain(place)
        fault = _verify(place).fault

        assert fault is not None
        assert (fault.seq, words in fault.problem) == (seq, True)


def test_cut_off_end_needs_a_noted_head(written: Path) -> None:
    """Events gone from the end leave a chain that is whole; only a head noted down elsewhere shows it."""
    noted = _verify(written)
    expected = (noted.seq, noted.chain)
    assert _verify(written, expected_head=expected).good
    _alter(written, "DELETE FROM events WHERE seq > 27")

    assert _verify(written).good
    report = _verify(written, expected_head=expected)
    assert report.fault is not None
    assert (report.fault.seq, report.fault.expected, report.fault.found) == (28, "event 29", "the last is event 27")


def test_growth_keeps_a_noted_head(written: Path, history) -> None:
    """A journal that was only appended to still has the head that was noted down."""
    noted = _verify(written)
    with Journal.open(written, readonly=False) as journal:
        journal.append([[TimeAdvanced(time=2**60)]])

    assert _verify(written, expected_head=(noted.seq, noted.chain)).good


def test_replaced_history_needs_a_noted_head(written: Path) -> None:
    """A whole chain computed anew over altered events is good by itself, and found with a head noted down elsewhere."""
    noted = _verify(written)
    connection = _open_hood(written)
    (payload,) = connection.execute("SELECT payload FROM events WHERE seq = 17").fetchone()
    forged = payload.replace(b'"reason":"Admitted"', b'"reason":"Admired!"')
    connection.execute("UPDATE events SET payload = ? WHERE seq = 17", (forged,))
    chain = bytes(32)
    for seq, payload in connection.execute("SELECT seq, payload FROM events ORDER BY seq").fetchall():
        chain = sha256(chain + payload).digest()
        connection.execute("UPDATE events SET chain = ? WHERE seq = ?", (chain, seq))
    connection.close()

    assert _verify(written).good
    fault = _verify(written, expected_head=(noted.seq, noted.chain)).fault
    assert fault is not None
    assert (fault.seq, fault.within) == (None, (1, COUNT)), "the head does not tell which event it was"
    assert "not the history that was kept" in fault.meaning


@pytest.mark.parametrize("expected", [(0, "00" * 32), (3, "00"), (3, "zz" * 32), (3, "")])
def test_expected_head_must_be_one(written: Path, expected: tuple[int, str]) -> None:
    """What can't be a head is refused, with its form."""
    with pytest.raises(JournalError, match="64 hexadecimal digits"):
        _verify(written, expected_head=expected)


def test_broken_index(written: Path) -> None:
    """An index that no longer agrees with the events is found, though every event is as it was written."""
    connection = _open_hood(written)
    connection.execute("PRAGMA writable_schema = ON")
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events'").fetchone()
    connection.close()
    data = bytearray(written.read_bytes())
    place = data.index(b"workload/w7", (root - 1) * 4096, root * 4096)
    data[place + 10] = ord("8")
    written.write_bytes(data)
    report = _verify(written)

    assert report.seq == COUNT
    assert report.fault is not None
    assert report.fault.seq is None
    assert "may miss it" in report.fault.meaning


def test_progress(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is told page by page, and ends at the end."""
    monkeypatch.setattr(recorder_module, "PAGE_EVENTS", 10)
    told: list[int] = []
    _verify(written, progress=told.append)

    assert told == [10, 20, 29]


def test_memory_does_not_grow(place: Path, history: Callable[..., list], monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifying ten times the events takes no more memory."""
    monkeypatch.setattr(recorder_module, "PAGE_EVENTS", 100)
    peaks = []
    with Journal.create(place) as journal:
        for _ in range(2):
            while journal.head.seq < (300 if not peaks else 3_000):
                journal.append(history(60, start=journal.head.seq + 1))
            verify(journal)
            tracemalloc.start()
            assert verify(journal).good
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    assert peaks[1] < 1.5 * peaks[0]
