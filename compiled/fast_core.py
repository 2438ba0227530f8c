"""The core for a history of some length: over arrays with compiled kernels where it is long and they are there, else the definition."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.cores import Core
from ..engine.default_core import new_core
from .kernel_folder import are_compiled, kernel_folder
from .kernel_source import CORE

if TYPE_CHECKING:
    from ..engine.core.kernel_set import KernelSet

FEW = 2_000
"""Histories with fewer facts are decided by the definition: that takes less than loading the kernels."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; this history is decided without them"


def core_for(facts: int) -> tuple[Core, str]:
    """A core that nothing has happened to yet, for about so many facts; and a line that says why it is not the fast one, or nothing.

    With `COMPILING` it is for the caller to let another process compile them: nobody waits for the compiler.
    """
    kernels, why = kernels_for(facts)
    return new_core() if kernels is None else core_with(kernels), why


def core_with(kernels: "KernelSet") -> Core:
    """A core over arrays that nothing has happened to yet."""
    from ..engine.core.core import ArrayCore

    return ArrayCore(kernels=kernels)


def kernels_for(facts: int) -> tuple["KernelSet | None", str]:
    """The compiled kernels of the core over arrays, for about so many facts; or None, and such a line, or nothing."""
    if facts < FEW:
        return None, ""
    if find_spec("numba") is None:
        return None, WITHOUT_COMPILER
    folder = kernel_folder()
    if folder is None:
        return None, ""
    return (_loaded(folder), "") if are_compiled(folder, CORE) else (None, COMPILING)


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> "KernelSet":
    """The kernels of a folder, loaded once for all cores."""
    from .compile import compiled_kernels

    return compiled_kernels(folder)
