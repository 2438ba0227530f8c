"""Cores are equal where flavors give places: racks and nodes that come and go, gangs that stand together, leaders, slices."""

import pytest
from cores_by_name import CORES
from draws import Dice
from fuzzing import placed_play, play_out

HISTORIES, FACTS = 16, 60

COMMON = (
    "WorkloadAdmitted FitsOwned",
    "WorkloadAdmitted FitsBorrowing",
    "WorkloadAdmitted FitsAfterEviction",
    "WorkloadEvicted Preempted, reclaim",
    "WorkloadDeferred TopologyPlacementFailed, no fit, parked",
)
"""Some decisions that even a quick run has to see."""


@pytest.mark.parametrize(
    "other", ["array", pytest.param("careful", marks=pytest.mark.slow), pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_placed_cores_agree(other: str, request: pytest.FixtureRequest) -> None:
    """Nothing differs, by turns at once and in cycles, and the laws of places hold; most facts are decided over tables."""
    if other == "compiled":
        request.getfixturevalue("compiled")
    seen = dict.fromkeys(("facts: over tables", *COMMON), 0)
    for number in range(HISTORIES):
        play, facts = placed_play(Dice(f"placed/{number}"), number % 2 == 1, CORES["definition"], CORES[other])
        play_out(play, facts, FACTS)
        for name in seen:
            seen[name] += play.seen[name]
    assert seen["facts: over tables"] > HISTORIES * FACTS // 2
    assert [name for name in COMMON if seen[name] == 0] == []
