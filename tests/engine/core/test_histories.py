"""The core over arrays decides generated histories as the definition does, both ways of deciding in turn, and reads no row that is none."""

import pytest
from cores_by_name import CORES
from fuzzing import Tally, fuzz_one

HISTORIES = 24
FACTS = 110


@pytest.mark.parametrize("number", range(HISTORIES))
def test_generated_histories_are_decided_alike(number: int) -> None:
    """Decisions, refusals, wakes, states and answers are the same after every fact."""
    found = fuzz_one(f"histories/{number}", number % 2 == 1, CORES["definition"], CORES["careful"], FACTS, Tally())
    assert found is None, f"fact {len(found[0].facts)}: {found[1]}"
