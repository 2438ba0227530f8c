"""The core for a history of some length: over arrays with compiled kernels where it is long and they are there, else the definition.

Nobody waits for the compiler: where compiled kernels are missing, another process makes them for the next time.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ..engine.cores import Core
from ..engine.default_core import new_core
from .kernel_folder import kernel_folder, kernels_are_there

FEW = 2_000
"""Histories with fewer facts are decided by the definition: that takes less than loading the kernels."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; this history is decided without them"


CoreName = Literal["definition", "arrays"]
"""The two cores."""


def core_for(facts: int, by: CoreName | None = None) -> tuple[Core, str]:
    """A core that nothing has happened to yet, for about so many facts; and a line that says why it is not the fast one, or nothing.

    `by` says which core it is to be. The one over arrays has its kernels as they stand where there are no compiled ones.
    """
    if by == "definition" or (by is None and facts < FEW):
        return new_core(), ""
    folder, why = kernel_folder() if find_spec("numba") is not None else None, ""
    if find_spec("numba") is None:
        why = WITHOUT_COMPILER
    elif folder is not None and not kernels_are_there(folder):
        compile_in_background(folder)
        folder, why = None, COMPILING
    if by is None and folder is None:
        return new_core(), why
    from ..engine.core.core import ArrayCore

    if folder is None:
        return ArrayCore(), why
    from .compile import compiled_kernels

    return ArrayCore(kernels=compiled_kernels(folder)), ""


def compile_in_background(folder: Path) -> None:
    """Let another process compile the kernels. It ends at once where one is at it already, and outlives this one."""
    command = [sys.executable, "-m", f"{__package__}.compile_once", os.fspath(folder)]
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
