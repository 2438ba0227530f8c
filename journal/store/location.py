"""What a path or a URL names: the store of a journal."""

import os
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ..errors import JournalError
from .sqlite import SqliteStore
from .store import Store

_PLACES = "give a file's path, sqlite:///PATH, or postgresql://USER@HOST/DATABASE?journal=NAME"


def locate(path_or_url: str | os.PathLike[str]) -> Store:
    """The store behind a path or a URL, whether there is a journal or not. Raises JournalError for any other place, naming it."""
    text = os.fspath(path_or_url)
    scheme, separator, _ = text.partition("://")
    if not separator:
        return _in_file(text)
    try:
        url = make_url(text)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        raise JournalError(f"`{scheme}://...` is not a database URL", _PLACES) from None
    if backend == "sqlite":
        return _in_file(_file(url))
    if backend in ("postgresql", "postgres"):
        return _server(url)
    raise JournalError(f"journals in `{backend}` are not supported", _PLACES)


def files_of(path_or_url: str) -> tuple[Path, ...]:
    """The files that a journal at a path or a URL is kept in; none where it names a server, or is no place for a journal."""
    try:
        store = locate(path_or_url)
    except JournalError:
        return ()
    return store.files if isinstance(store, SqliteStore) else ()


def _in_file(text: str) -> SqliteStore:
    if text == "-":
        raise JournalError("a journal lives in a file, and `-` is no name for one", "name the file; one that is called so is `./-`")
    if text.endswith("/"):
        raise JournalError(f"`{text}` is the name of a folder", "give the journal's file, or a new name for it")
    return SqliteStore(Path(text))


def _file(url: URL) -> str:
    if url.drivername not in ("sqlite", "sqlite+pysqlite") or url.query or url.host:
        raise JournalError("a sqlite URL names a file and nothing else", "write sqlite:///PATH, without another driver, a host or options")
    if not url.database or url.database == ":memory:":
        raise JournalError("a journal lives in a file, not in memory", "write sqlite:///PATH")
    return url.database


def _server(url: URL) -> Store:
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise JournalError(f"`{url.drivername}` names another driver than psycopg", "write postgresql://USER@HOST/DATABASE?journal=NAME")
    from .postgres import PostgresStore
    from .postgres_url import Address

    return PostgresStore(Address.of(url))
