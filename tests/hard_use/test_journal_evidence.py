"""One bad row blinds nobody, and a journal that was tampered with is told as what it is: exit code 4, with what is whole still served."""

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import chdir, closing
from pathlib import Path
from typing import Any

import pytest
from commands import Done, Gpol
from gpol.cli.main import run_command
from gpol.journal.errors import JournalError

NO_UPDATE = "CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END"


@pytest.fixture(scope="module")
def made(folder: Path) -> Path:
    """A folder with a journal `d.db`, its checkpoints in `kept`, and the public key that signed them."""
    with chdir(folder):
        assert run_command(["key", "new", "acme.example/lab", "-o", "lab.key"]) == 0
        kept = ["--checkpoints", "kept", "--key", "lab.key"]
        assert run_command(["simulate", "lab.gpol", "jobs.csv", "--journal", "d.db", *kept]) == 0
        shutil.copy("d.db", "sound.db")
    return folder


def sql(*statements: str) -> None:
    """Change the journal's file behind gpol's back."""
    connection = sqlite3.connect("d.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def findings(done: Done) -> dict[str, dict[str, Any]]:
    """What fsck found, by kind."""
    records = [json.loads(line) for line in done[1].splitlines()]
    return {record["sort"]: record for record in records if record["kind"] == "finding"}


def last() -> int:
    """The last event of the journal as it was made."""
    with closing(sqlite3.connect("sound.db")) as connection:
        return int(connection.execute("SELECT max(seq) FROM events").fetchone()[0])


BAD_ROWS = {
    "chain is text": "SELECT seq + 1, stream, seq + 1, kind, payload, 'text' FROM events ORDER BY seq DESC LIMIT 1",
    "chain is one byte": "SELECT seq + 1, stream, seq + 1, kind, payload, x'00' FROM events ORDER BY seq DESC LIMIT 1",
    "payload is text": "SELECT seq + 1, stream, seq + 1, kind, 'text', chain FROM events ORDER BY seq DESC LIMIT 1",
    "payload is no event": "SELECT seq + 1, stream, seq + 1, kind, x'7b7d', chain FROM events ORDER BY seq DESC LIMIT 1",
}


@pytest.fixture(params=sorted(BAD_ROWS))
def bad_row(request: pytest.FixtureRequest, call: Gpol) -> Iterator[None]:
    """A last row that is no event, behind eight that are whole."""
    before = {each: call(*READERS[each]) for each in READERS}
    assert {code for code, _, _ in before.values()} == {0}
    Path("before.json").write_text(json.dumps({each: out for each, (_, out, _) in before.items()}))
    sql(f"INSERT INTO events {BAD_ROWS[request.param]}")
    return


def test_a_chain_value_of_text(call: Gpol) -> None:
    """A last row whose chain value is text: `log` shows all that is before it, and `verify` names the row."""
    whole = call("log", "d.db")[1]
    sql(f"INSERT INTO events {BAD_ROWS['chain is text']}")
    log, verify = call("log", "d.db"), call("verify", "d.db", "--format", "json")

    assert log[:2] == (4, whole)
    assert (verify[0], json.loads(verify[1])["bad_seq"]) == (4, last() + 1)


READERS = {
    "log": ("log", "d.db"),
    "log --reverse": ("log", "d.db", "--reverse"),
    "log --kind": ("log", "d.db", "--kind", "WorkloadAdmitted", "--kind", "WorkloadFinished"),
    "log --follow": ("log", "d.db", "--follow", "--limit", "2"),
    "state": ("state", "d.db", "--workloads"),
    "state --at": ("state", "d.db", "--at", "4"),
    "explain": ("explain", "d.db", "b"),
    "export facts": ("export", "facts", "d.db"),
    "export jsonl": ("export", "jsonl", "d.db"),
    "export state": ("export", "state", "d.db"),
}


def test_a_bad_row_blinds_no_reader(call: Gpol, bad_row: None) -> None:
    """What is whole is served as it was before, and the row is named: exit code 4."""
    before = json.loads(Path("before.json").read_text())
    for reader, command in READERS.items():
        code, out, told = call(*command)
        assert (reader, code, out) == (reader, 4, before[reader])
        assert f"event {last() + 1} " in told or f"event {last() + 1}," in told
        assert f"events up to {last()}" in told


def test_a_bad_row_is_named_by_who_checks(call: Gpol, bad_row: None) -> None:
    """verify, fsck and replay name it, and say how much before it is whole; fsck advises no restore of what is there."""
    code, out, _ = call("verify", "d.db", "--format", "json")
    report = json.loads(out)
    assert (code, report["good"], report["seq"], report["bad_seq"]) == (4, False, last(), last() + 1)

    found = findings(done := call("fsck", "d.db", "--format", "json"))
    assert done[0] == 4
    bad = [each for each in found.values() if each["seq"] == last() + 1 and each["sort"] in ("stored", "chain", "unreadable")]
    assert bad
    assert all(f"events 1 to {last()} are whole" in each["remedy"] and "gpol export facts" in each["remedy"] for each in bad)
    assert "snapshot" not in found
    assert json.loads(done[1].splitlines()[-1])["decided"] == last()

    code, out, _ = call("replay", "d.db", "--format", "json")
    assert (code, json.loads(out)["bad_seq"]) == (4, last() + 1)


def test_what_is_whole_makes_a_new_journal(call: Gpol, bad_row: None) -> None:
    """The remedy that fsck names leads to a journal with the same events."""
    assert call("export", "facts", "d.db", "-o", "f.jsonl", "-p", "new.gpol")[0] == 4
    Path("lab.gpol").unlink()
    Path("new.gpol").rename("lab.gpol")
    assert call("run", "lab.gpol", "f.jsonl", "--as-recorded", "--journal", "new.db")[0] == 0
    head = call("verify", "new.db")[1].split("; ")[1]
    assert head.startswith(f"head {last()}:")
    assert call("backup", "d.db", "copy.db")[0] == 4
    assert not Path("copy.db").exists()


def test_a_bad_row_in_the_middle(call: Gpol) -> None:
    """What comes before a bad row in the middle is served as well."""
    sql("DROP TRIGGER events_no_update", "UPDATE events SET payload = 'text' WHERE seq = 5")
    for command, start in (
        (("log", "d.db"), "       1"),
        (("state", "d.db", "--no-snapshot"), "after event 4"),
        (("export", "jsonl", "d.db"), '{"v":1,"seq":1,'),
    ):
        code, out, told = call(*command)
        assert (code, out.startswith(start)) == (4, True), out
        assert "event 5 is not stored in the form of an event" in told
    assert len(call("export", "jsonl", "d.db")[1].splitlines()) == 4


def test_a_batch_that_is_not_whole_is_no_state(call: Gpol) -> None:
    """Where a bad row was one of several decisions of a fact, the state is that before the fact."""
    events = [json.loads(line) for line in call("log", "d.db", "--format", "json")[1].splitlines()]
    decision = next(each for each in events if each["event"]["kind"] == "WorkloadAdmitted")
    sql("DROP TRIGGER events_no_update", f"UPDATE events SET payload = 'text' WHERE seq = {decision['seq']}")
    assert call("state", "d.db", "--no-snapshot")[1].startswith(f"after event {decision['event']['cause'] - 1}")


# --- what was rewritten ---------------------------------------------------------------------------------------------


def rewritten(was: bytes = b'"user":"eva"', now: bytes = b'"user":"eve"') -> None:
    """Somebody changes who submitted a workload, or something else, and computes the whole chain anew."""
    connection = sqlite3.connect("d.db")
    connection.execute("DROP TRIGGER events_no_update")
    chain = bytes(32)
    for seq, payload in connection.execute("SELECT seq, payload FROM events ORDER BY seq").fetchall():
        forged = payload.replace(was, now)
        chain = hashlib.sha256(chain + forged).digest()
        connection.execute("UPDATE events SET payload = ?, chain = ? WHERE seq = ?", (forged, chain, seq))
    connection.execute(NO_UPDATE)
    connection.commit()
    connection.close()


def test_a_snapshot_remembers_the_history_that_was(call: Gpol) -> None:
    """A snapshot that was left holds the chain value of before. verify and fsck say that history may have been rewritten."""
    was = call("verify", "d.db")[1].split(f"head {last()}:")[1].strip()
    rewritten()

    code, out, _ = call("verify", "d.db", "--format", "json")
    report = json.loads(out)
    assert (code, report["good"], report["bad_within"], report["seq"]) == (4, False, [1, last()], 0)
    found = findings(done := call("fsck", "d.db", "--format", "json"))
    assert done[0] == 4
    assert "snapshot" not in found
    assert found["rewritten"]["expected"] == was
    assert "history may have been rewritten" in found["rewritten"]["meaning"]
    assert "make no new snapshots" in found["rewritten"]["remedy"]
    assert not any("--afresh" in finding["remedy"] for finding in found.values())


def test_a_snapshot_that_checkpoints_refute_is_no_fault_of_the_events(call: Gpol) -> None:
    """Where checkpoints show the events to be those that were signed, verify stays good, and fsck tells of the snapshot."""
    sql(f"UPDATE snapshots SET chain = x'{'07' * 32}'")
    assert call("verify", "d.db", "--checkpoint", "kept", "--key", "lab.pub")[0] == 0
    assert call("verify", "d.db")[0] == 4
    assert "rewritten" in findings(call("fsck", "d.db", "--format", "json"))


def test_what_remembers_an_end_that_is_gone(call: Gpol) -> None:
    """A snapshot of a later event than the last one shows that the end was cut off."""
    sql("DROP TRIGGER events_no_delete", "DELETE FROM events WHERE seq > 4")
    code, out, _ = call("verify", "d.db", "--format", "json")
    assert (code, json.loads(out)["bad_seq"]) == (4, 5)
    assert findings(call("fsck", "d.db", "--format", "json"))["cut"]["seq"] == 5


# --- the database ---------------------------------------------------------------------------------------------------

STRUCTURES = {
    "two versions": (("INSERT INTO alembic_version VALUES ('zz')",), "the table `alembic_version` has 2 rows, `1` and `zz`,"),
    "no version": (("DELETE FROM alembic_version",), "the table `alembic_version` has 0 rows"),
    "no table of versions": (("DROP TABLE alembic_version",), "the table `alembic_version` is missing"),
    "trigger dropped": (("DROP TRIGGER events_no_update",), "the trigger `events_no_update` is missing"),
    "trigger added": (("CREATE TRIGGER x AFTER INSERT ON events BEGIN SELECT 1; END",), "the trigger `x` is none of a journal's"),
    "table dropped": (("DROP TABLE snapshots",), "the table `snapshots` is missing"),
    "table added": (("CREATE TABLE x (y)",), "the table `x` is none of a journal's"),
    "view added": (("CREATE VIEW x AS SELECT 1",), "the view `x` is none of a journal's"),
    "column dropped": (("ALTER TABLE writers DROP COLUMN program",), "the column `program` of `writers` is missing"),
    "column added": (("ALTER TABLE events ADD COLUMN z TEXT",), "the column `z` of `events` is none of a journal's"),
    "row of meta added": (("INSERT INTO meta VALUES ('x', 'y')",), "the row `x` of `meta` is none of a journal's"),
    "row of meta dropped": (("DELETE FROM meta WHERE key = 'format'",), "the row `format` of `meta` is missing"),
    "row of meta altered": (
        ("UPDATE meta SET value = 'two' WHERE key = 'version'",),
        "the row `version` of `meta` says `two`, and not `1`",
    ),
    "meta dropped": (("DROP TABLE meta",), "the table `meta` is missing"),
}


@pytest.mark.parametrize("change", sorted(STRUCTURES))
def test_changed_tables_are_told_as_what_they_are(call: Gpol, change: str) -> None:
    """fsck names the table, column, row or trigger, goes on to the events, and ends with exit code 4."""
    statements, problem = STRUCTURES[change]
    sql(*statements)
    done = call("fsck", "d.db", "--format", "json")
    found = findings(done)
    assert done[0] == 4
    assert problem in found["structure"]["problem"]
    assert json.loads(done[1].splitlines()[-1])["decided"] == last()
    assert call("log", "d.db")[0] in (0, 4)


def altered(place: int, value: bytes) -> None:
    """Write bytes into the journal's file."""
    with Path("d.db").open("r+b") as file:
        file.seek(place)
        file.write(value)


TAMPERED = {
    "a table behind a view": lambda: sql("ALTER TABLE events RENAME TO evil", "CREATE VIEW events AS SELECT * FROM evil"),
    "a byte of the name": lambda: altered(3, b"\0"),
    "a byte of the size of pages": lambda: altered(16, b"\7"),
    "a byte of the versions": lambda: altered(19, b"\1"),
    "a reserved byte": lambda: altered(80, b"\1"),
    "cut to nothing": lambda: os.truncate("d.db", 0),
    "cut to the header": lambda: os.truncate("d.db", 100),
    "cut to a page": lambda: os.truncate("d.db", 4096),
    "replaced by text": lambda: Path("d.db").write_text("nothing to see here\n"),
    "a rollback journal": lambda: Path("d.db-journal").write_bytes(b"garbage" * 1_000),
}


@pytest.mark.parametrize("how", sorted(TAMPERED))
def test_tampering_is_no_wrong_call(call: Gpol, how: str) -> None:
    """What was a journal, as its checkpoints or what lies beside it show, does not verify: exit code 4, not 3, and the file is named."""
    TAMPERED[how]()
    for command in ("verify", "fsck"):
        code, out, told = call(command, "d.db", "--checkpoint", "kept", "--key", "lab.pub")
        assert (command, code) == (command, 4)
        assert out + told


def test_what_is_no_journal_is_a_wrong_call(call: Gpol) -> None:
    """A file that never was a journal is none without evidence, too: exit code 3."""
    Path("x.txt").write_text("hello\n")
    Path("empty").touch()
    sqlite3.connect("other.db").execute("CREATE TABLE events (a)").connection.close()
    for name in ("x.txt", "empty", "other.db", "missing"):
        assert (name, call("verify", name)[0]) == (name, 3)


@pytest.mark.parametrize("garbage", [b"garbage" * 1_000, b"\x37\x7f\x06\x82" + b"\0" * 60])
def test_a_log_that_is_none_is_told(call: Gpol, garbage: bytes) -> None:
    """What lies beside a journal under the name of its log, and is none, held no event: fsck does not say that it does."""
    Path("d.db-wal").write_bytes(garbage)
    found = findings(done := call("fsck", "d.db", "--format", "json"))
    assert (done[0], "log" in found) == (4, False)
    assert "is no write-ahead log" in found["foreign"]["problem"]


def test_hashes_are_never_cut(call: Gpol) -> None:
    """A long payload is shown in part, without a hash cut in two, and with the hash of the whole."""
    sql("DROP TRIGGER events_no_update", "UPDATE events SET payload = CAST(replace(payload, '\"v\":1', '\"v\": 1') AS BLOB) WHERE seq = 3")
    shown = findings(call("fsck", "d.db", "--format", "json"))["form"]["found"]
    payload = sqlite3.connect("d.db").execute("SELECT payload FROM events WHERE seq = 3").fetchone()[0]
    assert len(payload) > 200
    assert shown.endswith(f"sha256 {hashlib.sha256(payload).hexdigest()})")


# --- what others do while a command runs ----------------------------------------------------------------------------


def test_following_survives_a_restore(call: Gpol, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a copy is renamed over a journal that is followed, what it has more of is shown, and nothing twice."""
    from gpol.journal import journal as module

    whole = call("log", "d.db")[1].splitlines()
    lines = call("export", "facts", "d.db")[1].splitlines(keepends=True)
    Path("f.jsonl").write_text("".join(lines[:2]))
    assert call("run", "lab.gpol", "f.jsonl", "--journal", "followed.db", "--as-recorded")[0] == 0
    shown = len(call("log", "followed.db")[1].splitlines())
    assert 0 < shown < len(whole)
    waits: list[int] = []

    def pause() -> bool:
        waits.append(1)
        if len(waits) == 1:
            Path("d.db").rename("followed.db")
        return len(waits) < 10

    opened: list[module.Journal] = []
    opening = module.Journal.open

    def kept(place: str) -> module.Journal:
        opened.append(opening(place))
        return opened[-1]

    monkeypatch.setattr(module, "pause", pause)
    monkeypatch.setattr(module.Journal, "open", kept)
    code, out, told = call("log", "followed.db", "--follow")
    assert (code, out.splitlines()) == (0, whole), told
    assert len(opened) == 2
    for journal in opened:
        with pytest.raises(JournalError, match="is closed"):
            _ = journal.head


def test_two_damages(call: Gpol) -> None:
    """What is whole before the first of two damages is told, also where the second one was met before."""
    end = last()
    sound = call("state", "d.db", "--at", "2", "--format", "json")[1]
    assert sound
    sql("DROP TRIGGER events_no_update", f"UPDATE events SET payload = x'7b7d' WHERE seq IN (3, {end})")
    assert call("log", "d.db")[0] == 4
    for more in ((), ("--no-snapshot",)):
        code, out, told = call("state", "d.db", "--format", "json", *more)
        assert (code, out != "") == (4, True), told
        assert "which come before it" in told


@pytest.mark.parametrize("error", [AssertionError("odd"), KeyError("odd"), ValueError("odd")])
def test_a_batch_that_cannot_be_decided(call: Gpol, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """A last batch that leads to what cannot be is not whole: the state is told as it was before it."""
    from gpol.journal.audit import whole_part

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(whole_part, "replay_batch", failing)
    sql("DROP TRIGGER events_no_update", f"UPDATE events SET payload = x'7b7d' WHERE seq = {last()}")
    code, out, told = call("state", "d.db", "--format", "json")
    assert (code, out != "") == (4, True), told


def test_what_is_promised_is_what_holds(call: Gpol, root: Path) -> None:
    """Without evidence from elsewhere a history that was rewritten without a trace is consistent, and README and --help say so."""
    rewritten()
    sql("DELETE FROM snapshots")
    assert call("verify", "d.db")[0] == 0
    assert call("verify", "d.db", "--checkpoint", "kept", "--key", "lab.pub")[0] == 4

    readme = " ".join((root / "README.md").read_text().split())
    assert "cannot be altered unseen up to the newest signed checkpoint that is kept elsewhere" in readme
    code, out, _ = call("verify", "--help")
    assert (code, "kept elsewhere" in " ".join(out.split())) == (0, True)


def test_a_decision_of_another_semantics_version(call: Gpol) -> None:
    """replay ends with exit code 2, as docs/audit.md says, where the event that differs was written under another semantics version."""
    rewritten(b'"amount":8000', b'"amount":7000')
    assert call("replay", "d.db")[0] == 4
    sql("UPDATE writers SET semantics = 0, program = '0.0.1'")
    code, out, _ = call("replay", "d.db", "--format", "json")
    assert (code, json.loads(out)["writer"]) == (2, {"first_seq": 1, "program": "0.0.1", "semantics": 0})
    assert "replay with that version" in call("replay", "d.db")[1]
