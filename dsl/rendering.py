"""Diagnostics as text: for people with the source line, plain for screen readers and logs, JSON for programs."""

import json
from functools import lru_cache
from unicodedata import category, combining, east_asian_width

from .diagnostics import Diagnostic, LineIndex
from .syntax.tree import Span

_RED, _YELLOW, _BLUE, _BOLD, _RESET = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"
_TAB = "    "
_WIDEST = 160
"""Characters of a source line that are shown; of a longer one, those around the mark."""
_BEFORE_MARK = 60

_index_of = lru_cache(maxsize=8)(LineIndex)
"""A file with many findings is indexed once."""


def render(diagnostic: Diagnostic, text: str, style: str = "human", color: bool = False) -> str:
    """A diagnostic as text; `text` is the file it points into. Styles: human, plain, json (one line, versioned)."""
    index = _index_of(text)
    if style == "json":
        return _json(diagnostic, index)
    line, column = index.position(diagnostic.span.start)
    if style == "plain":
        parts = [f"{diagnostic.file}:{line}:{column}: {diagnostic.severity} {diagnostic.code}: {diagnostic.message}"]
        parts += [f"help: {diagnostic.help}"] if diagnostic.help else []
        parts += [f"note: {_note(note.message, note.span, diagnostic.file, index)}" for note in diagnostic.notes]
        return "; ".join(parts)
    return _human(diagnostic, index, line, column, color)


def _note(message: str, span: Span | None, file: str, index: LineIndex) -> str:
    if span is None:
        return message
    line, column = index.position(span.start)
    return f"{message}: {file}:{line}:{column}"


def _human(diagnostic: Diagnostic, index: LineIndex, line: int, column: int, color: bool) -> str:
    def paint(code: str, words: str) -> str:
        return f"{code}{words}{_RESET}" if color else words

    shade = _RED if diagnostic.severity == "error" else _YELLOW
    gutter = " " * len(str(line))
    before, marked, after = _around(index.text_of(line), column - 1, diagnostic.span.end - diagnostic.span.start)
    marks = "^" * max(1, _width(marked))
    bar = paint(_BLUE, "|")
    lines = [
        paint(shade + _BOLD, f"{diagnostic.severity}[{diagnostic.code}]") + paint(_BOLD, f": {diagnostic.message}"),
        f"{gutter}{paint(_BLUE, '-->')} {diagnostic.file}:{line}:{column}",
        f"{gutter} {bar}",
        f"{paint(_BLUE, str(line))} {bar} {before}{marked}{after}".rstrip(),
        f"{gutter} {bar} {' ' * _width(before)}{paint(shade, f'{marks} {diagnostic.label}'.rstrip())}",
    ]
    lines += [f"{gutter} = help: {diagnostic.help}"] if diagnostic.help else []
    lines += [f"{gutter} = note: {_note(note.message, note.span, diagnostic.file, index)}" for note in diagnostic.notes]
    return "\n".join(lines)


def _around(source: str, start: int, length: int) -> tuple[str, str, str]:
    """A line before, in and behind a mark, as it is shown; a mark of several lines ends with the first."""
    first, last = 0, len(source)
    if last > _WIDEST:
        first = max(0, start - _BEFORE_MARK)
        last = min(last, first + _WIDEST)
    end = min(start + length, last)
    lead, tail = "..." * (first > 0), "..." * (last < len(source))
    return lead + _shown(source[first:start]), _shown(source[start:end]), _shown(source[end:last]) + tail


def _shown(source: str) -> str:
    """Source as a terminal can show it: tabs as spaces, and nothing that would move or color the terminal."""
    return "".join(_TAB if char == "\t" else "\ufffd" if category(char) in ("Cc", "Cf") else char for char in source)


def _width(shown: str) -> int:
    """The columns that a text takes on a terminal."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in ("W", "F") else 1 for char in shown)


def _json(diagnostic: Diagnostic, index: LineIndex) -> str:
    def place(span: Span) -> dict[str, int]:
        line, column = index.position(span.start)
        end_line, end_column = index.position(span.end)
        return {"line": line, "column": column, "end_line": end_line, "end_column": end_column, "start": span.start, "end": span.end}

    return json.dumps(
        {
            "v": 1,
            "kind": "diagnostic",
            "code": diagnostic.code,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "file": diagnostic.file,
            "span": place(diagnostic.span),
            "label": diagnostic.label,
            "help": diagnostic.help,
            "notes": [{"message": note.message, "span": place(note.span) if note.span else None} for note in diagnostic.notes],
            "docs": f"docs/diagnostics/{diagnostic.code}.md",
        },
        ensure_ascii=False,
    )
