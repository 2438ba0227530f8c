"""The grammar of one top-level item, and the parser that Lark builds from it."""

from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef


def grammar_text() -> str:
    """The grammar in Lark's notation."""
    return files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")


def build_parser(strict: bool = False, **code: Any) -> "Lark":
    """A new parser of one item, with the code it calls; `strict` looks for conflicts in the grammar, and needs interegular."""
    from lark import Lark, lexer

    # With interegular installed Lark searches for colliding terminals in every grammar, 0.15 s; a test does that once.
    lexer.has_interegular = strict
    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        keep_all_tokens=True,
        maybe_placeholders=False,
        edit_terminals=_end_with_word,
        strict=strict,
        **code,
    )


def _end_with_word(terminal: "TerminalDef") -> None:
    """Make a keyword match whole words only: otherwise `preferh100` would be read as `prefer h100` where no name is allowed."""
    from lark.lexer import PatternRE

    if terminal.pattern.value.isalpha():
        terminal.pattern = PatternRE(terminal.pattern.value + "(?![A-Za-z0-9_.-])")
        terminal.priority = 1  # before NAME, as lark does it for plain words
