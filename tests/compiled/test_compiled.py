"""The compiled kernels decide as the definition does."""

import pytest
from cores_by_name import CORES, Side, freeze_tables
from fuzzing import Tally, fuzz_one
from gpol.compiled.compile import compiled_kernels
from gpol.compiled.kernel_folder import are_compiled, kernel_folder
from gpol.compiled.kernel_source import CORE
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.snapshot import thawed
from gpol.engine.policy_graph import PolicyGraph

HISTORIES = 12
"""How many histories are played, of both ways of deciding in turn."""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_compiled_kernels_decide_the_same() -> None:
    """Nothing differs. They are read from where another process compiled them to, as commands do."""
    folder = kernel_folder()
    assert folder is not None
    assert are_compiled(folder, CORE)
    kernels = compiled_kernels(folder)

    def thaw(content: bytes, graph: PolicyGraph | None) -> Core:
        return ArrayCore(thawed(content, graph), kernels)

    for number in range(HISTORIES):
        side = Side(lambda: ArrayCore(kernels=kernels), freeze_tables, thaw)
        found = fuzz_one(f"compiled/{number}", number % 2 == 1, CORES["definition"], side, 250, Tally())
        assert found is None, f"history {number}: {found}"
