"""Whole cycles of KAI's own tests end as KAI's tests demand, and what is left out is left out for a reason."""

from collections import Counter
from pathlib import Path

import kai_cases
import pytest


@pytest.mark.parametrize("suite", kai_cases.COUNTS)
def test_every_case_of_a_suite_matches(suite: str, kai_data: Path) -> None:
    """Every case ends with the states and on the nodes that are demanded, also in the rounds after; there are as many as the data has."""
    played = [case for case in kai_cases.cases(kai_data) if case.suite == suite and not kai_cases.left_out(case)]
    found = {case.name: kai_cases.play(case) for case in played}
    assert {name: problem for name, problem in found.items() if problem} == {}
    assert len(found) == kai_cases.COUNTS[suite]


def test_what_is_left_out_is_listed_by_reason(kai_data: Path) -> None:
    """The import refuses a case by the name of what gpol does not decide about, and by no other."""
    reasons = Counter(kai_cases.left_out(case) for case in kai_cases.cases(kai_data))
    assert reasons.pop("") == sum(kai_cases.COUNTS.values())
    assert reasons == kai_cases.LEFT_OUT
