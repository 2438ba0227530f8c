"""Frequent mistakes in policies. One function recognises each, and gives specific advice."""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

from lark import Token, UnexpectedInput

from ...diagnostics import Diagnostic, DiagnosticNote
from ..items import FUTURE_ITEMS, FUTURE_WORDS, ITEM_WORDS, TEXT, word_at
from ..names import shortened
from ..tree import Span

KINDS = {
    "$END": "the next item, in column one",
    "NAME": "a name",
    "STRING": "a text in quotes",
    "NUMBER": "a number",
    "FIELD": "a field such as `victim.priority`",
    "DOTTED": "a profile's name",
    "LABEL_KEY": "a label's key",
    "OPERATOR": "a comparison such as `<=`",
    "_NL": "the end of the line",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "COMMA": "`,`",
    "EQUAL": "`=`",
    "ATTRIBUTE": "`user` or `kind`",
    "COUNTED": "`0`, `1` or `x1000`",
    "EFFECT": "`NoSchedule`, `NoExecute` or `PreferNoSchedule`",
}
"""Terminals that are not simply a keyword, in words."""

PHRASES = {
    "UP": "`up to`",
    "ALL": "`all but`",
    "BEST": "`best effort`",
    "STRICT": "`strict fifo`",
    "TAKE": "`take flavor`",
    "TRY": "`try next flavor`",
    "NEVER": "`never evicted`",
    "FINAL": "`final share`",
    "INITIAL": "`initial share`",
    "LOWER": "`lower priority`",
    "PLACE": "`place pods`",
    "KEEPING": "`keeping room for`",
    "A": "`a node is lost`",
}
"""Keywords that have but one continuation, with it."""

_BLOCKS = {
    "policy": "the policy header",
    "profile": "the profile header",
    "topology": "a topology",
    "flavor": "a flavor",
    "priority": "a priority",
    "cohort": "a cohort",
    "queue": "a queue",
    "local": "a local queue",
    "preempt": "a preempt rule",
    "protect": "a protect rule",
    "deny": "a deny rule",
    "hold": "a hold rule",
    "test": "a test",
    "at": "a submission",
    "node": "a node",
}
_SIGNS = {
    ":": "write the value after a space, without `:`",
    ";": "end the statement with the line",
    "=": "write the value without `=`",
    "&": "write `and`",
    "|": "write `or`",
    "!": "write `not`",
    "'": 'texts stand in double quotes: `"`',
    "\u201c": 'texts stand in straight double quotes: `"`',
    "\u201d": 'texts stand in straight double quotes: `"`',
    "//": "a comment starts with `#`",
    "/*": "a comment starts with `#`",
    "==": "write `=`",
    "=>": "write `>=`",
    "=<": "write `<=`",
    "<>": "write `!=`",
}
"""What other languages write, and what to write here."""

_RUN = re.compile(r'[^\s{}(),"#=<>:;]+')
_NUMBER_BEFORE = re.compile(r"(?<![\w.-])(-?\d[\w.%/-]*)( on)?$")
_TEXTS_AND_BRACES = re.compile(TEXT + r"|#[^\n]*|[{}]")


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the parser stopped in the item at `place`: at `found`, empty at the end of a line or of the item.

    `accepted` names the terminals that it would have taken; `parser` is lark's interactive parser at this point.
    """

    text: str
    file: str
    place: Span
    span: Span
    found: str
    accepted: frozenset[str]
    parser: Any

    @property
    def before(self) -> str:
        """The item up to here, without the space before what was found."""
        return self.text[self.place.start : self.span.start].rstrip(" \t\r")

    @property
    def shown(self) -> str:
        """What was found, shortened for a headline."""
        return shortened(self.found)

    @property
    def starts_statement(self) -> bool:
        """Whether a statement would start here: at a block's beginning or on a new line in it."""
        return self.before.endswith(("{", "\n"))

    def takes(self, *terminals: str) -> bool:
        """Whether these terminals could follow one another here."""
        cursor = self.parser.copy(deepcopy_values=False)
        cursor.parser_state.parse_conf = copy(cursor.parser_state.parse_conf)
        cursor.parser_state.parse_conf.callbacks = {}
        try:
            for terminal in terminals:
                cursor.feed_token(Token(terminal, ""))
        except UnexpectedInput:
            return False
        return True

    def error(
        self, code: str, message: str, help_text: str, label: str = "unexpected", span: Span | None = None, *notes: DiagnosticNote
    ) -> Diagnostic:
        """A diagnostic for what was found, or for another span."""
        return Diagnostic(code, "error", message, span or self.span, label, help_text, notes, self.file)


# --- blocks ---------------------------------------------------------------------------------------------------------


def _open_blocks(stop: Stop) -> tuple[list[int], int | None]:
    """The open `{` where the parser stopped, and the first block whose `}` seems to be missing: the next `}` is indented less than it."""
    opened: list[int] = []
    robbed: int | None = None
    for piece in _TEXTS_AND_BRACES.finditer(stop.text, stop.place.start, stop.span.start):
        if piece[0] == "{":
            opened.append(piece.start())
        elif piece[0] == "}" and opened:
            opening = opened.pop()
            column = _first_column(stop.text, piece.start())
            if robbed is None and column == piece.start() and _indent(stop.text, piece.start()) < _indent(stop.text, opening):
                robbed = opening
    return opened, robbed


def _first_column(text: str, offset: int) -> int:
    """The offset of the first character of a line that is no space."""
    line_start = text.rfind("\n", 0, offset) + 1
    return line_start + len(text[line_start : offset + 1]) - len(text[line_start : offset + 1].lstrip())


def _indent(text: str, offset: int) -> int:
    return _first_column(text, offset) - (text.rfind("\n", 0, offset) + 1)


def _head_of(stop: Stop, opening: int) -> str:
    """What stands before a `{`: `queue nlp`."""
    start = max(stop.text.rfind(sign, 0, opening) + 1 for sign in "\n{")
    return stop.text[start:opening].strip()


def block_of(stop: Stop) -> str:
    """The innermost block around the stop, in words."""
    opened, _ = _open_blocks(stop)
    head = _head_of(stop, opened[-1]) if opened else ""
    return _BLOCKS.get("node" if re.match(r"at\s+\S+\s+node\b", head) else word_at(head, 0), "this block")


def _not_closed(stop: Stop, opening: int, note: DiagnosticNote) -> Diagnostic:
    head = _head_of(stop, opening)
    message = f"the block of `{head}` is not closed" if head else "a block is not closed"
    return stop.error("GP004", message, "close it with a `}` on a line of its own", "opened here", Span(opening, opening + 1), note)


def unclosed(stop: Stop) -> Diagnostic | None:
    """The item ends while a block is open. The error is reported at the block that, by its indentation, lacks its `}`."""
    opened, robbed = _open_blocks(stop)
    if not opened or "RBRACE" not in stop.accepted:
        return None
    after = stop.place.end
    note = (
        DiagnosticNote("the next item starts here", Span(after, after + 1))
        if after < len(stop.text)
        else DiagnosticNote("the file ends without it")
    )
    return _not_closed(stop, opened[-1] if robbed is None else robbed, note)


def unfinished(stop: Stop, help_text: str) -> Diagnostic:
    """A line or the item ends before the statement does."""
    last = Span(max(stop.place.start, stop.span.start - 1), stop.span.start)
    if "LBRACE" in stop.accepted and stop.text[stop.span.start :].lstrip()[:1] == "{":
        help_text = "put the `{` at the end of this line"
    elif stop.accepted == {"BECAUSE"}:
        help_text = 'say why: `because "..."`'
    return stop.error("GP003", "the statement is not complete", help_text, "ends here", last)


def _in_a_queue(stop: Stop) -> Diagnostic | None:
    """A queue or cohort inside a queue: the indentation shows whether that one lacks its `}` or should be a cohort."""
    word, opened = stop.found, _open_blocks(stop)[0]
    if word not in ("queue", "cohort") or not stop.starts_statement or not opened:
        return None
    head = _head_of(stop, opened[-1])
    if word_at(head, 0) != "queue":
        return None
    if stop.before.endswith("\n") and _indent(stop.text, stop.span.start) <= _indent(stop.text, opened[-1]):
        return _not_closed(stop, opened[-1], DiagnosticNote(f"a `{word}` starts here", stop.span))
    return stop.error("GP007", f"a queue holds no {word}", f"make `{head}` a cohort, or close its block before", "not known here")


def _stray_brace(stop: Stop) -> Diagnostic | None:
    if stop.found != "}" or _open_blocks(stop)[0]:
        return None
    return stop.error("GP003", "a `}` closes nothing", "delete it", "no block is open here")


# --- lines ----------------------------------------------------------------------------------------------------------


def _item_not_in_column_one(stop: Stop) -> Diagnostic | None:
    """An item is complete and another one starts on its last line, or indented below it."""
    if stop.found not in ITEM_WORDS or not stop.accepted <= {"$END", "_NL"}:
        return None
    if stop.before.endswith("\n"):
        return stop.error("GP005", "a top-level item does not start in column one", "delete the space before it", "indented")
    return stop.error("GP005", "two top-level items stand on one line", f"start a new line before `{stop.found}`", "the second")


def _two_on_a_line(stop: Stop) -> Diagnostic | None:
    """A missing line end or a missing `,`: what was found would be correct after one."""
    comma = stop.found == ","
    start = stop.span.start + comma
    while stop.text[start : start + 1] in (" ", "\t"):
        start += 1
    word = word_at(stop.text, start)
    if not word or stop.starts_statement or "RBRACE" not in stop.accepted:
        return None
    for separator, kind in (("COMMA", word.upper()), ("_NL", word.upper()), ("COMMA", "NAME"), ("COMMA", "FIELD"), ("_NL", "NAME")):
        if not stop.takes(separator, kind):
            continue
        if separator == "COMMA":
            return stop.error("GP003", "a `,` is missing", f"write `, {stop.shown}`", "before this")
        help_text = f"end the line here, without `,`, and start a new one with `{word}`" if comma else f"start a new line before `{word}`"
        return stop.error("GP003", "two statements stand on one line", help_text, "here" if comma else "the second")
    return None


def _second_where(stop: Stop) -> Diagnostic | None:
    rule = word_at(stop.text, stop.place.start) in ("protect", "deny", "hold")
    if stop.found != "where" or not rule or "RBRACE" not in stop.accepted:
        return None
    return stop.error("GP003", "a rule has one `where`", "join the two guards with `and`, or with `or`", "the second")


# --- words ----------------------------------------------------------------------------------------------------------


def _coming_word(stop: Stop) -> Diagnostic | None:
    word = word_at(stop.text, stop.span.start)
    if word not in FUTURE_WORDS and word not in FUTURE_ITEMS:
        return None
    return stop.error("GP009", f"`{word}` is not enforced by this version", "remove it", "a coming version knows it")


def _broken_text(stop: Stop) -> Diagnostic | None:
    if stop.found != '"':  # a whole text would have been read as one
        return None
    line_end = stop.text.find("\n", stop.span.start)
    span = Span(stop.span.start, line_end if line_end >= 0 else len(stop.text))
    escapes = re.compile(r"\\.").finditer(stop.text, span.start, span.end)
    broken = next((escape for escape in escapes if escape[0][1] not in '"\\'), None)
    if broken is not None:
        help_text = 'a text in quotes knows `\\"` and `\\\\` only'
        return stop.error("GP006", f"`{broken[0]}` is no escape", help_text, "this one", Span(broken.start(), broken.end()))
    return stop.error("GP006", "a text in quotes is not closed on its line", 'close it with `"`', "starts here", span)


def _sign(stop: Stop) -> Diagnostic | None:
    """A sign of another language, of one character or two."""
    start = stop.span.start
    for sign, first in ((stop.text[start : start + 2], start), (stop.text[start - 1 : start + 1], start - 1), (stop.found, start)):
        if sign in _SIGNS and stop.found:
            span = Span(first, first + len(sign))
            return stop.error("GP003", f"`{sign}` is not expected here", _instead(sign, stop.accepted), "unexpected", span)
    return None


def _instead(sign: str, accepted: frozenset[str]) -> str:
    """What to write for a sign of another language; where a comparison stands, that."""
    if sign == ":" and "EQUAL" in accepted:
        return "write `=`"
    return 'write `in "value"`' if sign in ("=", "==") and "EXISTS" in accepted else _SIGNS[sign]


def _two_forms(stop: Stop) -> Diagnostic | None:
    """Two forms of a statement mixed into one."""
    for before, word, message, help_text in _MIXED:
        if stop.found == word and before.search(stop.before):
            return stop.error("GP003", message, help_text)
    return None


_MIXED = (
    (re.compile(r"\bfor namespace$"), "where", "`for namespace` takes a pattern", "write `for namespaces where ...` to go by labels"),
    (re.compile(r"[ \t]-?\d\S*$"), "as", "there is an amount, or as much as is owned", "write `as owned` without a number"),
)


def _grouped_digits(stop: Stop) -> Diagnostic | None:
    """`1,000`, which would be a list."""
    digits = re.search(r"(?<![\w.-])\d{1,3}$", stop.text[stop.place.start : stop.span.start])
    groups = re.compile(r"(?:,\d{3})+(?!\d)").match(stop.text, stop.span.start)
    if digits is None or groups is None:
        return None
    number = digits[0] + groups[0]
    span = Span(groups.start() - len(digits[0]), groups.end())
    return stop.error("GP003", f"`{number}` is no number", f"write `{number.replace(',', '')}`", "without `,`", span)


def _missing_resource(stop: Stop) -> Diagnostic | None:
    """A number without a resource: at the end of a statement, before `on`, or written as one word with it."""
    number = _NUMBER_BEFORE.search(stop.before)
    if number is None or not (stop.found if number[2] else stop.accepted == {"NAME", "STRING"}):
        return None
    start = stop.place.start + number.start(1)
    joined = re.fullmatch(r"(-?[\d./]+(?:[KMGTP]i)?)[_-]?([a-zA-Z][a-zA-Z_]{2}[\w-]*)", number[1])
    example = f"{joined[1]} {joined[2]}" if joined else f"{number[1]} gpu"
    if number[2]:
        example += f" on {stop.shown}"
    return stop.error("GP003", "the resource is missing", f"write `{example}`", "of what?", Span(start, start + len(number[1])))


def _amount_backwards(stop: Stop) -> Diagnostic | None:
    """`8 gpu` in a flavor, which lists `gpu 8`, or in the weights of usage."""
    amount = re.compile(r"(-?\d\S*)[ \t]+([A-Za-z_][\w-]*)").match(stop.text, stop.span.start)
    weighs = stop.accepted == {"NAME", "STRING"} and re.search(r"\busage weighs\b[^\n]*$", stop.before) is not None
    if amount is None or not (weighs or "WORTH" in stop.accepted):
        return None
    message = f"{'a weight' if weighs else 'a flavor'} names the resource first, not `{amount[0]}`"
    return stop.error("GP003", message, f"write `{amount[2]} {amount[1]}`", "the number", Span(amount.start(1), amount.end(1)))


def _text_without_quotes(stop: Stop) -> Diagnostic | None:
    if stop.accepted != {"STRING"} or not word_at(stop.text, stop.span.start):
        return None
    return stop.error("GP008", f"`{stop.shown}` has to stand in quotes", f'write `"{stop.shown}"`', "a text")


def _name_without_quotes(stop: Stop) -> Diagnostic | None:
    """A name that is no bare one: it starts with a digit, or the parser stopped at a character within it."""
    start = stop.span.start
    while start > stop.place.start and (stop.text[start - 1].isalnum() or stop.text[start - 1] in "_-."):
        start -= 1
    run = _RUN.match(stop.text, start)
    if run is None or not run[0][0].isalnum() or run[0].startswith(("victim.", "workload.")):
        return None
    stopped_within = start < stop.span.start < run.end()
    name_only = "NAME" in stop.accepted and "NUMBER" not in stop.accepted and not _NUMBER_BEFORE.search(stop.before)
    if not stopped_within and not (start == stop.span.start and name_only and not word_at(run[0], 0)):
        return None
    shown = shortened(run[0])
    why = f"the name `{shown}` starts with a digit" if run[0][0] in "0123456789" else f"the name `{shown}` has to stand in quotes"
    return stop.error("GP008", why, f'write `"{shown}"`', "a name", Span(run.start(), run.end()))


MISTAKES: tuple[Callable[[Stop], Diagnostic | None], ...] = (
    _coming_word,
    _broken_text,
    _stray_brace,
    _in_a_queue,
    _item_not_in_column_one,
    _second_where,
    _two_forms,
    _grouped_digits,
    _missing_resource,
    _amount_backwards,
    _sign,
    _two_on_a_line,
    _text_without_quotes,
    _name_without_quotes,
)
"""The mistakes in the order in which they are tried; the first that is recognised is reported."""
