"""What every command shares: formats, exit codes, messages on stderr, tables."""

import io
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ..dsl.checker import Checked
    from ..dsl.diagnostics import Diagnostic

GOOD, FAILED, NO, INVALID, NOT_VERIFIED = 0, 1, 2, 3, 4
"""Exit codes: done and good; the tool failed; the answer is no; invalid policy or input; the log does not verify or replay."""


MOST_BYTES = 64 * 1024 * 1024 + 1
"""How much of a file is ever read: enough to tell that it is longer than any that is allowed, and no more."""


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


_WIDEST = 100_000
"""Columns of a table on no terminal: as many as it needs."""

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that break a line, or steer a terminal, or turn text around."""


def use_streams(utf8: bool) -> None:
    """Let nothing that is printed fail for the terminal's encoding: what it can't show is escaped, unless it has to be UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8" if utf8 else None, errors="backslashreplace")


def shown(text: str) -> str:
    """Text on one line; names come from outside, so what is no printable character is escaped."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}" if found[0] > "\xff" else f"\\x{ord(found[0]):02x}", text)


def counted(number: int, noun: str) -> str:
    """A number and what is counted, which takes an `s` for any number but one."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def say(line: str) -> None:
    """Print a line of the result."""
    print(shown(line))


def say_text(text: str) -> None:
    """Print text as it is: it may have several lines, and colors."""
    print(text)


def say_json(kind: str, **values: Any) -> None:
    """Print one JSON object, versioned, on a line."""
    print(json.dumps({"v": 1, "kind": kind, **values}, ensure_ascii=False))


def complain(line: str) -> None:
    """Print a line on stderr."""
    complain_text(shown(line))


def complain_text(text: str) -> None:
    """Print text on stderr as it is."""
    with suppress(OSError):  # where stderr can't be written either, the exit code has to say it all
        print(text, file=sys.stderr)


def refuse(message: str, code: int = INVALID) -> NoReturn:
    """End the command with a message."""
    raise RefusalError(message, code)


def read_bytes(path: str) -> bytes:
    """The bytes of a file, `-` for standard input; of one without an end its beginning. Raises RefusalError where it cannot be read."""
    try:
        if path == "-":
            return sys.stdin.buffer.read(MOST_BYTES)
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except (OSError, ValueError) as error:
        refuse(f"`{path}` cannot be read: {getattr(error, 'strerror', error)}; check the name and your rights")


def file_name(path: str) -> str:
    """A file's name as text, without its folders; bytes of it that are no text are replaced."""
    return "stdin" if path == "-" else os.fsencode(os.path.basename(path)).decode("utf-8", "replace")


def use_color() -> bool:
    """Whether stdout is a terminal that wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def show_diagnostics(diagnostics: Iterable["Diagnostic"], texts: dict[str, str], form: Format, default_text: str = "") -> None:
    """Print diagnostics, each as its own block or line."""
    from ..dsl.rendering import render

    for diagnostic in diagnostics:
        say_text(render(diagnostic, texts.get(diagnostic.file, default_text), form.value, color=form is Format.human and use_color()))
        if form is Format.human:
            say_text("")


def checked_policy(path: str, form: Format) -> "Checked":
    """A policy that has no errors; else its diagnostics are shown on stderr and the command ends."""
    from ..dsl.checker import check
    from ..dsl.diagnostics import PolicyError
    from ..dsl.rendering import render
    from ..dsl.split import decode

    name = file_name(path)
    try:
        checked = check(decode(read_bytes(path), name), name)
    except PolicyError as error:
        for diagnostic in error.diagnostics:
            complain_text(render(diagnostic, error.text, form.value))
        refuse(f"`{path}` cannot be used")
    for diagnostic in checked.errors:
        complain_text(render(diagnostic, checked.texts.get(diagnostic.file, ""), form.value))
    if checked.errors:
        refuse(f"`{path}` has {counted(len(checked.errors), 'error')}")
    if checked.graph is None:
        refuse(f"`{path}` is a profile; give a policy that uses it")
    return checked


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], form: Format) -> None:
    """Print a table: with rich for people, tab-separated in plain. Nothing is ever cut off."""
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
    for line in lines:
        drawn.add_row(*line)
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
