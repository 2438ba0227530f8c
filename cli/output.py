"""What every command shares: formats, exit codes, messages on stderr, tables."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ..dsl.checker import Checked
    from ..dsl.diagnostics import Diagnostic

GOOD, FAILED, NO, INVALID, NOT_VERIFIED = 0, 1, 2, 3, 4
"""Exit codes: done and good; the tool failed; the answer is no; invalid policy or input; the log does not verify or replay."""


class Format(StrEnum):
    """How a command prints."""

    human = "human"
    plain = "plain"
    json = "json"


class RefusalError(Exception):
    """Ends a command with a message and an exit code."""

    def __init__(self, message: str, code: int = INVALID) -> None:
        super().__init__(message)
        self.code = code


def say(line: str) -> None:
    """Print a line of the result."""
    print(line)


def say_json(kind: str, **values: Any) -> None:
    """Print one JSON object, versioned, on a line."""
    print(json.dumps({"v": 1, "kind": kind, **values}, ensure_ascii=False))


def complain(message: str) -> None:
    """Print a line on stderr."""
    print(message, file=sys.stderr)


def refuse(message: str, code: int = INVALID) -> NoReturn:
    """End the command with a message."""
    raise RefusalError(message, code)


def read_bytes(path: str) -> bytes:
    """The bytes of a file, `-` for standard input. Ends the command where it cannot be read."""
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        refuse(f"`{path}` cannot be read: {error.strerror}; check the name and your rights")


def use_color() -> bool:
    """Whether stdout is a terminal that wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def show_diagnostics(diagnostics: Iterable["Diagnostic"], texts: dict[str, str], form: Format, default_text: str = "") -> None:
    """Print diagnostics, each as its own block or line."""
    from ..dsl.rendering import render

    for diagnostic in diagnostics:
        say(render(diagnostic, texts.get(diagnostic.file, default_text), form.value, color=form is Format.human and use_color()))
        if form is Format.human:
            say("")


def checked_policy(path: str, form: Format) -> "Checked":
    """A policy that has no errors; else its diagnostics are shown on stderr and the command ends."""
    from ..dsl.checker import check
    from ..dsl.diagnostics import PolicyError
    from ..dsl.rendering import render
    from ..dsl.split import decode

    name = Path(path).name if path != "-" else "stdin"
    try:
        checked = check(decode(read_bytes(path), name), name)
    except PolicyError as error:
        for diagnostic in error.diagnostics:
            complain(render(diagnostic, error.text, form.value))
        refuse(f"`{path}` cannot be used")
    for diagnostic in checked.errors:
        complain(render(diagnostic, checked.texts.get(diagnostic.file, ""), form.value))
    if checked.errors:
        refuse(f"`{path}` has {len(checked.errors)} error{'s' if len(checked.errors) > 1 else ''}")
    if checked.graph is None:
        refuse(f"`{path}` is a profile; give a policy that uses it")
    return checked


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], form: Format) -> None:
    """Print a table: with rich for people, tab-separated in plain."""
    if form is Format.plain:
        say("\t".join(header))
        for row in rows:
            say("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left", header_style="bold")
    for number, column in enumerate(header):
        shown.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    console.print(shown)
