"""Measures what `docs/performance.md` tells, and writes that page: `python benchmarks/bench.py [GROUP ...] [--runs N]`.

Without groups everything is measured. What is measured of a group is stored in `benchmarks/results.json` once all of it is; the figures of
other groups stay as they were stored.
"""

import argparse
import os
import platform
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
from suite.figure import Figure
from suite.many_facts import many_facts
from suite.one_fact import one_fact
from suite.page import amount, page, read, stored
from suite.scale import scale
from suite.searches import searches
from suite.start import start
from suite.sweeps import sweeps
from suite.where import where

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"

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
    "scale": scale,
}


def about() -> dict[str, str]:
    """The machine and the versions."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "pydantic", "sqlalchemy"))
    return {
        "measured": date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "Python": platform.python_version(),
        "libraries": packages,
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
    chosen = asked.groups or list(GROUPS)
    figures = read(RESULTS)[0] if RESULTS.exists() else []
    for group in chosen:
        figures = [figure for figure in figures if figure.group != group]
        for figure in GROUPS[group](asked.runs):
            times = "" if figure.times_faster is None else f", {figure.times_faster:,.1f} times faster than the definition"
            print(f"{group}: {figure.name}: {amount(figure.median, figure.unit)}, spread {figure.spread:.0%}{times}", flush=True)
            figures.append(figure)
        _write(figures)
    return 0


def _write(figures: list[Figure]) -> None:
    """Store what is measured so far, and write the page."""
    figures.sort(key=lambda figure: list(GROUPS).index(figure.group))
    found = about()
    RESULTS.write_text(stored(figures, found), encoding="utf-8")
    PAGE.write_text(page(figures, found), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
