"""The core over arrays, for histories that are long: with compiled kernels, or without a compiler by the same kernels as they stand.

Until a history is long, and while its kernels are being compiled, the definition decides.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ..engine.core.core import ArrayCore
from ..engine.core.kernel_set import PLAIN, KernelSet
from ..engine.cores import Core, Frozen
from ..engine.definition.snapshot import thawed
from .kernel_folder import are_compiled, kernel_folder
from .kernel_source import CORE

FEW = 500
"""Histories with fewer events are decided by the definition: that takes less than loading the kernels."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; until then this history is decided without them"

BEYOND = "decided without compiled kernels from here on, until they hold all numbers: {reason}"


def fast_core(tell: Callable[[str], None], is_long: bool = False, plain: bool = False, frozen: Frozen | None = None) -> Core:
    """A core that nothing has happened to yet, or one in the state that was `frozen`, else SnapshotError (`thaw`). It takes the compiled
    kernels once its history is long, or at once if that `is_long`.

    Where none will come the kernels decide as they stand, and with `plain` also while they are being made; else the definition decides
    until then. `tell` is told why, each reason once; with `COMPILING` it is for the caller to let another process compile them: nobody
    waits for that.
    """
    state = thawed(*frozen) if frozen is not None else None
    return ArrayCore(state, _Supply(tell, 0 if is_long else FEW, plain))


class _Supply:
    """Looks for compiled kernels once there are so many events, and again after each `FEW`."""

    def __init__(self, tell: Callable[[str], None], least: int, plain: bool) -> None:
        self._tell, self._least, self._plain = tell, least, plain
        self._told: set[str] = set()

    def find(self, events: int) -> KernelSet | None:
        """See `gpol.engine.core.core.KernelSupply`."""
        if events < self._least:
            return None
        self._least = events + FEW
        kernels, missing = _kernels_at_hand()
        if missing:
            self._tell_once(missing)
        return None if missing == COMPILING and not self._plain else kernels or PLAIN

    def tell_beyond(self, reason: str) -> None:
        """See `gpol.engine.core.core.KernelSupply`."""
        self._tell_once(BEYOND.format(reason=reason))

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def core_with(kernels: KernelSet) -> Core:
    """A core over arrays that nothing has happened to yet."""
    return ArrayCore(kernels=kernels)


def kernels_for(events: int) -> tuple[KernelSet | None, str]:
    """The compiled kernels for a history of so many events; or None, and a line that says why, or nothing."""
    return (None, "") if events < FEW else _kernels_at_hand()


def _kernels_at_hand() -> tuple[KernelSet | None, str]:
    """The compiled kernels; or None, and a line that says why, or nothing where the user has no folder for them."""
    if find_spec("numba") is None:
        return None, WITHOUT_COMPILER
    folder = kernel_folder()
    if folder is None:
        return None, ""
    return (_loaded(folder), "") if are_compiled(folder, CORE) else (None, COMPILING)


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> KernelSet:
    """The kernels of a folder, loaded once for all cores."""
    from .compile import compiled_kernels

    return compiled_kernels(folder)
