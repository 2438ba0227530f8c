"""Verification: whatever is altered is found, at the event where it was altered, and a journal that is whole is good."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from gpol.engine.facts import TimeAdvanced
from gpol.journal.audit.verify import Fault, VerifyReport, verify
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.records import stream_of
from gpol.journal.store import recorder as recorder_module

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


def _rechain(hood) -> None:
    """Compute the whole chain anew, as a forger would."""
    chain = bytes(32)
    for seq, payload in hood("SELECT seq, payload FROM events ORDER BY seq"):
        chain = sha256(chain + payload).digest()
        hood("UPDATE events SET chain = ? WHERE seq = ?", chain, seq)


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


@pytest.mark.sqlite
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


@pytest.mark.slow
@pytest.mark.sqlite
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


@pytest.mark.sqlite
@pytest.mark.parametrize("keep", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_cut_off_file_is_found(written: Path, keep: float) -> None:
    """A file that ends early is refused or found damaged."""
    data = written.read_bytes()
    written.write_bytes(data[: int(len(data) * keep)])
    try:
        assert not _verify(written).good
    except JournalError as error:
        assert "damaged" in error.message or "not a" in error.message  # noqa: PT017


@pytest.mark.sqlite
def test_zeroed_page_is_found(written: Path) -> None:
    """A page of zeros where events were is damage, reported and not raised."""
    data = bytearray(written.read_bytes())
    page = data.index(b"w7") // 4096
    data[page * 4096 : (page + 1) * 4096] = bytes(4096)
    written.write_bytes(data)

    assert not _verify(written).good


@pytest.mark.parametrize(
    ("change", "value", "seq", "words"),
    [
        ("payload", b'{"kind":"TimeAdvanced","v":1,"time":1}', 16, "payload was altered after it was written, or"),
        ("payload", b"", 16, "payload was altered"),
        ("chain", bytes(32), 16, "chain value was altered; the event itself is as it was"),
        ("chain", b"", 16, "chain value was altered; the event"),
        ("chain", bytes(32), 29, "payload or its chain value was altered"),
        ("kind", "WorkloadFinished", 16, "column `kind`"),
        ("stream", "workload/w8", 16, "column `stream`"),
        ("version", 400, 16, "column `version`"),
    ],
)
def test_altered_columns(written: Path, hood, change: str, value: object, seq: int, words: str) -> None:
    """Every column that is altered is found at its row, with what is wrong and what it means."""
    hood(f"UPDATE events SET {change} = ? WHERE seq = ?", value, seq)
    fault = _fault(written)

    assert fault.seq == seq
    assert words in f"{fault.problem}: {fault.meaning}"
    assert fault.expected != fault.found


@pytest.mark.parametrize(
    ("statement", "seq", "words"),
    [
        ("DELETE FROM events WHERE seq = 16", 16, "event 16 is missing"),
        ("DELETE FROM events WHERE seq = 1", 1, "event 1 is missing"),
        ("DELETE FROM events WHERE seq BETWEEN 5 AND 9", 5, "event 5 is missing"),
        ("UPDATE events SET seq = seq + 100 WHERE seq = 29", 29, "event 29 is missing"),
        ("UPDATE events SET seq = -seq WHERE seq = 1", 1, "a row numbered -1 stands before event 1"),
        (
            "INSERT INTO events SELECT 0, stream, 0, kind, payload, chain FROM events WHERE seq = 29",
            1,
            "a row numbered 0 stands before event 1",
        ),
        (
            f"INSERT INTO events SELECT {-(1 << 63)}, stream, 0, kind, payload, chain FROM events WHERE seq = 29",
            1,
            f"a row numbered {-(1 << 63)} stands before event 1: it was put in",
        ),
        ("INSERT INTO events SELECT 30, stream, 30, kind, payload, chain FROM events WHERE seq = 29", 30, "does not match its chain value"),
    ],
)
def test_altered_rows(written: Path, hood, statement: str, seq: int, words: str) -> None:
    """Rows that are gone, that were put in or that have another number are found."""
    hood(statement)
    fault = _fault(written)

    assert fault.seq == seq
    assert words in f"{fault.problem}: {fault.meaning}"


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE events SET payload = replace(CAST(payload AS TEXT), 'w7', 'w8') WHERE seq = 16", "another form"),
        ("UPDATE events SET chain = hex(chain) WHERE seq = 16", "stored in another form"),
        ("UPDATE events SET stream = CAST(x'ff77' AS TEXT) WHERE seq = 16", "column `stream`"),
        ("UPDATE events SET kind = CAST(kind AS BLOB) WHERE seq = 16", "stored in another form"),
    ],
)
def test_altered_forms(written: Path, hood, statement: str, words: str) -> None:
    """SQLite takes values of any type, and text that is none: that is found, too."""
    hood(statement)
    fault = _fault(written)

    assert fault.seq == 16
    assert words in fault.problem


@pytest.mark.parametrize("column", ["payload", "chain", "stream", "kind"])
def test_nothing_where_something_was(place: Path, written: Path, hood, column: str) -> None:
    """A row that lost a value, which takes more than changing rows, is found."""
    if isinstance(place, Path):
        hood("PRAGMA writable_schema = ON")
        hood("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
        hood("PRAGMA writable_schema = RESET")
    else:
        hood(f"ALTER TABLE events ALTER {column} DROP NOT NULL")
    hood(f"UPDATE events SET {column} = NULL WHERE seq = 16")

    assert "stored in another form" in _fault(written).problem


def test_swapped_events(written: Path, hood) -> None:
    """Two events that changed places are found at the first of them."""
    hood("CREATE TEMP TABLE pair AS SELECT * FROM events WHERE seq IN (8, 15)")
    hood("DELETE FROM events WHERE seq IN (8, 15)")
    hood("INSERT INTO events SELECT 23 - seq, stream, 23 - version, kind, payload, chain FROM pair")

    assert _fault(written).seq == 8


def test_expected_and_found_are_given(written: Path, hood) -> None:
    """A broken link is reported with the value that the bytes have and the one that stands there."""
    ((before, payload, chain),) = hood("SELECT (SELECT chain FROM events WHERE seq = 15), payload, chain FROM events WHERE seq = 16")
    altered = payload.replace(b"w7", b"w8")
    hood("UPDATE events SET payload = ? WHERE seq = 16", altered)
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
def test_forged_events(written: Path, hood, seq: int, old: bytes, new: bytes, words: str) -> None:
    """What no gpol would have written is found even where the chain was computed anew."""
    ((payload,),) = hood("SELECT payload FROM events WHERE seq = ?", seq)
    forged = payload.replace(old, new, 1)
    assert forged != payload
    hood("UPDATE events SET payload = ? WHERE seq = ?", forged, seq)
    _rechain(hood)
    fault = _fault(written)

    assert fault.seq == seq
    assert words in fault.problem
    assert "the chain was computed anew" in fault.meaning


@pytest.mark.parametrize(("early", "seq", "words"), [(False, 3, "not at the time of its cause"), (True, 1, "begins with a decision")])
def test_decisions_go_with_their_fact(place: Path, journal: Journal, history, hood, early: bool, seq: int, words: str) -> None:
    """A decision at another time than its fact, or before any fact, is found where the chain is whole."""
    first, (fact, decision, _) = history(2)
    late = decision.model_copy(update={"time": fact.time + 1})
    for number, event in enumerate([decision] if early else [*first, fact, late], 1):
        row = (number, stream_of(event), number, event.kind, event.payload(), b"")
        hood("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", *row)
    _rechain(hood)
    fault = _verify(place).fault

    assert fault is not None
    assert (fault.seq, words in fault.problem) == (seq, True)


def test_cut_off_end_needs_a_noted_head(written: Path, hood) -> None:
    """Events gone from the end leave a chain that is whole; only a head noted down elsewhere shows it."""
    noted = _verify(written)
    expected = (noted.seq, noted.chain)
    assert _verify(written, expected_head=expected).good
    hood("DELETE FROM events WHERE seq > 27")

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


def test_replaced_history_needs_a_noted_head(written: Path, hood) -> None:
    """A whole chain computed anew over altered events is good by itself, and found with a head noted down elsewhere."""
    noted = _verify(written)
    ((payload,),) = hood("SELECT payload FROM events WHERE seq = 17")
    hood("UPDATE events SET payload = ? WHERE seq = 17", payload.replace(b'"flavor":"', b'"flavor":"x'))
    _rechain(hood)

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


@pytest.mark.sqlite
def test_broken_index(written: Path) -> None:
    """An index that no longer agrees with the events is found, though every event is as it was written."""
    connection = sqlite3.connect(written)
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


def test_memory_does_not_grow(
    place: Path, history: Callable[..., list], peak_memory: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verifying ten times the events takes no more memory. (Events that were kept would add 1 MB.)"""
    monkeypatch.setattr(recorder_module, "PAGE_EVENTS", 100)
    peaks = []
    with Journal.create(place) as journal:
        for events in (300, 3_000):
            while journal.head.seq < events:
                journal.append(history(60, start=journal.head.seq + 1))
            assert verify(journal).good
            peaks.append(peak_memory(lambda: verify(journal)))

    assert peaks[1] < 1.5 * peaks[0]
