"""Compiling the kernels: the same functions as they stand in `engine/core/kernels/`, with one another in place of the plain ones.

The compiled code is kept in a folder whose name follows from the text of all kernels, so that it is never that of another version.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

import numba

from ..engine.core import kernels
from ..engine.core.kernel_set import KernelSet
from ..engine.core.kernels.entry import run_kernel
from ..engine.core.tables import Tables, zeros
from .inner_function import InnerFunction
from .kernel_folder import kernel_version
from .table_type import INT, address_block, tables_at

_INNER = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled_kernels(cache: Path | None = None) -> KernelSet:
    """The kernels, compiled. It takes most of a minute unless the `cache` folder has them."""
    found = _plain_kernels()
    if cache is not None:
        numba.config.CACHE_DIR = str(cache / kernel_version())
    names: dict[str, Any] = {}
    for kernel in found.values():
        names |= {name: value for name, value in kernel.__globals__.items() if name not in found and not name.startswith("__")}
    for name, kernel in found.items():
        names[name] = numba.njit(_with_names(kernel, names), pipeline_class=InnerFunction, **_INNER)
    names["tables_at"] = tables_at
    return KernelSet(_Entry(_compiled_entry(names, cache is not None)))


def _plain_kernels() -> dict[str, FunctionType]:
    """Every function of every module of kernels, by its name."""
    found: dict[str, FunctionType] = {}
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, FunctionType) and value.__module__ == module.name:
                assert name not in found, f"two kernels are called {name}"
                found[name] = value
    return found


def _with_names(kernel: Any, names: dict[str, Any]) -> FunctionType:
    """A kernel that finds other kernels by these names."""
    found = FunctionType(kernel.__code__, names, kernel.__name__, kernel.__defaults__)
    found.__module__ = kernel.__module__
    return found


def _compiled_entry(names: dict[str, Any], cached: bool) -> Callable[..., Any]:
    """A compiled function that takes the address of the tables, and then what `run_kernel` takes."""
    dispatcher = numba.njit(_with_names(_run_at, names), error_model="numpy", cache=cached)
    dispatcher.compile((INT, INT, INT))
    return dispatcher  # type: ignore[no-any-return]


def _run_at(address: int, which: int, number: int) -> int:
    return run_kernel(tables_at(address), which, number)


class _Entry:
    """The compiled kernels, called with tables."""

    def __init__(self, compiled: Callable[..., Any]) -> None:
        self._compiled = compiled
        self._tables: Tables | None = None
        self._block = zeros(0)
        self._address = 0

    def __call__(self, tables: Tables, which: int, number: int) -> int:
        """Run a kernel."""
        if tables is not self._tables:
            self._tables, self._block = tables, address_block(tables)
            self._address = self._block.ctypes.data
        return int(self._compiled(self._address, which, number))
