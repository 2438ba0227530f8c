"""The page of a simulation: what its queues got, what was in use, who waited and why; readable without a network."""

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from ...engine.event_parts import RuleRef
from ...engine.events import WorkloadEvicted
from ...engine.explain.unplaced import unplaced_told
from ...engine.units import format_amount
from ..drive.policy import Policy
from ..impact.workload_fates import Fate
from ..measure.figures import DeviceFigures
from ..measure.gpu_amounts import is_device, thousandths
from ..measure.measure import Measure
from ..measure.place_measure import PlaceMeasure
from ..measure.queue_figures import QueueFigures
from ..measure.series import METRICS, FlavorResource, Series
from ..measure.step_areas import Values
from . import stack_charts as charts
from .impact_wording import RULES
from .page import date, document, source, table
from .place_sections import nodes_section
from .run_record import LongWait, RunRecord, RunSettings
from .wording import amount, by, gpus, hours, limit_told, percent, short, unit_hours

_TITLES = {
    "used": "GPUs in use, by queue",
    "waiting": "GPUs asked for by waiting workloads",
    "borrowed": "GPUs borrowed beyond what the queue owns",
    "lent": "GPUs owned, idle, and used by others",
}

_MOST_SLOTS = 12
"""How many flavors have a chart of their own; the table has all."""

_ZONE = "All times on this page are UTC."


def report_page(
    policy: Policy,
    measure: Measure,
    record: RunRecord,
    longest: Sequence[LongWait],
    settings: RunSettings,
    stood: PlaceMeasure | None = None,
) -> str:
    """The page of a run, as HTML; `stood` has the figures of its nodes."""
    series = record.series
    moments, averages = series.averages()
    weights = averages[:, [METRICS.index("used"), METRICS.index("waiting")]].sum(axis=(0, 1))
    styles = charts.styles_of(series.queues.names, weights)
    found = _over_time(series, styles)
    drawn = [chart for chart in found if chart.lines or chart.limit is not None]
    empty = [chart.title for chart in found if not chart.lines and chart.limit is None]
    nothing = f"<p class='key'>Always 0, and not drawn: {'; '.join(empty)}.</p>" if empty else ""
    slots = _flavor_charts(series)
    times = charts.coarser(moments, averages)[0]
    title = escape(policy.graph.name)
    over_time = "".join(charts.drawn(drawn, times, measure.end))
    sections = [
        f"<h1>{title}</h1><p class='sub'>Simulated from {date(measure.start or 0)} to {date(measure.end)} UTC, by gpol. "
        f"Policy {escape(policy.file)}, {escape(policy.graph.digest)}. {_ZONE}</p>",
        _tiles(measure, record),
        "<h2>Per queue</h2>" + _table(measure, record, styles) + _devices(measure, styles),
        "<h2>Over time</h2>" + charts.legend(styles, "what exists") + over_time + nothing,
        "<h2>Per flavor</h2>" + _flavors(measure, series),
        f"<div class='grid'>{''.join(charts.drawn(slots, times, measure.end))}</div>",
        nodes_section(stood),
        "<h2>Longest waits</h2>" + _waits(longest),
        "<h2>Evictions</h2>" + _evictions(series),
        "<h2>Inputs and settings</h2>" + _settings(policy, settings),
        "<h2>The policy</h2>" + source(policy.file, policy.text),
        *(f"<h3>Profile {escape(name)}</h3>" + source(name.replace(".", "/") + ".gpol", text) for name, text in policy.profiles),
        charts.script([*drawn, *slots], times, measure.end),
    ]
    return document(f"{policy.graph.name}: gpol report", sections, charts.STYLE + _STYLE)


_STYLE = """
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:0 1rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}.tile{min-width:0;padding:.7rem .9rem}.tile b{font-size:1.3rem;overflow-wrap:anywhere}
.queues th,.queues td{padding:.35rem .4rem;font-size:.85rem}
.why,.name{display:block;white-space:normal;overflow-wrap:anywhere}.why{min-width:22rem}.name{min-width:7rem;max-width:20rem}
.key{color:var(--dim);font-size:.9rem}
"""


# --- figures --------------------------------------------------------------------------------------------------------


def _tiles(measure: Measure, record: RunRecord) -> str:
    queues = list(measure.queues.values())

    def total(figure: Callable[[QueueFigures], int]) -> int:
        return sum(figure(figures) for figures in queues)

    used, waits = total(lambda each: each.used_area), total(lambda each: sum(each.waits.values()))
    existed = sum(thousandths(resource, area) for (_, resource), area in record.series.existed.items())
    waiting = total(lambda each: len(each.waiting))
    tiles = [
        (f"{total(lambda each: each.submitted):,}", "workloads"),
        (f"{waiting:,}", "still waiting"),
        (f"{total(lambda each: each.rejected):,}", "rejected"),
        (hours(used), "GPU-hours"),
        (percent(used, existed), "utilisation of GPUs"),
        (percent(total(lambda each: each.borrowed_area), used), "of GPU-hours borrowed"),
        (f"{record.series.eviction_count:,}", "evictions"),
        (hours(sum(record.lost.values())), "GPU-hours lost to evictions"),
        (short(total(lambda each: each.wait_total) // waits) if waits else "-", "mean wait"),
        (short(max((each.wait_most for each in queues), default=0)) if waits else "-", "longest wait"),
    ]
    return "<div class='tiles'>" + "".join(f"<div class='tile'><b>{value}</b><span>{what}</span></div>" for value, what in tiles) + "</div>"


_HEADER = (
    "Queue", "Owns", "Submitted", "Admitted", "Evicted", "Finished", "Rejected", "Waiting", "GPU-hours", "Share",
    "Borrowed", "Lent", "Lost", "Mean wait", "p95", "Longest",
)  # fmt: skip


def _table(measure: Measure, record: RunRecord, styles: dict[str, str]) -> str:
    queues = [measure.queues[name] for name in sorted(measure.queues)]
    total = sum(figures.used_area for figures in queues)
    rows = [_row(figures, total, record.lost.get(figures.name, 0), styles[figures.name]) for figures in queues]
    key = (
        "<p class='key'>Borrowed, lent and lost are GPU-hours; lost is what evicted jobs had done and had to do again. "
        "Waits are those that ended with an admission.</p>"
    )
    return f"<div class='queues'>{key}{table(_HEADER, rows)}</div>"


def _row(figures: QueueFigures, total: int, lost: int, style: str) -> tuple[str, ...]:
    counts = (
        figures.submitted, figures.admitted, figures.evicted, figures.finished, figures.rejected, len(figures.waiting),
    )  # fmt: skip
    waits = (int(figures.mean_wait()), figures.wait_percentile(95) * 1_000_000, figures.wait_most)
    return (
        _name(figures.name, charts.swatch(f"c{style}")),
        gpus(figures.owned),
        *(f"{count:,}" for count in counts),
        hours(figures.used_area),
        percent(figures.used_area, total),
        *(hours(area) for area in (figures.borrowed_area, figures.lent_area, lost)),
        *(short(us) if figures.waits else "-" for us in waits),
    )


def _devices(measure: Measure, styles: dict[str, str]) -> str:
    """What queues have of devices that are no GPUs, each in its own unit."""
    rows = [
        (
            _name(queue, charts.swatch(f"c{styles[queue]}")),
            escape(device),
            format_amount(each.owned, device),
            *(unit_hours(area, device) for area in (each.used_area, each.borrowed_area, each.lent_area)),
        )
        for queue in sorted(measure.queues)
        for device, each in DeviceFigures.of(measure.queues[queue]).items()
    ]
    header = ("Queue", "Device", "Owns", "Hours in use", "Borrowed", "Lent")
    return f"<h3>Other devices</h3>{table(header, rows)}" if rows else ""


# --- over time ------------------------------------------------------------------------------------------------------


def _over_time(series: Series, styles: dict[str, str]) -> list[charts.Chart]:
    """A chart for each metric; what is in use below what exists."""
    _, averages = charts.coarser(*series.averages())
    exists = _gpus_that_exist(series)
    return [
        charts.Chart(
            metric,
            title,
            charts.stacked(series.queues.names, averages[:, METRICS.index(metric)], styles),
            exists if metric == "used" else None,
            "what exists",
        )
        for metric, title in _TITLES.items()
    ]


def _gpus_that_exist(series: Series) -> Values:
    _, averages = charts.coarser(*series.slots.averages())
    unit = [thousandths(resource, 1) / 1000 for _, resource in series.slots.names]
    return np.asarray(averages[:, 1] @ np.array(unit, dtype=np.float64))


def _flavor_charts(series: Series) -> list[charts.Chart]:
    """What is used and exists of each resource of each flavor, those with most units first."""
    _, averages = charts.coarser(*series.slots.averages())
    found = []
    for number, slot in sorted(enumerate(series.slots.names), key=lambda each: _slot_order(each[1]))[:_MOST_SLOTS]:
        unit = _unit(slot[1])
        used, exists = averages[:, 0, number] / unit, averages[:, 1, number] / unit
        line = [(charts.NO_QUEUE, "in use", used)]
        found.append(charts.Chart(f"slot-{number}", f"{_unit_name(slot[1])} of {slot[0]} in use", line, exists, "what exists", small=True))
    return found


def _slot_order(slot: FlavorResource) -> tuple[int, str, str]:
    """GPUs first, then other devices, then what every machine has."""
    flavor, resource = slot
    kind = 0 if thousandths(resource, 1) else 1 if is_device(resource) else 2
    return kind, flavor, resource


def _unit(resource: str) -> int:
    return {"gpu": 1000, "cpu": 1000, "memory": 2**30}.get(resource, 1)


def _unit_name(resource: str) -> str:
    return {"gpu": "GPUs", "cpu": "CPUs", "memory": "GiB of memory"}.get(resource, resource)


def _flavors(measure: Measure, series: Series) -> str:
    header = ("Flavor", "Resource", "Exists at the end", "Unit-hours in use", "Unit-hours that there were", "Utilisation")
    rows = []
    for slot in sorted(series.slots.names, key=_slot_order):
        flavor, resource = slot
        used, existed = series.used.get(slot, 0), series.existed.get(slot, 0)
        rows.append(
            (
                escape(flavor),
                escape(resource),
                amount(measure.capacity.get(slot, 0), resource),
                unit_hours(used, resource),
                unit_hours(existed, resource),
                percent(used, existed),
            )
        )
    return table(header, rows)


# --- who waited, who was evicted ------------------------------------------------------------------------------------


def _waits(longest: Sequence[LongWait]) -> str:
    if not longest:
        return "<p>Nobody waited.</p>"
    header = ("Workload", "Queue", "GPUs", "Waited", "From", "Until", "Why")
    return table(header, [_wait(each) for each in longest], numbers=False)


def _wait(each: LongWait) -> tuple[str, ...]:
    fate, standing = each.fate, each.standing
    admitted = fate.admission
    end = admitted.time if admitted is not None else fate.since
    why = ""
    if standing is not None:
        why = standing.reason + by(standing.rule)
        why += f": {limit_told(standing.limit, standing.reason)}" if standing.limit is not None else ""
        why += f": no places on {unplaced_told(standing.places)}" if standing.places is not None else ""
    return (
        _name(fate.submission[0]),
        _name(fate.queue),
        gpus(fate.gpus),
        short(fate.longest),
        date(end - fate.longest),
        date(end) if admitted is not None else f"{date(end)}, {_never(fate)}",
        f"<span class='why'>{escape(why)}</span>",
    )


def _never(fate: Fate) -> str:
    """What became of one that was not admitted after its longest wait."""
    return "still waiting" if fate.state == "waiting" else fate.state


def _evictions(series: Series) -> str:
    if not series.eviction_count:
        return "<p>None.</p>"
    left_out = series.eviction_count - len(series.evictions)
    note = f"<p>The last {len(series.evictions):,}; {left_out:,} earlier ones are in the journal.</p>" if left_out else ""
    header = ("When", "Evicted", "Queue", "For", "Rule", "Compared")
    return note + table(header, [_eviction(event) for event in reversed(series.evictions)], numbers=False)


def _eviction(event: WorkloadEvicted) -> tuple[str, ...]:
    compared = ", ".join(f"{operand.name} = {operand.value}" for operand in event.why.operands)
    nobody = {"stopped": "its queue, which is drained", "node-lost": "nobody: it lost a node"}
    cause = nobody.get(event.preemption, f"operator {event.by}" if event.by else "an operator")
    return (
        date(event.time),
        _name(event.workload),
        _name(event.queue),
        _name(event.beneficiary or cause),
        _link(event.why.rule),
        f"<span class='why'>{escape(compared)}</span>",
    )


def _name(name: str, before: str = "") -> str:
    """A name that may be long."""
    return f"<span class='name'>{before}{escape(name)}</span>"


def _link(rule: RuleRef | None) -> str:
    if rule is None:
        return ""
    return f"<a href='#{escape(rule.file, quote=True)}-{rule.line}'>{escape(rule.name)}</a> ({escape(rule.file)}:{rule.line})"


# --- inputs ---------------------------------------------------------------------------------------------------------


def _settings(policy: Policy, settings: RunSettings) -> str:
    rows = [
        ("Policy", escape(policy.file)),
        ("Its digest", escape(policy.graph.digest)),
        *([("Activated by", escape(policy.by))] if policy.by else []),
        ("Workloads", f"{escape(settings.source.name)}, read as {escape(settings.form)}"),
        ("Their SHA-256", escape(settings.source.digest)),
        ("Evicted jobs", f"--on-evict {settings.on_evict}: {RULES[settings.on_evict]}"),
        ("Time zone", "UTC"),
        ("Decides", _way(policy)),
    ]
    return table(("What", "Is"), rows, numbers=False)


def _way(policy: Policy) -> str:
    return "in cycles" if policy.graph.settings.in_cycles else "at once"
