"""export jsonl and export parquet: the events of a journal, for databases and log collectors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..outputs.file_kinds import EVENT_LINES, EVENT_TABLE
from ..shared.files import Target, new_files
from ..shared.options import PLACE, force, journal_place, with_format
from ..shared.output import FAILED, Format, refuse
from ..shared.progress import progress
from ..shared.selection import check_names, check_places, make_selection, with_selection
from .export_files import journal_to_export, lines_target, tell_exported, write_lines

if TYPE_CHECKING:
    from ...adapters.export.table_form import TableRow
    from ...journal.audit.whole_part import WholePart
    from ...journal.read.event_selection import Selection


@click.command()
@journal_place
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write into this file, packed if it ends in .gz; else print")
@force
@with_selection
@with_format
def jsonl(journal: str, out: str | None, force: bool, form: Format, **filters: Any) -> int:
    """Export events as JSON, one a line; of several filters all must hold."""
    from ...adapters.export.jsonl import json_lines

    selection = make_selection(**filters)
    target = lines_target(out, EVENT_LINES, force=force)
    with journal_to_export(journal) as part:
        written = write_lines(target, json_lines(_rows(part, selection)))
    return tell_exported(out, form, written, "event", events=written)


@click.command()
@journal_place
@click.option("-o", "--out", metavar="PATH", type=PLACE, required=True, help="write into this file")
@force
@with_selection
@with_format
def parquet(journal: str, out: str, force: bool, form: Format, **filters: Any) -> int:
    """Export events as a Parquet file; of several filters all must hold."""
    from ...adapters.export.parquet import NoParquetError, write_parquet

    selection = make_selection(**filters)
    target = Target("-o", out, EVENT_TABLE, force).check()
    with journal_to_export(journal) as part, new_files() as add, add(target) as file:
        try:
            written = write_parquet(_rows(part, selection), file)
        except NoParquetError as error:
            refuse(str(error), FAILED)
    return tell_exported(out, form, written, "event", events=written)


def _rows(part: "WholePart", selection: "Selection") -> "Iterator[TableRow]":
    from ...adapters.export.columns import row_of
    from ...journal.read.event_selection import select_with_origins

    check_places(part.journal, selection)
    found = False
    with progress("exporting", part.journal.head.seq) as tick:
        for number, (recorded, origin) in enumerate(part.rows(lambda: select_with_origins(part.journal, selection))):
            found = True
            if number % 500 == 0:
                tick(recorded.seq)
            yield row_of(recorded, origin)
    if not found:
        check_names(part.journal, selection)
