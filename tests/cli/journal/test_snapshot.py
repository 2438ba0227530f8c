"""The command `snapshot`, and the snapshots that `run` and `simulate` leave."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

Gpol = Callable[..., Any]


def rows(journal: str) -> list[int]:
    """After which events there are snapshots."""
    with closing(sqlite3.connect(journal)) as connection:
        return [seq for (seq,) in connection.execute("SELECT seq FROM snapshots ORDER BY seq")]


def empty(journal: str) -> None:
    """Take the snapshots out of a file."""
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("DELETE FROM snapshots")


def test_simulate_and_run_leave_one_at_the_end(gpol: Gpol, journal: str, facts: Callable[..., str]) -> None:
    """A journal that a command made opens at its end."""
    [head] = [record["seq"] for record in gpol("verify", journal, "--format", "json").records]
    assert rows(journal) == [head]
    assert gpol("run", "lab.gpol", facts(), "--journal", "run.db").code == 0
    assert rows("run.db") == [gpol("verify", "run.db", "--format", "json").records[0]["seq"]]


def test_snapshot_keeps_the_state_at_the_end(gpol: Gpol, journal: str) -> None:
    """It says after which event; what `state` shows does not hang on it."""
    shown = gpol("state", journal, "--workloads").out
    [seq] = rows(journal)
    empty(journal)
    assert gpol("state", journal, "--workloads").out == shown

    [made] = gpol("snapshot", journal, "--format", "json").records
    assert (made["kind"], made["seq"], made["kept"]) == ("snapshot", seq, [seq])
    assert made["bytes"] > 0
    assert gpol("state", journal, "--workloads").out == shown
    assert f"snapshot after event {seq}, " in gpol("snapshot", journal).out
    assert rows(journal) == [seq]


def test_afresh_trusts_none_that_is_there(gpol: Gpol, journal: str) -> None:
    """A state that is sound in itself and was put where it does not belong is replaced by that of all events."""
    shown = gpol("state", journal).out
    lines = ['{"kind":"WorkloadSubmitted","time":0,"workload":"x","queue":"owner","pod_sets":[{"requests":{"gpu":"1"}}]}']
    with open("other.jsonl", "w") as file:
        file.write("\n".join(lines))
    assert gpol("simulate", "lab.gpol", "jobs.csv", "--on-evict", "resume", "--journal", "other.db").code == 0
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("ATTACH 'other.db' AS other")
        connection.execute("UPDATE snapshots SET (content, digest) = (SELECT content, digest FROM other.snapshots)")

    assert gpol("snapshot", journal, "--afresh").code == 0
    assert gpol("state", journal).out == shown


def test_what_cannot_be_kept_is_refused(gpol: Gpol, journal: str) -> None:
    """No journal, an empty one, one that somebody else writes: each with its exit code and its remedy."""
    from gpol.journal.journal import Journal

    assert (done := gpol("snapshot", "nowhere.db")).code == 3
    assert "there is no journal at `nowhere.db`" in done.err
    Journal.create("empty.db").close()
    assert (done := gpol("snapshot", "empty.db")).code == 3
    assert "there is no state to keep" in done.err
    with Journal.open(journal, readonly=False):
        assert (done := gpol("snapshot", journal)).code == 3
        assert "open for writing elsewhere" in done.err
