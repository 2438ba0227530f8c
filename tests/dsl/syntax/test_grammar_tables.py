"""The stored tables of the parser: fresh, the same in every run, and of no use for another grammar."""

from importlib.resources import files

import lark
import pytest
from gpol.dsl.syntax import grammar_tables as tables
from gpol.dsl.syntax.grammar import build_parser, grammar_text
from gpol.dsl.syntax.parser import item_parser
from gpol.dsl.syntax.tree_builder import Build

CODE = {"transformer": Build()}


def test_the_stored_tables_are_those_of_the_grammar() -> None:
    """What `python -m gpol.dsl.syntax.grammar_tables` would write is what is stored."""
    stored = files("gpol.dsl.syntax").joinpath(tables.NAME).read_text(encoding="utf-8")
    if f'"{lark.__version__}"' not in stored.splitlines()[0]:
        pytest.skip("the tables are of another version of Lark; this one computes its own")

    assert tables.tables_text(build_parser(), grammar_text()) == stored
    assert tables.read_tables(grammar_text(), CODE) is not None


def test_tables_of_another_grammar_are_not_used() -> None:
    """One more letter in the grammar, and the parser has to be computed."""
    assert tables.read_tables(grammar_text() + "\n", CODE) is None


def test_without_tables_the_parser_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file costs time and nothing else: the parser says the same of an item."""
    monkeypatch.setattr(tables, "NAME", "absent.json")
    item = 'queue nlp {\n  owns 8 gpu  # eight\n  for user "ada"\n}\n'

    assert tables.read_tables(grammar_text(), CODE) is None
    assert item_parser.__wrapped__().parse(item) == item_parser().parse(item)
