"""Everything that can be wrong with a journal is found, with where it begins, how much it is about and what to do."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from gpol.dsl import check
from gpol.engine.core.core import ArrayCore
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.facts import PolicyActivated, ProfileText, TimeAdvanced, WorkloadFinished, WorkloadSubmitted
from gpol.journal.audit.evidence import Evidence
from gpol.journal.audit.fsck import NOTES, FsckFinding, FsckReport, fsck
from gpol.journal.audit.verify import VerifyReport, verify
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.read.snapshots import Snapshotter
from gpol.journal.records import START, link
from gpol.journal.store.recorder import Snapshot
from gpol.journal.store.store import Stored

Hood = Callable[..., list[tuple[Any, ...]]]

POLICY = """policy "one" {
  use gpol.fair
}

flavor a100 { gpu 8 }

queue owner {
  owns 8 gpu on a100
}
"""
EVENTS = 61
"""One policy, and twenty workloads that are submitted, admitted and end."""


@pytest.fixture
def sound(place: Path) -> Path:
    """A sound journal of 61 events, with snapshots: 3n - 1 submits the workload wn, 3n admits it, 3n + 1 is its end."""
    checked = check(POLICY, "one.gpol")
    profiles = tuple(ProfileText(name=name, text=text) for name, text in checked.profiles)
    assert checked.graph is not None
    core = new_core()
    with Journal.create(place) as journal, Snapshotter(journal, core, every=10) as sink:
        activation = PolicyActivated(time=0, file="one.gpol", text=POLICY, profiles=profiles, digest=checked.graph.digest)
        sink.append([[activation, *core.step(activation, checked.graph)]])
        for number in range(1, 21):
            pods = (PodSet(requests={"gpu": "2"}),)
            submitted = WorkloadSubmitted(time=number, workload=f"w{number}", queue="owner", pod_sets=pods)
            finished = WorkloadFinished(time=number, workload=f"w{number}")
            sink.append([[submitted, *core.step(submitted)], [finished, *core.step(finished)]])
        assert journal.head.seq == EVENTS
        assert len(journal.snapshot_seqs()) >= 3
    return place


def looked(place: Path | str, evidence: Evidence | None = None) -> FsckReport:
    """The report of a journal, which both cores give."""
    with Journal.open(place) as journal:
        found = fsck(journal, evidence=evidence)
    with Journal.open(place) as journal:
        assert fsck(journal, evidence=evidence, core=ArrayCore()) == found
    return found


def told(place: Path | str) -> dict[str, tuple[int | None, int]]:
    """All that is found, by kind: where it begins, and how much it is about."""
    report = looked(place)
    assert all(finding.remedy and finding.fault.problem for finding in report.findings)
    return {finding.kind: (finding.fault.seq, finding.count) for finding in report.findings if finding.kind not in NOTES}


def first(place: Path | str, kind: str) -> FsckFinding:
    """The finding of a kind."""
    return next(finding for finding in looked(place).findings if finding.kind == kind)


def payload_at(hood: Hood, seq: int) -> bytes:
    """The stored payload of an event."""
    [(payload,)] = hood("SELECT payload FROM events WHERE seq = ?", seq)
    return bytes(payload)


def put(hood: Hood, seq: int, payload: bytes) -> None:
    """Put another payload in an event's place, and nothing else."""
    hood("UPDATE events SET payload = ? WHERE seq = ?", payload, seq)


def rechain(hood: Hood) -> None:
    """Compute the chain anew, as somebody would who wants to hide something."""
    chain = START.chain
    for seq, payload in hood("SELECT seq, payload FROM events ORDER BY seq"):
        chain = link(chain, bytes(payload))
        hood("UPDATE events SET chain = ? WHERE seq = ?", chain, seq)
    hood("DELETE FROM snapshots")


def alike(found: dict[str, tuple[int | None, int]]) -> dict[str, tuple[int | None, int]]:
    """What was found, without that a hood was opened: to change events the triggers have to go."""
    assert found.pop("structure")[0] is None
    return found


def test_a_sound_journal(sound: Path) -> None:
    """Of a sound journal nothing is said, and every decision was made again."""
    report = looked(sound)
    assert report.good
    assert (report.seq, report.decided) == (EVENTS, EVENTS)
    assert {finding.kind for finding in report.findings} <= NOTES


def test_triggers_that_are_gone(sound: Path, hood: Hood) -> None:
    """Each trigger that was taken away is one."""
    hood("SELECT 1")
    assert told(sound) == {"structure": (None, 3 if isinstance(sound, str) else 2)}
    assert "the trigger `events_no_delete` is missing" in first(sound, "structure").fault.problem


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("ALTER TABLE meta ADD COLUMN note TEXT", "column `note` of `meta` is none of a journal's"),
        ("CREATE TABLE notes (note TEXT)", "table `notes` is none of a journal's"),
        ("DROP TABLE snapshots", "table `snapshots` is missing"),
        ("DROP TABLE writers", "table `writers` is missing"),
        ("CREATE INDEX by_kind ON events (kind)", "constraint or index of `events` is none of a journal's"),
    ],
)
def test_tables_that_were_changed(sound: Path, hood: Hood, statement: str, words: str) -> None:
    """A column, table or index too much, or a table too little."""
    hood(statement)
    problems = "; ".join(_differences(sound))
    assert words in problems
    assert not looked(sound).good


def _differences(place: Path | str) -> list[str]:
    with Journal.open(place) as journal:
        return journal.structure_differences()


@pytest.mark.sqlite
def test_a_trigger_that_was_altered(sound: Path) -> None:
    """A trigger of the right name that lets everything pass."""
    with closing(sqlite3.connect(sound)) as connection:
        connection.execute("DROP TRIGGER events_no_update")
        connection.execute("CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT 1; END")
        connection.commit()
    assert told(sound) == {"structure": (None, 1)}
    assert "`events_no_update` was altered" in first(sound, "structure").fault.problem


def test_rows_before_the_first_event(sound: Path, hood: Hood) -> None:
    """Rows numbered below 1 are none of the history: each is counted, and all events behind them are good."""
    for seq in (0, -(1 << 63)):
        hood("INSERT INTO events SELECT ?, stream, ?, kind, payload, chain FROM events WHERE seq = 5", seq, seq)

    assert alike(told(sound)) == {"stray": (1, 2)}
    assert "numbered -9223372036854775808" in first(sound, "stray").fault.problem


def test_events_that_are_missing(sound: Path, hood: Hood) -> None:
    """Two gaps, of two events and of one, and nothing is said of those between and behind; decisions stop at the first."""
    hood("DELETE FROM events WHERE seq IN (8, 9, 30)")
    assert alike(told(sound)) == {"missing": (8, 3), "undecided": (8, EVENTS - 7)}
    assert looked(sound).decided == 7


def test_an_event_that_was_altered(sound: Path, hood: Hood) -> None:
    """A payload that does not match its chain value; the link behind it holds again, so it is told once."""
    put(hood, 27, payload_at(hood, 27).replace(b'"name":"', b'"name":"x'))
    assert alike(told(sound)) == {"chain": (27, 1), "decision": (27, 1)}
    assert "its payload was altered" in first(sound, "chain").fault.meaning


def test_a_chain_value_that_was_altered(sound: Path, hood: Hood) -> None:
    """A chain value that does not match, though the next one does: told once, and no decision differs."""
    hood("UPDATE events SET chain = ? WHERE seq = 27", bytes(32))
    assert alike(told(sound)) == {"chain": (27, 1)}
    assert "its chain value was altered" in first(sound, "chain").fault.meaning


def test_events_that_changed_places(sound: Path, hood: Hood) -> None:
    """Two payloads swapped with their chain values: breaks, the columns of both, and a submission too early."""
    rows = {seq: (payload, chain) for seq, payload, chain in hood("SELECT seq, payload, chain FROM events WHERE seq IN (11, 14)")}
    for here, there in ((11, 14), (14, 11)):
        hood("UPDATE events SET payload = ?, chain = ? WHERE seq = ?", *rows[there], here)
    found = alike(told(sound))
    assert found["chain"][0] == 11
    assert found["column"] == (11, 2)
    assert found["decision"][0] == 12


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (b"not json", "unreadable"),
        (b'{"kind":"WorkloadFinished","v":1}', "unreadable"),
        (b'{"kind":"WorkloadFinished","v":2,"time":9,"workload":"w9"}', "future"),
    ],
)
def test_payloads_that_cannot_be_read(sound: Path, hood: Hood, payload: bytes, kind: str) -> None:
    """What is no event, and what is one of a version to come, each with a remedy of its own; the rest is read on."""
    put(hood, 28, payload)
    found = alike(told(sound))
    assert found == {"chain": (28, 1), kind: (28, 1), "undecided": (28, EVENTS - 27)}
    assert ("newer gpol" in first(sound, kind).remedy) == (kind == "future")


def test_a_payload_in_another_form(sound: Path, hood: Hood) -> None:
    """The same event with a space in it, the chain computed anew: only its form tells."""
    put(hood, 28, payload_at(hood, 28).replace(b":", b": ", 1))
    rechain(hood)
    assert alike(told(sound)) == {"form": (28, 1)}


@pytest.mark.parametrize("column", ["stream", "kind"])
def test_columns_that_were_altered(sound: Path, hood: Hood, column: str) -> None:
    """Columns that do not say what the payload says, told by the first and counted."""
    hood(f"UPDATE events SET {column} = ? WHERE seq IN (27, 30, 33)", "x")
    assert alike(told(sound)) == {"column": (27, 3)}


@pytest.mark.sqlite
def test_a_row_of_another_form(sound: Path, hood: Hood) -> None:
    """A payload stored as text says the same, and is not what was written."""
    hood("UPDATE events SET payload = CAST(payload AS TEXT) WHERE seq = 28")
    assert alike(told(sound))["stored"] == (28, 1)


def test_time_that_runs_backwards(sound: Path, hood: Hood) -> None:
    """Two ends that lie before what came before them, each told once, the chain computed anew."""
    for seq in (28, 31):
        payload = payload_at(hood, seq)
        put(hood, seq, payload.replace(b'"time":9', b'"time":1').replace(b'"time":10', b'"time":1'))
    rechain(hood)
    found = alike(told(sound))
    assert found["time"] == (28, 2)


def test_a_cause_that_cannot_be(sound: Path, hood: Hood) -> None:
    """A decision that names another fact than the one before it."""
    put(hood, 27, payload_at(hood, 27).replace(b'"cause":26', b'"cause":25'))
    rechain(hood)
    assert alike(told(sound)) == {"cause": (27, 1), "decision": (27, 1)}


def test_decisions_that_do_not_follow(sound: Path, hood: Hood) -> None:
    """Two forged rules behind a chain computed anew: both are found, as history is followed as it was recorded."""
    for seq in (27, 48):
        put(hood, seq, payload_at(hood, seq).replace(b'"name":"', b'"name":"x'))
    rechain(hood)
    assert alike(told(sound)) == {"decision": (27, 2)}
    assert looked(sound).decided == EVENTS


def test_a_policy_that_is_not_what_it_says(sound: Path, hood: Hood) -> None:
    """A text with another meaning than its digest, and one that is none: nothing can be decided by them."""
    original = payload_at(hood, 1)
    for changed in (original.replace(b"gpu 8 }", b"gpu 9 }"), original.replace(b"flavor a100", b"flavour a100")):
        put(hood, 1, changed)
        rechain(hood)
        assert alike(told(sound)) == {"policy": (1, 1), "undecided": (1, EVENTS)}


def test_snapshots_that_do_not_count(sound: Path, hood: Hood) -> None:
    """One of another history, which is kept as a trace of it, and one whose content is the state of another event."""
    with Journal.open(sound) as journal:
        one, *_, other, last = journal.snapshot_seqs()
    hood("UPDATE snapshots SET chain = ? WHERE seq = ?", bytes(32), other)
    assert alike(told(sound)) == {"rewritten": (None, 1)}
    assert "make no new snapshots" in first(sound, "rewritten").remedy
    [(content, digest)] = hood("SELECT content, digest FROM snapshots WHERE seq = ?", one)
    hood("UPDATE snapshots SET content = ?, digest = ? WHERE seq = ?", content, digest, last)
    assert alike(told(sound)) == {"rewritten": (None, 1), "snapshot": (last, 1)}
    assert "--afresh" in first(sound, "snapshot").remedy


def test_a_snapshot_of_what_never_was(sound: Path, hood: Hood, tmp_path: Path) -> None:
    """A snapshot that is sound in every way and is not the state that the events give: only deciding everything again shows it."""
    import hashlib
    import zlib

    with Journal.open(sound) as journal:
        last = journal.snapshot_seqs()[-1]
    [(content,)] = hood("SELECT content FROM snapshots WHERE seq = ?", last)
    forged = zlib.compress(zlib.decompress(content).replace(b'"submissions":20', b'"submissions":77'))
    hood("UPDATE snapshots SET content = ?, digest = ? WHERE seq = ?", forged, hashlib.sha256(forged).digest(), last)

    assert alike(told(sound)) == {"snapshot": (last, 1)}
    assert "not the state that the events give" in first(sound, "snapshot").fault.problem


@pytest.mark.sqlite
def test_a_file_that_is_damaged(sound: Path) -> None:
    """SQLite's own check of the file is part of it, and what can be read is looked at all the same."""
    with closing(sqlite3.connect(sound)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'UNIQUE (stream, version)', 'UNIQUE (version, stream)')")
        connection.commit()
    found = told(sound)
    assert found["file"] == (None, 1)
    assert looked(sound).seq == EVENTS


@pytest.mark.sqlite
def test_what_lies_beside_a_file(sound: Path) -> None:
    """A backup that was killed: to be known, and no fault. What has the name of a log and is none: a fault."""
    draft = sound.with_name(f".{sound.name}.0123456789abcdef")
    draft.write_bytes(b"")
    sound.with_name(f"{sound.name}-wal").write_bytes(b"not a log")
    assert {finding.kind: (finding.is_fault, finding.fault.problem) for finding in looked(sound).findings} == {
        "foreign": (True, f"`{sound.resolve()}-wal` is no write-ahead log: SQLite does not read its 9 bytes, and removes them"),
        "leftover": (False, f"`{draft.resolve()}` is left of making `{sound.name}`, new or as a backup, which was not finished"),
    }


def test_a_writer_is_told(sound: Path) -> None:
    """While somebody writes, that is to be known, and no fault."""
    with Journal.open(sound, readonly=False):
        report = looked(sound)
    assert report.good
    assert "writer" in [finding.kind for finding in report.findings]
    assert "writer" not in [finding.kind for finding in looked(sound).findings]


def test_many_faults_are_all_told(sound: Path, hood: Hood) -> None:
    """Of a journal with a fault of nearly every kind each is listed, each where it begins."""
    put(hood, 9, payload_at(hood, 9).replace(b'"name":"', b'"name":"x'))
    hood("UPDATE events SET stream = ? WHERE seq = 12", "x")
    put(hood, 15, payload_at(hood, 15).replace(b'"cause":14', b'"cause":11'))
    put(hood, 19, payload_at(hood, 19).replace(b":", b": ", 1))
    put(hood, 22, payload_at(hood, 22).replace(b'"time":7', b'"time":1'))
    hood("DELETE FROM events WHERE seq = 28")
    put(hood, 31, b"not json")
    put(hood, 40, b'{"kind":"WorkloadFinished","v":2,"time":13,"workload":"w13"}')
    hood("UPDATE snapshots SET format = ? WHERE seq > 30", "core 0")
    found = told(sound)
    assert found.pop("decision")[0] == 9
    assert found.pop("undecided")[0] in range(20, 29)
    assert found.pop("snapshot")[1] >= 2
    assert alike(found) == {
        "chain": (9, 6),
        "column": (12, 1),
        "cause": (15, 1),
        "form": (19, 1),
        "time": (22, 1),
        "missing": (28, 1),
        "unreadable": (31, 1),
        "future": (40, 1),
    }


def test_every_fault_that_verify_finds_is_found(sound: Path, hood: Hood) -> None:
    """Whatever bit of an event is flipped, there is a finding where verify has its first fault."""
    from gpol.journal.audit.verify import verify

    for seq in (1, 17, 27, EVENTS):
        payload = payload_at(hood, seq)
        for place in range(0, len(payload), len(payload) // 5):
            put(hood, seq, payload[:place] + bytes([payload[place] ^ 1]) + payload[place + 1 :])
            with Journal.open(sound) as journal:
                assert verify(journal).bad_seq == seq
            assert seq in [first_seq for first_seq, _ in told(sound).values()]
        put(hood, seq, payload)


def test_an_empty_journal(place: Path) -> None:
    """A journal without events is sound."""
    Journal.create(place).close()
    assert looked(place).good


def test_a_journal_of_nowhere(tmp_path: Path) -> None:
    """What is no journal is refused as by any reader."""
    with pytest.raises(JournalError):
        looked(tmp_path / "none.db")


@pytest.mark.parametrize(
    ("statement", "problem", "count"),
    [
        ("UPDATE writers SET first_seq = 3", "no writer is named for events 1 to 2", 1),
        ("DELETE FROM writers", f"no writer is named for events 1 to {EVENTS}", 1),
        ("INSERT INTO writers VALUES (1000000, '9', 9)", f"names event 1000000, and the journal has events 1 to {EVENTS}", 1),
        ("INSERT INTO writers SELECT 3, program, semantics FROM writers", "says twice in a row, at events 1 and 3", 1),
    ],
)
def test_writers_that_cannot_be(sound: Path, hood: Hood, statement: str, problem: str, count: int) -> None:
    """Rows about writers that miss events, name events that are not there, or say the same twice."""
    hood(statement)
    assert alike(told(sound)) == {"writers": (None, count)}
    assert problem in first(sound, "writers").fault.problem


@pytest.mark.parametrize("check", [verify, fsck])
def test_a_journal_that_grows_meanwhile(
    sound: Path, monkeypatch: pytest.MonkeyPatch, check: Callable[[Journal], VerifyReport | FsckReport]
) -> None:
    """Once all events were read a writer appends, keeps a snapshot and drops another one: nothing is wrong with that."""
    page = Journal.stored_page
    with Journal.open(sound, readonly=False) as journal:
        dropped = journal.snapshot_seqs()[0]

        def grow(reader: Journal, after: int | None) -> list[Stored]:
            found = page(reader, after)
            if not found and journal.head.seq == EVENTS:
                journal.append([[TimeAdvanced(time=21)], [TimeAdvanced(time=22)]])
                journal.keep_snapshot(Snapshot(journal.head.seq, journal.head.chain, "", b"", b""), [dropped])
            return found

        monkeypatch.setattr(Journal, "stored_page", grow)
        with Journal.open_to_audit(sound) as reader:
            report = check(reader)
        assert report.good, report
        assert journal.head.seq == EVENTS + 2
        assert dropped not in journal.snapshot_seqs()


@pytest.mark.parametrize("check", [verify, fsck])
def test_another_writer_comes_meanwhile(
    sound: Path, hood: Hood, monkeypatch: pytest.MonkeyPatch, check: Callable[[Journal], VerifyReport | FsckReport]
) -> None:
    """Once all events were read, another version of gpol appends: its row in the table of writers is no sign of events cut off."""
    page = Journal.stored_page

    def grow(reader: Journal, after: int | None) -> list[Stored]:
        found = page(reader, after)
        if not found and not hood("SELECT 1 FROM writers WHERE first_seq > 1"):
            hood("INSERT INTO writers SELECT ? + 2, 'another', semantics FROM writers", EVENTS)
        return found

    monkeypatch.setattr(Journal, "stored_page", grow)
    with Journal.open_to_audit(sound) as reader:
        report = check(reader)
    found = [report.fault] if isinstance(report, VerifyReport) else [each.fault for each in report.findings]
    assert not [fault for fault in found if fault is not None and fault.kind in ("cut", "writers")]
    assert hood("SELECT 1 FROM writers WHERE first_seq > 1")
