"""Parsing: text to syntax tree, each top-level item by itself, every error of the file in one go."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .diagnostics import Diagnostic
from .split import FUTURE_ITEMS, ITEM_WORDS, split, word_at
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
def grammar() -> "Lark":
    """The parser of one item; built once a process, without any cache file."""
    from lark import Lark, lexer

    from .build import Build

    # With interegular installed Lark searches for colliding terminals at every start, 0.15 s; a test does that once.
    lexer.has_interegular = False
    text = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual", keep_all_tokens=True, maybe_placeholders=False, transformer=Build())


def parse(text: str, file: str) -> Parsed:
    """Parse a whole text. Never raises for what the text says; the tree holds every item that parses."""
    if not text.endswith("\n"):
        parsed = parse(text + "\n", file)
        return replace(parsed, text=text, diagnostics=tuple(_within(diagnostic, len(text)) for diagnostic in parsed.diagnostics))
    cut = split(text, file)
    diagnostics = list(cut.diagnostics)
    items: list[Item] = []
    for place in cut.items:
        item = _parse_item(text, place, file)
        if isinstance(item, Diagnostic):
            diagnostics.append(item)
        else:
            items.append(item)
    diagnostics.sort(key=lambda diagnostic: (diagnostic.span.start, diagnostic.code))
    return Parsed(File(tuple(items), span=Span(0, len(text))), tuple(diagnostics), tuple(cut.comments), text, file)


def _within(diagnostic: Diagnostic, length: int) -> Diagnostic:
    span = Span(min(diagnostic.span.start, length), min(diagnostic.span.end, length))
    return replace(diagnostic, span=span)


def _parse_item(text: str, place: Span, file: str) -> Item | Diagnostic:
    from lark import TextSlice, UnexpectedInput

    from .errors import explain

    word = word_at(text, place.start)
    if word not in ITEM_WORDS:
        return _unknown_item(text, place, word, file)
    try:
        item: Item = grammar().parse(TextSlice(text, place.start, place.end))  # type: ignore[assignment]
    except UnexpectedInput as error:
        return explain(error, text, place, file)
    return item


def _unknown_item(text: str, place: Span, word: str, file: str) -> Diagnostic:
    from .names import closest

    end = place.start + max(1, len(word))
    span = Span(place.start, end)
    if word in FUTURE_ITEMS:
        message = f"`{word}` is not enforced by this version"
        help_text = "remove it; a rule that does nothing would mislead its readers"
        return Diagnostic("GP009", "error", message, span, "a coming version knows it", help_text, file=file)
    shown = text[place.start : end]
    guess = closest(word, ITEM_WORDS)
    help_text = f"did you mean `{guess}`?" if guess else f"an item starts with one of {', '.join(ITEM_WORDS)}"
    return Diagnostic("GP007", "error", f"`{shown}` starts no item", span, "not known", help_text, file=file)
