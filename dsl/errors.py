"""What the parser found and what it would have taken, in the author's words."""

import re

from lark import Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from .diagnostics import Diagnostic, Note
from .names import closest
from .split import word_at
from .tree import Span

_KINDS = {
    "$END": "another item, in column one",
    "NAME": "a name",
    "STRING": "a text in quotes",
    "NUMBER": "a number",
    "FIELD": "a field",
    "DOTTED": "a name",
    "LABEL_KEY": "a label's key",
    "OPERATOR": "a comparison such as `<=`",
    "_NL": "the end of the line",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "COMMA": "`,`",
    "EQUAL": "`=`",
    "ATTRIBUTE": "`namespace`, `user`, `group` or `kind`",
}
"""Terminals that are not simply a keyword, in words."""

_FUTURE_WORDS = {"during", "otherwise", "zone"}
_FOREIGN = {":": "write the value after a space, without `:`", ";": "end the statement with the line", "=": "write the value without `=`"}
_MOST_SHOWN = 6


def explain(error: UnexpectedInput, text: str, place: Span, file: str) -> Diagnostic:
    """The one diagnostic for an item that does not parse."""
    start, end, found = _found(error, text, place)
    accepted = sorted(_accepted(error))
    if found == "":
        return _unclosed(text, place, accepted, file)
    word = word_at(text, start)
    special = _special(text, start, word, found, accepted, file)
    if special is not None:
        return special
    keywords = [name.lower() for name in accepted if name not in _KINDS]
    guess = closest(word, keywords) if word else None
    code = "GP007" if word and "NAME" not in accepted else "GP003"
    help_text = f"did you mean `{guess}`?" if guess else f"here may stand {_alternatives(accepted)}"
    return Diagnostic(code, "error", f"`{found}` is not expected here", Span(start, end), "unexpected", help_text, file=file)


def _found(error: UnexpectedInput, text: str, place: Span) -> tuple[int, int, str]:
    """Where the parser stopped, and the text that stands there; an empty text for the end of the item."""
    if isinstance(error, UnexpectedToken):
        token: Token = error.token
        if token.type == "$END" or token.start_pos is None:
            return place.end, place.end, ""
        start, end = int(token.start_pos), int(token.end_pos or token.start_pos + 1)
        if token.type == "_NL":
            start = min(text.index("\n", start, end), place.end - 1)
            return (start, start + 1, "") if not text[start : place.end].strip(" \t\r\n}") else (start, start + 1, "end of line")
        return start, end, text[start:end]
    assert isinstance(error, UnexpectedCharacters)
    start = int(error.pos_in_stream or 0)
    found = re.compile(r"[\w-]+|.", re.DOTALL).match(text, start)
    assert found is not None
    return start, found.end(), found[0]


def _accepted(error: UnexpectedInput) -> set[str]:
    if isinstance(error, UnexpectedToken):
        return set(error.accepts or error.expected)
    assert isinstance(error, UnexpectedCharacters)
    return set(error.allowed or ())


def _alternatives(accepted: list[str]) -> str:
    words = [_KINDS.get(name, f"`{name.lower()}`") for name in accepted if name != "COMMENT"]
    words = sorted(set(words), key=lambda word: (not word.startswith("`"), word))
    if len(words) > _MOST_SHOWN:
        words = [*words[:_MOST_SHOWN], "..."]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" or {words[-1]}"


def _unclosed(text: str, place: Span, accepted: list[str], file: str) -> Diagnostic:
    """The item ends too early: point at the block that is still open, or at the end of the line that lacks something."""
    opening = _last_open_brace(text, place)
    if opening is not None:
        line_start = text.rfind("\n", 0, opening) + 1
        opener = text[line_start:opening].strip()
        note = Note(f"the file goes on after {len(text[place.start : place.end].splitlines())} lines without a `}}` for it")
        message = f"the block of `{opener}` is not closed" if opener else "a block is not closed"
        help_text = "close it with a `}` on a line of its own"
        return Diagnostic("GP004", "error", message, Span(opening, opening + 1), "opened here", help_text, (note,), file)
    end = place.start + len(text[place.start : place.end].rstrip())
    help_text = f"here may stand {_alternatives(accepted)}"
    return Diagnostic(
        "GP003", "error", "the statement is not complete", Span(max(place.start, end - 1), end), "ends here", help_text, file=file
    )


def _last_open_brace(text: str, place: Span) -> int | None:
    opened: list[int] = []
    for piece in re.compile(r'"(?:\\.|[^"\\\n])*"?|#[^\n]*|[{}]').finditer(text, place.start, place.end):
        if piece[0] == "{":
            opened.append(piece.start())
        elif piece[0] == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None


def _special(text: str, start: int, word: str, found: str, accepted: list[str], file: str) -> Diagnostic | None:
    """The frequent mistakes, each with its own advice."""
    end = start + max(1, len(found))
    span = Span(start, end)
    if word in _FUTURE_WORDS:
        message = f"`{word}` is not enforced by this version"
        return Diagnostic("GP009", "error", message, span, "a coming version knows it", "remove it", file=file)
    if found == '"' or (found.startswith('"') and not found.endswith('"')):
        line_end = text.find("\n", start)
        span = Span(start, line_end if line_end > start else len(text))
        rest = text[span.start : span.end]
        broken = re.search(r'\\[^"\\]', rest)
        message = f"`{broken[0]}` is no escape" if broken else "a text in quotes is not closed on its line"
        help_text = 'a text in quotes knows `\\"` and `\\\\` only' if broken else 'close it with `"`'
        return Diagnostic("GP006", "error", message, span, "starts here", help_text, file=file)
    if found in _FOREIGN:
        return Diagnostic("GP003", "error", f"`{found}` is not expected here", span, "unexpected", _FOREIGN[found], file=file)
    if found[0].isdigit() and "NAME" in accepted and "NUMBER" not in accepted:
        message = f"the name `{found}` starts with a digit"
        return Diagnostic("GP008", "error", message, span, "a name", f'write `"{found}"`', file=file)
    before = text[:start].rstrip()
    if before.endswith(" on") and re.search(r"-?\d\S* on$", before):
        at = len(before) - 2
        return Diagnostic(
            "GP003", "error", "the resource is missing", Span(at, at + 2), "after the number", "write `8 gpu on h100`", file=file
        )
    return None
