"""The core over arrays decides over racks and nodes as the definition does: gangs that stand together, leaders, slices, nodes that go."""

import pytest
from cores_by_name import CORES
from draws import Dice
from placed_draws import PlacedFacts, placed_policy
from player import Play

HISTORIES, FACTS = 16, 60


@pytest.mark.parametrize("number", range(HISTORIES))
def test_generated_histories_are_placed_alike(number: int) -> None:
    """By turns at once and in cycles. Decisions, places, states and answers are the same after every fact."""
    draw = Dice(f"placed/{number}")
    play = Play((placed_policy(draw, number % 2 == 1),), CORES["definition"], CORES["careful"])
    facts = PlacedFacts(draw)
    for _ in range(FACTS):
        play.step(facts.next(play.core, play.wake))
    play.finish()
