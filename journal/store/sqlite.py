"""Journals in SQLite: one file each, in WAL mode, synced at every commit."""

import errno
import os
import re
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Self

from sqlalchemy import Connection, Engine, LargeBinary, cast, create_engine, func, select
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from ..errors import DamagedError, JournalError, MissingError, TakenError, UnavailableError
from .beside import BESIDE, LONGEST_NAME, beside, journal_beside, log_problem, refuse_other_logs
from .durable_files import PRIVATE, rename_to_new, settled_names, sync_file
from .first_bytes import CountedConnection, first_bytes
from .schema import create_tables
from .store import Store, writing
from .tables import EVENTS

_BUSY_SECONDS = 10.0
"""How long to wait for another connection's transaction before giving up."""


_FIRST_PAGES = 1 << 16
"""The first bytes of a file in which the texts of its tables stand."""

_HEADER = {18: (b"\1\1", b"\2\2"), 20: (b"\0\x40\x20\x20",), 44: (b"\0\0\0\4",), 56: (b"\0\0\0\1",), 72: (bytes(20),)}
"""What stands at some places of the header of every journal's file: https://www.sqlite.org/fileformat2.html, section 1.3."""

_COPIED_PAGES = 4_096
"""So many pages are copied between two reports of progress."""


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

    @property
    def files(self) -> tuple[Path, ...]:
        """The journal's file, and those that SQLite and the lock keep beside it while it is in use; some may not be there."""
        return tuple(beside(self.path, suffix) for suffix in ("", *BESIDE))

    def create(self) -> None:
        """Make a new journal's file, which its owner alone can read, safe on the disk. It has its name once it is whole."""
        draft = self.draft()
        try:
            with self._told_at_creation(), settled_names(self.path.absolute().parent):
                os.close(os.open(draft.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
                draft._make_tables()
                self._give_name_to(draft)
        finally:
            draft.discard()

    def _make_tables(self) -> None:
        """Make the empty file a journal, with all of it in the file itself and nothing in SQLite's log."""
        engine = _engine(lambda: _connect_to_write(self.path))
        try:
            with self.explained():
                with writing(engine) as connection:
                    create_tables(connection)
                # SQLite would do it when it closes the file, too, but say nothing where it fails
                with closing(engine.raw_connection()) as connected:
                    connected.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            raise self.explain(error) from None
        finally:
            engine.dispose()

    @contextmanager
    def _told_at_creation(self) -> Iterator[None]:
        """Turn what the system says when a file is made into JournalError."""
        try:
            yield
        except (OSError, ValueError) as error:
            remedy = "choose a folder that exists, and that you may read and write"
            raise JournalError(f"`{self.path}` cannot be created: {_reason(error)}", remedy) from None

    def _reader(self) -> Engine:
        _check_place(self.path)
        engine = _engine(lambda: _connect_to_read(self.path))

        @sqlalchemy_event.listens_for(engine, "checkin")
        def checkin(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
            if isinstance(connection, _OneLook):
                record.invalidate()

        return engine

    def _writer(self) -> Engine:
        if not os.access(self.path, os.W_OK):  # SQLite would open it without a word, and fail at the first append
            raise UnavailableError(f"`{self.path}` may only be read", "check the permissions of the file, or open the journal readonly")
        lock = WriterLock(self.path)
        engine = _engine(lambda: _connect_to_write(self.path))
        sqlalchemy_event.listen(engine, "engine_disposed", lambda _engine: lock.release())
        return engine

    def draft(self) -> Self:
        """A hidden file beside this one."""
        with self._told_at_creation():
            _refuse_place(self.path)
            if os.path.lexists(self.path):
                raise TakenError(f"`{self.path}` is already there", "choose another name")
            if not self.path.absolute().parent.is_dir():
                raise JournalError(f"`{self.path}` cannot be created: there is no such folder", "make it first, or choose another")
            refuse_other_logs(self.path)
        draft = type(self)(self.path.with_name(_draft_prefix(self.path) + secrets.token_hex(8)))
        draft.name = self.name
        return draft

    def put_in_place(self, draft: Self) -> None:
        """Give the draft's file its name, which no other file may have."""
        try:
            with settled_names(self.path.absolute().parent):
                self._give_name_to(draft)
        except OSError as error:
            raise UnavailableError(f"`{self.path}` cannot be made: {_reason(error)}", "check the folder's permissions") from None
        draft.discard()

    def _give_name_to(self, draft: Self) -> None:
        """Give the draft's file, once it is on the disk, its name. Raises TakenError, and OSError."""
        refuse_other_logs(self.path)
        sync_file(draft.path)
        try:
            rename_to_new(draft.path, self.path)
        except FileExistsError:
            raise TakenError(f"`{self.path}` is already there", "choose another name") from None

    def discard(self) -> None:
        """Remove the draft's file, and what SQLite and the lock have put beside it."""
        for file in self.files:
            with suppress(OSError):  # what could not be made cannot be removed
                file.unlink(missing_ok=True)

    def copy_into(self, draft: Self, progress: Callable[[int, int], None]) -> None:
        """Copy the file into a draft as it is at one moment, while others go on writing it: SQLite's own online backup.

        Nobody may read the copy who may not read the journal. `progress` is told how many pages are left of how many.
        """
        try:
            source = _connect_to_read(self.path)
        except sqlite3.Error as error:
            raise self.explain(error) from None
        try:
            source.execute("BEGIN")
            source.execute("SELECT max(seq) FROM events").fetchone()  # from here on it is the same moment for all pages
            os.close(os.open(draft.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IMODE(self.path.stat().st_mode)))
            with closing(sqlite3.connect(draft.path, isolation_level=None)) as target:
                source.backup(target, pages=_COPIED_PAGES, progress=lambda _status, left, total: progress(left, total))
        except sqlite3.Error as error:
            raise draft.explain(error) from None
        except OSError as error:
            raise UnavailableError(f"`{draft.name}` cannot be made: {_reason(error)}", "check the folder's permissions") from None
        finally:
            source.close()

    def _foreign(self) -> JournalError:
        return JournalError(f"`{self.path}` is a SQLite file, but not a journal", "give a file that gpol created")

    def insert(self, connection: Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows with one prepared statement; as text, since the construct would rebuild every row."""
        connection.exec_driver_sql("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", list(rows))

    def structural_damage(self, connection: Connection) -> str | None:
        """What SQLite's own check of the file finds."""
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        return _header_problem(self.path) if found == "ok" else str(found)

    def surroundings(self, connection: Connection) -> list[tuple[str, str]]:
        """Drafts of journals and backups whose program was killed, a write-ahead log, a lock that is held."""
        found = []
        if self._is_locked():
            found.append(("writer", f"`{self.path}` is open for writing elsewhere"))
        elif (log := beside(self.path, "-wal")).is_file() and log.stat().st_size:
            problem = log_problem(log)
            told = ("log", f"`{log}` holds events that `{self.path.name}` alone has not: they belong together")
            found.append(told if problem is None else ("foreign", problem))
        if (rollback := beside(self.path, "-journal")).is_file() and rollback.stat().st_size:
            meaning = "gpol never writes one, and SQLite may change the journal by what is in it"
            found.append(("foreign", f"`{rollback}` is no part of the journal: {meaning}"))
        real = self.path.resolve()
        draft = re.compile(re.escape(_draft_prefix(real)) + "[0-9a-f]{16}")
        drafts = sorted(each.name for each in real.parent.iterdir() if draft.fullmatch(each.name))
        end = f"is left of making `{real.name}`, new or as a backup, which was not finished"
        found += [("leftover", f"`{real.with_name(name)}` {end}") for name in drafts]
        return found

    def _is_locked(self) -> bool:
        if not beside(self.path, "-lock").exists():
            return False
        try:
            WriterLock(self.path).release()
        except JournalError:
            return True
        return False

    def explain(self, error: BaseException | None) -> JournalError:
        """What SQLite's error means for a journal's file."""
        path, name = self.name, str(getattr(error, "sqlite_errorname", ""))
        if name == "SQLITE_NOTADB" and _was_journal(self.path):
            return DamagedError(None, f"`{path}` is a journal whose first bytes were altered, so that it is no SQLite file any more")
        if name == "SQLITE_NOTADB":
            return JournalError(f"`{path}` is not a SQLite file, so not a journal", "give a file that gpol created")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return UnavailableError(f"`{path}` is locked by another program", "wait until it is done, or stop it")
        if name.startswith("SQLITE_READONLY") and (log := beside(self.path, "-journal")).exists():
            message = f"`{log}` lies beside `{path}`: gpol never writes such a file, and SQLite may change the journal by what is in it"
            return DamagedError(None, message, "keep copies of both, and find out who put it there; without it the journal can be read")
        if name == "SQLITE_FULL":
            message = f"there is no room left to write `{path}`"
            return UnavailableError(message, "free some disk space, then try again")
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
        if path.exists() and not path.is_file():
            raise JournalError(f"`{path}` is no plain file, and so no journal", "give the journal's file")
        size = path.stat().st_size
    except FileNotFoundError:
        raise MissingError(f"there is no journal at `{path}`", "check the path, or create the journal first") from None
    except (OSError, ValueError) as error:
        raise JournalError(f"`{path}` cannot be read: {_reason(error)}", "check the path and its permissions") from None
    if size == 0 and any(beside(path, suffix).exists() for suffix in BESIDE):
        raise DamagedError(None, f"`{path}` is empty, and was a journal: what SQLite or the lock kept for it lies beside it")
    if size == 0:
        raise JournalError(f"`{path}` is an empty file, not a journal", "give the journal's file")


def _was_journal(path: Path) -> bool:
    """Whether a file that is no SQLite file was a journal: the text of its tables is on its first pages, or its lock beside it."""
    try:
        return b"CREATE TABLE events" in first_bytes(path, _FIRST_PAGES) or beside(path, "-lock").exists()
    except OSError:
        return False


def _header_problem(path: Path) -> str | None:
    """What SQLite never writes into the header of such a file, and does not look at; None: nothing."""
    header = first_bytes(path, 100)
    for place, allowed in _HEADER.items():
        if header[place : place + len(allowed[0])] not in allowed:
            found = header[place : place + len(allowed[0])].hex()
            return f"the header of the file has {found} at byte {place}, and SQLite writes {' or '.join(each.hex() for each in allowed)}"
    return None


def _refuse_place(path: Path) -> None:
    """Raise JournalError where no journal can be made: a folder, such as `.` and `/`, the name of what SQLite keeps beside a file, and one
    that leaves no room for such names."""
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        message = f"`{path}` cannot be created: its name has more than {LONGEST_NAME} bytes, and files are kept beside it with longer names"
        raise JournalError(message, "choose a shorter name")
    if path.is_dir():
        raise JournalError(f"`{path}` is a folder", "name a new file in it")
    if (other := journal_beside(path)) is not None:
        raise JournalError(f"`{path}` is the name of a file that belongs to `{other}`", "choose another name")


def _draft_prefix(path: Path) -> str:
    """How the name of a draft begins; no more of the file's own than leaves room for 16 digits and SQLite's suffixes in 255 bytes."""
    return f".{path.name[:50]}."


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


# --- connections ----------------------------------------------------------------------------------------------------


def _engine(connect: Callable[[], sqlite3.Connection]) -> Engine:
    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @sqlalchemy_event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer reads the head before it inserts; had it begun as a reader, SQLite could refuse to let it write later.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writing") else "BEGIN")

    return engine


class _OneLook(CountedConnection):
    """A connection that takes the file for one that nobody changes. It would see nothing new, so it is used for one look alone."""


def _connect_to_write(path: Path) -> sqlite3.Connection:
    return _connect(path, "mode=rw", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL")


def _connect_to_read(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path, "mode=ro", "SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        # On a read-only medium SQLite cannot make the files that it reads a WAL database with. Without a WAL it needs none of them.
        if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY") or beside(path, "-wal").exists():
            raise
        return _connect(path, "mode=ro&immutable=1", "SELECT count(*) FROM sqlite_master", factory=_OneLook)


def _connect(path: Path, options: str, *statements: str, factory: type[CountedConnection] = CountedConnection) -> sqlite3.Connection:
    """Connect without ever creating the file; the statements run at once, so that what is wrong with it shows here."""
    place = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=factory)
    try:
        connection.count(path)
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
            _make_lock(place, stat.S_IMODE(path.stat().st_mode))  # who may append may lock, and nobody else
            self._connection = sqlite3.connect(place, timeout=0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise JournalError(f"`{place}` cannot be made: {getattr(error, 'strerror', None) or error}", remedy) from None
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


def _make_lock(place: Path, rights: int) -> None:
    """Make the lock's file where there is none. One that is there is not opened: closing it would end this process's own lock on it."""
    try:
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights))
    except FileExistsError:
        if not os.access(place, os.R_OK | os.W_OK):  # SQLite would open it to read only, and say nothing
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None
