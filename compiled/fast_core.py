"""The core over arrays, whose kernels decide as they stand until their history is long and compiled ones are there."""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ..engine.core import columns as c
from ..engine.core.core import ArrayCore
from ..engine.core.kernel_set import PLAIN, KernelSet
from ..engine.core.tables import Tables
from ..engine.cores import Core, Frozen
from ..engine.definition.snapshot import thawed
from .kernel_folder import are_compiled, can_be_written, failure_note, first_line, kernel_folder
from .kernel_source import CORE, KernelSource

FEW = 500
"""Histories with fewer events are decided by the kernels as they stand: that takes less than loading compiled ones."""

A_WHILE = 100
"""After how many events in a row it is looked again whether compiled kernels are there."""

NEVER = 2**63
"""More events than there ever are."""

WITHOUT_COMPILER = "decided without compiled kernels; `pip install 'gpol[fast]'` makes long histories many times faster"
COMPILING = "compiled kernels are made in the background, once, in about a minute; until then this history is decided without them"

CANNOT_LOAD = (
    "decided without compiled kernels, which would be many times faster: {reason}; "
    "unset all variables NUMBA_*, then try `pip install --upgrade 'gpol[fast]'`"
)
COMPILING_FAILED = (
    "decided without compiled kernels, which would be many times faster: they could not be compiled ({reason}); "
    "mend that, then delete `{note}`, and the next command tries again"
)
BAD_FOLDER = (
    "their folder cannot be read or written, or others may write to it; let XDG_CACHE_HOME name a folder that is yours, or of root, alone"
)
NO_FOLDER = f"decided without compiled kernels, which would be many times faster: {BAD_FOLDER}"

BEYOND = "decided without tables, to the same results and more slowly, as long as {reason}"


def fast_core(tell: Callable[[str], None], is_long: bool = False, frozen: Frozen | None = None) -> Core:
    """A core that nothing has happened to yet, or one in the state that was `frozen`, else SnapshotError (`thaw`).

    It takes compiled kernels once its history is long, or from the start if that `is_long`, and until they are there decides without them:
    nobody waits for the compiler. `tell` is told why, each reason once; with `COMPILING` it is for the caller to let another process
    compile them.
    """
    state = thawed(*frozen) if frozen is not None else None
    kernels = _Kernels(tell, 0 if is_long else FEW)
    return ArrayCore(state, KernelSet(kernels.run), kernels.tell_beyond)


class _Kernels:
    """The kernels as they stand, and the compiled ones from the moment on at which they are wanted and there."""

    def __init__(self, tell: Callable[[str], None], least: int) -> None:
        self._tell, self._least = tell, least
        self._told: set[str] = set()
        self._compiled: KernelSet | None = None

    def run(self, tables: Tables, which: int, number: int) -> int:
        """See `gpol.engine.core.kernels.entry`."""
        if self._compiled is None and self._least <= tables.state[c.SEQ]:
            self._least = int(tables.state[c.SEQ]) + A_WHILE
            self._compiled, missing = _kernels_at_hand()
            if missing:
                self._tell_once(missing)
            if missing != COMPILING:  # nothing that this process can wait for
                self._least = NEVER
        if self._compiled is not None:
            return self._compiled.run(tables, which, number)
        return PLAIN.run(tables, which, min(number, A_WHILE) if which == c.PLAY else number)

    def tell_beyond(self, reason: str) -> None:
        """Tell that the definition goes on, and why."""
        self._tell_once(BEYOND.format(reason=reason))

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def core_with(kernels: KernelSet) -> Core:
    """A core over arrays that nothing has happened to yet."""
    return ArrayCore(kernels=kernels)


def kernels_for(events: int) -> tuple[KernelSet | None, str]:
    """The compiled kernels for a history of so many events; or None, and a line that says why, or nothing where it is short."""
    return (None, "") if events < FEW else _kernels_at_hand()


def _kernels_at_hand() -> tuple[KernelSet | None, str]:
    """The compiled kernels; or None, and a line that says why."""
    try:
        if find_spec("numba") is None:
            return None, WITHOUT_COMPILER
        folder = kernel_folder()
        if folder is not None and are_compiled(folder, CORE):
            return _loaded(folder), ""
        return None, why_not_compiled(folder, CORE)
    except Exception as error:  # a compiler that does not fit what else is installed fails in any way: history is decided without it
        return None, CANNOT_LOAD.format(reason=first_line(error))


def why_not_compiled(folder: Path | None, source: KernelSource) -> str:
    """A line that says why the folder has no such kernels: they are to be compiled, cannot be put there, or could not be compiled."""
    if folder is None or not can_be_written(folder):
        return NO_FOLDER
    note = failure_note(folder, source)
    try:
        reason = note.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return COMPILING
    return COMPILING_FAILED.format(reason=reason or "no reason told", note=note)


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> KernelSet:
    """The kernels of a folder, loaded once for all cores."""
    from .compile import compiled_kernels

    return compiled_kernels(folder)
