"""The formatter: one layout for every policy. Comments keep their place and order. The output is parsed again and must say the same.

Two spaces a level. A block of one plain statement without comments stands on one line, if that is short; headers, cohorts
and tests never do. One empty line stands between items, none between neighbours of one line and one kind that had none;
inside blocks single empty lines stay.
"""

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

from ..diagnostics import PolicyError
from ..syntax import tree
from ..syntax.items import TEXT, indent_blocks
from ..syntax.parser import Parsed, parse
from . import printer

_WIDTH = 100
_WORDS = re.compile(rf"(?P<text>{TEXT})|#[^\n]*|(?P<word>[A-Za-z0-9_./%-]+|[<>=!]+)")


class FormatError(RuntimeError):
    """The formatted text would have another meaning: a defect of the formatter. Nothing was changed."""


def format_text(text: str, file: str) -> str:
    """The text in the one layout. Raises PolicyError where it does not parse, FormatError should the layout change its meaning.

    Statements of a block that start in column one are indented first, if all blocks are closed.
    """
    parsed = parse(text, file)
    if parsed.diagnostics:
        indented = parse(indent_blocks(text), file)
        if indented.diagnostics:
            raise PolicyError(parsed.diagnostics, text)
        parsed = indented
    formatted = _Layout(parsed).run()
    again = parse(formatted, file)
    kept = again.tree == parsed.tree and _comments(again) == _comments(parsed) and _words(formatted) == _words(text)
    if again.diagnostics or not kept:
        raise FormatError("the formatted text would not say the same; please report this file as a bug")
    return formatted


def print_tree(root: tree.File) -> str:
    """A tree as text in the one layout."""
    return _Layout(Parsed(root, (), (), "", "")).run()


def _comments(parsed: Parsed) -> list[str]:
    return [parsed.text[span.start : span.end].rstrip() for span in parsed.comments]


def _words(text: str) -> Counter[str]:
    """The words of a text however they are quoted, without `asc`, which may be left out.

    Equal trees would not show a word that the tree builder itself leaves out; these do.
    """
    words = (piece["word"] or (piece["text"] or "").strip('"') for piece in _WORDS.finditer(text))
    return Counter(word for word in words if word and word != "asc")


@dataclass(slots=True)
class _Layout:
    """Lines made so far, and the comments that are still to be placed."""

    parsed: Parsed
    lines: list[str] = field(default_factory=list)
    commented: bool = False
    next_comment: int = 0
    comment_starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.comment_starts = [comment.start for comment in self.parsed.comments]

    def run(self) -> str:
        """The whole text."""
        before: tree.Item | None = None
        for item in self.parsed.tree.items:
            apart = before is not None and not self._neighbours(before, item)
            self._item(item, 0, force_blank=apart)
            before = item
        self._flush(len(self.parsed.text), 0, first_blank=False)
        return "".join(line + "\n" for line in self.lines)

    # --- lines and comments -------------------------------------------------------------------------------------

    def _line(self, text: str, at: int, level: int, blank: bool = False) -> None:
        """Add a line for what stands at an offset, after the comments before it; `blank`: an empty line comes first."""
        flushed = self._flush(at, level, first_blank=blank)
        if (blank and not flushed) or self._blank_before(at):
            self._blank()
        self.lines.append("  " * level + text)
        self.commented = False

    def _flush(self, upto: int, level: int, first_blank: bool) -> bool:
        """Place the comments before an offset; say whether one stands on a line of its own."""
        own_lines = False
        comments = self.parsed.comments
        while self.next_comment < len(comments) and comments[self.next_comment].start < upto:
            span = comments[self.next_comment]
            text = self.parsed.text[span.start : span.end].rstrip()
            line_start = self.parsed.text.rfind("\n", 0, span.start) + 1
            trails = self.parsed.text[line_start : span.start].strip() != ""
            if trails and self.lines and not self.commented and not own_lines:
                self.lines[-1] += f"  {text}"
            else:
                if (first_blank and not own_lines) or self._blank_before(span.start):
                    self._blank()
                self.lines.append("  " * level + text)
                own_lines = True
            self.commented = True
            self.next_comment += 1
        return own_lines

    def _blank(self) -> None:
        if self.lines and self.lines[-1] != "" and not self._opens():
            self.lines.append("")

    def _opens(self) -> bool:
        return self.lines[-1].split("  #")[0].endswith("{")

    def _blank_before(self, at: int) -> bool:
        """Whether an empty line stands before the line of an offset."""
        line_start = self.parsed.text.rfind("\n", 0, at) + 1
        before = self.parsed.text.rfind("\n", 0, max(0, line_start - 1)) + 1
        return line_start > 0 and self.parsed.text[before:line_start].strip() == ""

    # --- items --------------------------------------------------------------------------------------------------

    def _item(self, item: tree.Spanned, level: int, force_blank: bool = False) -> None:
        statements = printer.body(item)
        if statements is None:
            self._line(printer.statement(item), item.span.start, level, force_blank)
            return
        short = self._one_line(item, statements, level)
        if short is not None:
            self._line(short, item.span.start, level, force_blank)
            return
        self._line(f"{printer.head(item)} {{", item.span.start, level, force_blank)
        for statement in statements:
            self._item(statement, level + 1)
        end = max(item.span.start, self._closing(item))
        self._flush(end, level + 1, first_blank=False)
        self.lines.append("  " * level + "}" + printer.tail(item))
        self.commented = False

    def _closing(self, item: tree.Spanned) -> int:
        """Where the block of an item ends: its last `}`, behind which only `because` may stand."""
        end = item.because.span.start if isinstance(item, tree.AdmissionItem) else item.span.end
        return self.parsed.text.rfind("}", 0, end)

    def _one_line(self, item: tree.Spanned, statements: tuple[tree.Spanned, ...], level: int) -> str | None:
        """An item on one line, if it may be."""
        if isinstance(item, tree.Header | tree.CohortItem | tree.PolicyTest) and statements:
            return None
        if len(statements) > 1 or any(printer.body(statement) is not None for statement in statements):
            return None
        if bisect_left(self.comment_starts, item.span.start) < bisect_left(self.comment_starts, item.span.end):
            return None
        inside = "".join(f" {printer.statement(statement)}" for statement in statements)
        without_block = isinstance(item, tree.ProtectItem | tree.AdmissionItem | tree.LocalQueueStatement) and not statements
        if without_block:  # there is nothing to break it at
            return printer.head(item) + printer.tail(item)
        text = f"{printer.head(item)} {{{inside} }}{printer.tail(item)}"
        return text if len(text) + 2 * level <= _WIDTH else None

    def _neighbours(self, before: tree.Item, item: tree.Item) -> bool:
        """Whether two items of one kind and one line each stand together, with no empty line between them."""
        if type(before) is not type(item) or not self.parsed.text:
            return type(before) is type(item) and isinstance(item, tree.ResourceItem | tree.PriorityItem)
        one_line = all(self._is_one_line(each) for each in (before, item))
        return one_line and "\n\n" not in "".join(self.parsed.text[before.span.end : item.span.start].replace("\r", "").split(" "))

    def _is_one_line(self, item: tree.Item) -> bool:
        statements = printer.body(item)
        return statements is None or self._one_line(item, statements, 0) is not None
