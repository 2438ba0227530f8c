"""The page about performance shows the figures that were stored, and says of each goal whether it is reached."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def suite(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What writes the page."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    return import_module("suite.page")


def test_the_page_is_that_of_the_stored_figures(root: Path, suite: ModuleType) -> None:
    """`make bench` writes both."""
    assert (root / "docs" / "performance.md").read_text() == suite.page(*suite.read(root / "benchmarks" / "results.json"))


def test_a_figure_is_told_with_its_goal_and_the_definition(suite: ModuleType, tmp_path: Path) -> None:
    """The definition did a tenth of the work in twice the time, so it takes twenty times as long."""
    figure = import_module("suite.figure").Figure
    figures = [figure("group", "reached", "s", (2.0, 1.0, 4.0), 100, 2.0, 4.0, 10), figure("group", "missed", "us", (1234.5,), goal=200)]
    stored = tmp_path / "results.json"
    about = {"group": {"measured": "today", "on": "this machine"}}
    stored.write_text(suite.stored(figures, about))
    assert suite.read(stored) == (figures, about)
    page = suite.page(figures, about)
    assert "## Group\n\nmeasured today; on this machine\n" in page
    assert "| reached | 2 s | 150% | 2 s, reached | 20.0 times |\n" in page
    assert "| missed | 1,234 us | 0% | 200 us, missed |  |\n" in page
