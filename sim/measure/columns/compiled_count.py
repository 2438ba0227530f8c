"""The kernel that counts, compiled by numba; as it stands it is slower than `Measure`."""

from functools import lru_cache
from pathlib import Path

from ....compiled.kernel_folder import are_compiled, kernel_folder
from ....compiled.kernel_source import KernelSource
from ....engine.outcome import history
from . import count_columns, count_tables, kernels
from .kernels.count_events import count_events
from .table_count import CountKernel

COUNT = KernelSource(kernels, count_events, count_tables.DIMENSIONS, (count_columns, count_tables, history))
"""The kernels that count."""


def compiled_count(cache: Path | None = None) -> CountKernel:
    """`count_events`, compiled. It takes some seconds of processor time unless the `cache` folder has it."""
    from ....compiled.compile import compiled_entry

    return compiled_entry(COUNT, cache)


def count_at_hand() -> CountKernel | None:
    """`count_events` as the user's folder of compiled kernels has it; None where it does not."""
    folder = kernel_folder()
    try:
        return None if folder is None or not are_compiled(folder, COUNT) else _loaded(folder)
    except Exception:  # as in `compiled/fast_core.py`, which tells it
        return None


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> CountKernel:
    """The kernel of a folder, loaded once for all who count."""
    return compiled_count(folder)
