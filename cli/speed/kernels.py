"""Compiled kernels for a command: taken where they are there, and else made by another process for the next command."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..shared.output import complain
from .garbage import seldom_collecting

if TYPE_CHECKING:
    from ...engine.cores import Core, Frozen
    from ...sim.impact.columns.played_columns import Tools


def core_for_command(events: int = 0, by: str | None = None) -> "Core":
    """A core that nothing has happened to yet; so many events are known to come, at least. It is said if compiled kernels are missing.

    `by` names the core that is to decide, however long the history is: `definition` or `arrays`.
    """
    from ...compiled.fast_core import FEW

    return _core(by, tell, events >= FEW)


def cores_for_command(events: int) -> "Callable[[], Core]":
    """What makes such cores one after the other, each for so many events: what is missing is said once for all of them."""
    from ...compiled.fast_core import FEW

    told: set[str] = set()

    def tell_once(missing: str) -> None:
        if missing not in told:
            told.add(missing)
            tell(missing)

    return lambda: _core(None, tell_once, events >= FEW)


def are_coming(events: int, by: str | None) -> bool:
    """Whether the core for a history of so many events waits for kernels that are to be compiled; it takes them while it decides."""
    from ...compiled.fast_core import COMPILING, kernels_for

    return by != "definition" and kernels_for(events)[1] == COMPILING


@contextmanager
def core_for_part(by: str | None, tell: Callable[[str], None], frozen: "Frozen | None") -> Iterator["Core"]:
    """The core that plays a part of a long history, in any process, from a frozen state on or from nothing; `by` as above."""
    with seldom_collecting():
        yield _core(by, tell, True, frozen)


def _core(by: str | None, tell: Callable[[str], None], is_long: bool, frozen: "Frozen | None" = None) -> "Core":
    from ...compiled.fast_core import fast_core
    from ...engine.default_core import new_core, thaw

    if by == "definition":
        return new_core() if frozen is None else thaw(*frozen)
    return fast_core(tell, is_long, frozen)


def tools_of(events: int) -> "Tools | None":
    """What plays and counts a history of so many events quickly. It is said if there could be something."""
    from ...sim.impact.columns.played_columns import fast_tools

    tools, missing = fast_tools(events)
    if missing:
        tell(missing)
    return tools


def tell(missing: str) -> None:
    """Say why there are no compiled kernels, and have them made where that is all that is missing."""
    from ...compiled.fast_core import COMPILING

    if missing == COMPILING:
        compile_in_background()
    complain(missing)


def compile_in_background() -> None:
    """Let another process compile the kernels. It ends at once where one is at it already, and outlives this one."""
    nothing = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-m", __name__], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def compile_now() -> None:
    """Compile all kernels that are not there, behind whatever else this machine does. What keeps it from that ends the command."""
    from ...compiled.fast_core import BAD_FOLDER
    from ...compiled.kernel_folder import can_be_written, first_line, kernel_folder
    from ...compiled.kernel_source import CORE
    from ...sim.measure.columns.compiled_count import COUNT

    os.nice(10)
    folder = kernel_folder()
    if folder is None or not can_be_written(folder):
        sys.exit(f"gpol: the kernels cannot be compiled: {BAD_FOLDER}")
    if find_spec("numba") is None:
        sys.exit("gpol: the kernels cannot be compiled: numba is missing; `pip install 'gpol[fast]'` brings it")
    from ...compiled.compile_once import compile_once

    try:
        is_done = compile_once(folder, (COUNT, CORE))
    except Exception as error:  # a compiler can fail in any way
        sys.exit(f"gpol: the kernels could not be compiled: {first_line(error)}")
    if not is_done:
        sys.exit("gpol: another process compiles the kernels now; wait until it has ended")


if __name__ == "__main__":
    compile_now()
