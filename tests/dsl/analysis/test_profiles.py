"""Tests for profiles."""

from importlib.resources import files

import pytest
from gpol.dsl.analysis.profiles import DEFAULT_PROFILE, file_of, recorded, shipped, shipped_names


def test_the_default_profile_is_shipped_with_its_text():
    """The profile that every policy starts from is in the package, byte for byte."""
    assert DEFAULT_PROFILE in shipped_names()
    assert shipped(DEFAULT_PROFILE) == files("gpol.policies").joinpath("gpol", "fair.gpol").read_text(encoding="utf-8")


def test_the_profiles_that_the_pages_speak_of_are_shipped():
    """The default and the two ways of Kueue are there, in order of name."""
    names = shipped_names()
    assert names == sorted(names)
    assert {"gpol.fair", "kueue.classical", "kueue.fair"} <= set(names)


def test_every_shipped_name_has_a_text_that_says_its_name():
    """The header of each shipped profile is the name it is found under."""
    for name in shipped_names():
        assert f'profile "{name}" {{' in (shipped(name) or "")


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../secret",
        "gpol..fair",
        "gpol/fair",
        "/etc/passwd",
        "gpol.fair\n",
        "Gpol.fair",
        "gpol.",
        "gpol",
        "gpol.none",
        "gpol\\fair",
    ],
)
def test_no_name_points_outside_the_package(name):
    """Only dotted lower-case names of shipped files give a text."""
    assert shipped(name) is None


def test_recorded_profiles_come_from_the_mapping_alone():
    """A journal's profiles are used even where the shipped one has the same name, and no other is found."""
    source = recorded({"gpol.fair": "text"})
    assert source("gpol.fair") == "text"
    assert source("gpol.reclaim") is None


def test_a_profile_is_cited_by_its_path():
    """Lines of a profile are cited under the path it has in the package."""
    assert file_of("gpol.fair") == "gpol/fair.gpol"
