"""Which programs wrote a journal: a row for each change of the program's version or of its semantics version.

The table is not part of the chain, and no state depends on it. It says which version of gpol to use to decide the recorded facts again.
"""

from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from ...engine.semantics import SEMANTICS
from ..errors import DamagedError
from ..records import Head
from .tables import WRITERS


class Writer(NamedTuple):
    """The program that wrote the events from `first_seq` on, up to the next writer's: its version, and the version of its semantics."""

    first_seq: int
    program: str
    semantics: int


def this_writer(first_seq: int) -> Writer:
    """This program, as the writer of the events from `first_seq` on."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        program = version("gpol")
    except PackageNotFoundError:  # run from its source, without having been installed
        program = "unknown"
    return Writer(first_seq, program, SEMANTICS)


def record_writer(connection: Connection, head: Head, name: str) -> None:
    """Add this program's row for the events after `head`, unless the last row is already about the same versions.

    Raises DamagedError, with the journal's name, where the last row is about events that are not there.
    """
    last = max(read_writers(connection), default=None)
    if last is not None and last.first_seq > head.seq:
        message = f"`{name}` ends at event {head.seq}, and its table `writers` names event {last.first_seq}; nothing was appended"
        raise DamagedError(head.seq + 1, message)
    writer = this_writer(head.seq + 1)
    if last is None or last[1:] != writer[1:]:
        add_writers(connection, [writer])


def add_writers(connection: Connection, writers: list[Writer]) -> None:
    """Add rows as they are."""
    if writers:
        connection.execute(insert(WRITERS), [writer._asdict() for writer in writers])


def read_writers(connection: Connection) -> list[Writer]:
    """All rows, in order. Raises DamagedError for one that is not in the form of a row."""
    columns = WRITERS.c
    writers = [Writer._make(row) for row in connection.execute(select(columns.first_seq, columns.program, columns.semantics))]
    for first_seq, program, semantics in writers:
        if not (isinstance(first_seq, int) and isinstance(program, str) and isinstance(semantics, int)):
            raise DamagedError(None, f"the row {first_seq} of the table `writers` is not in the form of a row")
    return sorted(writers)
