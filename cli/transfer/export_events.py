"""export jsonl and export parquet: the events of a journal, for databases and log collectors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..shared.files import check_new, new_files
from ..shared.options import PLACE, journal_place, with_format
from ..shared.output import FAILED, Format, refuse
from ..shared.progress import progress
from ..shared.selection import check_places, make_selection, with_selection
from .export_files import check_out, journal_to_export, tell_exported, write_lines

if TYPE_CHECKING:
    from ...adapters.export.table_form import TableRow
    from ...journal.journal import Journal
    from ...journal.read.event_selection import Selection


@click.command()
@journal_place
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write into this new file, packed if it ends in .gz; else print")
@with_selection
@with_format
def jsonl(journal: str, out: str | None, form: Format, **filters: Any) -> int:
    """Export events as JSON, one a line; of several filters all must hold."""
    from ...adapters.export.jsonl import json_lines

    selection = make_selection(**filters)
    check_out(out)
    with journal_to_export(journal) as read:
        written = write_lines(out, json_lines(_rows(read, selection)))
    return tell_exported(out, form, written, "event", events=written)


@click.command()
@journal_place
@click.option("-o", "--out", metavar="PATH", type=PLACE, required=True, help="write into this new file")
@with_selection
@with_format
def parquet(journal: str, out: str, form: Format, **filters: Any) -> int:
    """Export events as a Parquet file; of several filters all must hold."""
    from ...adapters.export.parquet import NoParquetError, write_parquet

    selection = make_selection(**filters)
    check_new("-o", out, printed=False)
    with journal_to_export(journal) as read, new_files() as add, add(out) as file:
        try:
            written = write_parquet(_rows(read, selection), file)
        except NoParquetError as error:
            refuse(str(error), FAILED)
    return tell_exported(out, form, written, "event", events=written)


def _rows(journal: "Journal", selection: "Selection") -> "Iterator[TableRow]":
    from ...adapters.export.columns import row_of
    from ...journal.read.event_selection import select_with_origins

    check_places(journal, selection)
    with progress("exporting", journal.head.seq) as tick:
        for number, (recorded, origin) in enumerate(select_with_origins(journal, selection)):
            if number % 500 == 0:
                tick(recorded.seq)
            yield row_of(recorded, origin)
