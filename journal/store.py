"""Where a journal lives: one SQLite file, its tables, and who may have it open.

Beside the payloads, the tables are all there is to the format (`docs/events.md`). `seq` is ours, not the database's. Triggers
refuse to change or delete what is there: they keep honest programs honest, and the chain finds the others.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    insert,
    select,
)
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from .errors import DamagedError, JournalError

FORMAT = "gpol journal"
FORMAT_VERSION = 1

_METADATA = MetaData()

EVENTS = Table(
    "events",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("stream", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    UniqueConstraint("stream", "version"),
)
"""One row an event. Only `payload` and `chain` say anything; the other columns repeat what the payload says, to find it by."""

META = Table("meta", _METADATA, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))
"""What the file is: `format` and `version`."""

_TRIGGERS = tuple(
    f"CREATE TRIGGER events_no_{change.lower()} BEFORE {change} ON events BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END"
    for change in ("UPDATE", "DELETE")
)

_BUSY_SECONDS = 10.0
"""How long to wait for another connection's transaction before giving up."""


# --- places ---------------------------------------------------------------------------------------------------------


def locate(path_or_url: str | os.PathLike[str]) -> Path:
    """The file behind a path or a `sqlite:///` URL. Raises JournalError for any other place, naming it."""
    text = os.fspath(path_or_url)
    scheme, separator, _ = text.partition("://")
    if not separator:
        return Path(text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise JournalError(f"`{scheme}://...` is not a database URL", "give a file's path, or sqlite:///PATH") from None
    if url.get_backend_name() != "sqlite":
        raise JournalError(f"journals in `{url.get_backend_name()}` are not supported yet", "give a file's path, or sqlite:///PATH")
    if url.drivername not in ("sqlite", "sqlite+pysqlite") or url.query or url.host:
        raise JournalError("a sqlite URL names a file and nothing else", "write sqlite:///PATH, without another driver, a host or options")
    if not url.database or url.database == ":memory:":
        raise JournalError("a journal lives in a file, not in memory", "write sqlite:///PATH")
    return Path(url.database)


def create_file(path: Path) -> None:
    """Make a new journal file with nothing in it. Raises JournalError where there is anything already."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        raise JournalError(f"`{path}` is already there", "open it to append to it, or choose another name") from None
    except (OSError, ValueError) as error:
        raise JournalError(
            f"`{path}` cannot be created: {_reason(error)}", "choose a folder that exists and that you may write to"
        ) from None
    engine = _engine(path, _writer(path))
    try:
        with explained(path), writing(engine) as connection:
            _METADATA.create_all(connection)
            for trigger in _TRIGGERS:
                connection.exec_driver_sql(trigger)
            connection.execute(insert(META), [{"key": "format", "value": FORMAT}, {"key": "version", "value": str(FORMAT_VERSION)}])
    except BaseException:
        path.unlink()
        raise
    finally:
        engine.dispose()


def open_engine(path: Path, *, readonly: bool) -> Engine:
    """Connect to a journal, once it is known to be one. Raises JournalError where it is not, or is of another format."""
    _check_place(path)
    reader = _engine(path, _reader(path))  # a file that is no journal must not be touched, so look before opening it for writing
    try:
        with explained(path), reader.connect() as connection:
            _check_format(path, connection)
    except BaseException:
        reader.dispose()
        raise
    if readonly:
        return reader
    reader.dispose()
    return _engine(path, _writer(path))


def _check_place(path: Path) -> None:
    try:
        if path.is_dir():
            raise JournalError(f"`{path}` is a folder", "give the journal's file")
        size = path.stat().st_size
    except FileNotFoundError:
        raise JournalError(f"there is no journal at `{path}`", "check the path, or create the journal first") from None
    except (OSError, ValueError) as error:
        raise JournalError(f"`{path}` cannot be read: {_reason(error)}", "check the path and its permissions") from None
    if size == 0:
        raise JournalError(f"`{path}` is an empty file, not a journal", "delete it, or choose another name")


def _check_format(path: Path, connection: Connection) -> None:
    tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('events', 'meta')").all()
    meta = {row.key: row.value for row in connection.execute(select(META))} if len(tables) == 2 else {}
    version = str(meta.get("version", ""))
    if meta.get("format") != FORMAT or not (version.isascii() and version.isdigit()):
        raise JournalError(f"`{path}` is a SQLite file, but not a journal", "give a file that gpol created")
    if version != str(FORMAT_VERSION):
        raise JournalError(f"`{path}` is of journal format {version}; this program knows format {FORMAT_VERSION}", "use a newer gpol")


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


# --- connections ----------------------------------------------------------------------------------------------------


def _engine(path: Path, connect: Callable[[], sqlite3.Connection]) -> Engine:
    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @sqlalchemy_event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer reads the head before it inserts; had it begun as a reader, SQLite could refuse to let it write later.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writing") else "BEGIN")

    return engine


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that holds the database's write lock from its first moment; it commits unless the body raises."""
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        yield connection


def _writer(path: Path) -> Callable[[], sqlite3.Connection]:
    return lambda: _connect(path, "mode=rw", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL")


def _reader(path: Path) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        try:
            return _connect(path, "mode=ro", "SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError as error:
            # On a read-only medium SQLite cannot make the files that it reads a WAL database with. Without a WAL it needs none of them.
            if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY") or beside(path, "-wal").exists():
                raise
            return _connect(path, "mode=ro&immutable=1", "SELECT count(*) FROM sqlite_master")

    return connect


def _connect(path: Path, options: str, *statements: str) -> sqlite3.Connection:
    """Connect without ever creating the file; the statements run at once, so that what is wrong with it shows here."""
    place = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        for statement in ("PRAGMA trusted_schema=OFF", *statements):
            connection.execute(statement).fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def beside(path: Path, suffix: str) -> Path:
    """A file that belongs to the journal's, through whatever links that is reached."""
    real = path.resolve()
    return real.with_name(real.name + suffix)


class WriterLock:
    """The right to append: one journal object on the machine has it at a time, and it is free again when its process ends, however it ends.

    It is SQLite's own lock on an empty file beside the journal, so it works the same on every system. The file stays there:
    removing it while somebody else opens it would let two writers in.
    """

    def __init__(self, path: Path) -> None:
        place = beside(path, "-lock")
        remedy = "check the permissions of the folder, or open the journal readonly"
        try:
            self._connection = sqlite3.connect(place, timeout=0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise JournalError(f"`{place}` cannot be made: {error}", remedy) from None
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._connection.close()
            if error.sqlite_errorname == "SQLITE_BUSY":
                raise JournalError(f"`{path}` is open for writing elsewhere", "close it there, or open it readonly here") from None
            raise JournalError(f"`{place}` cannot be locked: {error}", remedy) from None

    def release(self) -> None:
        """Let the next writer in."""
        self._connection.close()


# --- errors ---------------------------------------------------------------------------------------------------------


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the database reports about a journal's file into a JournalError that says what to do."""
    try:
        yield
    except DBAPIError as error:
        raise explain(path, error.orig) from None
    except UnicodeDecodeError:  # from a message of SQLite's that quotes what was damaged
        raise explain(path, None) from None


def explain(path: Path, error: BaseException | None) -> JournalError:
    """What SQLite's error means for a journal's file."""
    name = str(getattr(error, "sqlite_errorname", ""))
    if name == "SQLITE_NOTADB":
        return JournalError(f"`{path}` is not a SQLite file, so not a journal", "give a file that gpol created")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return JournalError(f"`{path}` is locked by another program", "wait until it is done, or stop it")
    if name == "SQLITE_FULL":
        return JournalError(f"there is no room left to write `{path}`, and nothing was appended", "free some disk space and append again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return JournalError(f"`{path}` cannot be opened or written: {error}", "check the permissions of the file and of its folder")
    if name.startswith("SQLITE_IOERR"):
        return JournalError(f"the disk failed on `{path}`: {error}", "check the disk, then run `gpol verify`")
    return DamagedError(None, f"`{path}` is damaged: {error or 'its tables cannot be made out'}")
