"""Making the tables of a journal, telling whether they are there and of which version, and bringing old ones up to date."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, inspect, select

from .errors import JournalError
from .tables import FORMAT, FORMAT_VERSION, META, METADATA, REVISION, REVISIONS, TRIGGERS

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"


def create_tables(connection: Connection) -> None:
    """Make the tables of an empty journal, of the newest version, in the transaction that is under way."""
    METADATA.create_all(connection)
    REVISION.create(connection)
    for statement in TRIGGERS[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    connection.execute(insert(META), [{"key": "format", "value": FORMAT}, {"key": "version", "value": str(FORMAT_VERSION)}])
    connection.execute(insert(REVISION), {"version_num": REVISIONS[-1]})


def revision_of(connection: Connection, name: str) -> str | None:
    """The version of a journal's tables; None: this is no journal. Raises JournalError, with the journal's name, for a version to come."""
    tables = set(inspect(connection).get_table_names())
    if not {"events", "meta"} <= tables:
        return None
    meta = {row.key: row.value for row in connection.execute(select(META))}
    version = str(meta.get("version", ""))
    if meta.get("format") != FORMAT or not (version.isascii() and version.isdigit()):
        return None
    if version != str(FORMAT_VERSION):
        raise JournalError(f"`{name}` is of journal format {version}; this program knows format {FORMAT_VERSION}", "use a newer gpol")
    if "alembic_version" not in tables:  # made before tables had versions
        return REVISIONS[0]
    found = connection.execute(select(REVISION.c.version_num)).scalars().all()
    if len(found) != 1 or found[0] not in REVISIONS:
        told = " and ".join(f"`{each}`" for each in sorted(map(str, found))) or "no version"
        raise JournalError(f"`{name}` has tables of {told}; this program knows versions up to {REVISIONS[-1]}", "use a newer gpol")
    return str(found[0])


def upgrade_tables(connection: Connection) -> None:
    """Bring old tables to the newest version, in the transaction that is under way: all of it is done, or nothing."""
    from alembic import command

    config = migrations(connection)
    if not inspect(connection).has_table(REVISION.name):
        command.stamp(config, REVISIONS[0])
    command.upgrade(config, REVISIONS[-1])


def migrations(connection: Connection) -> "Config":
    """What alembic's commands need to work on a journal's tables through a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
