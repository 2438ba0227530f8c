"""The page about the architecture names rooms and tests that there are."""

import re
from pathlib import Path

import pytest

LAWS = 11

ROOMS = ("engine", "compiled", "dsl", "journal", "sim", "adapters", "cli")


def named_tests(page: str) -> list[tuple[str, str | None]]:
    """The tests of the table of laws: file and function; `::name` is of the file before it, a file alone stands for all its tests."""
    found: list[tuple[str, str | None]] = []
    for file, name in re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`", page):
        if file or name:
            found.append((file or found[-1][0], name or None))
    return found


def test_every_test_that_holds_a_law_exists(root: Path) -> None:
    """Each file and each function that the page names is there."""
    page = (root / "docs" / "architecture.md").read_text()
    found = named_tests(page)
    assert len(found) >= LAWS
    for file, name in found:
        text = (root / file).read_text()
        assert name is None or f"def {name}(" in text, f"{file}::{name}"


def test_every_law_has_a_test(root: Path) -> None:
    """Every law is in the table, with a test."""
    page = (root / "docs" / "architecture.md").read_text()
    laws = page.split("## Laws of the core")[1].split("\n## ")[0]
    rows = [row for row in laws.splitlines() if row.startswith("| ") and not row.startswith("| law")]
    assert len(rows) == LAWS
    assert all(named_tests(row) for row in rows)


def test_every_room_has_its_row(root: Path) -> None:
    """The rooms of the page are the packages of the project."""
    page = (root / "docs" / "architecture.md").read_text()
    rooms = page.split("## Rooms")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)/` \|", rooms, re.MULTILINE)
    packages = {path.parent.name for path in root.glob("*/py.typed")}
    assert sorted(rows) == sorted(packages)


def named_paths(page: str) -> list[str]:
    """The folders and modules that a page names: whole paths, and in a row of a table the modules of its folder."""
    found = re.findall(r"`([a-z]\w*(?:/[\w.]+)*/(?:\w+\.\w+)?)`", page)
    for folder, row in re.findall(r"^\| `([\w/]+/)` \|(.*)\|$", page, re.MULTILINE):
        found += [folder + module for module in re.findall(r"`(\w+\.(?:py|lark))`", row)]
    return sorted(set(found))


def test_every_path_exists(root: Path) -> None:
    """Each folder and each module that the page names is there."""
    paths = named_paths((root / "docs" / "architecture.md").read_text())
    assert len(paths) > 100
    assert [path for path in paths if not (root / path).exists()] == []


def test_every_folder_is_on_the_page(root: Path) -> None:
    """Each folder with modules has its line, so that every mechanism is found."""
    paths = named_paths((root / "docs" / "architecture.md").read_text())
    folders = {f"{file.parent.relative_to(root).as_posix()}/" for room in ROOMS for file in (root / room).rglob("*.py")}
    inner = {folder for folder in folders if folder.startswith("journal/store/migrations/versions/")}
    assert folders - inner - set(paths) == set()


def test_paths_are_read() -> None:
    """Whole paths count, modules of a row belong to its folder, and other code is left alone."""
    page = "see `a/b.py`, `next_wake`, `Core.step` and `c/`\n| `d/e/` | `f.py` and `g.py` hold `x` |\n"
    assert named_paths(page) == ["a/b.py", "c/", "d/e/", "d/e/f.py", "d/e/g.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`tests/a/test_b.py::test_c`, `::test_d`", [("tests/a/test_b.py", "test_c"), ("tests/a/test_b.py", "test_d")]),
        ("`tests/test_e.py`", [("tests/test_e.py", None)]),
        ("`Core.step`", []),
    ],
)
def test_names_of_tests_are_read(text: str, found: list[tuple[str, str | None]]) -> None:
    """Files, functions and functions of the file before are told apart."""
    assert named_tests(text) == found
