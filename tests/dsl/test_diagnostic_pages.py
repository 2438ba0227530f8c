"""Every diagnostic of the checker has a page whose examples do what the page says."""

import re
from pathlib import Path

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.codes import CODES, SYNTAX
from gpol.dsl.diagnostics import Diagnostic
from gpol.dsl.syntax.parser import parse

FOLDER = Path(__file__).parents[2] / "docs" / "diagnostics"

BEYOND_A_PAGE = {"GP001", "GP002"}
"""Bytes that are no text and files beyond a limit cannot stand in a page; the broken policies show them."""


def told(code: str, text: str) -> tuple[Diagnostic, ...]:
    """What is found in an example: a page about syntax shows single items, which are only parsed."""
    return parse(text, "p.gpol").diagnostics if code in SYNTAX else check(text, "p.gpol").diagnostics


def section(page: str, title: str) -> str:
    """The text of a section of a page."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert found is not None, f"no section {title}"
    return found[1]


def example(page: str, title: str) -> str:
    """The policy that a section shows."""
    [text] = re.findall(r"```gpol\n(.*?)```", section(page, title), re.DOTALL)
    return str(text)


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_has_a_page_with_its_title(code):
    """A page starts with its code and the title that the table of codes has, and gives a rationale."""
    page = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {code}: {CODES[code]}\n")
    assert len(section(page, "Rationale").split()) > 10


@pytest.mark.parametrize("code", sorted(set(CODES) - BEYOND_A_PAGE))
def test_what_to_avoid_gives_the_code_and_nothing_else(code):
    """The policy under Avoid is told with exactly this code."""
    page = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    assert {diagnostic.code for diagnostic in told(code, example(page, "Avoid"))} == {code}


@pytest.mark.parametrize("code", sorted(CODES))
def test_what_to_prefer_is_without_a_flaw(code):
    """The policy under Prefer has neither errors nor warnings."""
    page = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    assert told(code, example(page, "Prefer")) == ()
