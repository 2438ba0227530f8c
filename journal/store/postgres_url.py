"""What a URL says of a journal in PostgreSQL: which database it is in, what it is called there, and how libpq is to connect."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Self

from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from ..errors import JournalError

_DEFAULT_SCHEMA = "gpol"

_SCHEMA = re.compile("(?!pg_)[a-z_][a-z0-9_]{0,62}")
"""What a journal may be called: a name that PostgreSQL takes for a schema as it is."""

_REFUSED_OPTIONS = {
    "dbname": "name the database in the URL's path",
    "client_encoding": "leave it out: it is always UTF-8",
    "replication": "leave it out: a journal needs an ordinary session",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a journal is: a schema of a database. Only `name` may be shown."""

    name: str
    """What messages call the journal: the URL without its password, and without options, which may hold another."""

    schema: str

    options: Mapping[str, Any] = field(repr=False)
    """How to connect to the database, as psycopg takes it."""

    @classmethod
    def of(cls, url: URL) -> Self:
        """What a URL says; nobody is asked yet whether it is so. Raises JournalError for what it may not say."""
        query = dict(url.query)
        schema = query.pop("journal", _DEFAULT_SCHEMA)
        if not isinstance(schema, str) or _SCHEMA.fullmatch(schema) is None:
            raise JournalError(
                "`journal` in the URL is no name for a journal",
                "give one name of lower-case letters, digits and underscores, up to 63, that does not begin with a digit or pg_",
            )
        if not url.database:
            raise JournalError("the URL names no database", "write postgresql://USER@HOST/DATABASE?journal=NAME")
        _check_options(query)
        database = url.set(drivername="postgresql+psycopg", query=query)
        name = _shown(database, schema)
        return cls(name, schema, _connect_options(database, name))


def library() -> ModuleType:
    """The library psycopg, by which gpol speaks to PostgreSQL. Raises JournalError where it is missing."""
    try:
        import psycopg
    except ImportError:
        raise JournalError("journals in PostgreSQL need the library psycopg", "install it: pip install 'gpol[postgres]'") from None
    return psycopg


def _check_options(query: Mapping[str, str | tuple[str, ...]]) -> None:
    known = {option.keyword.decode() for option in library().pq.Conninfo.get_defaults()}
    for option in sorted(query):
        if option in _REFUSED_OPTIONS:
            raise JournalError(f"the URL may not say `{option}`", _REFUSED_OPTIONS[option])
        if option not in known:
            raise JournalError(f"the URL says `{option}`, which is no option", "leave it out, or give one of libpq's, such as sslmode")
        if not isinstance(query[option], str) and option not in ("host", "port"):
            raise JournalError(f"the URL says `{option}` more than once", "say it once")


def _connect_options(url: URL, name: str) -> dict[str, Any]:
    try:
        _, options = url.get_dialect()().create_connect_args(url)
    except ArgumentError as error:
        raise JournalError(f"the URL of `{name}` is refused: {error}", "correct its hosts and ports") from None
    if any("\0" in str(value) for value in options.values()):  # libpq would stop reading there
        raise JournalError(f"the URL of `{name}` has a NUL in it", "take %00 out of it")
    return dict(options)


def _shown(url: URL, schema: str) -> str:
    place = {key: url.query[key] for key in ("host", "port") if key in url.query}
    shown = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query={**place, "journal": schema})
    return shown.render_as_string()
