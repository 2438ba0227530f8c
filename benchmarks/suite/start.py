"""How long commands take to start, and kernels to compile."""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .figure import Figure

ROOT = Path(__file__).parents[2]
LAB = ROOT / "examples" / "lab" / "lab.gpol"

COMPILE = """
from pathlib import Path
from gpol.compiled.compile import compiled_kernels
compiled_kernels(Path({folder!r}))
"""


def start(runs: int) -> Iterator[Figure]:
    """Commands on a small policy, and the kernels of the core compiled into an empty folder, and loaded from it."""
    gpol = str(Path(sys.executable).with_name("gpol"))
    for verb in (["check"], ["fmt", "--diff"]):
        values = tuple(children_seconds([gpol, *verb, str(LAB)]) for _ in range(3 * runs))
        yield Figure("start", f"gpol {' '.join(verb)}", "s", values, goal=0.3)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", COMPILE.format(folder=folder)]
        yield Figure("start", "compile the kernels of the core, once for each version", "s", (children_seconds(command),))
        yield Figure("start", "load them in a new process", "s", tuple(children_seconds(command) for _ in range(runs)))


def children_seconds(command: Sequence[str]) -> float:
    """Processor seconds of a command, with what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
