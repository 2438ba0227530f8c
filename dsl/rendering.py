"""Diagnostics as text: for people with the source line, plain for screen readers and logs, JSON for programs."""

import json
from unicodedata import east_asian_width

from .diagnostics import Diagnostic, LineIndex
from .tree import Span

_RED, _YELLOW, _BLUE, _BOLD, _RESET = "\x1b[31m", "\x1b[33m", "\x1b[34m", "\x1b[1m", "\x1b[0m"


def render(diagnostic: Diagnostic, text: str, style: str = "human", color: bool = False) -> str:
    """A diagnostic as text; `text` is the file it points into. Styles: human, plain, json (one line, versioned)."""
    index = LineIndex(text)
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
    source = index.text_of(line)
    end = min(diagnostic.span.end - diagnostic.span.start, max(1, len(source) - column + 1))
    lead = "".join("\t" if char == "\t" else " " * _width(char) for char in source[: column - 1])
    marks = "^" * max(1, sum(_width(char) for char in source[column - 1 : column - 1 + end]))
    bar = paint(_BLUE, "|")
    lines = [
        paint(shade + _BOLD, f"{diagnostic.severity}[{diagnostic.code}]") + paint(_BOLD, f": {diagnostic.message}"),
        f"{gutter}{paint(_BLUE, '-->')} {diagnostic.file}:{line}:{column}",
        f"{gutter} {bar}",
        f"{paint(_BLUE, str(line))} {bar} {source}",
        f"{gutter} {bar} {lead}{paint(shade, f'{marks} {diagnostic.label}'.rstrip())}",
    ]
    lines += [f"{gutter} = help: {diagnostic.help}"] if diagnostic.help else []
    lines += [f"{gutter} = note: {_note(note.message, note.span, diagnostic.file, index)}" for note in diagnostic.notes]
    return "\n".join(lines)


def _width(char: str) -> int:
    return 2 if east_asian_width(char) in ("W", "F") else 1


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
