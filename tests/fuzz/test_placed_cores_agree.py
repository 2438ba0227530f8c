"""Cores are equal where flavors give places: racks and nodes that come and go, gangs that stand together, leaders, slices."""

import pytest
from cores_by_name import CORES
from draws import Dice
from placed_draws import PlacedFacts, placed_policy, without_places
from player import Play

HISTORIES, FACTS = 16, 60

COMMON = (
    "WorkloadAdmitted FitsOwned",
    "WorkloadAdmitted FitsBorrowing",
    "WorkloadAdmitted FitsAfterEviction",
    "WorkloadEvicted Preempted, reclaim",
    "WorkloadDeferred TopologyPlacementFailed, no fit, parked",
    "obstacle: no-places",
)
"""Some decisions that even a quick run has to see."""


@pytest.mark.parametrize(
    "other", ["array", pytest.param("careful", marks=pytest.mark.slow), pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_placed_cores_agree(other: str, request: pytest.FixtureRequest) -> None:
    """Nothing differs, by turns at once and in cycles; most facts are decided over tables, as some pods have places there."""
    if other == "compiled":
        request.getfixturevalue("compiled")
    seen = dict.fromkeys(("facts: over tables", *COMMON), 0)
    for number in range(HISTORIES):
        draw = Dice(f"placed/{number}")
        play = Play((placed_policy(draw, number % 2 == 1),), CORES["definition"], CORES[other])
        facts = PlacedFacts(draw)
        for _ in range(FACTS):
            play.step(facts.next(play.core, play.wake))
        play.finish()
        for name in seen:
            seen[name] += play.seen[name]
    assert seen["facts: over tables"] > HISTORIES * FACTS // 2
    assert [name for name in COMMON if seen[name] == 0] == []


def test_policies_that_give_places_come_and_go() -> None:
    """Nothing differs where policies give places to those who run without, or none any more, at once and in cycles."""
    seen = dict.fromkeys(("facts: over tables", "WorkloadPlaced NodeLost", "histories under several policies"), 0)
    for number in range(HISTORIES // 2):
        draw = Dice(f"placed/changing/{number}")
        first = placed_policy(draw, number % 2 == 1)
        texts = (first, without_places(first), placed_policy(draw, draw.chance(2)))
        play = Play(texts, CORES["definition"], CORES["array"])
        facts = PlacedFacts(draw, len(texts))
        for _ in range(FACTS):
            play.step(facts.next(play.core, play.wake))
        play.finish()
        play.seen["histories under several policies"] = len(play.under) > 1
        for name in seen:
            seen[name] += play.seen[name]
    assert [name for name in seen if seen[name] == 0] == []
