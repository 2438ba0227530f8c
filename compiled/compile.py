"""Compiling kernels: the same functions as they stand, say in `engine/core/kernels/`, with one another in place of the plain ones.

The compiled code is kept in a folder whose name follows from the text of all kernels, so that it is never that of another version.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

from ..engine.core.kernel_set import KernelSet
from ..engine.core.tables import Ints, Narrow, zeros
from .inner_function import InnerFunction
from .kernel_folder import FolderError, version_folder
from .kernel_locator import KernelLocator
from .kernel_source import CORE, KernelSource
from .table_type import INT, TablesType, address_block, tables_reader

_INNER = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled_kernels(cache: Path | None = None) -> KernelSet:
    """The kernels of the core, compiled. It takes most of a minute unless the `cache` folder has them."""
    return KernelSet(compiled_entry(CORE, cache))


def compiled_entry(source: KernelSource, cache: Path | None = None) -> Callable[[Any, int, int], int]:
    """The entry of some kernels, compiled with all that it calls, or read from the `cache` folder."""
    found = _plain_kernels(source)
    names: dict[str, Any] = {}
    for kernel in found.values():
        names |= {name: value for name, value in kernel.__globals__.items() if name not in found and not name.startswith("__")}
    for name, kernel in found.items():
        names[name] = numba.njit(_with_names(kernel, names), pipeline_class=InnerFunction, **_INNER)
    tables = TablesType(source.dimensions, source.narrow)
    names["tables_at"], names["entry"] = tables_reader(tables), names[source.entry.__name__]
    return _Entry(_outer_function(names, None if cache is None else version_folder(cache, source)), tables)


def _plain_kernels(source: KernelSource) -> dict[str, FunctionType]:
    """Every function of every module of kernels, by its name."""
    found: dict[str, FunctionType] = {}
    for module in source.modules():
        for name, value in vars(module).items():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                assert name not in found, f"two kernels are called {name}"
                found[name] = value
    return found


def _with_names(kernel: Any, names: dict[str, Any]) -> FunctionType:
    """A kernel that finds other kernels by these names."""
    found = FunctionType(kernel.__code__, names, kernel.__name__, kernel.__defaults__)
    found.__module__ = kernel.__module__
    return found


def _outer_function(names: dict[str, Any], folder: Path | None) -> Callable[..., Any]:
    """A compiled function that takes the address of the tables, and then the two numbers that the entry takes.

    Raises FolderError where there can be no such folder. It is the only one that numba looks into: in another one code of other kernels may
    have the same name.
    """
    of_others = numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES
    if folder is not None:
        locator = f"{KernelLocator.__module__}.{KernelLocator.__name__}"
        numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES = str(folder), locator
    try:
        dispatcher = numba.njit(_with_names(_run_at, names), error_model="numpy", cache=folder is not None)
    except RuntimeError as error:
        raise FolderError(f"`{folder}` is no folder that kernels can be kept in: {error}") from None
    finally:  # what else in this process is compiled does not go to our folder
        numba.config.CACHE_DIR, numba.config.CACHE_LOCATOR_CLASSES = of_others
    dispatcher.compile((INT, INT, INT))
    return dispatcher  # type: ignore[no-any-return]


tables_at: Callable[[int], Any]
entry: Callable[[Any, int, int], int]
"""Names that `_run_at` finds in compiled code alone."""


def _run_at(address: int, first: int, second: int) -> int:
    return entry(tables_at(address), first, second)  # noqa: F821, only declared


class _Entry:
    """The compiled kernels, called with tables. The last ones stay in memory until others are used."""

    def __init__(self, compiled: Callable[..., Any], type_: TablesType) -> None:
        self._compiled, self._type = compiled, type_
        self._last: tuple[Sequence[Ints | Narrow], Ints, int] = ((), zeros(0), 0)

    def __call__(self, tables: Sequence[Ints | Narrow], first: int, second: int) -> int:
        """Run a kernel."""
        last = self._last  # read once: other threads may run kernels on tables of their own
        if tables is not last[0]:
            block = address_block(self._type, tables)
            last = self._last = tables, block, block.ctypes.data
        return int(self._compiled(last[2], first, second))
