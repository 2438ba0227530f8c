"""Journals in PostgreSQL: a schema of a database each, by URL.

The right to append is an advisory lock of the very session that appends: who loses the connection loses both, and who gets the
lock knows that the session which had it is over, and what became of its last commit.
"""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, Engine, LargeBinary, case, create_engine, func, literal, select, type_coerce
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeDecorator

from ..errors import JournalError, MissingError, TakenError
from .postgres_errors import damage, meaning
from .postgres_url import Address, library
from .schema import create_tables
from .store import Store
from .tables import EVENTS, unescaped

if TYPE_CHECKING:
    import psycopg

_LOCK_WAIT = "1s"
"""How long to wait for the right to append: as long as a server may need to notice that the writer before was killed."""

_LOCK_CLASS = int.from_bytes(b"gpol")
"""The upper half of the lock's number, by which people find it in pg_locks; the lower half is the table's own number."""

_INSERT = "INSERT INTO events SELECT * FROM unnest(%b::bigint[], %b::text[], %b::bigint[], %b::text[], %b::bytea[], %b::bytea[])"
"""The parameters go as binary, so that payloads need no escapes."""

_COLUMNS = ["bigint", "text", "bigint", "text", "bytea", "bytea"]


class _EscapedBytes(TypeDecorator[bytes]):
    """The name of a stream as bytes, as it was before it was escaped."""

    impl = LargeBinary
    cache_ok = True

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        return None if value is None else unescaped(value)


class PostgresStore(Store):
    """A journal's schema in a PostgreSQL database."""

    stored = select(
        EVENTS.c.seq,
        EVENTS.c.payload,
        EVENTS.c.chain,
        type_coerce(func.convert_to(EVENTS.c.stream, "UTF8"), _EscapedBytes),
        EVENTS.c.version,
        func.convert_to(EVENTS.c.kind, "UTF8", type_=LargeBinary),
        func.concat_ws(
            " ",
            *(
                case((EVENTS.c[name].is_(None), literal("null")), else_=literal(kind))
                for name, kind in (("payload", "blob"), ("chain", "blob"), ("stream", "text"), ("kind", "text"))
            ),
        ),
    ).order_by(EVENTS.c.seq)

    def __init__(self, address: Address) -> None:
        self._psycopg = library()
        self._address = address
        self.name = address.name
        self.schema = address.schema

    # --- opening ----------------------------------------------------------------------------------------------------

    def create(self) -> None:
        """Make a new journal: its schema, if there is none of this name, and its tables."""
        engine = self._engine(lambda: self._connect(write=True), connections=1)
        try:
            with self.explained(), engine.begin() as connection:
                self._claim(connection)
                create_tables(connection)
        finally:
            engine.dispose()

    def _claim(self, connection: Connection) -> None:
        """Make the schema, or take one in which there is nothing yet."""
        there = connection.exec_driver_sql("SELECT to_regnamespace(%s)::oid", (self.schema,)).scalar()
        if there is None:
            connection.exec_driver_sql(f'CREATE SCHEMA "{self.schema}"')
        elif connection.exec_driver_sql("SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = %s)", (there,)).scalar():
            raise TakenError(f"`{self.name}` is already there", "open it to append to it, or choose another name")

    def _reader(self) -> Engine:
        return self._engine(lambda: self._connect(write=False), connections=5, ping=True)

    def _writer(self) -> Engine:
        engine = self._engine(self._connect_and_lock, connections=1)
        try:
            with self.explained(), engine.connect():
                return engine
        except BaseException:
            engine.dispose()
            raise

    def _version(self, connection: Connection) -> str:
        usable = connection.exec_driver_sql("SELECT has_schema_privilege(to_regnamespace(%s)::oid, 'USAGE')", (self.schema,)).scalar()
        if usable is None:
            raise MissingError(f"there is no journal at `{self.name}`", "check the URL, or create the journal first")
        if not usable:
            raise JournalError(f"`{self.name}`: permission denied for schema {self.schema}", "ask the database's owner for the right")
        version = super()._version(connection)
        columns = connection.exec_driver_sql(
            "SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 ORDER BY attnum"
        )
        if list(columns.scalars()) != _COLUMNS:
            raise self._foreign()
        return version

    def _foreign(self) -> JournalError:
        return JournalError(f"`{self.name}` is a schema of the database, but not a journal", "give the name of one that gpol created")

    def _engine(self, connect: Any, connections: int, ping: bool = False) -> Engine:
        """An engine. With `ping` a session that ended unused is replaced; a writer may not have that, whose session is its right."""
        return create_engine(
            "postgresql+psycopg://",
            creator=connect,
            paramstyle="format",
            use_native_hstore=False,
            pool_size=connections,
            max_overflow=0,
            pool_pre_ping=ping,
        )

    # --- sessions ---------------------------------------------------------------------------------------------------

    def _connect(self, *, write: bool) -> "psycopg.Connection[Any]":
        connection: psycopg.Connection[Any] = self._psycopg.connect(
            **{"connect_timeout": "10", "application_name": "gpol", **self._address.options}, client_encoding="UTF8", autocommit=True
        )
        try:
            connection.execute(f"""SET search_path TO "{self.schema}" """)
            connection.execute("SET default_transaction_isolation TO 'read committed'")
            connection.execute(f"SET default_transaction_read_only TO {'off' if write else 'on'}")
            self._check_server(connection, write=write)
        except BaseException:
            connection.close()
            raise
        connection.autocommit = False
        return connection

    def _check_server(self, connection: "psycopg.Connection[Any]", *, write: bool) -> None:
        """Raise JournalError where what is written would not be safe, or not come back as it was."""
        asked = ("server_encoding", "fsync", "full_page_writes", "synchronous_commit")
        found = {name: connection.execute("SELECT current_setting(%s)", (name,)).fetchone()[0] for name in asked}  # type: ignore[index]
        if found["server_encoding"] != "UTF8":
            message = f"the database of `{self.name}` is in {found['server_encoding']}, which cannot hold every name"
            raise JournalError(message, "use a database in UTF8")
        if not write:
            return
        for name in ("fsync", "full_page_writes"):
            if found[name] != "on":
                message = f"the server of `{self.name}` runs with {name} off, so what it acknowledges may be lost"
                raise JournalError(message, f"set {name} to on, and restart the server")
        if found["synchronous_commit"] == "off":
            connection.execute("SET synchronous_commit TO on")

    def _connect_and_lock(self) -> "psycopg.Connection[Any]":
        connection = self._connect(write=True)
        try:
            # The server has to notice, too, when a writer's machine is gone, or nobody else could ever write.
            for setting, seconds in (("idle", 30), ("interval", 10), ("count", 3)):
                connection.execute(f"SET tcp_keepalives_{setting} TO {seconds}")
            # It may be quiet for long, and keeps the right. Servers before 14 do not know the setting.
            connection.execute("SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'")
            connection.execute(f"SET lock_timeout TO '{_LOCK_WAIT}'")
            connection.execute(f"SELECT pg_advisory_lock({_LOCK_CLASS}::bigint << 32 | 'events'::regclass::oid::bigint)")
            connection.execute("RESET lock_timeout")
            connection.commit()
        except self._psycopg.errors.LockNotAvailable:
            connection.close()
            raise JournalError(f"`{self.name}` is open for writing elsewhere", "close it there, or open it readonly here") from None
        except BaseException:
            connection.close()
            raise
        return connection

    # --- drafts -----------------------------------------------------------------------------------------------------

    def draft(self) -> Self:
        """Another schema of the same database."""
        engine = self._reader()
        try:
            with self.explained(), engine.connect() as connection:
                if connection.exec_driver_sql("SELECT to_regnamespace(%s)", (self.schema,)).scalar() is not None:
                    raise TakenError(f"`{self.name}` is already there", "choose another name")
        finally:
            engine.dispose()
        return type(self)(replace(self._address, schema=f"gpol_draft_{secrets.token_hex(8)}"))

    def put_in_place(self, draft: Self) -> None:
        """Rename the draft's schema; that there is none of the name yet is the server's to see."""
        draft._in_one_go(f'ALTER SCHEMA "{draft.schema}" RENAME TO "{self.schema}"')

    def discard(self) -> None:
        """Remove the draft's schema with all that is in it."""
        self._in_one_go(f'DROP SCHEMA IF EXISTS "{self.schema}" CASCADE')

    def _in_one_go(self, statement: str) -> None:
        engine = self._engine(lambda: self._connect(write=True), connections=1)
        try:
            with self.explained(), engine.begin() as connection:
                connection.exec_driver_sql(statement)
        finally:
            engine.dispose()

    # --- health -----------------------------------------------------------------------------------------------------

    def insert(self, connection: Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows as arrays, one for each column: one statement and one answer, whatever their number."""
        columns = tuple(list(column) for column in zip(*rows, strict=True))
        connection.exec_driver_sql(_INSERT, columns)

    def structural_damage(self, connection: Connection) -> str | None:
        """What PostgreSQL's extension amcheck finds in the indexes, where it is installed and may be used; else nothing is looked at."""
        found = connection.exec_driver_sql(
            "SELECT format('%%I.bt_index_check', nspname), has_function_privilege(p.oid, 'EXECUTE')"
            " FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
            " JOIN pg_proc p ON pronamespace = n.oid AND proname = 'bt_index_check' AND pronargs = 2 WHERE extname = 'amcheck'"
        ).first()
        if found is None or not found[1]:
            return None
        try:
            connection.exec_driver_sql(f"SELECT {found[0]}(indexrelid, true) FROM pg_index WHERE indrelid = 'events'::regclass").all()
        except DBAPIError as error:
            if (told := damage(error.orig)) is None:
                raise
            return told
        return None

    def surroundings(self, connection: Connection) -> list[tuple[str, str]]:
        """Drafts of backups that were killed, a lock that is held."""
        found = []
        held = (
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted"
            " AND classid::bigint = %s AND objid = 'events'::regclass::oid)"
        )
        if connection.exec_driver_sql(held, (_LOCK_CLASS,)).scalar():
            found.append(("writer", f"`{self.name}` is open for writing elsewhere"))
        drafts = connection.exec_driver_sql("SELECT nspname FROM pg_namespace WHERE nspname ~ '^gpol_draft_[0-9a-f]{16}$' ORDER BY nspname")
        found += [("leftover", f"the schema `{name}` is a backup that was not finished") for name in drafts.scalars()]
        return found

    def explain(self, error: BaseException | None) -> JournalError:
        """What PostgreSQL's error means for a journal."""
        return meaning(error, self.name)
