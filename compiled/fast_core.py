"""The core for a history of some length: over arrays with compiled kernels where it is long and they are there, else the definition."""

from importlib.util import find_spec

from ..engine.cores import Core
from ..engine.default_core import new_core
from .kernel_folder import are_compiled, kernel_folder
from .kernel_source import CORE

FEW = 2_000
"""Histories with fewer facts are decided by the definition: that takes less than loading the kernels."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; this history is decided without them"


def core_for(facts: int) -> tuple[Core, str]:
    """A core that nothing has happened to yet, for about so many facts; and a line that says why it is not the fast one, or nothing.

    With `COMPILING` it is for the caller to let another process compile them: nobody waits for the compiler.
    """
    if facts < FEW:
        return new_core(), ""
    if find_spec("numba") is None:
        return new_core(), WITHOUT_COMPILER
    folder = kernel_folder()
    if folder is None:
        return new_core(), ""
    if not are_compiled(folder, CORE):
        return new_core(), COMPILING
    from ..engine.core.core import ArrayCore
    from .compile import compiled_kernels

    return ArrayCore(kernels=compiled_kernels(folder)), ""
