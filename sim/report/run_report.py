"""The report: one page with charts and reasons, readable without a network."""

from datetime import UTC, datetime
from html import escape

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.io import to_html

from ...engine.event_parts import RuleRef
from ...engine.events import WorkloadEvicted
from ...engine.units import format_duration
from ..drive.policy import Policy
from ..measure.measure import HOUR_US, Measure, QueueFigures
from ..measure.series import METRICS, Series
from .page import date, document, source, table

_TITLES = {
    "used": "GPUs in use, by queue",
    "borrowed": "GPUs borrowed beyond what the queue owns",
    "lent": "GPUs owned, idle, and used by others",
    "waiting": "GPUs asked for by waiting workloads",
}

_MOST_LINES = 30
"""How many queues a chart shows one by one; more would be slow and hard to read."""


def report_page(policy: Policy, measure: Measure, series: Series) -> str:
    """The page of a run, as HTML."""
    title = escape(policy.graph.name)
    sections = [
        f"<h1>{title}</h1><p class='sub'>Simulated from {date(measure.start or 0)} to {date(measure.end)}, by gpol. "
        f"Policy {escape(policy.file)}, {escape(policy.graph.digest[:19])}.</p>",
        _tiles(measure, series),
        "<h2>Per queue</h2>" + _table(measure),
        "<h2>Over time</h2>" + _charts(series),
        "<h2>Evictions</h2>" + _evictions(series),
        "<h2>The policy</h2>" + source(policy.file, policy.text),
        *(f"<h3>Profile {escape(name)}</h3>" + source(name.replace(".", "/") + ".gpol", text) for name, text in policy.profiles),
    ]
    return document(f"{policy.graph.name}: gpol report", sections)


def _hours(area: int) -> str:
    return f"{area / (1000 * HOUR_US):,.0f}"


def _tiles(measure: Measure, series: Series) -> str:
    queues = [measure.queues[name] for name in sorted(measure.queues)]
    total = sum(figures.used_area for figures in queues)
    borrowed = sum(figures.borrowed_area for figures in queues)
    waits = sum(sum(figures.waits.values()) for figures in queues)
    mean = sum(figures.wait_total for figures in queues) // waits if waits else 0
    tiles = [
        (f"{sum(figures.submitted for figures in queues):,}", "workloads"),
        (_hours(total), "GPU-hours"),
        (f"{borrowed * 100 // total if total else 0}%", "of them borrowed"),
        (f"{series.eviction_count:,}", "evictions"),
        (_wait(mean), "mean wait"),
        (f"{sum(len(figures.waiting) for figures in queues):,}", "still waiting"),
    ]
    return "<div class='tiles'>" + "".join(f"<div class='tile'><b>{value}</b><span>{what}</span></div>" for value, what in tiles) + "</div>"


def _wait(us: int) -> str:
    return format_duration(us // 1_000_000 * 1_000_000)


def _table(measure: Measure) -> str:
    header = (
        "Queue",
        "Owns",
        "Submitted",
        "Admitted",
        "Evicted",
        "Ended",
        "Waiting",
        "GPU-hours",
        "Borrowed",
        "Lent",
        "Mean wait",
        "p95 wait",
        "Longest wait",
    )
    return table(header, [_row(measure.queues[name]) for name in sorted(measure.queues)])


def _row(figures: QueueFigures) -> tuple[str, ...]:
    ended = figures.finished + figures.cancelled + figures.rejected
    return (
        escape(figures.name),
        f"{figures.owned / 1000:g}",
        *(f"{count:,}" for count in (figures.submitted, figures.admitted, figures.evicted, ended, len(figures.waiting))),
        *(_hours(area) for area in (figures.used_area, figures.borrowed_area, figures.lent_area)),
        *(_wait(us) for us in (int(figures.mean_wait()), figures.wait_percentile(95) * 1_000_000, figures.wait_most)),
    )


def _charts(series: Series) -> str:
    moments, averages = series.averages()
    dates = [datetime.fromtimestamp(moment // 1_000_000, UTC) for moment in moments]
    parts = []
    for number, metric in enumerate(METRICS):
        figure = go.Figure()
        for name, values in _largest(series.names, averages[:, number]):
            line = {"width": 0.5, "shape": "hv"}
            figure.add_trace(go.Scatter(x=dates, y=values.round(2), name=escape(name, quote=False), stackgroup="all", line=line))
        layout = {"title": _TITLES[metric], "height": 380, "template": "plotly_white", "hovermode": "x unified", "yaxis_title": "GPUs"}
        figure.update_layout(**layout)
        page = to_html(figure, include_plotlyjs=number == 0, full_html=False, default_width="100%", div_id=f"chart-{metric}")
        parts.append(f"<div class='chart'>{page}</div>")
    return "".join(parts)


def _largest(names: list[str], values: npt.NDArray[np.float64]) -> list[tuple[str, npt.NDArray[np.float64]]]:
    """The queues that have any of it, with their values by step; of more than a chart can tell apart the smallest as one."""
    sums = values.sum(axis=0)
    order = sorted((queue for queue in range(len(names)) if sums[queue] > 0), key=lambda queue: (-sums[queue], names[queue]))
    kept = order if len(order) <= _MOST_LINES else order[: _MOST_LINES - 1]
    lines = [(names[queue], values[:, queue]) for queue in sorted(kept)]
    rest = order[len(kept) :]
    return lines + ([(f"{len(rest):,} other queues", values[:, rest].sum(axis=1))] if rest else [])


def _evictions(series: Series) -> str:
    if not series.eviction_count:
        return "<p>None.</p>"
    left_out = series.eviction_count - len(series.evictions)
    note = f"<p>The last {len(series.evictions):,}; {left_out:,} earlier ones are in the journal.</p>" if left_out else ""
    header = ("When", "Evicted", "Queue", "For", "Rule", "Compared")
    return note + table(header, [_eviction(event) for event in reversed(series.evictions)], numbers=False)


def _eviction(event: WorkloadEvicted) -> tuple[str, ...]:
    compared = ", ".join(f"{operand.name} = {operand.value}" for operand in event.why.operands)
    return (
        date(event.time),
        escape(event.workload),
        escape(event.queue),
        escape(event.beneficiary or "an operator"),
        _link(event.why.rule),
        escape(compared),
    )


def _link(rule: RuleRef | None) -> str:
    if rule is None:
        return ""
    return f"<a href='#{escape(rule.file, quote=True)}-{rule.line}'>{escape(rule.name)}</a> ({escape(rule.file)}:{rule.line})"
