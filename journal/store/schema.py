"""Making the tables of a journal, finding out their version, and bringing tables of an earlier version up to date."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, inspect, select

from ..errors import DamagedError, JournalError
from .tables import FORMAT, FORMAT_VERSION, META, METADATA, REVISION, REVISIONS, TRIGGERS

if TYPE_CHECKING:
    from alembic.config import Config

_MARKS = 3
"""So many of a journal's tables show that a database is one, or was."""

MIGRATIONS = Path(__file__).parent / "migrations"
"""The folder of alembic's scripts: one revision for each version of the tables."""


def create_tables(connection: Connection) -> None:
    """Make the tables of an empty journal, of the newest version, in the transaction that is under way."""
    METADATA.create_all(connection)
    REVISION.create(connection)
    for statement in TRIGGERS[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    connection.execute(insert(META), [{"key": "format", "value": FORMAT}, {"key": "version", "value": str(FORMAT_VERSION)}])
    connection.execute(insert(REVISION), {"version_num": REVISIONS[-1]})


def revision_of(connection: Connection, name: str) -> str | None:
    """The version of a journal's tables; None: this is no journal.

    Raises JournalError, with the journal's name, for a version that this program does not know, and DamagedError for a journal whose
    tables are no longer what they were.
    """
    inspected = inspect(connection)
    tables = set(inspected.get_table_names())
    ours = {*METADATA.tables, REVISION.name}
    missing = sorted({"events", "meta"} - tables)
    if missing:
        if len(ours & {*tables, *inspected.get_view_names()}) < _MARKS:
            return None
        view = " and a view stands in its place," if missing[0] in inspected.get_view_names() else ""
        raise DamagedError(None, f"the table `{missing[0]}` of `{name}` is missing,{view} so nothing that it says can be relied on")
    meta = {row.key: row.value for row in connection.execute(select(META))}
    version = str(meta.get("version", ""))
    if meta.get("format") != FORMAT or not _is_number(version):
        if not ours <= tables:
            return None
        raise DamagedError(None, f"the table `meta` of `{name}` does not say that this is a journal, and all tables of one are there")
    if version != str(FORMAT_VERSION):
        raise _unknown(f"`{name}` is of journal format {version}", f"format {FORMAT_VERSION}", newer=int(version) > FORMAT_VERSION)
    found = [] if REVISION.name not in tables else list(connection.execute(select(REVISION.c.version_num)).scalars())
    if len(found) == 1 and found[0] in REVISIONS:
        return str(found[0])
    if len(found) != 1:
        raise DamagedError(None, f"the table `{REVISION.name}` of `{name}` has {len(found)} rows, and a journal's has one")
    told = f"version `{found[0]}`"
    newer = _is_number(str(found[0])) and int(found[0]) > int(REVISIONS[-1])
    raise _unknown(f"`{name}` has tables of {told}", f"versions up to {REVISIONS[-1]}", newer=newer)


def is_readable(connection: Connection) -> bool:
    """Whether there is a table of events with the columns that it should have, whatever became of the others."""
    inspected = inspect(connection)
    if "events" not in inspected.get_table_names():
        return False
    return {column.name for column in METADATA.tables["events"].columns} <= {str(each["name"]) for each in inspected.get_columns("events")}


def is_newest(revision: str) -> bool:
    """Whether tables of this version need no upgrade."""
    return revision == REVISIONS[-1]


def upgrade_tables(connection: Connection) -> None:
    """Bring the tables to the newest version, in the transaction that is under way: all of it is done, or nothing."""
    from alembic import command

    command.upgrade(migrations(connection), REVISIONS[-1])


def migrations(connection: Connection) -> "Config":
    """What alembic's commands need to work on a journal's tables through a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _unknown(found: str, known: str, *, newer: bool) -> JournalError:
    remedy = "install a newer gpol" if newer else "this version of gpol cannot read it: use the version that wrote it"
    return JournalError(f"{found}; this program knows {known}", remedy)
