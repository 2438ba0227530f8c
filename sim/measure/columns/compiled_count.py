"""The kernel that counts, compiled by numba, which has to be there; as it stands it is slower than `Measure`."""

from pathlib import Path

from ....compiled.compile import KernelSource, compiled_entry
from ....engine.outcome import history
from . import count_columns, count_tables, kernels
from .kernels.count_events import count_events
from .table_count import CountKernel


def compiled_count(cache: Path | None = None) -> CountKernel:
    """`count_events`, compiled. It takes some seconds of processor time unless the `cache` folder has it."""
    source = KernelSource(kernels, count_events, count_tables.DIMENSIONS, (count_columns, count_tables, history))
    return compiled_entry(source, cache)
