"""log, verify and replay: what is recorded, whether it is what was written, and whether it is what the policy demands."""

import json
import sqlite3
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

Gpol = Callable[..., Any]

EVENTS = [
    (1, "PolicyActivated", None), (2, "WorkloadSubmitted", "g"), (3, "WorkloadAdmitted", "g"), (4, "WorkloadSubmitted", "big"),
    (5, "WorkloadRejected", "big"), (6, "WorkloadSubmitted", "o"), (7, "TimeAdvanced", None), (8, "WorkloadEvicted", "g"),
    (9, "WorkloadAdmitted", "o"), (10, "WorkloadFinished", "o"), (11, "WorkloadAdmitted", "g"), (12, "WorkloadFinished", "g"),
]  # fmt: skip


def _change(journal: str, seq: int, old: bytes, new: bytes, rechain: bool) -> None:
    """Change a stored payload as a forger would, and compute the chain anew if asked to."""
    connection = sqlite3.connect(journal, isolation_level=None)
    connection.execute("DROP TRIGGER events_no_update")
    [payload] = connection.execute("SELECT payload FROM events WHERE seq = ?", (seq,)).fetchone()
    assert old in payload
    connection.execute("UPDATE events SET payload = ? WHERE seq = ?", (payload.replace(old, new, 1), seq))
    chain = bytes(32)
    for number, stored in connection.execute("SELECT seq, payload FROM events ORDER BY seq").fetchall() if rechain else []:
        chain = sha256(chain + stored).digest()
        connection.execute("UPDATE events SET chain = ? WHERE seq = ?", (chain, number))
    connection.close()


def test_log_shows_every_event(gpol: Gpol, journal: str) -> None:
    """In json every event is whole, with its seq."""
    records = gpol("log", journal, "--format", "json").records

    assert [(each["seq"], each["event"]["kind"], each["event"].get("workload")) for each in records] == EVENTS


def test_log_names_rule_and_beneficiary(gpol: Gpol, journal: str) -> None:
    """For people an eviction is one line: when, who, for whom, by which rule and line."""
    done = gpol("log", journal, "--kind", "WorkloadEvicted")

    assert done.code == 0
    assert done.out.startswith("       8  2026-03-02T08:10:00Z  WorkloadEvicted    g in guest for o ")
    assert " by reclaim-owned (gpol/fair.gpol:14)" in done.out


def test_log_and_explain_say_what_facts_change(gpol: Gpol, facts: Callable[..., str]) -> None:
    """A capacity, an operator's wish with its note, a new priority, a hold and pods that are done are told in both."""
    submitted = {
        "kind": "WorkloadSubmitted",
        "time": 0,
        "workload": "a",
        "queue": "owner",
        "pod_sets": [{"count": 4, "requests": {"gpu": "2"}}],
    }
    written = facts(
        submitted,
        {"kind": "CapacityChanged", "time": 1_000_000, "flavor": "a100", "capacity": {"gpu": "12"}},
        {"kind": "WorkloadUpdated", "time": 2_000_000, "workload": "a", "priority": 7, "reclaimable": {"main": 1}},
        {"kind": "OperatorAction", "time": 3_000_000, "workload": "a", "operator": "ada", "action": "evict", "note": "rack 4"},
        {"kind": "WorkloadUpdated", "time": 4_000_000, "workload": "a", "hold": True},
        {"kind": "WorkloadUpdated", "time": 5_000_000, "workload": "a", "hold": False},
    )
    gpol("run", "lab.gpol", written, "--journal", "j.db")
    log, explained = gpol("log", "j.db").out, gpol("explain", "j.db", "a").out

    assert "1970-01-01T00:00:01Z  CapacityChanged    a100 now 12 gpu\n" in log
    for told in ("priority 7, 1 pod of main is done", "held by its owner", "no longer held by its owner"):
        assert f"  updated: {told}\n" in explained
    assert "1970-01-01T00:00:02Z  WorkloadUpdated    a priority 7, 1 pod of main is done\n" in log
    assert "evict by operator ada: rack 4\n" in log
    assert "evict by operator ada: rack 4\n" in explained


@pytest.mark.parametrize(
    ("filters", "seqs"),
    [
        (("--workload", "o"), [6, 9, 10]),
        (("--queue", "owner"), [6, 9, 10]),
        (("--kind", "WorkloadAdmitted"), [3, 9, 11]),
        (("--kind", "WorkloadAdmitted", "--workload", "g"), [3, 11]),
        (("--since", "2026-03-02T09:10:00Z"), [10, 11, 12]),
        (("--until", "2026-03-02T08:05:00+00:00"), [1, 2, 3, 4, 5, 6]),
        (("--since", "1772438700000000", "--until", "1772439000000000"), [6, 7, 8, 9]),
        (("--workload", "nobody"), []),
        (("--kind", "WorkloadAdmitted", "--kind", "WorkloadEvicted"), [3, 8, 9, 11]),
        (("--cause", "7"), [8, 9]),
        (("--reason", "Denied"), [5]),
        (("--rule", "reclaim-owned"), [8, 9]),
        (("--user", "ada"), []),
        (("--namespace", ""), [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
        (("--after", "10"), [11, 12]),
        (("--after", "12"), []),
        (("--limit", "2"), [1, 2]),
        (("--limit", "3", "--reverse"), [12, 11, 10]),
        (("--workload", "o", "--reverse", "--limit", "2"), [10, 9]),
    ],
)
def test_log_filters(gpol: Gpol, journal: str, filters: tuple[str, ...], seqs: list[int]) -> None:
    """Each filter selects what it says, and all of them must hold."""
    assert [each["seq"] for each in gpol("log", journal, *filters, "--format", "json").records] == seqs


def test_log_says_that_nothing_is_selected(gpol: Gpol, journal: str) -> None:
    """Nothing to show is said on stderr, exit code 0; with something to show nothing is said."""
    nothing, some = gpol("log", journal, "--queue", "ownr"), gpol("log", journal, "--queue", "owner")

    assert (nothing.code, nothing.out, nothing.err) == (0, "", "gpol: no event is selected\n")
    assert (some.code, some.err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("log", "lab.db", "--since", "yesterday"), "--since: `yesterday` is no time"),
        (("log", "lab.db", "--until", "2026-03-02T08:00:00"), "--until: `2026-03-02T08:00:00` has no zone"),
        (("log", "lab.db", "--since", "9" * 5000), "is no time"),
        (("log", "lab.db", "--since", "2", "--until", "1"), "--since is after --until"),
        (("log", "lab.db", "--kind", "WorkloadEvited"), "did you mean WorkloadEvicted?"),
        (("log", "lab.db", "--kind", "TimeAdvanced", "--kind", "X"), "no event is a `X`"),
        (("log", "lab.db", "--cause", "8"), "--cause: event 8 is a decision and causes nothing; give its own cause, 7"),
        (("log", "lab.db", "--cause", "13"), "--cause: the journal has events 1 to 12, not 13"),
        (("log", "lab.db", "--cause", "o"), "--cause: `o` is no event's number"),
        (("log", "lab.db", "--after", "13"), "--after: the journal has events 1 to 12, not 13"),
        (("log", "lab.db", "--limit", "0"), "--limit"),
        (("log", "no.db"), "no.db"),
        (("verify", "no.db"), "no.db"),
        (("replay", "lab.gpol"), "lab.gpol"),
        (("verify", "lab.db", "--head", "3:xyz"), "--head is a seq"),
        (("verify", "lab.db", "--head", "3:" + "g" * 64), "--head is a seq"),
    ],
)
def test_what_cannot_be_asked_is_told(gpol: Gpol, journal: str, arguments: tuple[str, ...], part: str) -> None:
    """Times, kinds, heads and files that are none are told on stderr, exit code 3."""
    done = gpol(*arguments)

    assert (done.code, done.out) == (3, "")
    assert part in done.err


def test_a_good_journal(gpol: Gpol, journal: str) -> None:
    """verify prints the head, which it accepts; replay counts facts and decisions; both exit 0."""
    verified, replayed = gpol("verify", journal), gpol("replay", journal, "--format", "json")
    head = verified.out.split("head ")[1].strip()

    assert verified.out.startswith("good: 12 events; head 12:")
    assert gpol("verify", journal, "--head", head).code == 0
    [record] = replayed.records
    assert (record["same"], record["facts"], record["decisions"], record["bad_seq"]) == (True, 7, 5, None)


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
    """A forged decision in a chain that was computed anew: verify is good, replay exits 4 and shows both versions of event 9."""
    _change(journal, 9, b'"amount":8000', b'"amount":7000', rechain=True)
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
