"""Compiling the kernels: the same functions as they stand in `engine/core/kernels/`, with one another in place of the plain ones.

The compiled code is kept in a folder whose name follows from the text of all kernels, so that it is never that of another version.
"""

from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

import numba

from ..engine.core import kernels
from ..engine.core.kernel_set import ENTRIES, KernelSet
from ..engine.core.tables import Ints, Tables
from .table_type import INT, address_block, tables_at

ARGUMENTS = {name: len(entry.__annotations__) - 2 for name, entry in ENTRIES.items()}
"""How many numbers each entry takes beside the tables."""


def compiled_kernels(cache: Path | None = None) -> KernelSet:
    """The kernels, compiled. It takes two minutes of processor time unless the `cache` folder has them."""
    found = _plain_kernels()
    if cache is not None:
        numba.config.CACHE_DIR = str(cache / _version(found))
    names: dict[str, Any] = {}
    for kernel in found.values():
        names |= {name: value for name, value in kernel.__globals__.items() if name not in found and not name.startswith("__")}
    for name, kernel in found.items():
        names[name] = numba.njit(_with_names(kernel, names), error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    names["tables_at"] = tables_at
    return KernelSet(**{name: _Entry(_compiled_entry(name, names, cache is not None)) for name in ENTRIES})


def _plain_kernels() -> dict[str, FunctionType]:
    """Every function of every module of kernels, by its name."""
    found: dict[str, FunctionType] = {}
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, FunctionType) and value.__module__ == module.name:
                assert name not in found, f"two kernels are called {name}"
                found[name] = value
    return found


def _version(found: dict[str, FunctionType]) -> str:
    """What the compiled code depends on: the text of all kernels, the columns, and the compiler."""
    files = sorted({kernel.__code__.co_filename for kernel in found.values()} | {import_module("gpol.engine.core.columns").__file__ or ""})
    texts = b"".join(Path(file).read_bytes() for file in [*files, __file__])
    return sha256(texts + numba.__version__.encode()).hexdigest()[:16]


def _with_names(kernel: Any, names: dict[str, Any]) -> FunctionType:
    """A kernel that finds other kernels by these names."""
    found = FunctionType(kernel.__code__, names, kernel.__name__, kernel.__defaults__)
    found.__module__ = kernel.__module__
    return found


def _compiled_entry(name: str, names: dict[str, Any], cached: bool) -> Callable[..., Any]:
    """A compiled function that takes the address of the tables and then what the kernel takes."""
    entry = _with_names(_entry_1 if ARGUMENTS[name] else _entry_0, {**names, "kernel": names[name]})
    entry.__name__ = entry.__qualname__ = f"{name}_at"
    dispatcher = numba.njit(entry, error_model="numpy", cache=cached)
    dispatcher.compile((INT,) * (1 + ARGUMENTS[name]))
    return dispatcher  # type: ignore[no-any-return]


def _entry_0(address: int) -> Any:
    return kernel(tables_at(address))  # type: ignore[name-defined]  # noqa: F821


def _entry_1(address: int, first: int) -> Any:
    return kernel(tables_at(address), first)  # type: ignore[name-defined]  # noqa: F821


class _Entry:
    """A compiled kernel that is called with tables."""

    def __init__(self, compiled: Callable[..., Any]) -> None:
        self._compiled = compiled
        self._tables: Tables | None = None
        self._block: Ints | None = None

    def __call__(self, tables: Tables, *numbers: int) -> Any:
        """Call the kernel."""
        if tables is not self._tables or self._block is None:
            self._tables, self._block = tables, address_block(tables)
        return self._compiled(self._block.ctypes.data, *numbers)
