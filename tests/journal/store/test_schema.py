"""The versions of the tables: earlier ones are brought up to date, whole or not at all, and those that nobody knows are refused."""

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from gpol.journal.audit.verify import verify
from gpol.journal.errors import DamagedError, JournalError
from gpol.journal.journal import Journal
from gpol.journal.store import schema
from gpol.journal.store.tables import METADATA, REVISIONS
from raw_tables import LATER, connected, later_program, made_of, rows, write_later_revision
from sqlalchemy import Connection

OLDER = "this version of gpol cannot read it: use the version that wrote it"
NEWER = "install a newer gpol"


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    """The revisions of a later version of gpol."""
    return write_later_revision(tmp_path)


@pytest.fixture
def earlier(journal: Journal, place: Path | str, history) -> Path | str:
    """A closed journal of 8 events with the tables of today."""
    journal.append(history(4))
    journal.close()
    return place


def test_earlier_tables_are_read_as_they_are(earlier: Path | str, migrations: Path) -> None:
    """A later version of gpol reads a journal with the tables of today, all of it, and changes nothing."""
    before = made_of(earlier), rows(earlier)
    with later_program(migrations), Journal.open(earlier) as journal:
        assert verify(journal).good
        assert [recorded.seq for recorded in journal.events()] == list(range(1, 9))

    assert (made_of(earlier), rows(earlier)) == before


def test_earlier_tables_are_brought_up_to_date(earlier: Path | str, migrations: Path, history) -> None:
    """Opened to append, the journal gets the later tables, keeps every event and its chain, and takes more of them."""
    before = rows(earlier)
    with later_program(migrations), Journal.open(earlier, readonly=False) as journal:
        report = verify(journal)
        assert (report.good, report.seq, report.chain) == (True, 8, before["events"][-1][-1].hex())
        assert journal.append(history(2, start=9)[:1]).seq == 9

    after = rows(earlier)
    assert after["events"][:-1] == before["events"]
    assert (after["meta"], after["writers"], after["later"]) == (before["meta"], before["writers"], [(1,)])
    assert after["alembic_version"] == [(LATER,)]


def test_a_new_journal_needs_no_upgrade(earlier: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal that is up to date is opened without alembic."""
    monkeypatch.setattr("gpol.journal.store.store.upgrade_tables", None)

    Journal.open(earlier, readonly=False).close()


def test_upgrade_is_whole_or_not_at_all(earlier: Path | str, migrations: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade that fails at its end leaves the earlier tables, and can be made again."""
    before = made_of(earlier), rows(earlier)

    def fail_late(connection: Connection) -> None:
        schema.upgrade_tables(connection)
        connection.exec_driver_sql("INSERT INTO no_such_table VALUES (1)")

    with later_program(migrations):
        with monkeypatch.context() as patch:
            patch.setattr("gpol.journal.store.store.upgrade_tables", fail_late)
            with pytest.raises(JournalError, match="no_such_table"):
                Journal.open(earlier, readonly=False)
        assert (made_of(earlier), rows(earlier)) == before

        Journal.open(earlier, readonly=False).close()
    assert rows(earlier)["alembic_version"] == [(LATER,)]


@pytest.mark.parametrize("readonly", [True, False])
@pytest.mark.parametrize(
    ("statement", "told", "remedy"),
    [
        (f"UPDATE alembic_version SET version_num = '{LATER}'", f"has tables of version `{LATER}`", NEWER),
        ("UPDATE alembic_version SET version_num = '0'", "has tables of version `0`", OLDER),
        ("UPDATE alembic_version SET version_num = 'x'", "has tables of version `x`", OLDER),
        ("UPDATE meta SET value = '2' WHERE \"key\" = 'version'", "is of journal format 2; this program knows format 1", NEWER),
        ("UPDATE meta SET value = '0' WHERE \"key\" = 'version'", "is of journal format 0; this program knows format 1", OLDER),
    ],
)
def test_unknown_versions_are_refused(earlier: Path | str, readonly: bool, statement: str, told: str, remedy: str) -> None:
    """A version that this program does not know is refused by name, to read and to append, with what to do; nothing is touched."""
    with connected(earlier) as connection:
        connection.exec_driver_sql(statement)
    before = made_of(earlier), rows(earlier)
    with pytest.raises(JournalError, match=told) as caught:
        Journal.open(earlier, readonly=readonly)

    assert "; this program knows " in caught.value.message
    assert caught.value.remedy == remedy
    assert (made_of(earlier), rows(earlier)) == before


@pytest.mark.parametrize("statement", ["DELETE FROM alembic_version", "DROP TABLE alembic_version"])
def test_a_version_that_is_missing_is_damage(earlier: Path | str, statement: str) -> None:
    """Every journal says of which version its tables are: one that does not was changed by hand. It can be opened to be audited."""
    with connected(earlier) as connection:
        connection.exec_driver_sql(statement)
    with pytest.raises(DamagedError, match=r"the table `alembic_version` of .* has 0 rows, and a journal's has one"):
        Journal.open(earlier)
    with Journal.open_to_audit(earlier) as journal:
        assert journal.table_damage is not None


def test_both_ways_lead_to_the_same_tables(journal: Journal, place: Path | str) -> None:
    """Going through all revisions gives the tables, triggers and rows that a new journal has at once."""
    journal.close()
    other = place.with_name("other.db") if isinstance(place, Path) else f"{place}_other"
    with connected(other) as connection:
        command.upgrade(schema.migrations(connection), "head")
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA) == []

    assert made_of(other) == made_of(place)
    assert rows(other) == rows(place)


def test_a_difference_of_tables_is_seen(earlier: Path | str) -> None:
    """A journal that lacks a table is not what a new journal has."""
    with connected(earlier) as connection:
        connection.exec_driver_sql("DROP TABLE snapshots")
        (difference,) = compare_metadata(MigrationContext.configure(connection), METADATA)

    assert (difference[0], difference[1].name) == ("add_table", "snapshots")


@pytest.mark.sqlite
def test_revisions_are_those_of_alembic(place: Path) -> None:
    """The versions that the program knows are the scripts that there are, counted from 1, in their order."""
    with connected(place) as connection:
        script = ScriptDirectory.from_config(schema.migrations(connection))

    assert tuple(reversed([each.revision for each in script.walk_revisions()])) == REVISIONS
    assert tuple(map(str, range(1, len(REVISIONS) + 1))) == REVISIONS
