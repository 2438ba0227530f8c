"""Syntax errors: what the parser found and what it expected, in the words of the language."""

import re
from typing import Any

from lark import Token, UnexpectedInput, UnexpectedToken

from ..diagnostics import Diagnostic
from .items import TEXT, word_at
from .mistakes.foreign_habits import HABITS
from .mistakes.frequent_mistakes import KINDS, MISTAKES, PHRASES, Stop, block_of, unclosed, unfinished
from .names import by_likeness, closest
from .tree import Span

_MOST_SHOWN = 5
_CODE_OF_LINE = re.compile(rf'(?:{TEXT}|[^"#\n]++)*+')


def explain(error: UnexpectedInput, text: str, place: Span, file: str) -> Diagnostic:
    """The one diagnostic for an item that does not parse."""
    stop = _stop(error, text, place, file)
    for mistake in (*HABITS, *MISTAKES):
        found = mistake(stop)
        if found is not None:
            return found
    if stop.found:
        return _unexpected(stop)
    return unclosed(stop) or unfinished(stop, f"here may stand {_alternatives(stop.accepted)}")


def _stop(error: UnexpectedInput, text: str, place: Span, file: str) -> Stop:
    parser: Any = error.interactive_parser
    span = _span(error, text, place)
    return Stop(text, file, place, span, text[span.start : span.end], frozenset(parser.accepts()), parser)


def _span(error: UnexpectedInput, text: str, place: Span) -> Span:
    """What stands where the parser stopped; empty, behind the last word, where a line or the item ends too early."""
    start = int(error.pos_in_stream or 0)
    if isinstance(error, UnexpectedToken):
        token: Token = error.token
        if token.type == "$END":
            end = _end_of_code(text, place.start, place.end)
            return Span(end, end)
        if token.type == "_NL":
            end = _end_of_code(text, place.start, start)
            return Span(end, end)
        return Span(start, int(token.end_pos or start + 1))
    word = re.compile(r"[\w-]+|.", re.DOTALL).match(text, start)
    return Span(start, word.end() if word else start + 1)


def _end_of_code(text: str, start: int, end: int) -> int:
    """Behind the last character before `end` that is neither space nor comment."""
    said = ""
    while not said:  # an item starts with a word, so there is one
        line_start = max(start, text.rfind("\n", start, end) + 1)
        code = _CODE_OF_LINE.match(text, line_start, end)
        said = text[line_start : code.end() if code else end].rstrip()
        end = line_start - 1
    return line_start + len(said)


def _unexpected(stop: Stop) -> Diagnostic:
    """The general syntax error: the word that was probably meant, or what may stand here."""
    word = word_at(stop.text, stop.span.start)
    guess = closest(word, [name.lower() for name in stop.accepted if name not in KINDS]) if len(word) > 1 else None
    help_text = f"did you mean `{guess}`?" if guess else f"here may stand {_alternatives(stop.accepted, word)}"
    if word and stop.starts_statement and not stop.accepted & {"NAME", "$END"}:
        return stop.error("GP007", f"`{stop.shown}` starts no statement of {block_of(stop)}", help_text, "not known here")
    return stop.error("GP003", f"`{stop.shown}` is not expected here", help_text)


def _alternatives(accepted: frozenset[str], written: str = "") -> str:
    """What may stand here; where some of it is left out, the words that are most like what was written come first."""
    words = {KINDS.get(name) or PHRASES.get(name, f"`{name.lower()}`") for name in accepted}
    ordered = sorted(words, key=lambda word: (not word.startswith("`"), word))
    if len(ordered) > _MOST_SHOWN + 1 and written:
        ordered = by_likeness([word for word in words if word.startswith("`")], f"`{written}`") + ordered
        ordered = list(dict.fromkeys(ordered))
    if len(ordered) > _MOST_SHOWN + 1:
        return ", ".join(ordered[:_MOST_SHOWN]) + f" and {len(ordered) - _MOST_SHOWN} others"
    return ordered[0] if len(ordered) == 1 else ", ".join(ordered[:-1]) + f" or {ordered[-1]}"
