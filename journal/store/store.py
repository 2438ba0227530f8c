"""What a store is: the place of one journal, how to connect to it, and the lock that lets one program append to it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from sqlalchemy import Connection, Engine, Select
from sqlalchemy.exc import DBAPIError

from ..errors import DamagedError, JournalError
from .schema import is_newest, is_readable, revision_of, upgrade_tables

# What fails is raised and explained. The pool would log it once more, with a traceback, to a user who asked for neither.
logging.getLogger("sqlalchemy.pool").addHandler(logging.NullHandler())


class Stored(NamedTuple):
    """A whole row, its texts as bytes, whatever became of it; `types` names the storage classes of the four values given as bytes."""

    seq: int
    payload: bytes | None
    chain: bytes | None
    stream: bytes | None
    version: object
    kind: bytes | None
    types: str


PlainRow = tuple[Any, ...]
"""A whole row as the database returns it: seq, payload, chain, stream, version, kind, of whatever types they are stored."""

SOUND_TYPES = "blob blob text text"
"""`Stored.types` of a row as it should be: payload and chain, stream and kind."""


class Store(ABC):
    """Where one journal lives. Every method raises JournalError for what goes wrong there, but for what is done with an open engine."""

    name: str
    """What messages call the journal: a path, or a URL without its password."""

    damage: DamagedError | None = None
    """What is wrong with the tables of a journal that was opened to be audited, so that it would not have been opened otherwise."""

    stored: Select[Any]
    """Asks for all rows as they lie there, in the form of `Stored`, by seq."""

    @abstractmethod
    def create(self) -> None:
        """Make a new journal with nothing in it, safe on the disk. Raises TakenError where there is anything already."""

    def open(self, *, readonly: bool, to_audit: bool = False) -> Engine:
        """Connect to a journal, once it is known to be one; to append, with up-to-date tables. One `to_audit` is read though it is damaged.

        An engine to append holds the right to do so, which one program has at a time, until it is disposed of.
        """
        reader = self._reader()  # what is no journal must not be touched, so look before opening it for writing
        try:
            with self.explained(), reader.connect() as connection:
                try:
                    version = self._version(connection)
                except DamagedError as error:
                    if not to_audit or not is_readable(connection):
                        raise
                    version, self.damage = "", error
        except BaseException:
            reader.dispose()
            raise
        if readonly:
            return reader
        reader.dispose()
        writer = self._writer()
        if not is_newest(version):
            try:
                with self.explained(), writing(writer) as connection:
                    if not is_newest(self._version(connection)):  # no other program was faster
                        upgrade_tables(connection)
            except BaseException:
                writer.dispose()
                raise
        return writer

    def _version(self, connection: Connection) -> str:
        version = revision_of(connection, self.name)
        if version is None:
            raise self._foreign()
        return version

    @abstractmethod
    def _reader(self) -> Engine:
        """An engine that can't write; it may find out only later that there is nothing to read."""

    @abstractmethod
    def _writer(self) -> Engine:
        """An engine that holds the right to append to a journal that is known to be one."""

    @abstractmethod
    def _foreign(self) -> JournalError:
        """What to say where there is something, but no journal."""

    @abstractmethod
    def draft(self) -> Self:
        """Where a journal can be made that is to be put here once it is whole; messages call it by the name that it will have.

        Raises TakenError where there is anything already.
        """

    @abstractmethod
    def put_in_place(self, draft: Self) -> None:
        """Give a draft of this store, a closed journal, the store's own name: at once, and safe on the disk. Raises TakenError."""

    @abstractmethod
    def discard(self) -> None:
        """Remove a draft, whatever there is of it."""

    @abstractmethod
    def insert(self, connection: Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows of events, their values in the order of the table's columns, in the quickest way there is."""

    @abstractmethod
    def structural_damage(self, connection: Connection) -> str | None:
        """The first thing that the database itself finds wrong with how it keeps the journal, indexes included; None: nothing."""

    @abstractmethod
    def surroundings(self, connection: Connection) -> list[tuple[str, str]]:
        """What lies beside the journal (`leftover`, `log`, `foreign`), and whether somebody has it open to append (`writer`).

        Each is a kind and a sentence.
        """

    @abstractmethod
    def explain(self, error: BaseException | None) -> JournalError:
        """What an error of the database's means for the journal; None: one that could not even be read."""

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the database reports into a JournalError that says what to do."""
        try:
            yield
        except DBAPIError as error:
            raise self.explain(error.orig) from None
        except UnicodeDecodeError:  # from a message of SQLite's that quotes what was damaged
            raise self.explain(None) from None


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that holds the right to write from its first moment; it commits unless the body raises."""
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        yield connection
