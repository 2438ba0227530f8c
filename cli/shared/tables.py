"""Tables, for people and for programs."""

import sys
from collections.abc import Sequence

from .output import Format, say, say_text, shown

_WIDEST = 100_000
"""Columns of a table on no terminal: as many as it needs."""


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], form: Format, *, groups: bool = False) -> None:
    """Print a table: with rich for people, tab-separated in plain. Nothing is ever cut off.

    With `groups`, people see a line between rows that begin with another cell than the row before.
    """
    lines = [[shown(cell) for cell in row] for row in rows]
    if form is Format.plain:
        for line in (header, *lines):
            say_text("\t".join(line))
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", header_style="bold")
    for number, column in enumerate(header):
        drawn.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    for number, line in enumerate(lines, start=1):
        drawn.add_row(*line, end_section=groups and number < len(lines) and lines[number][0] != line[0])
    width = Console(width=_WIDEST, markup=False, emoji=False).measure(drawn).maximum
    if sys.stdout.isatty() and width > Console().width:
        _blocks(title, header, lines)
    else:
        console = Console(width=width, highlight=False, markup=False, emoji=False)
        with console.capture() as printed:  # rich takes a reader that went away for a failure of the command
            console.print(drawn)
        say_text(printed.get().rstrip("\n"))


def _blocks(title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """A table on a terminal too narrow for it: a block for each row."""
    say(title)
    for line in lines:
        say(line[0])
        for column, cell in zip(header[1:], line[1:], strict=True):
            say(f"  {column}: {cell}")
