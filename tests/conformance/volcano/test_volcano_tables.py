"""Volcano's own tests: what they expect is what gpol's passes decide, and what is left out has a reason."""

from collections import Counter

import pytest
from volcano_suites import DATA, NO_TOPOLOGY, TOPOLOGY, VolcanoCase, played_table, tables

LEFT_OUT = {
    "devices that pods claim (DRA)": 7,
    "volumes": 2,
    "the plugin of this test is a stub whose code is not part of the table": 1,
}
"""How many cases are not played, by reason."""


@pytest.fixture(scope="module")
def played() -> list[VolcanoCase]:
    """All cases, played; skips where the reference data is absent."""
    if not DATA.is_dir():
        pytest.skip("needs the reference data in `shared/conformance/volcano`, beside the repository")
    return [played_table(entry) for entry in tables()]


@pytest.mark.parametrize("suite", [NO_TOPOLOGY, TOPOLOGY])
def test_all_that_is_played_matches(played: list[VolcanoCase], suite: str) -> None:
    """Binds with nodes, evicted pods by name, promised nodes and phases."""
    assert {case.name: case.differences for case in played if case.suite == suite and case.differences} == {}


def test_what_is_left_out_has_a_reason(played: list[VolcanoCase]) -> None:
    """Cases are left out for what they are about, and as many as there are."""
    assert Counter(case.left_out for case in played if case.left_out) == LEFT_OUT
    assert len(played) == 168
