"""The tables and rows of a journal as the database has them, and a revision of the tables that is still to come."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from gpol.journal.store import schema
from gpol.journal.store.tables import REVISIONS
from sqlalchemy import Connection, create_engine, inspect
from sqlalchemy.pool import NullPool

LATER = str(int(REVISIONS[-1]) + 1)
"""A version of the tables that is still to come."""

_LATER_REVISION = f"""
import sqlalchemy as sa
from alembic import op

revision = "{LATER}"
down_revision = "{REVISIONS[-1]}"


def upgrade() -> None:
    op.create_table("later", sa.Column("number", sa.Integer(), primary_key=True))
    op.add_column("snapshots", sa.Column("note", sa.Text()))
    op.execute("INSERT INTO later VALUES (1)")
"""

_MADE_OF = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL",
    "postgresql": """
        SELECT 'column ' || relname || '.' || attname, concat_ws(' ', attnum, format_type(atttypid, atttypmod), attnotnull, collname)
          FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_collation k ON k.oid = attcollation
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0
        UNION ALL SELECT 'constraint ' || conname, pg_get_constraintdef(oid)
          FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
        UNION ALL SELECT 'trigger ' || tgname, pg_get_triggerdef(t.oid, true)
          FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = current_schema()::regnamespace
        UNION ALL SELECT 'function ' || proname, prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
        """,
}


@contextmanager
def connected(place: Path | str) -> Iterator[Connection]:
    """A transaction in the database of a journal that may not be there yet, with nothing of gpol's around it."""
    if isinstance(place, Path):
        engine = create_engine(f"sqlite:///{place}", poolclass=NullPool)
    else:
        url, _, schema = place.rpartition("&journal=")
        with psycopg.connect(url, autocommit=True) as made:
            made.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}".encode())
        options = f"-c search_path={schema}"
        engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url, options=options), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


def write_later_revision(folder: Path) -> Path:
    """Copy the revisions that there are into a new folder, and add one that makes a table `later`. Returns the new folder."""
    migrations = folder / "migrations"
    shutil.copytree(schema.MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    (migrations / "versions" / f"revision_{LATER}.py").write_text(_LATER_REVISION)
    return migrations


@contextmanager
def later_program(migrations: Path) -> Iterator[None]:
    """Let gpol be, meanwhile, a later version of itself that knows the revision which `write_later_revision` has added."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", migrations)
        patch.setattr(schema, "REVISIONS", (*REVISIONS, LATER))
        yield


def made_of(place: Path | str) -> dict[str, str]:
    """What the database of a journal consists of, but for rows: each thing by its name, with how it is defined."""
    with connected(place) as connection:
        found = connection.exec_driver_sql(_MADE_OF[connection.dialect.name])
        return {name: "".join(definition.split()) for name, definition in found}


def rows(place: Path | str) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables of a journal's database, by the tables' names."""
    with connected(place) as connection:
        names = sorted(inspect(connection).get_table_names())
        return {name: sorted(map(tuple, connection.exec_driver_sql(f"SELECT * FROM {name}"))) for name in names}
