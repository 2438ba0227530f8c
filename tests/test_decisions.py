"""The records of decisions are short, have one form and are all in the index; the glossary has each term once."""

import re
from pathlib import Path

import pytest

MOST_LINES = 40

HEADINGS = ["Context", "Decision", "Consequence"]


@pytest.fixture(scope="module")
def records(root: Path) -> list[Path]:
    """The records, in order of their numbers."""
    return sorted((root / "docs" / "decisions").glob("[0-9]*.md"))


def test_records_are_numbered_without_gaps(records: list[Path]) -> None:
    """Files are numbered from 1, and the title of each begins with its number."""
    assert [int(record.name[:4]) for record in records] == list(range(1, len(records) + 1))
    assert all(record.read_text().startswith(f"# {record.name[:4]}. ") for record in records)


def test_records_have_one_form(records: list[Path]) -> None:
    """Each record has a context, a decision and a consequence, in fewer than 40 lines."""
    for record in records:
        text = record.read_text()
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS, record.name
        assert len(text.splitlines()) < MOST_LINES, record.name


def test_the_index_lists_every_record(root: Path, records: list[Path]) -> None:
    """The index has one row for each record, in order, with its title."""
    page = (root / "docs" / "decisions" / "README.md").read_text()
    rows = re.findall(r"^\| \[(\d+)\]\(([\w.-]+)\) \| (.+) \|$", page, re.MULTILINE)
    assert rows == [(record.name[:4], record.name, record.read_text().splitlines()[0].split(". ", 1)[1]) for record in records]


def test_the_glossary_has_each_term_once(root: Path) -> None:
    """No term has two rows, and every row says what the term is."""
    page = (root / "docs" / "glossary.md").read_text()
    rows = [row.strip("|").split("|") for row in page.splitlines() if row.startswith("| ") and not row.startswith("| term ")]
    terms = [row[0].strip() for row in rows]
    assert len(terms) > 100
    assert len(set(terms)) == len(terms)
    assert all(len(row) == 3 and row[1].strip() for row in rows)
