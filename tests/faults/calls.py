"""Database drivers whose k-th call fails, or whose caller dies there: before it does anything, or after it did all, so that only its
answer is lost."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

Moment = Literal["before", "after"]

MOST_CALLS = 1_000
"""Whatever a test does takes fewer."""

EVERY = os.environ.get("GPOL_FAULTS") == "all"
"""Whether every call is asked for, as `make faults` does. Else it is every third to SQLite, and every seventh to PostgreSQL."""


@dataclass
class Faults:
    """Which call fails and when. `calls` are the names of those that were made, up to the one that failed.

    With `deadly` the process dies there by SIGKILL, instead of being told of an error.
    """

    fails_at: int
    moment: Moment
    deadly: bool = False
    calls: list[str] = field(default_factory=list)

    @property
    def happened(self) -> bool:
        """Whether the call that was to fail was made."""
        return len(self.calls) >= self.fails_at

    def through(self, error: Callable[[str], Exception], name: str, call: Callable[[], Any]) -> Any:
        """Make a call, or fail."""
        self.calls.append(name)
        if len(self.calls) != self.fails_at:
            return call()
        if self.moment == "after":
            call()
        if self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        raise error(f"the cable was pulled at call {self.fails_at}, {name}")


Failing = Callable[[Faults], AbstractContextManager[None]]
"""Puts faults between gpol and a driver."""


def _disk_failed(message: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_IOERR, "SQLITE_IOERR"
    return error


@contextmanager
def failing_sqlite(faults: Faults) -> Iterator[None]:
    """Every connection that the sqlite3 module makes meanwhile counts its calls."""
    connect = sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, *args: Any) -> Any:
            return faults.through(_disk_failed, f"execute {args[0][:40]}", lambda: super(Cursor, self).execute(*args))

        def executemany(self, *args: Any) -> Any:
            return faults.through(_disk_failed, f"executemany {args[0][:40]}", lambda: super(Cursor, self).executemany(*args))

        def fetchone(self) -> Any:
            return faults.through(_disk_failed, "fetchone", lambda: super(Cursor, self).fetchone())

        def fetchall(self) -> Any:
            return faults.through(_disk_failed, "fetchall", lambda: super(Cursor, self).fetchall())

    def counting(made: type[sqlite3.Connection]) -> type[sqlite3.Connection]:
        class Connection(made):  # type: ignore[valid-type, misc]
            def cursor(self, factory: Any = Cursor) -> Any:
                return super().cursor(factory)

            def execute(self, *args: Any) -> Any:
                return self.cursor().execute(*args)

            def commit(self) -> None:
                faults.through(_disk_failed, "commit", super().commit)

            def rollback(self) -> None:
                faults.through(_disk_failed, "rollback", super().rollback)

        return Connection

    def connecting(*args: Any, **options: Any) -> Any:
        options["factory"] = counting(options.get("factory", sqlite3.Connection))
        return faults.through(_disk_failed, "connect", lambda: connect(*args, **options))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", connecting)
        yield


@contextmanager
def failing_psycopg(faults: Faults) -> Iterator[None]:
    """Every call to the PostgreSQL driver counts meanwhile; one that fails has lost its connection."""
    import psycopg

    def counted(method: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **options: Any) -> Any:
            told = f"{name} {str(args[0])[:40]}" if args and isinstance(args[0], str) else name
            try:
                return faults.through(psycopg.OperationalError, told, lambda: method(self, *args, **options))
            except psycopg.OperationalError:
                if faults.happened:
                    connection = self if isinstance(self, psycopg.Connection) else self.connection
                    connection.pgconn.finish()
                raise

        return call

    connect = psycopg.Connection.connect.__func__  # type: ignore[attr-defined]

    def connecting(cls: Any, *args: Any, **options: Any) -> Any:
        made = []
        try:
            return faults.through(psycopg.OperationalError, "connect", lambda: made.append(connect(cls, *args, **options)) or made[0])
        except psycopg.OperationalError:
            for connection in made:
                connection.close()
            raise

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "connect", classmethod(connecting))
        patch.setattr(psycopg, "connect", psycopg.Connection.connect)
        for name in ("commit", "rollback"):
            patch.setattr(psycopg.Connection, name, counted(getattr(psycopg.Connection, name), name))
        for name in ("execute", "executemany", "fetchone", "fetchall", "fetchmany"):
            patch.setattr(psycopg.Cursor, name, counted(getattr(psycopg.Cursor, name), name))
        yield
