"""Parsing: text to syntax tree, each top-level item separately, so that all errors of a file are reported at once."""

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic
from .grammar import build_parser, grammar_text
from .guard_walk import guards_of, levels
from .items import (
    FUTURE_ITEMS,
    FUTURE_WORDS,
    ITEM_WORDS,
    MAX_DEPTH,
    MOST_TOLD,
    STATEMENT_WORDS,
    block_lines_in_column_one,
    in_column_one,
    indent_blocks,
    split,
    too_many,
    word_at,
)
from .tree import File, Item, Span

if TYPE_CHECKING:
    from lark import Lark


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a text says: the items that parse, the places of the comments, and a diagnostic for each item that does not."""

    tree: File
    diagnostics: tuple[Diagnostic, ...]
    comments: tuple[Span, ...]
    text: str
    file: str


@cache
def item_parser() -> "Lark":
    """The parser of one item: read from the stored tables or, if they are of another version of Lark, built from the grammar."""
    from .grammar_tables import read_tables
    from .tree_builder import Build, ItemLexer

    code: dict[str, Any] = {"transformer": Build(), "_plugins": {"LexerThread": ItemLexer}}
    return read_tables(grammar_text(), code) or build_parser(**code)


def parse(text: str, file: str) -> Parsed:
    """Parse a whole text. Never raises for what the text says; the tree holds every item that parses."""
    if not text.endswith("\n"):
        parsed = parse(text + "\n", file)
        diagnostics = tuple(_within(diagnostic, len(text)) for diagnostic in parsed.diagnostics)
        return replace(parsed, tree=replace(parsed.tree, span=Span(0, len(text))), text=text, diagnostics=diagnostics)
    cut = split(text, file)
    found = list(cut.diagnostics)
    told = {diagnostic.span.start for diagnostic in found}
    given_up = any(diagnostic.code == "GP002" for diagnostic in cut.diagnostics)
    items: list[Item] = []
    for place in cut.items:
        item = _parse_item(text, place, file)
        if not isinstance(item, Diagnostic):
            items.append(item)
        elif len(found) >= MOST_TOLD:
            found += [] if given_up else [too_many(place.start, file)]
            break
        elif item.span.start not in told:
            found.append(item)
    if found and not given_up:
        found = _only_not_indented(text, file) or found
    found.sort(key=lambda diagnostic: (diagnostic.span.start, diagnostic.code))
    return Parsed(File(tuple(items), span=Span(0, len(text))), tuple(found), tuple(cut.comments), text, file)


def _only_not_indented(text: str, file: str) -> list[Diagnostic]:
    """The lines within blocks that start in column one, where they are all that is wrong; else none."""
    places = block_lines_in_column_one(text)
    if not places or len(places) > MOST_TOLD or parse(indent_blocks(text), file).diagnostics:
        return []
    return [in_column_one(text, place, file) for place in places]


def _within(diagnostic: Diagnostic, length: int) -> Diagnostic:
    span = Span(min(diagnostic.span.start, length), min(diagnostic.span.end, length))
    return replace(diagnostic, span=span)


def _parse_item(text: str, place: Span, file: str) -> Item | Diagnostic:
    from lark import TextSlice, UnexpectedInput

    from .parse_errors import explain

    word = word_at(text, place.start)
    if word not in ITEM_WORDS:
        return _unknown_item(text, place, word, file)
    try:
        item: Item = item_parser().parse(TextSlice(text, place.start, place.end))  # type: ignore[assignment]
    except UnexpectedInput as error:
        return explain(error, text, place, file)
    for guard in guards_of(item):
        if sum(1 for _ in levels(guard)) > MAX_DEPTH:
            message = f"the guard is nested more than {MAX_DEPTH} deep"
            return Diagnostic("GP002", "error", message, guard.span, "this one", "flatten it", file=file)
    return item


def _unknown_item(text: str, place: Span, word: str, file: str) -> Diagnostic:
    from .mistakes.foreign_habits import foreign_item
    from .names import closest, shortened

    end = place.start + max(1, len(word))
    span = Span(place.start, end)
    if word in FUTURE_ITEMS or word in FUTURE_WORDS:
        message = f"`{word}` is not enforced by this version"
        help_text = "remove it; a rule that does nothing would mislead its readers"
        return Diagnostic("GP009", "error", message, span, "a coming version knows it", help_text, file=file)
    foreign = foreign_item(text, place.start)
    if foreign is not None:
        sign, help_text = foreign
        span = Span(place.start, place.start + len(sign))
        return Diagnostic("GP007", "error", f"`{sign}` starts no item", span, "not known", help_text, file=file)
    shown = shortened(text[place.start : end])
    guess = closest(word, ITEM_WORDS) if word not in STATEMENT_WORDS else None
    help_text = f"did you mean `{guess}`?" if guess else f"an item starts with one of {', '.join(ITEM_WORDS)}"
    if word in STATEMENT_WORDS:
        help_text = "it stands inside a block: indent it there"
    return Diagnostic("GP007", "error", f"`{shown}` starts no item", span, "not known", help_text, file=file)
