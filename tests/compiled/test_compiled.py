"""The compiled kernels decide as the definition does."""

import pytest
from cores_by_name import CORES
from fuzzing import Tally, fuzz_one
from gpol.compiled.kernel_folder import are_compiled, kernel_folder
from gpol.compiled.kernel_source import CORE

HISTORIES = 12
"""How many histories are played, of both ways of deciding in turn."""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_compiled_kernels_decide_the_same() -> None:
    """Nothing differs. They are read from where another process compiled them to, as commands do."""
    folder = kernel_folder()
    assert folder is not None
    assert are_compiled(folder, CORE)
    for number in range(HISTORIES):
        found = fuzz_one(f"compiled/{number}", number % 2 == 1, CORES["definition"], CORES["compiled"], 250, Tally())
        assert found is None, f"history {number}: {found}"
