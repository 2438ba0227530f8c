"""What there is to compile: some kernels, and the tables that they read and write. `SOURCE` is that of the core's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ..engine.core import columns, kernels, tables
from ..engine.core.kernels.entry import run_kernel
from ..engine.core.tables import Tables
from ..engine.outcome import history

_DIMENSIONS = {"quota": 3, "wish": 3, "ask": 3, "held": 3, "choice": 4} | dict.fromkeys(
    ("state", "pool", "spec", "text", "pods", "taken", "tape"), 1
)


@dataclass(frozen=True, slots=True)
class KernelSource:
    """Kernels that call one another, in the modules of `package`; `entry` is the one that is called from outside, with two numbers.

    `dimensions` has those of each table, by name in the order in which tables come; `beside` are modules that say what stands in them.
    """

    package: ModuleType
    entry: Callable[[Any, int, int], int]
    dimensions: Mapping[str, int]
    beside: tuple[ModuleType, ...]


SOURCE = KernelSource(kernels, run_kernel, {name: _DIMENSIONS.get(name, 2) for name in Tables._fields}, (tables, columns, history))
