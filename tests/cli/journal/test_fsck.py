"""The command `fsck`: all findings, and its exit codes."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

Gpol = Callable[..., Any]


def alter(journal: str, *statements: str) -> None:
    """Change a file behind the journal's back."""
    with closing(sqlite3.connect(journal)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_good_journal(gpol: Gpol, journal: str) -> None:
    """One line, exit code 0."""
    done = gpol("fsck", journal)
    assert (done.code, done.out) == (0, "good: 12 events, every decision made again\n")
    [told] = gpol("fsck", journal, "--format", "json").records
    assert told == {"v": 1, "kind": "fsck", "good": True, "seq": 12, "decided": 12, "findings": 0, "problem": ""}


def test_all_that_is_wrong(gpol: Gpol, journal: str) -> None:
    """Each kind of finding with its remedy, exit code 4."""
    alter(
        journal,
        "DROP TRIGGER events_no_update",
        "UPDATE events SET kind = 'x' WHERE seq IN (2, 3)",
        "UPDATE snapshots SET format = 'core 0'",
    )
    done = gpol("fsck", journal)
    assert done.code == 4
    for words in (
        "fault structure: the trigger `events_no_update`",
        "(the first of 2)",
        "fault snapshot: ",
        "--afresh",
        "bad: 3 kinds of faults",
    ):
        assert words in done.out
    *findings, last = gpol("fsck", journal, "--format", "json").records
    assert [(each["sort"], each["seq"], each["count"], each["is_fault"]) for each in findings] == [
        ("structure", None, 1, True),
        ("column", 2, 2, True),
        ("snapshot", 12, 1, True),
    ]
    assert all(each["remedy"] and each["problem"] for each in findings)
    assert (last["good"], last["findings"]) == (False, 3)


def test_checkpoints_belong_to_it(gpol: Gpol, journal: str) -> None:
    """A journal that was cut off is sound in itself; a checkpoint from before shows it."""
    public = gpol("key", "new", "acme", "-o", "acme.key").out.strip()
    assert gpol("checkpoint", journal, "--key", "acme.key", "-o", "signed").code == 0
    assert gpol("fsck", journal, "--checkpoint", "signed", "--key", public).code == 0
    alter(journal, "DROP TRIGGER events_no_delete", "DELETE FROM events WHERE seq = 12", "DELETE FROM snapshots")
    found = gpol("fsck", journal, "--checkpoint", "signed", "--key", public, "--format", "json").records
    assert ("evidence", 12) in [(each["sort"], each["seq"]) for each in found[:-1]]
    assert gpol("fsck", journal, "--checkpoint", "signed").code == 3


def test_what_is_no_journal(gpol: Gpol, lab: object) -> None:
    """No file, and one that is something else."""
    assert (done := gpol("fsck", "nowhere.db")).code == 3
    assert "there is no journal" in done.err
    assert gpol("fsck", "lab.gpol").code == 3
