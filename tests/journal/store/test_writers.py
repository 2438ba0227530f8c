"""Who wrote a journal: a row for each change of the program's version or semantics, in the transaction of an append."""

from pathlib import Path

import pytest
from gpol.engine.facts import TimeAdvanced
from gpol.engine.semantics import SEMANTICS
from gpol.journal.backup import backup
from gpol.journal.errors import DamagedError
from gpol.journal.journal import Journal
from gpol.journal.store import writers
from gpol.journal.store.writers import Writer

NOW = writers.this_writer(1)


@pytest.fixture
def two_writers(journal: Journal, place: Path | str, history, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    """A closed journal whose first 8 events this program wrote, and the ninth one of the next semantics version."""
    journal.append(history(4))
    journal.close()
    with monkeypatch.context() as patch:
        patch.setattr(writers, "SEMANTICS", SEMANTICS + 1)
        _append(place)
    return place


def _append(place: Path | str) -> None:
    with Journal.open(place, readonly=False) as journal:
        last = journal.at(journal.head.seq).event.time
        journal.append([[TimeAdvanced(time=last + 1)]])


def _writers(place: Path | str) -> list[Writer]:
    with Journal.open(place) as journal:
        return journal.writers()


def test_a_new_journal_names_its_writer(journal: Journal, history) -> None:
    """A journal without events has no writer; the first append names this program and its semantics, later ones add nothing."""
    assert journal.writers() == []
    journal.append(history(4)[:2])
    journal.append(history(4)[2:])

    assert journal.writers() == [Writer(1, NOW.program, SEMANTICS)]


def test_a_row_for_each_change(two_writers: Path | str) -> None:
    """Another semantics version adds a row that begins at its first event; the same version adds none, and going back adds one."""
    assert [(each.first_seq, each.semantics) for each in _writers(two_writers)] == [(1, SEMANTICS), (9, SEMANTICS + 1)]
    for _ in range(2):
        _append(two_writers)

    assert _writers(two_writers) == [NOW, NOW._replace(first_seq=9, semantics=SEMANTICS + 1), NOW._replace(first_seq=10)]


def test_another_program_of_the_same_semantics(two_writers: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the program's version alone adds a row too."""
    _append(two_writers)
    monkeypatch.setattr("importlib.metadata.version", lambda _name: "9.8.7")
    _append(two_writers)

    assert _writers(two_writers)[-1] == Writer(11, "9.8.7", SEMANTICS)


def test_who_wrote_an_event(two_writers: Path | str) -> None:
    """Each event has the last writer that began at it or before it."""
    with Journal.open(two_writers) as journal:
        found = [journal.writer_of(seq) for seq in (0, 1, 8, 9)]

    assert [None if each is None else each.semantics for each in found] == [None, SEMANTICS, SEMANTICS, SEMANTICS + 1]


def test_opening_and_failing_add_nothing(journal: Journal, place: Path | str, history, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a journal to append adds no row, and neither does an append that is refused."""
    journal.append(history(4))
    journal.close()
    monkeypatch.setattr(writers, "SEMANTICS", SEMANTICS + 1)
    with Journal.open(place, readonly=False) as again, pytest.raises(Exception, match="time runs backwards"):
        again.append([[TimeAdvanced(time=0)]])

    assert _writers(place) == [NOW]


def test_nothing_is_appended_where_events_are_missing(two_writers: Path | str, hood) -> None:
    """Where the last row is about an event that is gone, the journal was cut off: an append is refused."""
    hood("DELETE FROM events WHERE seq = 9")
    with pytest.raises(DamagedError, match="ends at event 8, and its table `writers` names event 9"):
        _append(two_writers)


def test_copies_have_the_writers(two_writers: Path | str, tmp_path: Path) -> None:
    """A backup has the same rows as the journal."""
    backup(two_writers, tmp_path / "copy.db")

    assert _writers(tmp_path / "copy.db") == _writers(two_writers)


@pytest.mark.sqlite
def test_a_row_in_another_form(two_writers: Path, hood) -> None:
    """A row whose values are no text and no number is refused, and the events are still read."""
    hood("UPDATE writers SET semantics = 'new' WHERE first_seq = 1")
    with Journal.open(two_writers) as journal:
        with pytest.raises(DamagedError, match="the row 1 of the table `writers`"):
            journal.writers()
        assert journal.at(9).event.kind == "TimeAdvanced"
