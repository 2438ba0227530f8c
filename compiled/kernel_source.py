"""What is compiled: a package of kernels, with its entry, its tables and its version."""

import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import walk_packages
from types import MappingProxyType, ModuleType
from typing import Any

from ..engine.core import columns, kernels, tables
from ..engine.core.kernels.entry import run_kernel
from ..engine.core.tables import Tables
from ..engine.outcome import history

_OF_THREADS = {"NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER"}
"""Variables that tell the compiler nothing about kernels, which have one thread. joblib gives its workers the first one."""


@dataclass(frozen=True, eq=False)
class KernelSource:
    """Kernels that call one another, in the modules of `package`; `entry` is the one that is called from outside, with two numbers.

    `dimensions` has those of each table, by name in the order in which tables come; `beside` are modules that say what stands in them.
    Tables that are `narrow` are of 32-bit integers.
    """

    package: ModuleType
    entry: Callable[[Any, int, int], int]
    dimensions: Mapping[str, int]
    beside: tuple[ModuleType, ...]
    narrow: frozenset[str] = frozenset()

    def modules(self) -> list[ModuleType]:
        """All modules of the package."""
        return [import_module(module.name) for module in walk_packages(self.package.__path__, f"{self.package.__name__}.")]

    @cached_property
    def version(self) -> str:
        """What the compiled kernels depend on: their text and that of the modules beside them, this room, the compiler and what the
        environment tells it, the system and the processor. Where NUMBA_CPU_NAME is `generic` only the architecture counts of that."""
        from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

        files = [*(module.__file__ for module in [*self.modules(), *self.beside]), *sorted(map(str, Path(__file__).parent.glob("*.py")))]
        texts = b"".join(Path(file).read_bytes() for file in files if file is not None)
        settings = sorted((name, os.environ[name]) for name in os.environ if name.startswith("NUMBA_") and name not in _OF_THREADS)
        versions = sys.version, version("numba"), version("numpy")
        system = platform.system(), platform.machine()
        is_for_all = os.environ.get("NUMBA_CPU_NAME", "").lower() == "generic"
        processor = () if is_for_all else (get_host_cpu_name(), get_host_cpu_features().flatten())
        machine = settings, *versions, *system, *processor
        return sha256(texts + repr(machine).encode()).hexdigest()[:16]


_THREE_OR_FOUR = {"quota": 3, "watch": 3, "wish": 3, "ask": 3, "key": 3, "plain": 3, "held": 3, "room": 3, "choice": 4}
_ONE = dict.fromkeys(
    ("state", "pool", "spec", "text", "pods", "taken", "tape", "rival", "visited", "giver", "passed", "placed", "touched"), 1
)

CORE = KernelSource(
    kernels,
    run_kernel,
    MappingProxyType({name: (_THREE_OR_FOUR | _ONE).get(name, 2) for name in Tables._fields}),
    (tables, columns, history),
    frozenset(name for name, kind in Tables.__annotations__.items() if kind is tables.Narrow),
)
"""The kernels of the core over arrays."""
