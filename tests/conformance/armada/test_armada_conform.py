"""gpol divides, orders, places and evicts as Armada does, on Armada's own tables."""

import json
from pathlib import Path

import pytest
from armada_conform import SUITES, ArmadaSuite


@pytest.mark.parametrize("suite", [pytest.param(suite, id=suite.name) for suite in SUITES])
def test_every_case_of_armada_matches(suite: ArmadaSuite, shared: Path) -> None:
    """Every case is decided as Armada decides it, and there are as many as the suite says."""
    file = shared / "conformance" / "formulas" / "armada.json"
    if not file.is_file():
        pytest.skip("needs the reference data in `shared/conformance`, beside the repository")
    cases = suite.cases(json.loads(file.read_text(encoding="utf-8")))
    assert len(cases) == suite.total
    assert {case.get("name", number): found for number, case in enumerate(cases) if (found := suite.differences(case))} == {}


def test_another_outcome_is_a_difference() -> None:
    """A round that says other jobs than those that start, or are preempted, does not match."""
    case = {
        "name": "",
        "nodes": 1,
        "pf": {"A": 1},
        "rounds": [{"submit": {"A": 33}, "sched": {"A": [0, 32]}, "preempt": {"A": {"round0": [1, 1]}}}],
    }
    rounds = next(suite for suite in SUITES if suite.name == "rounds")
    assert rounds.differences(case) == [
        "round 0 starts 32 jobs, and not ['A/0/32'], but []",
        "round 0 preempts 0 jobs, and not ['A/0/1'], but []",
    ]
