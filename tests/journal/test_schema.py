"""The versions of the tables: old journals open and are brought up to date, whole or not at all, and later ones are refused."""

import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from gpol.engine.events import AnyEvent
from gpol.journal import schema
from gpol.journal.errors import JournalError
from gpol.journal.journal import Journal
from gpol.journal.records import stream_of
from gpol.journal.tables import METADATA, REVISIONS
from gpol.journal.verify import verify
from sqlalchemy import Connection, create_engine

pytestmark = pytest.mark.sqlite

_OLD = (
    "CREATE TABLE events (seq INTEGER NOT NULL, stream TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL, "
    "payload BLOB NOT NULL, chain BLOB NOT NULL, PRIMARY KEY (seq), UNIQUE (stream, version))",
    'CREATE TABLE meta ("key" TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY ("key"))',
    "CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END",
    "CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END",
    "INSERT INTO meta VALUES ('format', 'gpol journal'), ('version', '1')",
)
"""What a journal was made of before its tables had versions."""


def _tables(place: Path) -> dict[str, str]:
    """Every table and trigger by name, as SQL without its layout."""
    connection = sqlite3.connect(place)
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {name: "".join(sql.split()) for name, sql in found}


def _revisions(place: Path) -> list[str]:
    connection = sqlite3.connect(place)
    found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    connection.close()
    return [version for (version,) in found]


@pytest.fixture
def old(place: Path, history) -> Path:
    """A journal of 8 events as the first version of the program wrote it."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    for statement in _OLD:
        connection.execute(statement)
    chain = bytes(32)
    events: list[AnyEvent] = [event for batch in history(4) for event in batch]
    for seq, event in enumerate(events, 1):
        chain = sha256(chain + event.payload()).digest()
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (seq, stream_of(event), seq, event.kind, event.payload(), chain))
    connection.close()
    return place


def test_old_journal_is_read_as_it_is(old: Path) -> None:
    """Reading an old journal, all of it, changes nothing."""
    before = old.read_bytes()
    with Journal.open(old, readonly=True) as journal:
        assert verify(journal).good
        assert journal.head.seq == 8

    assert old.read_bytes() == before


def test_old_journal_is_brought_up_to_date(old: Path, place: Path, history) -> None:
    """Opened to append, an old journal has the tables of a new one, keeps every event, and takes more of them."""
    with Journal.open(old, readonly=True) as journal:
        before = [(each.seq, each.payload, each.chain) for each in journal.events()]
    with Journal.open(old, readonly=False) as journal:
        assert [(each.seq, each.payload, each.chain) for each in journal.events()] == before
        journal.append(history(2, start=9)[:1])
        assert verify(journal).seq == 9
    new = place.with_name("new.db")
    Journal.create(new).close()

    assert _tables(old) == _tables(new)
    assert _revisions(old) == _revisions(new) == [REVISIONS[-1]]


def test_a_new_journal_needs_no_upgrade(journal: Journal, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that is up to date is opened without alembic."""
    journal.close()
    monkeypatch.setattr("gpol.journal.store.upgrade_tables", None)

    Journal.open(place, readonly=False).close()


def test_upgrade_is_whole_or_not_at_all(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade that fails at its end leaves the old tables, and can be made again."""
    before = _tables(old)

    def fail_late(connection: Connection) -> None:
        schema.upgrade_tables(connection)
        connection.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")

    with monkeypatch.context() as patch:
        patch.setattr("gpol.journal.store.upgrade_tables", fail_late)
        with pytest.raises(JournalError, match="no such table"):
            Journal.open(old, readonly=False)
    assert _tables(old) == before

    Journal.open(old, readonly=False).close()
    assert _revisions(old) == [REVISIONS[-1]]


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize(("statement", "told"), [("UPDATE {} SET version_num = '3'", "`3`"), ("DELETE FROM {}", "no version")])
def test_later_tables_are_refused(journal: Journal, place: Path, readonly: bool, statement: str, told: str) -> None:
    """Tables of a version that this program does not know are refused, to read and to append, and not touched."""
    journal.close()
    connection = sqlite3.connect(place)
    connection.execute(statement.format("alembic_version"))
    connection.commit()
    connection.close()
    before = _tables(place)
    with pytest.raises(JournalError, match=f"has tables of {told}; this program knows versions up to 2") as caught:
        Journal.open(place, readonly=readonly)

    assert caught.value.remedy == "use a newer gpol"
    assert _tables(place) == before


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A connection to an empty database."""
    engine = create_engine(f"sqlite:///{tmp_path / 'empty.db'}")
    with engine.begin() as made:
        yield made
    engine.dispose()


def test_both_ways_lead_to_the_same_tables(connection: Connection) -> None:
    """Going through all revisions gives the tables that a new journal has at once, as alembic compares them."""
    from alembic import command

    command.upgrade(schema.migrations(connection), "head")

    assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA) == []


def test_a_difference_of_tables_is_seen(connection: Connection) -> None:
    """The first revision alone is not what a new journal has."""
    from alembic import command

    command.upgrade(schema.migrations(connection), REVISIONS[0])

    (difference,) = compare_metadata(MigrationContext.configure(connection), METADATA)
    assert (difference[0], difference[1].name) == ("add_table", "snapshots")


def test_revisions_are_those_of_alembic(connection: Connection) -> None:
    """The versions that the program knows are the scripts that there are, in their order."""
    script = ScriptDirectory.from_config(schema.migrations(connection))

    assert tuple(reversed([each.revision for each in script.walk_revisions()])) == REVISIONS
