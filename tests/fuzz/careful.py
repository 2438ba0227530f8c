"""Kernels as they stand, on tables that refuse what compiled code would not notice: an index outside of a row, a sum beyond 64 bits.

In Python an index of -1 is the last row, and `NONE` is -1: a kernel that forgets to ask for it goes on with another row.
"""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from gpol.engine.core import kernels
from gpol.engine.core.kernel_set import KernelSet
from gpol.engine.core.tables import Tables


class Careful(np.ndarray[Any, np.dtype[np.int64]]):
    """An array that raises IndexError for every index that is not that of a row, also below 0."""

    def __getitem__(self, index: Any) -> Any:
        _check(index, self.shape)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _check(index, self.shape)
        if self.itemsize == 4 and not -(2**31) <= value < 2**31:
            raise OverflowError(f"{value} in a table of 32-bit integers")
        super().__setitem__(index, value)


def _check(index: Any, shape: tuple[int, ...]) -> None:
    for each, rows in zip(index if isinstance(index, tuple) else (index,), shape, strict=False):
        if isinstance(each, slice):
            begin, end = each.start or 0, rows if each.stop is None else each.stop
            if not 0 <= begin <= end <= rows:
                raise IndexError(f"from {begin} to {end} of {rows} rows")
        elif not 0 <= each < rows:
            raise IndexError(f"index {each} of {rows} rows")


@cache
def careful_kernels() -> KernelSet:
    """All kernels, calling one another, with careful arrays also where they make some of their own."""
    found: dict[str, FunctionType] = {}
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        found |= {name: value for name, value in vars(import_module(module.name)).items() if _is_of(value, module.name)}
    made = {"empty": lambda *said: np.empty(*said).view(Careful), "concatenate": np.concatenate, "argsort": np.argsort, "int64": np.int64}
    names: dict[str, Any] = {name: value for kernel in found.values() for name, value in kernel.__globals__.items()}
    names["np"] = SimpleNamespace(**made)
    for name, kernel in found.items():
        names[name] = FunctionType(kernel.__code__, names, name, kernel.__defaults__)
    return KernelSet(_on_careful_tables(names["run_kernel"]))


def _is_of(value: object, module: str) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == module


def _on_careful_tables(kernel: Callable[..., Any]) -> Callable[[Tables, int, int], int]:
    @wraps(kernel)
    def careful(tables: Tables, which: int, number: int) -> int:
        with np.errstate(over="raise"):
            return int(kernel(Tables(*(table.view(Careful) for table in tables)), which, number))

    return careful
