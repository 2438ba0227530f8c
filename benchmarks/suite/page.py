"""The page about performance, from figures that were stored."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .figure import Figure

HEAD = """# Performance

`make bench` measures all of this and writes this page; do not edit it. Figures are processor time of one process, or time on the clock
where it says so: medians of several runs on one machine, which other work may have kept busy. *Spread* is how far the runs were apart.
*Definition* is how many times longer the definition ([architecture](architecture.md)) took for each thing in the same run. The goals are
the project's own; a missed one says so. *Where time goes* is told for each event. A slope is that of the straight line which fits the
logarithms of sizes and times best: 0 where the size does not matter, 1 where twice the size takes twice as long.

Each group says when, at which commit and on what it was measured. Machines differ, and a shared one is not always equally fast, so its
*yardstick* is told too: how long plain Python takes to add up the squares of a million numbers.
"""

REMARKS = {
    "places": """100 queues own as much each of nodes of 8 GPUs, seven tenths of which are in use by workloads of up to 16 pods. A gang of
64 pods of 1 GPU comes to one queue after the other, and is gone before the next one comes. *With victims*: half of the queues use all that
is left, and those to which the gangs come want their own back; only decisions that evict somebody count. Time is that of the kernels and
their calls, but for facts about nodes and for the cycle. What nobody in a queue has asked for before is written into the tables first. In a
core over arrays where pods get places, a fact about a node is taken in by the definition, and the first other fact after it makes the
tables anew.

The cycle has the shape of Kueue's own `BenchmarkSchedulerTAS`: 1,000 full nodes of 30 resources, and 200 pods that need some workloads of
lower priority to go. Its goal is what Kueue v0.20.0-devel took for its cycle on another machine of 2 cores with Go 1.26: 97 ms. That
includes a snapshot of its cache, and no API server.
""",
    "one decision": """Under `kueue.classical` and `kueue.fair` every end lets each queue put up a workload, as in Kueue, and each of these
is decided on. So where somebody waits in each of 1,000 queues for more than is idle, the first cycle after an end makes 1,000 decisions. A
row of its own tells what each of them takes. To record and to tell so many fills the caches of the processor. So a submission right after
them has to read the tables from memory; the one after it does not. Where 1,000 queues propose a workload for one place, a cycle reads what
each of them asks for, and what its queue may use: about 0.2 us for each, most of it waiting for memory.
[Decision 0051](decisions/0051-what-queues-put-up-is-kept.md) says what was tried.
[Decision 0053](decisions/0053-what-heads-need-from-above-is-kept.md) says what made this faster, with the times before and after it.
""",
}
"""What is said of a group before its figures."""

About = Mapping[str, Mapping[str, str]]
"""Of each group when, at which commit and on what it was measured: the machine, versions, the yardstick."""


def stored(figures: Sequence[Figure], about: About) -> str:
    """Figures and what they were measured on, as JSON."""
    content = {"about": {group: dict(said) for group, said in about.items()}, "figures": [vars(figure) for figure in figures]}
    return json.dumps(content, indent=1) + "\n"


def read(path: Path) -> tuple[list[Figure], dict[str, dict[str, str]]]:
    """What was stored."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return [Figure(**{**each, "values": tuple(each["values"])}) for each in found["figures"]], found["about"]


def page(figures: Sequence[Figure], about: About) -> str:
    """The page."""
    parts = [HEAD]
    for group in dict.fromkeys(figure.group for figure in figures):
        rows = [figure for figure in figures if figure.group == group]
        parts.append(f"## {group[0].upper()}{group[1:]}\n")
        parts.append("; ".join(f"{name} {value}" for name, value in about[group].items()) + "\n")
        if group in REMARKS:
            parts.append(REMARKS[group])
        parts.append("| | median | spread | goal | definition |\n|---|--:|--:|--:|--:|\n" + "".join(map(_row, rows)))
        compared = [figure for figure in rows if figure.times_faster is not None]
        if len(compared) > 1:
            parts.append(_plot(compared))
    return "\n".join(parts)


def amount(value: float, unit: str) -> str:
    """A value with three digits."""
    return (f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}").rstrip()


def _row(figure: Figure) -> str:
    goal = ""
    if figure.goal is not None:
        goal = amount(figure.goal, figure.unit) + (", reached" if figure.median <= figure.goal else ", missed")
    times = "" if figure.times_faster is None else f"{figure.times_faster:,.1f} times"
    return f"| {figure.name} | {amount(figure.median, figure.unit)} | {figure.spread:.0%} | {goal} | {times} |\n"


def _plot(figures: Sequence[Figure]) -> str:
    """How many times faster than the definition, as a chart that GitHub draws."""
    names = ", ".join(f'"{figure.name}"' for figure in figures)
    times = ", ".join(f"{figure.times_faster:.1f}" for figure in figures)
    return f'```mermaid\nxychart-beta horizontal\n  title "times faster than the definition"\n  x-axis [{names}]\n  bar [{times}]\n```\n'
