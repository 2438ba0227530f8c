"""The profiles of KAI, Volcano and Armada: short, commented, formatted, without a flaw, with the version that they stand for."""

import json
from pathlib import Path

import pytest
from gpol.dsl.analysis.checker import check
from gpol.dsl.analysis.profiles import file_of, shipped, shipped_names
from gpol.dsl.print.formatter import format_text

VERSIONS = {
    "kai.default": "v0.17.0 and nine commits, d5bc503a",
    "volcano.proportion": "master ed72c7c815",
    "volcano.capacity": "master ed72c7c815",
    "volcano.drf": "master ed72c7c815",
    "armada.default": "207cc9e",
}


def test_all_profiles_of_passes_are_here():
    """Those that are shipped and decide by passes are the five."""
    by_passes = {
        name
        for name in shipped_names()
        if "decide in cycles of" in text(name) and " by " in text(name).split("decide in")[1].split("\n")[0]
    }
    assert by_passes == set(VERSIONS)


def text(name: str) -> str:
    """The text of a profile."""
    return shipped(name) or ""


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_each_is_short_commented_formatted_and_good(name):
    """20 to 45 lines with comments, as `gpol fmt` lays them out, without an error or a warning; the version is in the first comment."""
    lines = text(name).splitlines()
    assert 20 <= len(lines) <= 45
    assert sum(line.strip().startswith("#") for line in lines) >= 2
    assert VERSIONS[name] in " ".join(lines[:3])
    assert format_text(text(name), file_of(name)) == text(name)
    assert check(text(name), file_of(name)).diagnostics == ()


def test_armadas_version_is_that_of_the_data(root: Path):
    """The profile stands for the commit whose tables are compared with."""
    data = root / ".." / "shared" / "conformance" / "formulas" / "armada.json"
    if not data.is_file():
        pytest.skip("the tables of Armada are not beside the repository")
    assert f"armadaproject/armada {VERSIONS['armada.default']} (" in json.loads(data.read_text())["source"]
