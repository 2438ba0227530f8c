"""The compiled kernels decide as the definition does."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cores_by_name import CORES, Side, freeze_tables
from fuzzing import Tally, fuzz_one
from gpol.compiled.compile import compiled_kernels
from gpol.engine.core.core import ArrayCore
from gpol.engine.cores import Core
from gpol.engine.definition.snapshot import thawed
from gpol.engine.policy_graph import PolicyGraph

HISTORIES = 12
"""How many histories are played, of both ways of deciding in turn."""


@pytest.mark.slow
def test_compiled_kernels_decide_the_same(tmp_path: Path) -> None:
    """Nothing differs, and kernels from the cache are not compiled again."""
    kernels = compiled_kernels(tmp_path)
    again = compiled_kernels(tmp_path)
    new: list[Callable[[], Core]] = [lambda: ArrayCore(kernels=kernels), lambda: ArrayCore(kernels=again)]

    def thaw(content: bytes, graph: PolicyGraph | None) -> Core:
        return ArrayCore(thawed(content, graph), kernels)

    for number in range(HISTORIES):
        side = Side(new[number // 2 % 2], freeze_tables, thaw)
        found = fuzz_one(f"compiled/{number}", number % 2 == 1, CORES["definition"], side, 250, Tally())
        assert found is None, f"history {number}: {found}"
