"""Locks last: what this process does with a journal's files beside SQLite ends none of the locks that SQLite has on them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.store import first_bytes as module

pytestmark = pytest.mark.sqlite

_OPEN = """
import sys
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
try:
    Journal.open(sys.argv[1], readonly=False).close()
except JournalError as error:
    print(error.message)
"""

_CLOSE_LAST = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM events").fetchall()
connection.close()
"""


def _elsewhere(program: str, place: Path) -> str:
    """What a program prints in another process."""
    done = subprocess.run([sys.executable, "-c", program, place], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def test_a_refused_writer_leaves_the_lock(journal: Journal, place: Path) -> None:
    """A second writer in the process of the first is refused, and one in another process too, then and later."""
    for _ in range(2):
        with pytest.raises(JournalError, match="open for writing elsewhere"):
            Journal.open(place, readonly=False)
        assert "open for writing elsewhere" in _elsewhere(_OPEN, place)
    journal.close()
    assert _elsewhere(_OPEN, place) == ""


def test_a_look_at_what_lies_beside_leaves_the_lock(journal: Journal, place: Path) -> None:
    """To look whether there is a writer ends no lock either."""
    with Journal.open_to_audit(place) as reader:
        assert [kind for kind, _ in reader.surroundings()] == ["writer"]
    assert "open for writing elsewhere" in _elsewhere(_OPEN, place)


def test_a_look_at_the_header_leaves_the_lock(journal: Journal, place: Path, history) -> None:
    """The last connection to close removes the log. Another process does not take itself for the last while this one is connected."""
    journal.append(history(3))
    for _ in range(2):
        with Journal.open_to_audit(place) as reader:
            assert reader.structural_damage() is None
            assert reader.structural_damage() is None
    _elsewhere(_CLOSE_LAST, place)
    assert place.with_name("journal.db-wal").exists()
    journal.append(history(4)[3:])
    with Journal.open_to_audit(place) as reader:
        assert reader.structural_damage() is None
        assert reader.head == journal.head


def test_no_descriptor_stays_behind(place: Path, history) -> None:
    """Once nothing is connected to a file, no descriptor of it is open."""
    with Journal.create(place) as journal:
        file = place.stat().st_dev, place.stat().st_ino
        journal.append(history(3))
        assert journal.structural_damage() is None
        assert len(module._kept[file]) == 1
    for _ in range(2):
        assert file not in module._kept
        assert file not in module._connections
        assert module.first_bytes(place, 6) == b"SQLite"


def test_a_lock_that_may_only_be_read(journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not write the lock's file may not append: SQLite would open it to read, and lock nothing."""
    journal.close()
    monkeypatch.setattr(os, "access", lambda path, _mode: not str(path).endswith("-lock"))
    with pytest.raises(JournalError, match="-lock` cannot be made: Permission denied"):
        Journal.open(place, readonly=False)
