"""verify and replay: whether a journal is what was written, and whether it is what the policy demands."""

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import joblib
import pytest
from gpol.cli.speed import kernels
from gpol.compiled import fast_core
from gpol.engine.default_core import new_core
from gpol.journal.audit import replay as replay_module
from gpol.journal.audit.in_parts import all_processors, replay_parts
from gpol.journal.journal import Journal
from small_histories import facts, play

Gpol = Callable[..., Any]


def _change(journal: str, seq: int, old: bytes, new: bytes, rechain: bool) -> None:
    """Change a stored payload as a forger would, and compute the chain anew if asked to."""
    connection = sqlite3.connect(journal, isolation_level=None)
    connection.execute("DROP TRIGGER IF EXISTS events_no_update")
    [payload] = connection.execute("SELECT payload FROM events WHERE seq = ?", (seq,)).fetchone()
    assert old in payload
    connection.execute("UPDATE events SET payload = ? WHERE seq = ?", (payload.replace(old, new, 1), seq))
    chain = bytes(32)
    for number, stored in connection.execute("SELECT seq, payload FROM events ORDER BY seq").fetchall() if rechain else []:
        chain = sha256(chain + stored).digest()
        connection.execute("UPDATE events SET chain = ? WHERE seq = ?", (chain, number))
    connection.close()


def test_a_good_journal(gpol: Gpol, journal: str) -> None:
    """verify prints the head, which it accepts; replay counts facts and decisions; both exit 0."""
    verified, replayed = gpol("verify", journal), gpol("replay", journal, "--format", "json")
    head = verified.out.split("head ")[1].strip()

    assert verified.out.startswith("good: 12 events; head 12:")
    assert gpol("verify", journal, "--head", head).code == 0
    [record] = replayed.records
    assert (record["same"], record["facts"], record["decisions"], record["bad_seq"]) == (True, 7, 5, None)


def test_which_core_decides(gpol: Gpol, journal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either says the same, also of a forged decision; a line on stderr says where a long journal has no compiled kernels. There is no
    third."""
    monkeypatch.setattr(fast_core, "find_spec", lambda name: None)
    monkeypatch.setattr(fast_core, "FEW", 1)
    plain = gpol("replay", journal, "--by", "definition")
    fast = gpol("replay", journal, "--by", "arrays")
    assert (plain.code, plain.err) == (0, "")
    assert (fast.code, fast.out) == (0, plain.out)
    assert fast_core.WITHOUT_COMPILER in fast.err
    _change(journal, 9, b'"queue":"', b'"queue":"x', rechain=True)
    assert gpol("replay", journal, "--by", "arrays").out == gpol("replay", journal, "--by", "definition").out
    assert gpol("replay", journal).code == 4
    wrong = gpol("replay", journal, "--by", "reference")
    assert wrong.code == 3
    assert "--by is definition or arrays, not `reference`" in wrong.err


def test_a_noted_head_that_is_gone(gpol: Gpol, journal: str) -> None:
    """A head that the journal does not have means that history was replaced, exit code 4."""
    assert gpol("verify", journal, "--head", "12:" + "0" * 64).code == 4
    assert gpol("verify", journal, "--head", "13:" + "0" * 64).code == 4


def test_a_flipped_byte_is_named(gpol: Gpol, journal: str, lab: Path) -> None:
    """A byte flipped in event 8, in the file itself: verify exits 4 and names event 8 in every format."""
    connection = sqlite3.connect(journal)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    [payload] = connection.execute("SELECT payload FROM events WHERE seq = 8").fetchone()
    connection.close()
    data = bytearray((lab / journal).read_bytes())
    data[data.index(payload) + payload.index(b'"beneficiary":"o"') + 15] ^= 1
    (lab / journal).write_bytes(data)
    told, [record] = gpol("verify", journal), gpol("verify", journal, "--format", "json").records

    assert told.code == 4
    assert told.out.startswith("bad: event 8: ")
    assert "; 7 events are good" in told.out
    assert (record["good"], record["bad_seq"], record["seq"]) == (False, 8, 7)


def test_a_changed_decision_is_named_though_the_chain_is_right(gpol: Gpol, journal: str) -> None:
    """A forged decision in a chain that was computed anew, without a trace: verify is good, replay exits 4 and shows both versions."""
    _change(journal, 9, b'"amount":8000', b'"amount":7000', rechain=True)
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        connection.execute("DELETE FROM snapshots")
    done = gpol("replay", journal)
    [record] = gpol("replay", journal, "--format", "json").records

    assert gpol("verify", journal).code == 0
    assert done.code == 4
    assert done.out.startswith("differs: event 9: ")
    assert (record["same"], record["bad_seq"]) == (False, 9)
    assert json.loads(record["recorded"])["usage"][0]["amount"] == 7000
    assert json.loads(record["recomputed"])["usage"][0]["amount"] == 8000


def test_half_a_journal_is_told_as_it_is(gpol: Gpol, journal: str, lab: Path) -> None:
    """Of a file that was cut in half verify says that it is damaged and what helps, which is not verify; json has an object for it."""
    whole = (lab / journal).read_bytes()
    (lab / "half.db").write_bytes(whole[: len(whole) // 2])
    told, as_json = gpol("verify", "half.db"), gpol("verify", "half.db", "--format", "json")

    assert (told.code, told.out, as_json.code) == (4, "", 4)
    assert told.err.startswith("gpol: `half.db` is damaged: ")
    assert told.err.endswith("; restore a copy that verifies\n")
    [record] = as_json.records
    assert "`half.db` is damaged: " in record.pop("problem")
    assert record == {
        "v": 1,
        "kind": "verify",
        "good": False,
        "seq": None,
        "chain": None,
        "signed": None,
        "bad_seq": None,
        "bad_within": None,
    }


def test_a_journal_of_nothing(gpol: Gpol, lab: Path) -> None:
    """A journal without an event is good; log says that it is empty, not that the selection missed."""
    (lab / "none.jsonl").touch()
    gpol("run", "lab.gpol", "none.jsonl", "--journal", "none.db")
    log = gpol("log", "none.db")

    assert (log.code, log.out, log.err) == (0, "", "gpol: the journal is empty\n")
    assert gpol("verify", "none.db").out.startswith("good: 0 events; head 0:")
    assert gpol("replay", "none.db").out == "same: 0 facts decided again, 0 decisions, all identical\n"


@pytest.mark.parametrize("by", [(), ("--by", "definition"), ("--by", "arrays")])
def test_a_replay_in_parts_says_what_any_replay_says(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch, by: tuple[str, ...]) -> None:
    """Of a long journal that is good, without another look at it, and of one that is not: the same words and exit codes."""
    monkeypatch.setattr(fast_core, "find_spec", lambda name: None)
    monkeypatch.setattr(fast_core, "FEW", 1)
    monkeypatch.setattr(replay_parts, "PAYS", 1)
    monkeypatch.setattr(replay_parts, "EVENTS", 10)
    monkeypatch.setattr(replay_parts, "EVENTS_A_BYTE", 0)
    monkeypatch.setattr(all_processors, "processes", ThreadPoolExecutor)
    with Journal.create(lab / "long.db") as journal:
        play(journal, new_core(), facts(100), every=10)
        decision = [recorded.seq for recorded in journal.events() if recorded.event.is_decision][-2]

    def told(*options: str) -> list[tuple[int, str, str]]:
        found = [gpol("replay", "long.db", *by, *options, *form) for form in ((), ("--format", "json"))]
        return [(done.code, done.out, done.err) for done in found]

    def both_ways() -> list[tuple[int, str, str]]:
        monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
        whole = told()
        monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
        assert told() == whole
        return whole

    assert both_ways()[0][0] == 0
    with monkeypatch.context() as context:
        context.setattr(replay_module, "replay", None)
        assert told()[0][0] == 0
    _change("long.db", decision, b'"reason":"', b'"reason":"x', rechain=False)
    assert both_ways()[0][0] == 4
    _change("long.db", decision, b'"reason":"x', b'"reason":"y', rechain=True)
    assert both_ways()[0][0] == 4


def test_no_parts_while_kernels_are_being_made(gpol: Gpol, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay of a long journal that begins without compiled kernels has them made at once, and takes them before its end."""
    made: list[str] = []
    monkeypatch.setattr(fast_core, "_kernels_at_hand", lambda: (None, fast_core.COMPILING))
    monkeypatch.setattr(fast_core, "FEW", 1)
    monkeypatch.setattr(kernels, "compile_in_background", lambda: made.append("asked for"))
    monkeypatch.setattr(replay_parts, "replay_in_parts", lambda *_: made.append("parts"))
    with Journal.create(lab / "long.db") as journal:
        play(journal, new_core(), facts(20), every=10)

    assert (gpol("replay", "long.db").code, made) == (0, ["asked for"])
    assert (gpol("replay", "long.db", "--by", "definition").code, made[1:]) == (0, ["parts"])
