"""The tables of a journal, the same in every store; beside the payloads they are all there is to the format (`docs/events.md`).

`seq` is ours, not the database's. Triggers refuse to change or delete what is there: they keep honest programs honest, and the
chain finds the others.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table, Text, UniqueConstraint
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

FORMAT = "gpol journal"
FORMAT_VERSION = 1
"""Of the events; the tables have versions of their own, `REVISION`."""

REVISIONS = ("1",)
"""The versions of the tables, counted from 1, as in `migrations/`. A new journal is made in the last one."""

_NUMBER = BigInteger().with_variant(Integer(), "sqlite")  # in SQLite every integer has 64 bits, and only this one is the row's own number


class EscapedText(TypeDecorator[str]):
    """The name of a stream in PostgreSQL, whose text holds no NUL: a NUL is kept as `\\0`, and a backslash as `\\\\`."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text that is compared by its bytes: an index does not hang on the operating system's collations."""
        return Text(collation="C")

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """As it is stored."""
        return None if value is None else escaped(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """As it was given."""
        return None if value is None else unescaped(value.encode()).decode()


def escaped(name: str) -> str:
    """A name without NUL characters, from which `unescaped` makes the same name again."""
    return name.replace("\\", "\\\\").replace("\0", "\\0") if "\\" in name or "\0" in name else name


def unescaped(name: bytes) -> bytes:
    """The name that `escaped` was given, in UTF-8."""
    return b"\\".join(part.replace(b"\\0", b"\0") for part in name.split(b"\\\\"))


METADATA = MetaData()

EVENTS = Table(
    "events",
    METADATA,
    Column("seq", _NUMBER, primary_key=True, autoincrement=False),
    Column("stream", Text().with_variant(EscapedText(), "postgresql"), nullable=False),
    Column("version", _NUMBER, nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    UniqueConstraint("stream", "version"),
)
"""One row an event. Only `payload` and `chain` say anything; the other columns repeat what the payload says, to find it by."""

META = Table("meta", METADATA, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))
"""What the database is: `format` and `version`."""

WRITERS = Table(
    "writers",
    METADATA,
    Column("first_seq", _NUMBER, primary_key=True, autoincrement=False),
    Column("program", Text, nullable=False),
    Column("semantics", _NUMBER, nullable=False),
)
"""Which program wrote the events from `first_seq` on: its version and its semantics version. Not part of the chain."""

SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("seq", _NUMBER, primary_key=True, autoincrement=False),
    Column("chain", LargeBinary, nullable=False),
    Column("format", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
"""States of the core: a cache, to be emptied at any time, so nothing protects it. `digest` is that of `content`, whose form is `format`."""

REVISION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""Which of the revisions the tables are of. It is the library alembic's own table, so it is not among those that it compares."""

_REFUSAL = "a journal is only appended to"

TRIGGERS = {
    "sqlite": (
        f"CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
        f"CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END",
    ),
    "postgresql": (
        f"CREATE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$",
        "CREATE TRIGGER events_no_update BEFORE UPDATE ON events EXECUTE FUNCTION events_refuse()",
        "CREATE TRIGGER events_no_delete BEFORE DELETE ON events EXECUTE FUNCTION events_refuse()",
        "CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events EXECUTE FUNCTION events_refuse()",
    ),
}
"""What refuses to change or delete events, by the name of the dialect."""
