"""export state: the cluster at a moment, for somebody who judges a decision from outside."""

from typing import TYPE_CHECKING

import click

from ..shared.files import check_new, new_files
from ..shared.moments import find_moment, moment
from ..shared.options import PLACE, journal_place, no_snapshot, with_format
from ..shared.output import FAILED, Format, complain, refuse
from ..shared.progress import progress
from .export_files import check_out, journal_to_export, tell_exported, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...adapters.export.table_form import TableRow

PARQUET = ".parquet"
"""What the name of a file ends in that is written as Parquet."""


@click.command()
@journal_place
@moment
@click.option(
    "-o", "--out", metavar="PATH", type=PLACE, help="write into this new file: Parquet if it ends in .parquet, packed if in .gz; else print"
)
@no_snapshot
@with_format
def state(journal: str, at: str | None, out: str | None, no_snapshot: bool, form: Format) -> int:
    """Export who ran, who waited and why, and for whom room was kept, as JSON, one a line, or as a Parquet file."""
    from ...adapters.export.jsonl import json_lines
    from ...adapters.export.state_rows import STATE_ROWS, state_rows
    from ...journal.read.as_of import core_at

    check_out(out)
    with journal_to_export(journal) as read:
        seq = find_moment(read, at)
        with progress("going through events", seq) as tick:
            core = core_at(read, seq, snapshots=not no_snapshot, progress=tick)
        if core.graph is None:
            complain(f"gpol: no policy was active yet at event {core.seq}, so there is no state")
        rows = state_rows(core, read)
        written = _parquet(out, rows) if out is not None and out.endswith(PARQUET) else write_lines(out, json_lines(rows, STATE_ROWS))
    return tell_exported(out, form, written, "row", rows=written, seq=core.seq, time=core.time)


def _parquet(out: str, rows: "Iterator[TableRow]") -> int:
    from ...adapters.export.parquet import NoParquetError, write_parquet
    from ...adapters.export.state_rows import STATE_ROWS

    check_new("-o", out)
    with new_files() as add, add(out) as file:
        try:
            return write_parquet(rows, file, STATE_ROWS)
        except NoParquetError as error:
            refuse(str(error), FAILED)
