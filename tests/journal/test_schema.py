"""The versions of the tables: old journals open and are brought up to date, whole or not at all, and later ones are refused."""

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from gpol.journal import schema
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.tables import METADATA, REVISIONS
from gpol.journal.verify import verify
from old_journals import connected, made_of, make_old_journal, rows
from sqlalchemy import Connection

_FIRST = (
    "CREATE TABLE events (seq INTEGER NOT NULL, stream TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL, "
    "payload BLOB NOT NULL, chain BLOB NOT NULL, PRIMARY KEY (seq), UNIQUE (stream, version))",
    'CREATE TABLE meta ("key" TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY ("key"))',
    "CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END",
    "CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END",
)
"""What a journal was made of before its tables had versions."""


@pytest.fixture(params=["without versions", "of version 1"])
def old(request: pytest.FixtureRequest, place: Path | str, history) -> Path | str:
    """A journal of 8 events in tables as the first program made them, and as alembic makes them of revision 1."""
    make_old_journal(place, [event for batch in history(4) for event in batch], versioned=request.param == "of version 1")
    return place


@pytest.mark.sqlite
def test_the_first_version(place: Path) -> None:
    """Revision 1 is what the first program made, to the letter."""
    make_old_journal(place, [], versioned=False)

    assert sorted(made_of(place).values()) == sorted("".join(statement.split()) for statement in _FIRST)
    assert rows(place) == {"events": [], "meta": [("format", "gpol journal"), ("version", "1")]}


def test_old_journal_is_read_as_it_is(old: Path | str) -> None:
    """Reading an old journal, all of it, changes nothing."""
    before = made_of(old), rows(old)
    file = old.read_bytes() if isinstance(old, Path) else None
    with Journal.open(old, readonly=True) as journal:
        assert verify(journal).good
        assert [recorded.seq for recorded in journal.events()] == list(range(1, 9))

    assert file is None or old.read_bytes() == file
    assert (made_of(old), rows(old)) == before


def test_old_journal_is_brought_up_to_date(old: Path | str, history) -> None:
    """Opened to append, an old journal has the tables of a new one, keeps every event and its chain, and takes more of them."""
    before = rows(old)
    with Journal.open(old, readonly=False) as journal:
        report = verify(journal)
        assert (report.good, report.seq, report.chain) == (True, 8, before["events"][-1][-1].hex())
        assert journal.append(history(2, start=9)[:1]).seq == 9
        assert verify(journal).good
    new = old.with_name("new.db") if isinstance(old, Path) else f"{old}_new"
    Journal.create(new).close()

    assert made_of(old) == made_of(new)
    after = rows(old)
    assert (after["events"][:-1], after["meta"]) == (before["events"], before["meta"])
    assert after["alembic_version"] == rows(new)["alembic_version"] == [(REVISIONS[-1],)]


def test_a_new_journal_needs_no_upgrade(journal: Journal, place: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that is up to date is opened without alembic."""
    journal.close()
    monkeypatch.setattr("gpol.journal.store.upgrade_tables", None)

    Journal.open(place, readonly=False).close()


def test_upgrade_is_whole_or_not_at_all(old: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade that fails at its end leaves the old tables, and can be made again."""
    before = made_of(old), rows(old)

    def fail_late(connection: Connection) -> None:
        schema.upgrade_tables(connection)
        connection.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")

    with monkeypatch.context() as patch:
        patch.setattr("gpol.journal.store.upgrade_tables", fail_late)
        with pytest.raises(JournalError, match="no_such_table"):
            Journal.open(old, readonly=False)
    assert (made_of(old), rows(old)) == before

    Journal.open(old, readonly=False).close()
    assert rows(old)["alembic_version"] == [(REVISIONS[-1],)]


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize(
    ("statement", "told"), [("UPDATE alembic_version SET version_num = '3'", "`3`"), ("DELETE FROM alembic_version", "no version")]
)
def test_later_tables_are_refused(journal: Journal, place: Path | str, readonly: bool, statement: str, told: str) -> None:
    """Tables of a version that this program does not know are refused by name, to read and to append, and not touched."""
    journal.close()
    with connected(place) as connection:
        connection.exec_driver_sql(statement)
    before = made_of(place), rows(place)
    with pytest.raises(JournalError, match=f"has tables of {told}; this program knows versions up to 2") as caught:
        Journal.open(place, readonly=readonly)

    assert caught.value.remedy == "use a newer gpol"
    assert (made_of(place), rows(place)) == before


def test_both_ways_lead_to_the_same_tables(place: Path | str) -> None:
    """Going through all revisions gives the tables that a new journal has at once, as alembic compares them."""
    with connected(place) as connection:
        command.upgrade(schema.migrations(connection), "head")

        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA) == []


def test_a_difference_of_tables_is_seen(place: Path | str) -> None:
    """The first revision alone is not what a new journal has."""
    make_old_journal(place, [])
    with connected(place) as connection:
        (difference,) = compare_metadata(MigrationContext.configure(connection), METADATA)

    assert (difference[0], difference[1].name) == ("add_table", "snapshots")


@pytest.mark.sqlite
def test_revisions_are_those_of_alembic(place: Path) -> None:
    """The versions that the program knows are the scripts that there are, in their order."""
    with connected(place) as connection:
        script = ScriptDirectory.from_config(schema.migrations(connection))

    assert tuple(reversed([each.revision for each in script.walk_revisions()])) == REVISIONS
