"""The table of figures at the end of a run."""

from fractions import Fraction
from shlex import quote

from ...engine.units import format_duration
from ...sim.measure.measure import Measure, QueueFigures
from ...sim.report.wording import gpus, hours, short
from ..shared.output import Format, counted, say, say_json
from ..shared.tables import table

_SECOND = 1_000_000


def show_figures(measure: Measure, form: Format, journal: str | None = None, skipped: int | None = None) -> None:
    """Print what each queue got, and the sums; `skipped` lines of the input, where lines may be skipped; `journal` is what was written."""
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
    length = format_duration((measure.end - (measure.start or 0)) // _SECOND * _SECOND)
    longest = max((figures.owner_wait(measure.end) for figures in queues), default=0)
    say(f"longest wait for what the workload's queue owns and does not use: {short(longest)}")
    say(f"{counted(measure.facts, 'fact')}, {counted(measure.decisions, 'decision')} over {length}; {hours(total)} GPU-hours")
    rejected = sum(figures.rejected for figures in queues)
    if rejected:
        path, condition = ("PATH", ", once there is a journal") if journal is None else (quote(journal), "")
        why = f"`gpol log {path} --kind WorkloadRejected` says why{condition}"
        say(f"{counted(rejected, 'workload')} {'were' if rejected > 1 else 'was'} rejected; {why}")
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
        "running": len(figures.running),
        "waiting": len(figures.waiting),
        "gpu_hours": hours(figures.used_area),
        "borrowed_gpu_hours": hours(figures.borrowed_area),
        "lent_gpu_hours": hours(figures.lent_area),
        "share_of_gpu_hours": str(Fraction(figures.used_area, total)) if total else "0",
        "mean_wait_us": int(figures.mean_wait()),
        "p95_wait_s": figures.wait_percentile(95),
        "longest_wait_us": figures.wait_most,
        "longest_owner_wait_us": figures.owner_wait(end),
    }


def _row(figures: QueueFigures, total: int) -> tuple[str, ...]:
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
        short(int(figures.mean_wait())),
        short(figures.wait_percentile(95) * _SECOND),
        short(figures.wait_most),
    )
