"""Laws of the language for deciding in cycles, over generated syntax trees and over text with damaged tokens."""

import re

from cycle_policies import cycle_policies
from gpol.dsl.analysis.checker import check, check_parsed
from gpol.dsl.print.formatter import format_text, print_tree
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.parser import Parsed, parse
from hypothesis import given
from hypothesis import strategies as st

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|[A-Za-z0-9_./%-]+|[^\sA-Za-z0-9]|\n|[ ]+')

_WORDS = (
    *(
        '"',
        "{",
        "}",
        "$",
        "é",
        "9q",
        "-5",
        "0s",
        '""',
        "in",
        "not",
        "by",
        "as",
        "from",
        "queue",
        "serves",
        "usage",
        "halves",
        "classically",
    ),
    *("owned", "missing", "stopped", "share", "evicts", "reclaims", "namespaces", "local", "check", "tolerates", "anything", "NoSchedule"),
)
"""What damaged text gets in place of its own words."""


@given(cycle_policies())
def test_print_then_parse(file: tree.File) -> None:
    """Whatever a tree says, its text says the same, and formatting it changes nothing."""
    text = print_tree(file)
    parsed = parse(text, "generated.gpol")

    assert parsed.diagnostics == ()
    assert parsed.tree == file
    once = format_text(text, "generated.gpol")
    assert format_text(once, "generated.gpol") == once
    assert parse(once, "generated.gpol").tree == file


@given(cycle_policies())
def test_a_tree_and_its_text_are_one_policy(file: tree.File) -> None:
    """A tree checks without its text, and the graph and the digest are those of the text."""
    built = check_parsed(Parsed(file, (), (), "", "built.gpol"))
    read = check(print_tree(file), "read.gpol")

    assert built.errors == read.errors == ()
    assert built.graph is not None
    assert read.graph is not None
    assert built.graph.digest == read.graph.digest
    assert {diagnostic.code for diagnostic in read.diagnostics} <= {"GP053", "GP056", "GP057", "GP065"}  # drawn without a thought


@given(cycle_policies(), st.data())
def test_damaged_text(file: tree.File, data: st.DataObject) -> None:
    """Text with tokens deleted, doubled, swapped or replaced never crashes the checker; spans lie inside; what is refused is told."""
    tokens = _TOKEN.findall(print_tree(file))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        match data.draw(st.sampled_from(["delete", "double", "swap", "replace"])):
            case "delete":
                del tokens[at]
            case "double":
                tokens.insert(at, f"{tokens[at]} ")
            case "swap":
                other = data.draw(st.integers(0, len(tokens) - 1))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "replace":
                tokens[at] = data.draw(st.sampled_from(_WORDS))
    text = "".join(tokens)
    checked = check(text, "damaged.gpol")

    for diagnostic in checked.diagnostics:
        assert re.fullmatch(r"GP0\d\d", diagnostic.code)
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(checked.texts[diagnostic.file])
    assert (checked.graph is None) == bool(checked.errors)
