"""Where a journal lives: an SQLite file, opened so that what is acknowledged is on disk and nothing written is changed."""

from pathlib import Path
from typing import Any

from sqlalchemy import (
    DDL,
    Column,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    event,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from .errors import JournalError

FORMAT = "gpol journal 1"

_METADATA = MetaData()

EVENTS = Table(
    "events",
    _METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("stream", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    UniqueConstraint("stream", "version"),
)
"""One row an event. `seq` is ours, without gaps from 1; `chain` covers `payload`; the other columns repeat what the payload says."""

META = Table("meta", _METADATA, Column("key", String, primary_key=True), Column("value", String, nullable=False))
"""The format of the journal, under the key `format`."""

for _table in ("events", "meta"):
    for _deed in ("UPDATE", "DELETE"):
        event.listen(
            _METADATA,
            "after_create",
            DDL(  # type: ignore[no-untyped-call]
                f"CREATE TRIGGER {_table}_no_{_deed.lower()} BEFORE {_deed} ON {_table} "
                "BEGIN SELECT RAISE(ABORT, 'a journal is only appended to'); END"
            ),
        )


def location(path_or_url: str | Path) -> Path:
    """The file of a journal given as a path or as an `sqlite:///` URL. Raises JournalError for any other URL."""
    text = str(path_or_url)
    if text.startswith("sqlite:///"):
        return Path(text.removeprefix("sqlite:///"))
    if "://" in text:
        scheme = text.split("://", 1)[0]
        raise JournalError(f"a journal at a `{scheme}` address is not supported by this version; give the path of a file")
    return Path(text)


def create(path: Path) -> Engine:
    """Make a new journal. Raises JournalError where something is there already, or the place cannot be written."""
    if path.exists():
        raise JournalError(f"`{path}` is there already; choose another name, or remove it first")
    if not path.parent.is_dir():
        raise JournalError(f"the folder `{path.parent}` does not exist; make it first")
    engine = _engine(path, readonly=False)
    try:
        _METADATA.create_all(engine)
        with engine.begin() as connection:
            connection.execute(insert(META).values(key="format", value=FORMAT))
    except DBAPIError as error:
        raise JournalError(f"`{path}` cannot be made: {error.orig}") from error
    return engine


def open_existing(path: Path, readonly: bool) -> Engine:
    """Open a journal. Raises JournalError where there is none, or it is something else or of another version."""
    if not path.is_file():
        raise JournalError(f"there is no journal at `{path}`")
    engine = _engine(path, readonly)
    try:
        tables = inspect(engine).get_table_names()
        if not {"events", "meta"} <= set(tables):
            raise JournalError(f"`{path}` is a database, but not a journal of gpol")
        with engine.connect() as connection:
            found = connection.execute(select(META.c.value).where(META.c.key == "format")).scalar()
    except DBAPIError as error:
        raise JournalError(f"`{path}` is no journal, or a damaged one: {error.orig}") from error
    if found != FORMAT:
        raise JournalError(f"`{path}` has the format `{found}`; this version reads `{FORMAT}`")
    return engine


def _engine(path: Path, readonly: bool) -> Engine:
    mode = "ro" if readonly else "rwc"
    engine = create_engine(
        f"sqlite:///file:{path.resolve().as_posix().replace('?', '%3f').replace('#', '%23')}?mode={mode}&uri=true",
        poolclass=QueuePool,
        connect_args={"timeout": 30},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions are begun below, and by nobody else
        if not readonly:
            connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A writer reads the head before it writes: a deferred transaction would fail on the upgrade.
        connection.exec_driver_sql("BEGIN" if readonly or connection.get_execution_options().get("reads") else "BEGIN IMMEDIATE")

    return engine
