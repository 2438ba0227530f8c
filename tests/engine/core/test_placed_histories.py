"""The core over arrays decides over racks and nodes as the definition does: gangs that stand together, leaders, slices, nodes that go."""

import pytest
from cores_by_name import CORES
from draws import Dice
from fuzzing import placed_play, play_out

HISTORIES, FACTS = 16, 60


@pytest.mark.parametrize("number", range(HISTORIES))
def test_generated_histories_are_placed_alike(number: int) -> None:
    """By turns at once and in cycles. Decisions, places, states and answers are the same after every fact, and the laws of places hold."""
    play, facts = placed_play(Dice(f"placed/{number}"), number % 2 == 1, CORES["definition"], CORES["careful"])
    play_out(play, facts, FACTS)
