"""export state: the cluster at a moment, for somebody who judges a decision from outside."""

from typing import TYPE_CHECKING

import click

from ..outputs.file_kinds import STATE_LINES, STATE_TABLE
from ..shared.files import Target, new_files
from ..shared.moments import find_moment, moment
from ..shared.options import PLACE, force, journal_place, no_snapshot, with_format
from ..shared.output import FAILED, Format, complain, refuse
from ..shared.progress import progress
from .export_files import journal_to_export, lines_target, tell_exported, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...adapters.export.table_form import TableRow

PARQUET = ".parquet"
"""What the name of a file ends in that is written as Parquet."""


@click.command()
@journal_place
@moment
@click.option(
    "-o", "--out", metavar="PATH", type=PLACE, help="write into this file: Parquet if it ends in .parquet, packed if in .gz; else print"
)
@force
@no_snapshot
@with_format
def state(journal: str, at: str | None, out: str | None, force: bool, no_snapshot: bool, form: Format) -> int:
    """Export who ran, who waited and why, and for whom room was kept, as JSON, one a line, or as a Parquet file."""
    from ...adapters.export.jsonl import json_lines
    from ...adapters.export.state_rows import STATE_ROWS, state_rows
    from ...compiled.core_to_ask import quickly
    from ...journal.read.as_of import core_at
    from ..run.node_notes import tell_without_place

    in_parquet = out is not None and out.endswith(PARQUET)
    target = lines_target(out, STATE_TABLE if in_parquet else STATE_LINES, force=force)
    with journal_to_export(journal) as part:
        read = part.journal
        with progress("going through events", read.head.seq) as tick:
            core = part.state(lambda: core_at(read, find_moment(read, at), snapshots=not no_snapshot, progress=tick))
        if core.graph is None:
            complain(f"gpol: no policy was active yet at event {core.seq}, so there is no state")
        else:
            tell_without_place(core.graph, core.view.machines())
        rows = state_rows(quickly(core), read)
        written = _parquet(target, rows) if target is not None and in_parquet else write_lines(target, json_lines(rows, STATE_ROWS))
    return tell_exported(out, form, written, "row", rows=written, seq=core.seq, time=core.time)


def _parquet(target: Target, rows: "Iterator[TableRow]") -> int:
    from ...adapters.export.parquet import NoParquetError, write_parquet
    from ...adapters.export.state_rows import STATE_ROWS

    with new_files() as add, add(target) as file:
        try:
            return write_parquet(rows, file, STATE_ROWS)
        except NoParquetError as error:
            refuse(str(error), FAILED)
