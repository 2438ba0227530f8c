"""Journals in SQLite: one file each, in WAL mode, synced at every commit."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine, LargeBinary, cast, create_engine, func, select
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import QueuePool

from .errors import DamagedError, JournalError, TakenError, UnavailableError
from .schema import create_tables
from .store import Store, writing
from .tables import EVENTS

_BUSY_SECONDS = 10.0
"""How long to wait for another connection's transaction before giving up."""


class SqliteStore(Store):
    """A journal's file."""

    stored = select(
        EVENTS.c.seq,
        *(cast(column, LargeBinary) for column in (EVENTS.c.payload, EVENTS.c.chain, EVENTS.c.stream)),
        EVENTS.c.version,
        cast(EVENTS.c.kind, LargeBinary),
        func.printf("%s %s %s %s", *(func.typeof(EVENTS.c[name]) for name in ("payload", "chain", "stream", "kind"))),
    ).order_by(EVENTS.c.seq)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def create(self) -> None:
        """Make a new journal's file, safe on the disk."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            raise TakenError(f"`{self.path}` is already there", "open it to append to it, or choose another name") from None
        except (OSError, ValueError) as error:
            raise JournalError(
                f"`{self.path}` cannot be created: {_reason(error)}", "choose a folder that exists and that you may write to"
            ) from None
        engine = _engine(lambda: _connect_to_write(self.path))
        try:
            with self.explained(), writing(engine) as connection:
                create_tables(connection)
            _sync_folder(self.path.absolute().parent)
        except BaseException:
            self.path.unlink()
            raise
        finally:
            engine.dispose()

    def _reader(self) -> Engine:
        _check_place(self.path)
        return _engine(lambda: _connect_to_read(self.path))

    def _writer(self) -> Engine:
        if not os.access(self.path, os.W_OK):  # SQLite would open it without a word, and fail at the first append
            raise UnavailableError(f"`{self.path}` may only be read", "check the permissions of the file, or open the journal readonly")
        lock = WriterLock(self.path)
        engine = _engine(lambda: _connect_to_write(self.path))
        sqlalchemy_event.listen(engine, "engine_disposed", lambda _engine: lock.release())
        return engine

    def _foreign(self) -> JournalError:
        return JournalError(f"`{self.path}` is a SQLite file, but not a journal", "give a file that gpol created")

    def structural_damage(self, connection: Connection) -> str | None:
        """What SQLite's own check of the file finds."""
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        return None if found == "ok" else str(found)

    def explain(self, error: BaseException | None) -> JournalError:
        """What SQLite's error means for a journal's file."""
        path, name = self.path, str(getattr(error, "sqlite_errorname", ""))
        if name == "SQLITE_NOTADB":
            return JournalError(f"`{path}` is not a SQLite file, so not a journal", "give a file that gpol created")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return UnavailableError(f"`{path}` is locked by another program", "wait until it is done, or stop it")
        if name == "SQLITE_FULL":
            message = f"there is no room left to write `{path}`, and nothing was appended"
            return UnavailableError(message, "free some disk space and append again")
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            message = f"`{path}` cannot be opened or written: {error}"
            return UnavailableError(message, "check the permissions of the file and of its folder")
        if name.startswith("SQLITE_IOERR"):
            return UnavailableError(f"the disk failed on `{path}`: {error}", "check the disk, then run `gpol verify`")
        return DamagedError(None, f"`{path}` is damaged: {error or 'its tables cannot be made out'}")


# --- the file -------------------------------------------------------------------------------------------------------


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


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _sync_folder(folder: Path) -> None:
    """Wait until the disk knows the names in a folder; not every system can, and those that can't need not."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def beside(path: Path, suffix: str) -> Path:
    """A file that belongs to the journal's, through whatever links that is reached."""
    real = path.resolve()
    return real.with_name(real.name + suffix)


# --- connections ----------------------------------------------------------------------------------------------------


def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @sqlalchemy_event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer reads the head before it inserts; had it begun as a reader, SQLite could refuse to let it write later.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writing") else "BEGIN")

    return engine


def _connect_to_write(path: Path) -> sqlite3.Connection:
    return _connect(path, "mode=rw", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL")


def _connect_to_read(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path, "mode=ro", "SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        # On a read-only medium SQLite cannot make the files that it reads a WAL database with. Without a WAL it needs none of them.
        if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY") or beside(path, "-wal").exists():
            raise
        return _connect(path, "mode=ro&immutable=1", "SELECT count(*) FROM sqlite_master")


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
