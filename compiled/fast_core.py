"""The core with compiled kernels, for histories that are long; until they are, and without kernels, the definition decides."""

from collections.abc import Callable
from importlib.util import find_spec

from ..engine.core.core import ArrayCore
from ..engine.core.kernel_set import KernelSet
from ..engine.cores import Core
from .kernel_folder import are_compiled, kernel_folder
from .kernel_source import CORE

FEW = 2_000
"""Histories with fewer events are decided by the definition: that takes less than loading the kernels."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; until then this history is decided without them"


def fast_core(tell: Callable[[str], None], is_long: bool = False) -> Core:
    """A core that nothing has happened to yet. It takes the compiled kernels once its history is long, or at once if that `is_long`.

    Why it does not, `tell` is told, once; with `COMPILING` it is for the caller to let another process compile them: nobody waits for that.
    """
    return ArrayCore(kernels=_Finder(tell, 0 if is_long else FEW))


class _Finder:
    """Looks for compiled kernels once there are so many events, and again after each `FEW`."""

    def __init__(self, tell: Callable[[str], None], least: int) -> None:
        self._tell, self._least = tell, least
        self._is_told = False

    def __call__(self, events: int) -> KernelSet | None:
        if events < self._least:
            return None
        self._least = events + FEW
        folder = kernel_folder()
        if folder is None:
            return None
        missing = WITHOUT_COMPILER if find_spec("numba") is None else "" if are_compiled(folder, CORE) else COMPILING
        if missing:
            if not self._is_told:
                self._is_told = True
                self._tell(missing)
            return None
        from .compile import compiled_kernels

        return compiled_kernels(folder)
