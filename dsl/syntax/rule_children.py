"""Selects among the children of a grammar rule: tokens by their type or text, nodes by their class."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lark import Token

from . import tree
from .tree import Span

Child = Any
"""A token, or a node that a rule below made."""


@dataclass(frozen=True, slots=True)
class Gang(tree.Spanned):
    """`gang of 64 x`, or `64 x` of pods that need not all start together."""

    count: tree.Number
    together: bool


@dataclass(frozen=True, slots=True)
class AtLeast(tree.Spanned):
    """`at least 4`."""

    count: tree.Number


@dataclass(frozen=True, slots=True)
class KeywordNames(tree.Spanned):
    """Names behind a keyword: `for a, b`, `by a`, `because a`."""

    keyword: str
    names: tuple[tree.Name, ...]


@dataclass(frozen=True, slots=True)
class ForNodes(tree.Spanned):
    """`for nodes`."""


@dataclass(frozen=True, slots=True)
class StrategyWord(tree.Spanned):
    """`final share`."""

    name: str


@dataclass(frozen=True, slots=True)
class UsageWeight(tree.Spanned):
    """`cpu 1`."""

    resource: tree.Name
    number: tree.Number


@dataclass(frozen=True, slots=True)
class DueClause(tree.Spanned):
    """`where nothing is due counts 1`."""

    counts: str


@dataclass(frozen=True, slots=True)
class UpToDemand(tree.Spanned):
    """`up to demand, in at most 10 rounds, to 1/100`."""

    rounds: tree.Number
    remainder: tree.Number


@dataclass(frozen=True, slots=True)
class Moving(tree.Spanned):
    """`, moving everybody, at most 16 workloads`."""

    whom: str
    most: tree.Number | None


@dataclass(frozen=True, slots=True)
class Flag(tree.Spanned):
    """Words that are there or not: `in whole units`."""

    words: str


@dataclass(frozen=True, slots=True)
class Step(tree.Spanned):
    """`in steps of 100m`."""

    number: tree.Number


@dataclass(frozen=True, slots=True)
class LevelsAbove(tree.Spanned):
    """`, up to 2 levels above`."""

    number: tree.Number


def span_of(parts: Sequence[Child]) -> Span:
    """From the first part's start to the last one's end."""
    first, last = parts[0], parts[-1]
    start: Any = first.start_pos if isinstance(first, Token) else first.span.start
    end: Any = last.end_pos if isinstance(last, Token) else last.span.end
    return Span(start, end)


def unquoted(text: str) -> str:
    """A text without its quotes, escapes resolved."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if "\\" in text else text[1:-1]


def key_of(token: Token) -> str:
    """A label's key, quoted or not."""
    return unquoted(token) if token.type == "STRING" else str(token)


def all_of(parts: Sequence[Child], kind: type | tuple[type, ...]) -> tuple[Any, ...]:
    """The parts of a kind."""
    return tuple(part for part in parts if isinstance(part, kind))


def first_of(parts: Sequence[Child], kind: type | tuple[type, ...]) -> Any:
    """The first node of a kind; None where there is none."""
    return next((part for part in parts if isinstance(part, kind) and not isinstance(part, Token)), None)


def token_of(parts: Sequence[Child], *types: str) -> Token | None:
    """The first token of these types; None where there is none."""
    return next((part for part in parts if isinstance(part, Token) and part.type in types), None)


def words_of(parts: Sequence[Child]) -> list[str]:
    """The tokens, as text."""
    return [str(part) for part in parts if isinstance(part, Token)]


def names_behind(parts: Sequence[Child], keyword: str) -> tuple[tree.Name, ...]:
    """The names behind a keyword; none where it is left out."""
    return next((part.names for part in parts if isinstance(part, KeywordNames) and part.keyword == keyword), ())


def flagged(parts: Sequence[Child], words: str) -> bool:
    """Whether these words are there."""
    return any(part.words == words for part in all_of(parts, Flag))
