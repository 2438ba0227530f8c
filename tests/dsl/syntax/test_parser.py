"""Parsing: positions, contextual keywords, one error for each broken item; the grammar itself."""

import re
from importlib.resources import files

import lark
import lark.lexer
import pytest
from gpol.dsl.print.words import KEYWORDS
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.grammar import build_parser
from gpol.dsl.syntax.parser import item_parser, parse
from lark import TextSlice
from lark.lexer import BasicLexer, ContextualLexer

WORDLIKE = {"NAME", "DOTTED", "FIELD", "LABEL_KEY"}
"""Terminals that are any word."""


def one(text: str) -> tree.Item:
    """The only item of a text without errors."""
    parsed = parse(text, "t.gpol")
    assert parsed.diagnostics == ()
    [item] = parsed.tree.items
    return item


def test_spans_are_offsets_into_the_text() -> None:
    """A node's span cuts the node's own words out of the text, wherever its item stands."""
    text = "# first\nresource license\n\nqueue nlp {\n  owns 8 gpu on h100  # here\n}\n"
    queue = parse(text, "t.gpol").tree.items[1]

    assert isinstance(queue, tree.QueueItem)
    quota = queue.body[0]
    assert isinstance(quota, tree.QuotaStatement)
    assert text[quota.span.start : quota.span.end] == "owns 8 gpu on h100"
    assert quota.amount is not None
    assert text[quota.amount.span.start : quota.amount.span.end] == "8 gpu"
    assert text[queue.span.start : queue.span.end].startswith("queue nlp {")


@pytest.mark.parametrize("word", ["queue", "owns", "on", "nothing", "gpu", "weight", "test"])
def test_keywords_are_not_reserved(word: str) -> None:
    """A queue may be called like a keyword."""
    queue = one(f"queue {word} {{ owns nothing }}\n")

    assert isinstance(queue, tree.QueueItem)
    assert queue.name == tree.Name(word)


def test_and_binds_tighter_than_or() -> None:
    """`a or b and not c` is `a or (b and (not c))`; parentheses change that."""
    plain = one("protect p { where victim.gpu > 1 or victim.gpu > 2 and not victim.gpu > 3 }\n")
    grouped = one("protect p { where (victim.gpu > 1 or victim.gpu > 2) and not victim.gpu > 3 }\n")

    def greater(text: str) -> tree.FieldComparison:
        return tree.FieldComparison(">", tree.FieldRef("victim", "gpu"), tree.Number(text))

    assert plain == tree.ProtectItem(
        tree.Name("p"), (), tree.Where(tree.AnyOf((greater("1"), tree.AllOf((greater("2"), tree.Negation(greater("3")))))))
    )
    assert grouped == tree.ProtectItem(
        tree.Name("p"), (), tree.Where(tree.AllOf((tree.AnyOf((greater("1"), greater("2"))), tree.Negation(greater("3")))))
    )


def test_broken_items_leave_the_others_alone() -> None:
    """Items around a broken one are parsed, and it gives one diagnostic."""
    parsed = parse("queue a { owns nothing }\nqueue b { own nothing }\nqueue c { owns nothing }\n", "t.gpol")

    assert [item.name.text for item in parsed.tree.items if isinstance(item, tree.QueueItem)] == ["a", "c"]
    assert [diagnostic.code for diagnostic in parsed.diagnostics] == ["GP007"]


def test_the_end_of_the_file_needs_no_line_end() -> None:
    """A last line without an end parses, and spans stay within the text."""
    assert one("resource license") == tree.ResourceItem(tree.Name("license"))
    text = "queue a { owns"
    assert all(diagnostic.span.end <= len(text) for diagnostic in parse(text, "t.gpol").diagnostics)


def test_keywords_of_the_printer_are_those_of_the_grammar() -> None:
    """The printer quotes exactly the words that the grammar knows."""
    grammar = files("gpol.dsl.syntax").joinpath("grammar.lark").read_text(encoding="utf-8")
    parser = lark.Lark(grammar, parser="lalr")
    words = {terminal.pattern.value for terminal in parser.terminals if isinstance(terminal.pattern, lark.lexer.PatternStr)}
    words |= {"user", "kind"}  # one terminal for both

    assert {word for word in words if word.isalpha()} == KEYWORDS


def test_the_grammar_has_no_conflicts() -> None:
    """Lark's strict mode finds no shift/reduce conflict and no colliding terminals in any one context."""
    pytest.importorskip("interegular", reason="strict mode needs it; the dev extra installs it")

    build_parser(strict=True)


def _lexers() -> list[BasicLexer]:
    """The lexer of each state of the parser: it knows the terminals that may stand there."""
    lexer = item_parser().parser.lexer
    assert isinstance(lexer, ContextualLexer)
    return list({id(each): each for each in lexer.lexers.values()}.values())


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_a_keyword_is_a_whole_word(word: str) -> None:
    """Wherever a keyword may stand, it is read as one before a space, a brace or a comma, and never as the start of a longer word."""
    knowing = 0
    for lexer in _lexers():
        own = {terminal.name for terminal in lexer.terminals if re.fullmatch(terminal.pattern.to_regexp(), word)} - WORDLIKE
        for name in own:
            knowing += 1
            for after in ("", " h100", "{", "}", ",", "\n", "(", ")", '"', "#"):
                assert lexer.match(TextSlice.cast_from(word + after), 0) == (word, name)
            for after in ("h100", "_x", "-x", "8", ".x", "s"):
                found = lexer.match(TextSlice.cast_from(word + after), 0)
                assert found is None or found[1] != name
    assert knowing > 0


@pytest.mark.parametrize("number", ["8gpux", "8_x", "8-gpu", "10mm", "1h30", "5%x", "1_000", "8/2x", "1.5.2", "0x10", "1e3"])
def test_a_number_ends_with_its_word(number: str) -> None:
    """Whatever is written onto a number is part of it, so that no unit or word is split off behind the reader's back."""
    weight = one(f"queue q {{ weight {number} }}\n")

    assert weight == tree.QueueItem(tree.Name("q"), (tree.Weight(tree.Number(number)),))
