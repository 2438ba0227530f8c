"""What impact prints: both histories side by side, for people, for logs, or as JSON."""

from collections.abc import Iterator
from dataclasses import asdict

from ...engine.units import format_time
from ...sim.impact.closed_impact import ClosedImpact, Told
from ...sim.impact.closed_loop import Impossible
from ...sim.impact.open_impact import OpenImpact
from ...sim.measure.figures import NO_DEVICES, DeviceFigures, Figures
from ...sim.report.impact_wording import OPEN_ASSUMPTIONS, assumptions, effect_told, fate_told, parting_told, shown_told
from ...sim.report.wording import amount, gpus, hours, hours_number, short, signed, unit_hours, unit_hours_number
from ..shared.output import Format, counted, say, say_json
from ..shared.tables import table

_SECOND = 1_000_000
_MOST_LISTED = 20
"""How many facts that cannot happen are told to people; json has all."""


def show_closed(impact: ClosedImpact, form: Format, journal: str) -> None:
    """Print what a closed loop found."""
    if form is Format.json:
        _closed_json(impact, journal)
        return
    file = impact.policy.file
    say(f"closed-loop impact of {file} on {journal}")
    if impact.nothing_changes:
        say(f"nothing changes: all {counted(impact.same_decisions, 'decision')} are the same")
        return
    _part(impact)
    same, total = impact.same_decisions, impact.before.decisions
    say(f"{same:,} of {counted(total, 'recorded decision')} are the same at the same moment; {counted(impact.changed, 'difference')}")
    rows = [
        (kind.removeprefix("Workload").lower(), queue, f"{tally.gone:,}", f"{tally.new:,}", f"{tally.other:,}")
        for kind, queue, tally in impact.tallies
    ]
    table("Changed decisions", ("decision", "queue", "no longer", "new", "otherwise"), rows, form)
    _queues(impact, form)
    rejected = _both(f"{impact.before.total.rejected:,}", f"{impact.after.total.rejected:,}")
    say(
        f"workloads: {impact.worse:,} fare worse, {impact.better:,} better, of {impact.compared:,}; rejected {rejected}; "
        f"makespan {_makespans(impact)}"
    )
    for number, each in enumerate(impact.affected, start=1):
        say(f"{number}. {each.workload} of {each.after.fate.queue} {effect_told(each)}")
        _sides(fate_told(each.before), fate_told(each.after), file)
    _impossible(impact.impossible, file)
    _notes(impact)


def _part(impact: ClosedImpact) -> None:
    if impact.parting is None:
        return
    say(f"the histories part at {format_time(impact.parting.time)} (event {impact.parting_seq})")
    _sides(*parting_told(impact.parting), impact.policy.file)


def _sides(before: list[str], after: list[str], file: str) -> None:
    for who, lines in (("recorded", before), (file, after)):
        for number, line in enumerate(lines):
            say(f"   {who + ':' if number == 0 else ' ' * (len(who) + 1)} {line}")


def _queues(impact: ClosedImpact, form: Format) -> None:
    header = ("queue", "owns", "GPU-hours", "change", "mean wait", "p95", "longest", "evicted", "waiting")
    names = sorted({each.queue for each in (*impact.before.queues, *impact.after.queues)})
    pairs = [(name, impact.before.of_queue(name), impact.after.of_queue(name)) for name in names]
    rows = [_row(*pair) for pair in [*pairs, ("all", impact.before.total, impact.after.total)]]
    table("Per queue, as recorded -> now", header, rows, form)
    devices = [
        row for name, before, after in [*pairs, ("all", impact.before.total, impact.after.total)] for row in _devices(name, before, after)
    ]
    if devices:
        table("Other devices, as recorded -> now", ("queue", "resource", "owns", "hours", "change", "borrowed", "lent"), devices, form)


def _row(name: str, before: Figures, after: Figures) -> tuple[str, ...]:
    return (
        name,
        _both(gpus(before.owned), gpus(after.owned)),
        _both(hours(before.used_area), hours(after.used_area)),
        signed(hours(after.used_area - before.used_area)),
        *(_both(*pair) for pair in zip(_waits(before), _waits(after), strict=True)),
        _both(f"{before.evicted:,}", f"{after.evicted:,}"),
        _both(f"{before.waiting:,}", f"{after.waiting:,}"),
    )


def _waits(figures: Figures) -> tuple[str, ...]:
    """The mean wait, the 95th percentile and the longest one; of a queue that admitted nobody there are none."""
    waits = (int(figures.mean_wait), figures.p95_wait * _SECOND, figures.longest_wait)
    return tuple(short(wait) if figures.admitted else "-" for wait in waits)


def _devices(queue: str, before: Figures, after: Figures) -> Iterator[tuple[str, ...]]:
    for name in sorted(before.devices.keys() | after.devices.keys()):
        old, new = before.devices.get(name, NO_DEVICES), after.devices.get(name, NO_DEVICES)
        yield (
            queue,
            name,
            _both(amount(old.owned, name), amount(new.owned, name)),
            _both(unit_hours(old.used_area, name), unit_hours(new.used_area, name)),
            signed(unit_hours(new.used_area - old.used_area, name)),
            _both(unit_hours(old.borrowed_area, name), unit_hours(new.borrowed_area, name)),
            _both(unit_hours(old.lent_area, name), unit_hours(new.lent_area, name)),
        )


def _both(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def _makespans(impact: ClosedImpact) -> str:
    return _both(*(short(history.end - history.start) for history in (impact.before, impact.after)))


def _impossible(facts: tuple[Impossible, ...], file: str) -> None:
    if not facts:
        return
    say(f"{counted(len(facts), 'recorded event')} cannot happen under {file}")
    for each in facts[:_MOST_LISTED]:
        say(f"   event {each.seq}, {format_time(each.time)}, {each.kind} of {each.about}: {each.reason}")
    if len(facts) > _MOST_LISTED:
        say(f"   and {len(facts) - _MOST_LISTED:,} more; --format json lists all")


def _notes(impact: ClosedImpact) -> None:
    if impact.activations > 1:
        say(f"the journal activates a policy {impact.activations} times; {impact.policy.file} stands in the place of each")
    if impact.endless:
        once = "has no recorded end, and runs on once it is" if impact.endless == 1 else "have no recorded end, and run on once they are"
        say(f"{counted(impact.endless, 'workload')} {once} admitted")
    for line in assumptions(impact.setting):
        say(f"closed loop: {line}")


# --- open loop ------------------------------------------------------------------------------------------------------


def show_open(impact: OpenImpact, form: Format, journal: str) -> None:
    """Print what an open loop found."""
    if form is Format.json:
        _open_json(impact, journal)
        return
    file = impact.policy.file
    say(f"open-loop impact of {file} on {journal}")
    if impact.nothing_changes:
        say(f"nothing changes: {counted(impact.moments, 'moment')} decided again, all alike")
        return
    say(f"{counted(impact.moments, 'moment')} decided again; {counted(impact.changed, 'difference')}")
    if impact.first is not None:
        first = impact.first.redecision
        say(f"first at {format_time(first.time)} (event {first.seq}): {first.workload} of {first.queue} is {first.category}")
    rows = [(category, queue, f"{count:,}") for category, queue, count in impact.tallies]
    table("Changed decisions", ("decision", "queue", "workloads"), rows, form)
    for number, each in enumerate(impact.shown, start=1):
        found = each.redecision
        say(f"{number}. {found.workload} of {found.queue} is {found.category} at {format_time(found.time)} (event {found.seq})")
        _sides(*shown_told(each), file)
    _impossible(impact.unexpressed, file)
    if impact.activations > 1:
        say(f"the journal activates a policy {impact.activations} times; {file} stands in the place of each")
    for line in OPEN_ASSUMPTIONS:
        say(f"open loop: {line}")


# --- json -----------------------------------------------------------------------------------------------------------


def _closed_json(impact: ClosedImpact, journal: str) -> None:
    say_json(
        "impact", loop=impact.loop, journal=journal, policy=impact.policy.file, digest=impact.policy.graph.digest,
        on_evict=impact.setting.on_evict, on_evict_seq=impact.setting.seq, nothing_changes=impact.nothing_changes,
        same=impact.same_decisions, changed=impact.changed, compared=impact.compared,
        worse=impact.worse, better=impact.better, impossible=len(impact.impossible),
        activations=impact.activations, endless=impact.endless,
    )  # fmt: skip
    if impact.parting is not None:
        recorded, played = (
            [each.model_dump() for each in some] for some in ([each for _, each in impact.parting.recorded], impact.parting.played)
        )
        say_json("impact-parting", seq=impact.parting_seq, time=impact.parting.time, recorded=recorded, played=played)
    for kind, queue, tally in impact.tallies:
        say_json("impact-changes", decision=kind, queue=queue, **asdict(tally))
    names = sorted({each.queue for each in (*impact.before.queues, *impact.after.queues)})
    for name in names:
        before, after = (figures_json(history.of_queue(name)) for history in (impact.before, impact.after))
        say_json("impact-queue", queue=name, before=before, after=after)
    before, after = ({**figures_json(each.total), "start": each.start, "end": each.end} for each in (impact.before, impact.after))
    say_json("impact-total", before=before, after=after)
    for each in impact.affected:
        say_json(
            "impact-workload", workload=each.workload, cost_gpu_hours=hours_number(each.cost), extra_wait_us=each.extra_wait,
            before=_told_json(each.before), after=_told_json(each.after),
        )  # fmt: skip
    _impossible_json(impact.impossible)


def figures_json(figures: Figures) -> dict[str, object]:
    """The figures of a queue, or of all, as JSON has them."""
    return {
        "owned_gpu_milli": figures.owned,
        "submitted": figures.submitted,
        "admitted": figures.admitted,
        "evicted": figures.evicted,
        "ended": figures.ended,
        "rejected": figures.rejected,
        "waiting": figures.waiting,
        "gpu_hours": hours_number(figures.used_area),
        "borrowed_gpu_hours": hours_number(figures.borrowed_area),
        "lent_gpu_hours": hours_number(figures.lent_area),
        "mean_wait_us": int(figures.mean_wait),
        "p95_wait_s": figures.p95_wait,
        "longest_wait_us": figures.longest_wait,
        "devices": devices_json(figures.devices),
    }


def devices_json(devices: dict[str, DeviceFigures]) -> dict[str, object]:
    """What a queue owned and used of devices that are no GPUs, as JSON has it."""
    return {
        name: {
            "owned": each.owned,
            "hours": unit_hours_number(each.used_area, name),
            "borrowed_hours": unit_hours_number(each.borrowed_area, name),
            "lent_hours": unit_hours_number(each.lent_area, name),
        }
        for name, each in devices.items()
    }


def _told_json(told: Told) -> dict[str, object]:
    fate = told.fate
    decisions = {"admission": fate.admission, "eviction": fate.eviction, "rejection": fate.rejection}
    return {
        "queue": fate.queue,
        "state": fate.state,
        "wait_us": fate.wait,
        "evictions": fate.evictions,
        "lost_gpu_hours": hours_number(fate.lost),
        "longest_wait_us": max(0, fate.longest),
        **{name: decision.model_dump() if decision is not None else None for name, decision in decisions.items()},
        "standing": told.standing.model_dump() if told.standing is not None else None,
        "told": fate_told(told),
    }


def _impossible_json(facts: tuple[Impossible, ...]) -> None:
    for each in facts:
        say_json("impact-impossible", seq=each.seq, time=each.time, fact=each.kind, about=each.about, reason=each.reason)


def _open_json(impact: OpenImpact, journal: str) -> None:
    say_json(
        "impact", loop=impact.loop, journal=journal, policy=impact.policy.file, digest=impact.policy.graph.digest,
        nothing_changes=impact.nothing_changes, moments=impact.moments, changed=impact.changed,
        unexpressed=len(impact.unexpressed), activations=impact.activations,
    )  # fmt: skip
    for category, queue, count in impact.tallies:
        say_json("impact-changes", category=category, queue=queue, count=count)
    for each in impact.shown:
        found = each.redecision
        before, after = shown_told(each)
        say_json(
            "impact-decision", category=found.category, seq=found.seq, time=found.time, workload=found.workload, queue=found.queue,
            gpu_milli=found.gpus, recorded=found.recorded.model_dump() if found.recorded is not None else None,
            decided=found.decided.model_dump() if found.decided is not None else None, told_recorded=before, told_decided=after,
        )  # fmt: skip
    _impossible_json(impact.unexpressed)
