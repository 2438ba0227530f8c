"""The stored tables of the parser: fresh, the same in every run, and of no use for another grammar."""

from importlib.resources import files

import lark
import pytest
from gpol.dsl import tables
from gpol.dsl.build import Build
from gpol.dsl.parser import build_grammar, grammar, grammar_text

CODE = {"transformer": Build()}


def test_the_stored_tables_are_those_of_the_grammar() -> None:
    """What `python -m gpol.dsl.tables` would write is what is stored."""
    stored = files("gpol.dsl").joinpath(tables.NAME).read_text(encoding="utf-8")
    if f'"{lark.__version__}"' not in stored.splitlines()[0]:
        pytest.skip("the tables are of another version of Lark; this one computes its own")

    assert tables.written(build_grammar(), grammar_text()) == stored
    assert tables.read(grammar_text(), CODE) is not None


def test_tables_of_another_grammar_are_not_used() -> None:
    """One more letter in the grammar, and the parser has to be computed."""
    assert tables.read(grammar_text() + "\n", CODE) is None


def test_without_tables_the_parser_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file costs time and nothing else: the parser says the same of an item."""
    monkeypatch.setattr(tables, "NAME", "absent.json")
    item = 'queue nlp {\n  owns 8 gpu  # eight\n  for user "ada"\n}\n'

    assert tables.read(grammar_text(), CODE) is None
    assert grammar.__wrapped__().parse(item) == grammar().parse(item)
