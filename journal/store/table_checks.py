"""Whether a journal's tables and triggers are those that gpol makes, as far as the database tells."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, inspect, select

from .tables import FORMAT, FORMAT_VERSION, META, METADATA, REVISION, TRIGGERS


def structure_differences(connection: Connection) -> list[str]:
    """What of the tables and triggers of a journal is missing, altered or too much, each as a sentence without its end."""
    return [*_tables(connection), *_views(connection), *_rows(connection), *_triggers(connection)]


def _tables(connection: Connection) -> Iterator[str]:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    for change in _flat(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA)):
        yield _told(change)


def _views(connection: Connection) -> Iterator[str]:
    for name in sorted(inspect(connection).get_view_names()):
        yield f"the view `{name}` is none of a journal's"


def _rows(connection: Connection) -> Iterator[str]:
    """The rows of the tables that say what the database is, which are the same in every journal of this version."""
    tables = inspect(connection).get_table_names()
    if META.name in tables:
        expected = {"format": FORMAT, "version": str(FORMAT_VERSION)}
        found = {str(key): str(value) for key, value in connection.execute(select(META.c.key, META.c.value))}
        for key in sorted({*expected, *found}):
            if key not in found:
                yield f"the row `{key}` of `meta` is missing"
            elif key not in expected:
                yield f"the row `{key}` of `meta` is none of a journal's"
            elif found[key] != expected[key]:
                yield f"the row `{key}` of `meta` says `{found[key]}`, and not `{expected[key]}`"
    if REVISION.name not in tables:
        yield f"the table `{REVISION.name}` is missing"
        return
    revisions = [str(each) for each in connection.execute(select(REVISION.c.version_num)).scalars()]
    if len(revisions) != 1:
        told = f", {' and '.join(f'`{each}`' for each in sorted(revisions))}," if revisions else ""
        yield f"the table `{REVISION.name}` has {len(revisions)} rows{told} and a journal's has one"


def _flat(changes: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Changes one by one: those of one column come as a list."""
    for change in changes:
        if isinstance(change, list):
            yield from change
        else:
            yield change


def _told(change: tuple[Any, ...]) -> str:
    """A change that would make the tables what they should be, told as what they are."""
    match change:
        case ("add_table", table):
            return f"the table `{table.name}` is missing"
        case ("remove_table", table):
            return f"the table `{table.name}` is none of a journal's"
        case ("add_column", _, table, column):
            return f"the column `{column.name}` of `{table}` is missing"
        case ("remove_column", _, table, column):
            return f"the column `{column.name}` of `{table}` is none of a journal's"
        case (str(kind), _, table, column, *_) if kind.startswith("modify_"):
            return f"the column `{column}` of `{table}` is of another kind ({kind.removeprefix('modify_')})"
        case (str(kind), thing, *_):
            known = "is missing" if kind.startswith("add_") else "is none of a journal's"
            return f"a constraint or index of `{thing.table.name}` {known}"
    raise AssertionError(change)


# --- triggers -------------------------------------------------------------------------------------------------------

_STORED = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": (
        "SELECT tgname, CASE WHEN tgenabled IN ('O', 'A') THEN pg_get_triggerdef(t.oid) || ' ' || prosrc ELSE 'switched off' END"
        " FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal AND tgrelid = 'events'::regclass"
    ),
}


def _triggers(connection: Connection) -> Iterator[str]:
    dialect = connection.dialect.name
    found = {str(name): str(sql) for name, sql in connection.exec_driver_sql(_STORED[dialect])}
    expected = {words[2]: statement for statement in TRIGGERS[dialect] if (words := statement.split())[1] == "TRIGGER"}
    for name in sorted({*found, *expected}):
        if name not in found:
            yield f"the trigger `{name}` is missing"
        elif name not in expected:
            yield f"the trigger `{name}` is none of a journal's"
        elif dialect == "sqlite" and found[name] != expected[name]:
            yield f"the trigger `{name}` was altered"
        elif dialect == "postgresql" and not _refuses(found[name], expected[name]):
            yield f"the trigger `{name}` was altered or switched off"


def _refuses(found: str, expected: str) -> bool:
    """Whether a trigger of PostgreSQL's stands before what it should stop, and its function raises an error and does nothing else."""
    [function] = [statement for statement in TRIGGERS["postgresql"] if statement.startswith("CREATE FUNCTION")]
    body = function.split("$$")[1]
    when = expected.split("ON events")[0].removeprefix("CREATE TRIGGER").split("BEFORE")[1].strip()
    return f"BEFORE {when} ON " in found and " WHEN " not in found and found.endswith(body)
