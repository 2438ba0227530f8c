"""Measures what `docs/performance.md` tells, and writes that page: `python benchmarks/bench.py [GROUP ...] [--runs N]`.

Without groups everything is measured. What is measured of a group is stored in `benchmarks/results.json` once all of it is; the figures of
other groups stay as they were stored.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path

from gpol.compiled.compile_once import compile_once
from gpol.compiled.kernel_folder import kernel_folder
from gpol.compiled.kernel_source import CORE
from gpol.sim.measure.columns.compiled_count import COUNT
from suite.audit import audit
from suite.closed_loop import closed_loop
from suite.clusters import decisions, loads
from suite.figure import Figure, cpu_seconds
from suite.many_facts import many_facts
from suite.one_fact import one_fact
from suite.page import amount, page, read, stored
from suite.places import places
from suite.scale import scale
from suite.searches import searches
from suite.start import start
from suite.sweeps import sweeps
from suite.where import where

RESULTS = Path(__file__).with_name("results.json")
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"

GROUPS: dict[str, Callable[[int], Iterator[Figure]]] = {
    "start": start,
    "closed loop": closed_loop,
    "given facts": many_facts,
    "audit": audit,
    "sweep": sweeps,
    "where time goes": where,
    "one decision": decisions,
    "one fact": one_fact,
    "searches": searches,
    "Kueue's loads": loads,
    "places": places,
    "scale": scale,
}


def commit() -> str:
    """The commit that is measured, and whether files were changed after it; all but what a measurement writes."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changes = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results.json", ":!docs/performance.md")
    except (OSError, subprocess.CalledProcessError):
        return "unknown: not a checkout of git"
    return f"{head}, with changes after it" if changes else head


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def about(measured: str) -> dict[str, str]:
    """The day, the commit that is measured, the machine and how fast it is now, and the versions."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pydantic", "sqlalchemy"))
    yardstick = min(cpu_seconds(lambda: sum(number * number for number in range(1_000_000))) for _ in range(5))
    return {
        "measured": date.today().isoformat(),
        "commit": measured,
        "on": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "yardstick": f"{yardstick * 1000:.0f} ms",
        "Python": platform.python_version(),
        "with": packages,
    }


def main() -> int:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="what to measure; all if left out")
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured")
    asked = parser.parse_args()
    folder = kernel_folder()
    assert folder is not None, "compiled kernels have no folder"
    compile_once(folder, (COUNT, CORE))
    chosen, measured = asked.groups or list(GROUPS), commit()
    figures, told = read(RESULTS) if RESULTS.exists() else ([], {})
    for group in chosen:
        figures = [figure for figure in figures if figure.group != group]
        told[group] = about(measured)
        for figure in GROUPS[group](asked.runs):
            times = "" if figure.times_faster is None else f", {figure.times_faster:,.1f} times faster than the definition"
            print(f"{group}: {figure.name}: {amount(figure.median, figure.unit)}, spread {figure.spread:.0%}{times}", flush=True)
            figures.append(figure)
        figures.sort(key=lambda figure: list(GROUPS).index(figure.group))
        RESULTS.write_text(stored(figures, told), encoding="utf-8")
        PAGE.write_text(page(figures, told), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
