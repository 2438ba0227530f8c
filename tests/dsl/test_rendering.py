"""Diagnostics as text: the source with its mark for people, one line for logs, one object for programs."""

import json

import pytest
from gpol.dsl.diagnostics import Diagnostic, DiagnosticNote
from gpol.dsl.rendering import render
from gpol.dsl.syntax.tree import Span

TEXT = "queue a { }\n\tqueue é { owns 8gpu }\r\n# 机器 here\n"


def marked(piece: str, text: str = TEXT, **more: object) -> Diagnostic:
    """A diagnostic that marks a piece of a text."""
    start = text.index(piece)
    return Diagnostic("GP003", "error", "the headline", Span(start, start + len(piece)), "the label", **more, file="p.gpol")  # type: ignore[arg-type]


def test_people_see_the_line_and_the_mark_under_it() -> None:
    """Tabs are shown as four spaces, and the mark is as long as what it marks."""
    notes = (DiagnosticNote("by the way"), DiagnosticNote("first here", Span(0, 5)))
    assert render(marked("8gpu", help="write `8 gpu`", notes=notes), TEXT).splitlines() == [
        "error[GP003]: the headline",
        " --> p.gpol:2:17",
        "  |",
        "2 |     queue é { owns 8gpu }",
        "  | " + " " * 19 + "^^^^ the label",
        "  = help: write `8 gpu`",
        "  = note: by the way",
        "  = note: first here: p.gpol:1:1",
    ]


def test_wide_characters_take_two_columns() -> None:
    """The mark stands under what it marks on a terminal, where these characters are as wide as two."""
    assert render(marked("器 h"), TEXT).splitlines()[3:5] == ["3 | # 机器 here", "  |     ^^^^ the label"]


def test_combining_characters_take_none() -> None:
    """An accent written as a character of its own moves nothing."""
    text = "e\u0301 x\n"
    assert render(marked("x", text), text).splitlines()[4] == "  |   ^ the label"


@pytest.mark.parametrize("hidden", ["\x1b", "\u202e", "\u200b", "\x07"])
def test_nothing_in_a_source_moves_the_terminal(hidden: str) -> None:
    """What a terminal would obey or hide is shown as a replacement character."""
    text = f"a{hidden}b\n"
    assert render(marked("b", text), text).splitlines()[3] == "1 | a\ufffdb"


def test_a_long_line_is_shown_around_its_mark() -> None:
    """160 characters are shown, 60 of them before the mark, with dots where something is left out."""
    text = "x" * 1000 + "HERE" + "y" * 1000
    line, marks = render(marked("HERE", text), text).splitlines()[3:5]

    assert line == "1 | ..." + "x" * 60 + "HERE" + "y" * 96 + "..."
    assert marks == "  | " + " " * 63 + "^^^^ the label"


def test_a_mark_of_several_lines_ends_with_the_first() -> None:
    """Only the first line is shown."""
    text = "ab\ncd\n"
    assert render(marked("b\nc", text), text).splitlines()[3:5] == ["1 | ab", "  |  ^ the label"]


def test_the_end_of_a_text_can_be_marked() -> None:
    """A place without characters gets a mark of one."""
    diagnostic = Diagnostic("GP004", "error", "m", Span(2, 2), file="p.gpol")
    assert render(diagnostic, "ab").splitlines() == ["error[GP004]: m", " --> p.gpol:1:3", "  |", "1 | ab", "  |   ^"]


def test_logs_get_one_line() -> None:
    """Everything but the source, in one line."""
    assert render(marked("8gpu", help="write", notes=(DiagnosticNote("first here", Span(0, 5)),)), TEXT, "plain") == (
        "p.gpol:2:17: error GP003: the headline; help: write; note: first here: p.gpol:1:1"
    )


def test_programs_get_one_object() -> None:
    """All fields, with offsets as well as lines and columns, and the page that explains the code."""
    assert json.loads(render(marked("8gpu", notes=(DiagnosticNote("n"), DiagnosticNote("m", Span(0, 5)))), TEXT, "json")) == {
        "v": 1,
        "kind": "diagnostic",
        "code": "GP003",
        "severity": "error",
        "message": "the headline",
        "file": "p.gpol",
        "span": {"line": 2, "column": 17, "end_line": 2, "end_column": 21, "start": 28, "end": 32},
        "label": "the label",
        "help": "",
        "notes": [
            {"message": "n", "span": None},
            {"message": "m", "span": {"line": 1, "column": 1, "end_line": 1, "end_column": 6, "start": 0, "end": 5}},
        ],
        "docs": "docs/diagnostics/GP003.md",
    }


def test_colors_are_for_people_who_want_them() -> None:
    """Errors are red, warnings yellow, and without colors no escape is written."""
    error = marked("8gpu")
    warning = Diagnostic("GP050", "warning", "m", Span(0, 5), file="p.gpol")

    assert "\x1b[31m\x1b[1merror[GP003]\x1b[0m" in render(error, TEXT, color=True)
    assert "\x1b[33m\x1b[1mwarning[GP050]\x1b[0m" in render(warning, TEXT, color=True)
    assert "\x1b" not in render(error, TEXT)
