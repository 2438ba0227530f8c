"""From bytes to items: decodes a file within limits, and splits it where top-level items start, in column one.

One regular expression, which knows quoted texts and comments, passes over the file before the grammar is used. So a file of any size or
depth is answered at once, and a broken item does not affect the others.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from ..diagnostics import Diagnostic, DiagnosticNote, PolicyError
from .names import closest
from .tree import Span

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_LINES = 60_000
MAX_WORD = 4096
"""Characters of one word, or of one text in quotes."""

ITEM_WORDS = (
    "policy",
    "profile",
    "resource",
    "topology",
    "flavor",
    "priority",
    "cohort",
    "queue",
    "preempt",
    "protect",
    "deny",
    "hold",
    "test",
)
"""The words that start a top-level item."""

STATEMENT_WORDS = frozenset(
    """
    use share decide order queueing when default usage ignore level worth label taint tolerates missing placed owns borrows lends
    guarantees weight for prefer only serves rather evicts reclaims stopped needs admits local evict where at expect entitle score admit
    enqueue gangs uses in search take accept votes
    start never
    """.split()  # noqa: SIM905
)
"""The words that start a statement of a block and no item."""

FUTURE_ITEMS = ("budget", "age", "invariant")
"""Items of coming versions."""

FUTURE_WORDS = ("during", "otherwise", "zone")
"""Other words of coming versions."""

TEXT = r'"(?:[^"\\\n]++|\\.)*+"?'
"""A text in quotes, as a pattern; one that is not closed ends with its line."""

MOST_TOLD = 500
"""How many broken items and lines of a file are reported. A file with more is probably not a policy."""

_SHORTER = "leave out comments and what says the default; queues that say the same may be one, with several `for` lines"
"""What to do about a file that is too long. A policy is one file, so it cannot be split."""

_LONG = rf"(?<![\w.%/-])[\w.%/-]{{{MAX_WORD + 1},}}+"
_PIECES = re.compile(TEXT + r"|#[^\n]*|[{}]|" + _LONG + r"|(?:^|(?<=\n))[^\s#}]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|\r(?!\n)")
"""Characters that editors hide, that reorder the text or that some editors show as a new line: readers would see different policies."""


@dataclass(slots=True)
class Split:
    """The items of a file by their place, its comments, and what is wrong with its layout."""

    items: list[Span] = field(default_factory=list)
    comments: list[Span] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def decode(data: bytes, file: str) -> str:
    """The text of a file. Raises PolicyError for one that is too big, not UTF-8, or has characters that hide what it says."""
    if len(data) > MAX_BYTES:
        raise _unreadable("GP002", f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read", _SHORTER, file)
    if data.startswith(b"\xef\xbb\xbf"):
        raise _unreadable("GP001", "the file starts with a byte order mark", "save it as UTF-8 without one", file)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        help_text = "save the file as UTF-8"
        raise PolicyError((_at(before, "GP001", f"byte {error.start + 1} is not UTF-8", "after this", help_text, file),), before) from None
    bad = _UNREADABLE.search(text)
    if bad is not None:
        message = f"a control character U+{ord(bad[0]):04X} stands in the file"
        help_text = "end lines with a line feed, or with both" if bad[0] == "\r" else "delete it"
        span = Span(bad.start(), bad.end())
        raise PolicyError((Diagnostic("GP001", "error", message, span, "this one", help_text, file=file),), text)
    return text


def _unreadable(code: str, message: str, help_text: str, file: str) -> PolicyError:
    return PolicyError((Diagnostic(code, "error", message, Span(0, 0), "", help_text, file=file),), "")


def _at(text: str, code: str, message: str, label: str, help_text: str, file: str) -> Diagnostic:
    return Diagnostic(code, "error", message, Span(max(0, len(text) - 1), len(text)), label, help_text, file=file)


def split(text: str, file: str) -> Split:
    """Split a text into items. A text beyond a limit is cut off there, with one diagnostic."""
    found = Split()
    if text.count("\n") > MAX_LINES:
        message = f"the file has {text.count(chr(10)):,} lines; at most {MAX_LINES:,} are read"
        found.diagnostics.append(Diagnostic("GP002", "error", message, Span(0, 0), "", _SHORTER, file=file))
        return found
    starts: list[int] = []
    depth = 0
    for piece in _PIECES.finditer(text):
        match text[piece.start()]:
            case "#":
                found.comments.append(Span(piece.start(), piece.end()))
            case "{":
                depth += 1
                if depth > MAX_DEPTH:
                    message, spot = f"blocks are nested more than {MAX_DEPTH} deep", Span(piece.start(), piece.end())
                    found.diagnostics.append(Diagnostic("GP002", "error", message, spot, "one too deep", "flatten it", file=file))
                    return found
            case "}":
                depth = max(0, depth - 1)
            case _ if piece.end() - piece.start() > MAX_WORD:
                message = f"a word or text has {piece.end() - piece.start():,} characters; at most {MAX_WORD:,} are read"
                spot = Span(piece.start(), piece.end())
                found.diagnostics.append(Diagnostic("GP002", "error", message, spot, "too long", "shorten it", file=file))
                return found
            case _ if piece.start() == 0 or text[piece.start() - 1] == "\n":
                if len(found.diagnostics) == MOST_TOLD:
                    found.diagnostics.append(too_many(piece.start(), file))
                    break
                if _starts_item(text, piece.start(), depth, found, file):
                    starts.append(piece.start())
                    depth = 0
    _check_head(text, starts, found, file)
    ends = [*starts, len(text)][1:]
    found.items = [Span(start, end) for start, end in zip(starts, ends, strict=True)]
    return found


def block_lines_in_column_one(text: str) -> list[int]:
    """Where lines within a block start in column one; none where a block is not closed, or a `}` closes none."""
    depth, found = 0, []
    for piece in _PIECES.finditer(text):
        match text[piece.start()]:
            case "{":
                depth += 1
            case "}":
                depth -= 1
            case "#":
                continue
            case _ if depth > 0 and (piece.start() == 0 or text[piece.start() - 1] == "\n"):
                found.append(piece.start())
        if depth < 0:
            return []
    return found if depth == 0 else []


def indent_blocks(text: str) -> str:
    """The text with these lines indented."""
    cuts = [0, *block_lines_in_column_one(text), len(text)]
    return "  ".join(text[start:end] for start, end in pairwise(cuts))


def in_column_one(text: str, start: int, file: str) -> Diagnostic:
    """Says that a line within a block starts in column one."""
    end = start + max(1, len(word_at(text, start)))
    help_text = "indent it, or let `gpol fmt` do it; only top-level items and their closing `}` start in column one"
    return Diagnostic(
        "GP005", "error", "a statement inside a block starts in column one", Span(start, end), "in column one", help_text, file=file
    )


def word_at(text: str, start: int) -> str:
    """The word that starts at an offset."""
    found = _WORD.match(text, start)
    return found[0] if found else ""


def too_many(at: int, file: str) -> Diagnostic:
    """Says that reading stopped at an offset, because the rest would be as broken."""
    message = f"more than {MOST_TOLD} places are broken"
    help_text = "mend these first, or name another file if this one is no policy"
    return Diagnostic("GP002", "error", message, Span(at, at), "not read from here on", help_text, file=file)


def _starts_item(text: str, start: int, depth: int, found: Split, file: str) -> bool:
    """Whether a line in column one starts an item. Inside an open block, a line that is not an item is reported as misplaced."""
    word = word_at(text, start)
    if depth == 0 or word in ITEM_WORDS or word in FUTURE_ITEMS:
        return True
    if word not in STATEMENT_WORDS and closest(word, ITEM_WORDS):
        return True
    found.diagnostics.append(in_column_one(text, start, file))
    return False


def _check_head(text: str, starts: list[int], found: Split, file: str) -> None:
    """Report anything before the first item other than space and comments."""
    head = text[: starts[0]] if starts else text
    stray = re.search(r"[^\s]", re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), head))
    if stray is None:
        return
    start = stray.start()
    end = start + max(1, len(word_at(text, start)))
    if text[start] == "}":
        message, label, help_text = "a `}` closes nothing", "no block is open here", "delete it"
        found.diagnostics.append(Diagnostic("GP003", "error", message, Span(start, end), label, help_text, file=file))
        return
    if start == 0 or text[start - 1] == "\n":
        message, label, help_text = f"`{text[start]}` starts no item", "not known", 'start the file with `policy "name" { }`'
        found.diagnostics.append(Diagnostic("GP007", "error", message, Span(start, end), label, help_text, file=file))
        return
    message = "a top-level item does not start in column one"
    help_text = "delete the space before it"
    note = (DiagnosticNote("statements of a block are indented, items are not"),)
    found.diagnostics.append(Diagnostic("GP005", "error", message, Span(start, end), "indented", help_text, note, file))
