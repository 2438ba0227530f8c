"""The page about testing says what is so, and the mistakes that can be seeded still have their place in the core."""

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings


@pytest.fixture(scope="module")
def seeding(root: Path) -> ModuleType:
    """The script that seeds mistakes, as a module."""
    spec = importlib.util.spec_from_file_location("seed_mistakes", root / "tests" / "seed_mistakes.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_mistake_has_its_place(root: Path, seeding: ModuleType) -> None:
    """What a mistake replaces stands in its module exactly once, so that restructuring the core brings the script up to date."""
    counts = {mistake.what: (root / "engine" / mistake.module).read_text().count(mistake.right) for mistake in seeding.MISTAKES}
    assert {what: count for what, count in counts.items() if count != 1} == {}


def test_every_mistake_has_its_test(root: Path, seeding: ModuleType) -> None:
    """The test that is there to catch a mistake exists."""
    for mistake in seeding.MISTAKES:
        file, _, name = mistake.test.partition("::")
        assert f"def {name}(" in (root / "tests" / "engine" / file).read_text(), mistake.test


def test_every_mistake_has_its_row(root: Path, seeding: ModuleType) -> None:
    """The table lists every mistake by number, with its module and the test that caught it, and no other."""
    page = (root / "docs" / "testing.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.+?) \| `([\w./]+)` \| `([\w./:]+)` \| \d+ \|$", page, re.MULTILINE)
    assert [(int(number), what, module, test) for number, what, module, test in rows] == [
        (number, mistake.what, mistake.module, mistake.test) for number, mistake in enumerate(seeding.MISTAKES, start=1)
    ]


def test_every_profile_is_what_the_page_says(root: Path) -> None:
    """The numbers of examples are those of the profiles."""
    page = (root / "docs" / "testing.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", page, re.MULTILINE)
    assert [name for name, _ in rows] == ["quick", "ci", "thorough"]
    for name, examples in rows:
        assert settings.get_profile(name).max_examples == int(examples.replace(",", ""))


def slow_laws(source: str) -> list[str]:
    """The functions of a module that take generated examples and are marked `slow`."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    decorators = {function.name: [ast.unparse(each).partition("(")[0] for each in function.decorator_list] for function in functions}
    return [name for name, each in decorators.items() if {"given", "pytest.mark.slow"} <= set(each)]


def test_no_law_is_slow(root: Path) -> None:
    """`make test` plays some examples of every law: where they cost much, a law takes fewer, but is not left out."""
    found = {path.relative_to(root).as_posix(): slow_laws(path.read_text()) for path in sorted((root / "tests").rglob("*.py"))}
    assert {file: names for file, names in found.items() if names} == {}


def test_a_slow_law_is_caught() -> None:
    """Only one that is both is named."""
    marks = {"one": "@pytest.mark.slow\n@given(cases())", "two": "@given(cases())", "three": "@pytest.mark.slow"}
    assert slow_laws("\n".join(f"{above}\ndef {name}(): ..." for name, above in marks.items())) == ["one"]


def test_every_place_that_the_page_names_exists(root: Path) -> None:
    """Files and folders in the tables and the text are there."""
    page = (root / "docs" / "testing.md").read_text()
    named = set(re.findall(r"`(tests/[\w./]+)`", page))
    assert len(named) > 10
    assert [place for place in sorted(named) if not (root / place).exists()] == []
