"""Diagnostics: what is wrong with a policy, where, and what to write instead."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .syntax.tree import Span


@dataclass(frozen=True, slots=True)
class DiagnosticNote:
    """Additional information, with its place if it has one."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` is the headline, `label` says what the marked text is, `help` what to write instead."""

    code: str
    severity: Literal["error", "warning"]
    message: str
    span: Span
    label: str = ""
    help: str = ""
    notes: tuple[DiagnosticNote, ...] = ()
    file: str = ""


class PolicyError(Exception):
    """A policy that cannot be used, with every diagnostic there is for it and the text that their spans point into."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], text: str) -> None:
        super().__init__("; ".join(f"{diagnostic.code}: {diagnostic.message}" for diagnostic in diagnostics))
        self.diagnostics = diagnostics
        self.text = text


class LineIndex:
    """Finds lines and columns, both from 1 and in characters, of offsets into a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def line(self, offset: int) -> int:
        """The line that an offset lies on."""
        return bisect_right(self._starts, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = self.line(offset)
        return line, offset - self._starts[line - 1] + 1

    def text_of(self, line: int) -> str:
        """A line without its end."""
        start = self._starts[line - 1]
        end = self._starts[line] - 1 if line < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r")
