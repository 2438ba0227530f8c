"""The core for a history of some length: over arrays with compiled kernels where it is long and they are there, else the definition.

Nobody waits for the compiler: where compiled kernels are missing, another process makes them for the next time.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.cores import Core
from ..engine.default_core import new_core
from .kernel_folder import kernel_folder, kernels_are_there

if TYPE_CHECKING:
    from ..engine.core.kernel_set import KernelSet

FEW = 2_000
"""Histories with fewer facts are decided by the definition: that takes less than loading the kernels."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; this history is decided without them"


CORE = f"{__package__}.kernel_source"
"""The module of the core's kernels."""


def kernels_for(facts: int, modules: Sequence[str]) -> tuple[Path | None, str]:
    """The folder that has the compiled kernels of these modules, for about so many facts; or None, and a line that says why, or nothing.

    Each module has some kernels as its `SOURCE`.
    """
    if facts < FEW:
        return None, ""
    if find_spec("numba") is None:
        return None, WITHOUT_COMPILER
    folder = kernel_folder()
    if folder is None:
        return None, ""
    if not all(kernels_are_there(folder, import_module(module).SOURCE) for module in modules):
        compile_in_background(folder, modules)
        return None, COMPILING
    return folder, ""


def core_for(facts: int) -> tuple[Core, str]:
    """A core that nothing has happened to yet, for about so many facts; and a line that says why it is not the fast one, or nothing."""
    folder, why = kernels_for(facts, [CORE])
    return (new_core() if folder is None else fast_core(folder)), why


def fast_core(folder: Path) -> Core:
    """A core over arrays that nothing has happened to yet, with the compiled kernels of a folder, which are loaded once."""
    from ..engine.core.core import ArrayCore

    return ArrayCore(kernels=_loaded(folder))


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> "KernelSet":
    from .compile import compiled_kernels

    return compiled_kernels(folder)


def compile_in_background(folder: Path, modules: Sequence[str]) -> None:
    """Let another process compile the kernels. It ends at once where one is at it already, and outlives this one."""
    command = [sys.executable, "-m", f"{__package__}.compile_once", os.fspath(folder), *modules]
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
