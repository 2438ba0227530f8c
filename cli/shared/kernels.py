"""Compiled kernels for a command: taken where they are there, and else made by another process for the next command."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from .output import complain

if TYPE_CHECKING:
    from ...engine.cores import Core
    from ...sim.impact.columns.played_columns import Tools


def core_of(facts: int) -> "Core":
    """A core that nothing has happened to yet, for about so many facts. It is said if another one would be faster."""
    from ...compiled.fast_core import COMPILING, core_for

    core, why_slow = core_for(facts)
    _say(why_slow, why_slow == COMPILING)
    return core


def tools_of(events: int) -> "Tools | None":
    """What plays and counts a history of so many events quickly. It is said if there could be something."""
    from ...compiled.fast_core import COMPILING
    from ...sim.impact.columns.played_columns import fast_tools

    tools, why_slow = fast_tools(events)
    _say(why_slow, why_slow == COMPILING)
    return tools


def _say(why_slow: str, compiles: bool) -> None:
    if compiles:
        compile_in_background()
    if why_slow:
        complain(why_slow)


def compile_in_background() -> None:
    """Let another process compile the kernels. It ends at once where one is at it already, and outlives this one."""
    nothing = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-m", __name__], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def compile_now() -> None:
    """Compile all kernels that are not there, behind whatever else this machine does."""
    from ...compiled.compile_once import compile_once
    from ...compiled.kernel_folder import kernel_folder
    from ...compiled.kernel_source import CORE
    from ...sim.measure.columns.compiled_count import COUNT

    os.nice(10)
    folder = kernel_folder()
    if folder is not None:
        compile_once(folder, (COUNT, CORE))


if __name__ == "__main__":
    compile_now()
