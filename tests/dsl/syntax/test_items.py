"""Cutting a file into items: the limits on words and texts, and where none apply."""

import pytest
from gpol.dsl.syntax.items import MAX_WORD, split
from gpol.dsl.syntax.parser import parse


@pytest.mark.parametrize("piece", ['"' + "x" * MAX_WORD + '"', "x" * (MAX_WORD + 1), "8" * 2_000_000, '"' + "\\\\" * 1_000_000 + '"'])
def test_a_word_too_long_ends_the_reading(piece: str) -> None:
    """Nothing is read from such a word or text on, and it is the only thing told."""
    text = f"queue a {{ owns nothing }}\nqueue {piece} {{ }}\nqueue b {{ own nothing }}\n"
    parsed = parse(text, "p.gpol")

    [diagnostic] = parsed.diagnostics
    assert (diagnostic.code, diagnostic.help) == ("GP002", "shorten it")
    assert text[diagnostic.span.start : diagnostic.span.end] == piece
    assert parsed.tree.items == ()


@pytest.mark.parametrize("piece", ['"' + "x" * (MAX_WORD - 2) + '"', "x" * MAX_WORD])
def test_a_word_at_the_limit_is_read(piece: str) -> None:
    """The limit itself is within the limit."""
    assert parse(f"queue {piece} {{ }}\n", "p.gpol").diagnostics == ()


def test_only_a_single_word_is_too_long() -> None:
    """A list without spaces is as long as it likes, and so is a line."""
    assert parse(f"queue a {{ prefer {','.join(['h'] * MAX_WORD)} }}\n", "p.gpol").diagnostics == ()


def test_comments_may_be_of_any_length() -> None:
    """A comment is no word, wherever it stands."""
    text = f"# {'x' * 10_000}\nqueue a {{ }} #{'y' * 10_000}\n"

    assert split(text, "p.gpol").diagnostics == []
    assert parse(text, "p.gpol").diagnostics == ()
