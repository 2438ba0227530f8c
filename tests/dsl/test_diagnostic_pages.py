"""Every diagnostic of the checker has a page whose examples do what the page says."""

import re
from pathlib import Path

import pytest
from gpol.dsl.checker import check
from gpol.dsl.codes import CODES

FOLDER = Path(__file__).parents[2] / "docs" / "diagnostics"


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


@pytest.mark.parametrize("code", sorted(CODES))
def test_what_to_avoid_gives_the_code_and_nothing_else(code):
    """The policy under Avoid is told with exactly this code."""
    page = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    assert {diagnostic.code for diagnostic in check(example(page, "Avoid"), "p.gpol").diagnostics} == {code}


@pytest.mark.parametrize("code", sorted(CODES))
def test_what_to_prefer_is_without_a_flaw(code):
    """The policy under Prefer has neither errors nor warnings."""
    page = (FOLDER / f"{code}.md").read_text(encoding="utf-8")
    assert check(example(page, "Prefer"), "p.gpol").diagnostics == ()
