"""Compiled kernels place pods as the definition does: racks and nodes that come and go, gangs that stand together, leaders, slices.

The same histories are played by the kernels as they stand in `tests/engine/core/test_placed_histories.py`.
"""

import pytest
from cores_by_name import CORES
from draws import Dice
from placed_draws import PlacedFacts, placed_policy
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
"""Some decisions that these histories have to have."""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_placed_cores_agree() -> None:
    """Nothing differs, by turns at once and in cycles; most facts are decided over tables, as some pods have places there."""
    seen = dict.fromkeys(("facts: over tables", *COMMON), 0)
    for number in range(HISTORIES):
        draw = Dice(f"placed/{number}")
        play = Play((placed_policy(draw, number % 2 == 1),), CORES["definition"], CORES["compiled"])
        facts = PlacedFacts(draw)
        for _ in range(FACTS):
            play.step(facts.next(play.core, play.wake))
        play.finish()
        for name in seen:
            seen[name] += play.seen[name]
    assert seen["facts: over tables"] > HISTORIES * FACTS // 2
    assert [name for name in COMMON if seen[name] == 0] == []
