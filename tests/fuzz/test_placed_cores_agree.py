"""Compiled kernels place pods as the definition does: racks and nodes that come and go, gangs that stand together, leaders, slices.

The same histories are played by the kernels as they stand in `tests/engine/core/test_placed_histories.py`.
"""

from collections import Counter

import pytest
from cores_by_name import CORES
from draws import Dice
from fuzzing import placed_play, play_out
from gpol.engine.core import columns as c
from gpol.engine.core.kernels.placement import judged, standing
from gpol.engine.core.kernels.preemption import ahead, trial
from gpol.engine.core.tables import Tables
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
"""Some decisions that these histories have to have."""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_placed_cores_agree() -> None:
    """Nothing differs, by turns at once and in cycles, and the laws of places hold; most facts are decided over tables."""
    seen = dict.fromkeys(("facts: over tables", *COMMON), 0)
    for number in range(HISTORIES):
        play, facts = placed_play(Dice(f"placed/{number}"), number % 2 == 1, CORES["definition"], CORES["compiled"])
        play_out(play, facts, FACTS)
        for name in seen:
            seen[name] += play.seen[name]
    assert seen["facts: over tables"] > HISTORIES * FACTS // 2
    assert [name for name in COMMON if seen[name] == 0] == []


def test_whether_there_are_places_is_known_without_choosing_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short answer that a search for victims goes by, and the one about empty nodes, is what a search for places comes to."""
    said: Counter[str] = Counter()
    short = standing.have_places

    def both(t: Tables, row: int, nom: int, empty: bool) -> bool:
        found = standing.find_places(t, row, nom, empty)
        assert short(t, row, nom, empty) == found
        said["own way" if t.state[c.PLACING_WAY] != c.COUNTED else "counted"] += 1
        said[f"{'empty' if empty else 'as things stand'}: {found}"] += 1
        return found

    for module in (judged, ahead, trial):
        monkeypatch.setattr(module, "have_places", both)
    for number in range(0, 2 * HISTORIES, 2):
        draw = Dice(f"placed/{number}")
        play = Play((placed_policy(draw, number % 4 == 2),), CORES["definition"], CORES["array"])
        facts = PlacedFacts(draw)
        for _ in range(FACTS):
            play.step(facts.next(play.core, play.wake))
    assert set(said) == {"own way", "counted", *(f"{what}: {found}" for what in ("empty", "as things stand") for found in (True, False))}


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
