"""Journals as earlier versions of gpol left them, in either store, and what tables and rows a store holds, whoever made them."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from gpol.engine.events import AnyEvent
from gpol.journal.records import stream_of
from gpol.journal.schema import migrations
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.pool import NullPool

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


def make_old_journal(place: Path | str, events: Sequence[AnyEvent], *, versioned: bool = True) -> None:
    """Make a journal with the tables of the first version; those of before there were versions lack the table that says so."""
    if isinstance(place, Path):
        with sqlite3.connect(place) as made:
            made.execute("PRAGMA journal_mode=WAL")
        made.close()
    with connected(place) as connection:
        command.upgrade(migrations(connection), "1")
        chain = bytes(32)
        for seq, event in enumerate(events, 1):
            chain = sha256(chain + event.payload()).digest()
            row = {"seq": seq, "stream": stream_of(event), "kind": event.kind, "payload": event.payload(), "chain": chain}
            connection.execute(text("INSERT INTO events VALUES (:seq, :stream, :seq, :kind, :payload, :chain)"), row)
        if not versioned:
            connection.exec_driver_sql("DROP TABLE alembic_version")


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
