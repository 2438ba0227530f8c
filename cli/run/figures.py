"""The table of figures at the end of a run."""

from collections.abc import Iterator

from ...engine.units import format_amount, format_duration
from ...sim.measure.figures import DeviceFigures
from ...sim.measure.measure import Measure
from ...sim.measure.place_measure import NodeClass, PlaceMeasure
from ...sim.measure.queue_figures import QueueFigures
from ...sim.report.wording import gpus, hours, hours_number, percent, short, unit_hours
from ..impact.impact_output import devices_json
from ..shared.output import Format, counted, say, say_json
from ..shared.tables import table

_SECOND = 1_000_000

_DEVICES = ("queue", "resource", "owns", "hours", "borrowed", "lent", "share")


def show_figures(measure: Measure, form: Format, skipped: int | None = None) -> None:
    """Print what each queue got, and the sums; `skipped` lines of the input, where lines may be skipped."""
    queues = [measure.queues[name] for name in sorted(measure.queues)]
    total = sum(figures.used_area for figures in queues)
    if form is Format.json:
        for figures in queues:
            say_json("queue", **_values(figures, total, measure.end))
        lines = {} if skipped is None else {"skipped": skipped}
        say_json("run", facts=measure.facts, decisions=measure.decisions, start=measure.start, end=measure.end, **lines)
        return
    header = (
        "queue",
        "owns",
        "submitted",
        "admitted",
        "evicted",
        "ended",
        "waiting",
        "GPU-hours",
        "borrowed",
        "lent",
        "share",
        "mean wait",
        "p95",
        "longest",
    )
    rows = [_row(figures, total) for figures in queues]
    table("Per queue", header, rows, form)
    devices = _total_devices(queues)
    if devices:
        table("Other devices, in hours of each", _DEVICES, list(_device_rows(queues, devices)), form)
    length = format_duration((measure.end - (measure.start or 0)) // _SECOND * _SECOND)
    longest = max((figures.owner_wait(measure.end) for figures in queues), default=0)
    say(f"longest wait for what the workload's queue owns and does not use: {short(longest)}")
    say(
        f"{counted(measure.facts, 'fact')}, {counted(measure.decisions, 'decision')} over {length}; {hours(total)} GPU-hours"
        + "".join(_told(devices))
    )
    if skipped:
        say(f"{counted(skipped, 'line')} {'were' if skipped > 1 else 'was'} skipped")


def _values(figures: QueueFigures, total: int, end: int) -> dict[str, object]:
    return {
        "queue": figures.name,
        "owned_gpu_milli": figures.owned,
        "submitted": figures.submitted,
        "admitted": figures.admitted,
        "evicted": figures.evicted,
        "finished": figures.finished,
        "cancelled": figures.cancelled,
        "rejected": figures.rejected,
        "ended": figures.finished + figures.cancelled + figures.rejected,
        "running": len(figures.running),
        "waiting": len(figures.waiting),
        "gpu_hours": hours_number(figures.used_area),
        "borrowed_gpu_hours": hours_number(figures.borrowed_area),
        "lent_gpu_hours": hours_number(figures.lent_area),
        "share_of_gpu_hours": round(figures.used_area / total, 6) if total else 0.0,
        "mean_wait_us": int(figures.mean_wait()),
        "p95_wait_s": figures.wait_percentile(95),
        "longest_wait_us": figures.wait_most,
        "longest_owner_wait_us": figures.owner_wait(end),
        "devices": devices_json(DeviceFigures.of(figures)),
    }


def _total_devices(queues: list[QueueFigures]) -> dict[str, int]:
    """How much of each device that is no GPU was used by all queues, times microseconds; of those that some queue owns or used."""
    found: dict[str, int] = {}
    for figures in queues:
        for name, each in DeviceFigures.of(figures).items():
            found[name] = found.get(name, 0) + each.used_area
    return dict(sorted(found.items()))


def _device_rows(queues: list[QueueFigures], totals: dict[str, int]) -> Iterator[tuple[str, ...]]:
    for figures in queues:
        for name, each in DeviceFigures.of(figures).items():
            share = f"{each.used_area * 1000 // totals[name] / 10:.1f}%" if totals[name] else "-"
            areas = (unit_hours(area, name) for area in (each.used_area, each.borrowed_area, each.lent_area))
            yield (figures.name, name, format_amount(each.owned, name), *areas, share)


def _told(devices: dict[str, int]) -> Iterator[str]:
    return (f", {unit_hours(area, name)} {name}-hours" for name, area in devices.items())


def _row(figures: QueueFigures, total: int) -> tuple[str, ...]:
    waits = (int(figures.mean_wait()), figures.wait_percentile(95) * _SECOND, figures.wait_most)
    share = f"{figures.used_area * 1000 // total / 10:.1f}%" if total else "-"
    return (
        figures.name,
        gpus(figures.owned),
        f"{figures.submitted:,}",
        f"{figures.admitted:,}",
        f"{figures.evicted:,}",
        f"{figures.finished + figures.cancelled + figures.rejected:,}",
        f"{len(figures.waiting):,}",
        hours(figures.used_area),
        hours(figures.borrowed_area),
        hours(figures.lent_area),
        share,
        *(short(wait) if figures.waits else "-" for wait in waits),
    )


_CLASSES = ("nodes of", "GPUs each", "nodes", "GPU-hours", "of", "utilisation", "stranded", "of what was free", "GPUs at most")


def show_places(measure: PlaceMeasure, form: Format) -> None:
    """Print how well the nodes of each class were used, and which GPU-hours were stranded; nothing where pods got no places."""
    measure.finish()
    if not measure.gives_places:
        return
    nodes = measure.nodes()
    if form is Format.json:
        for of_class in sorted(measure.classes):
            figures, (flavors, each) = measure.classes[of_class], of_class
            existed, used, stranded = (hours_number(area) for area in (figures.existed, figures.used, figures.stranded))
            said = {"flavors": flavors, "gpu_milli": each, "nodes": nodes.get(of_class, 0), "gpu_hours_existed": existed}
            say_json("nodes", **said, gpu_hours=used, stranded_gpu_hours=stranded, most_stranded_gpu_milli=figures.most_stranded)
        return
    table("Nodes", _CLASSES, [place_class_row(measure, of_class, nodes.get(of_class, 0)) for of_class in sorted(measure.classes)], form)


def place_class_row(measure: PlaceMeasure, of_class: NodeClass, nodes: int) -> tuple[str, ...]:
    """The figures of a class of nodes as a row."""
    figures, (flavors, each) = measure.classes[of_class], of_class
    return (
        ", ".join(flavors),
        gpus(each),
        f"{nodes:,}",
        hours(figures.used),
        hours(figures.existed),
        percent(figures.used, figures.existed),
        hours(figures.stranded),
        percent(figures.stranded, figures.existed - figures.used),
        gpus(figures.most_stranded),
    )
