"""How long commands take to start, to show something, and kernels to compile."""

import os
import pty
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from .figure import Figure

ROOT = Path(__file__).parents[2]
LAB = ROOT / "examples" / "lab" / "lab.gpol"

COMPILE = """
from pathlib import Path
from gpol.compiled.compile import compiled_kernels
compiled_kernels(Path({folder!r}))
"""


PHILLY = ROOT.parent / "shared" / "traces" / "philly_sia" / "philly.csv"
CAMPUS = ROOT / "examples" / "campus" / "workloads.csv"


def start(runs: int) -> Iterator[Figure]:
    """Commands on a small policy, and the kernels of the core compiled into an empty folder, and loaded from it."""
    gpol = str(Path(sys.executable).with_name("gpol"))
    for verb in (["check"], ["fmt", "--diff"]):
        values = tuple(children_seconds([gpol, *verb, str(LAB)]) for _ in range(3 * runs))
        yield Figure("start", f"gpol {' '.join(verb)}", "s", values, goal=0.3)
    yield from first_progress(runs)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", COMPILE.format(folder=folder)]
        yield Figure("start", "compile the kernels of the core, once for each version", "s", (children_seconds(command),))
        yield Figure("start", "load them in a new process", "s", tuple(children_seconds(command) for _ in range(runs)))


def first_progress(runs: int) -> Iterator[Figure]:
    """When a simulation shows something on a terminal, where no kernel was ever compiled: who watches must not wait for that."""
    gpol = str(Path(sys.executable).with_name("gpol"))
    philly = PHILLY.exists()
    policy, jobs = ("philly/full.gpol", PHILLY) if philly else ("campus/campus.gpol", CAMPUS)
    command = [gpol, "simulate", str(ROOT / "examples" / policy), str(jobs), *(["--trace", "philly"] if philly else [])]
    values = list[float]()
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            values.append(_first_sign(command, {**_environment(), "XDG_CACHE_HOME": cache, "TERM": "xterm"}))
    yield Figure(
        "start", "gpol simulate, until it shows what it is at, without compiled kernels, on the clock", "s", tuple(values), goal=1.0
    )


def _first_sign(command: Sequence[str], environment: dict[str, str]) -> float:
    """Seconds on the clock until a command writes to a terminal; then it is stopped."""
    ours, theirs = pty.openpty()
    begin = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
    try:
        os.close(theirs)
        os.read(ours, 1)
        return perf_counter() - begin
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def children_seconds(command: Sequence[str]) -> float:
    """Processor seconds of a command, with what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=_environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment() -> dict[str, str]:
    """That of this process, where Python keeps compiled modules: so it does unless something forbids it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
