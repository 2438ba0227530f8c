"""The commands that write other forms: export, of a journal; what they have of other systems is declared beside those."""

import sys
from typing import Any

import click

from .app import PLACE, app, journal_place, with_format, with_selection
from .output import Format


@app.group("export")
def export() -> None:
    """Make other forms: a journal's events for databases and log collectors, its inputs, another system's objects."""


@export.command("jsonl")
@journal_place
@click.option("-o", "--out", metavar="PATH", type=PLACE, help="write into this new file, packed if it ends in .gz; else print")
@with_selection
@with_format
def export_jsonl(journal: str, form: Format, **options: Any) -> None:
    """Export events as JSON, one a line; of several filters all must hold."""
    from .exporting import export_lines

    sys.exit(export_lines(journal, form, **options))


@export.command("parquet")
@journal_place
@click.option("-o", "--out", metavar="PATH", type=PLACE, required=True, help="write into this new file")
@with_selection
@with_format
def export_parquet(journal: str, form: Format, **options: Any) -> None:
    """Export events as a Parquet file; of several filters all must hold."""
    from .exporting import export_columns

    sys.exit(export_columns(journal, form, **options))


@export.command("facts")
@journal_place
@click.option(
    "-o",
    "--out",
    metavar="PATH",
    type=PLACE,
    help="write the facts into this new file, one a line, packed if it ends in .gz; else print them",
)
@click.option("-p", "--policy", metavar="PATH", type=PLACE, help="write the policy's text into this new file")
@with_format
def export_facts(journal: str, form: Format, **options: Any) -> None:
    """Export what a journal was made of, for `gpol run --as-recorded`."""
    from .exporting import export_inputs

    sys.exit(export_inputs(journal, form, **options))
