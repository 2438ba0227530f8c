"""The impact page: both histories side by side, for the person who decides whether a policy is rolled out."""

from collections.abc import Callable, Iterable
from difflib import unified_diff
from functools import partial
from html import escape

from ...engine.units import format_amount
from ..impact.closed_impact import ClosedImpact, Explained
from ..measure.figures import NO_DEVICES, Figures
from ..measure.series import Series
from . import comparison_charts as charts
from .impact_wording import assumptions, effect_told, fate_told, parting_told
from .page import date, document, source, table
from .wording import gpus, hours, short, signed, unit_hours

_MOST_QUEUES = 24
"""Queues that are drawn one by one, those whose use changed most; the table has all."""

_MOST_FACTS = 50

_SECOND = 1_000_000

_WORDS = (
    "A workload is admitted to a queue when it gets its GPUs, and ends or is evicted; one that is evicted is stopped, and waits again.",
    "A queue borrows what it uses beyond what it owns, such as GPUs that others leave idle.",
    "Waits in figures are those that ended with an admission; who was never admitted is rejected, or waiting at the end.",
    "Behind a decision stand its reason, and the line of the policy that caused it: which rule, in which file, on which line.",
)
"""The terms of the page, explained for readers who do not know gpol."""

_STYLE = """
:root{--old:#8b949e;--good:#1a7f37;--bad:#b42318;--goodback:#dafbe1;--badback:#ffebe9}
@media(prefers-color-scheme:dark){:root{--old:#7d8590;--good:#56d364;--bad:#ff7b72;--goodback:#12261e;--badback:#2d1517}}
h2{margin-top:2.6rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
.badge{display:inline-block;font-size:.8rem;border:1px solid var(--mark);color:var(--mark);border-radius:99px;padding:.05rem .6rem;margin-left:.6rem;
vertical-align:middle;font-weight:600}
.lead{font-size:1.15rem;max-width:60rem}
.tiles{display:grid;grid-template-columns:repeat(4,1fr)}td{vertical-align:top}.tile{min-width:0}.tile em{font-style:normal;color:var(--dim);display:block}
.good,.tile .good{color:var(--good)}.bad,.tile .bad{color:var(--bad)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin:.6rem 0}
.side{background:var(--card);border:1px solid var(--line);border-top:3px solid var(--old);border-radius:8px;padding:.6rem 1rem;min-width:0}
.side.new{border-top-color:var(--mark)}.side b{font-size:.85rem;color:var(--dim);font-weight:600}.side p{margin:.25rem 0;overflow-wrap:anywhere}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:1rem}
.wide{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin-bottom:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem 1rem}
figcaption{font-weight:600;font-size:.9rem;margin-bottom:.2rem;overflow-wrap:anywhere}figcaption span{color:var(--dim);font-weight:400}
.key{color:var(--dim);font-size:.9rem}.key i{display:inline-block;width:1.4rem;height:0;border-top:3px solid var(--old);margin:0 .4rem 0 1rem;
vertical-align:middle}.key i.new{border-color:var(--mark)}.key i:first-child{margin-left:0}
.who{margin:1.4rem 0}.who h3{margin:0;font-size:1.05rem}.who h3 span{font-weight:400;color:var(--dim)}
.diff span{display:block;white-space:pre}.diff .plus{background:var(--goodback)}.diff .minus{background:var(--badback)}.diff .place{color:var(--dim)}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--mark)}
@media(max-width:720px){body{margin:1rem auto}.pair,.wide{grid-template-columns:1fr}h1{font-size:1.5rem}.tiles{grid-template-columns:1fr 1fr}}
"""


def impact_page(impact: ClosedImpact, before: Series, after: Series) -> str:
    """The page of a closed loop, as HTML."""
    file = escape(impact.policy.file)
    sections = [
        f"<h1>What {file} would have made of it<span class='badge'>{impact.loop}</span></h1>",
        f"<p class='sub'>The recorded history from {date(impact.before.start)} to {date(impact.before.end)} UTC, played again under "
        f"policy {escape(impact.policy.graph.name)}, {escape(impact.policy.graph.digest)}. "
        "All times on this page are UTC. <a href='#reading'>How to read this page</a></p>",
        _verdict(impact),
        _tiles(impact),
        "<h2>Where the histories part</h2>" + _parting(impact),
        "<h2>Queue by queue</h2>" + _queues(impact),
        "<h2>Over time</h2>" + _charts(before, after),
        "<h2>Who is affected most</h2>" + _affected(impact),
        "<h2>Decisions that change</h2>" + _changes(impact),
        _impossible(impact),
        "<h2 id='reading'>How to read this page</h2>" + _reading(impact),
        "<h2>What changes in the policy</h2>" + _policies(impact),
    ]
    return document(f"Impact of {impact.policy.file}: gpol", sections, charts.STYLE + _STYLE)


def _verdict(impact: ClosedImpact) -> str:
    if impact.nothing_changes:
        return "<p class='lead'>Nothing would change: every recorded decision is taken again, at the same moment.</p>"
    before, after = impact.before.total, impact.after.total
    waits = f"{short(int(before.mean_wait))} to {short(int(after.mean_wait))}"
    rejected = f", rejections from {before.rejected:,} to {after.rejected:,}" if before.rejected or after.rejected else ""
    return (
        f"<p class='lead'>Of {impact.compared:,} workloads {impact.worse:,} would fare worse and {impact.better:,} better. The mean wait goes from "
        f"{waits}, evictions from {before.evicted:,} to {after.evicted:,}{rejected}.</p>"
    )


# --- figures --------------------------------------------------------------------------------------------------------


def _tiles(impact: ClosedImpact) -> str:
    before, after = impact.before, impact.after
    tiles = [
        _tile("mean wait", int(before.total.mean_wait), int(after.total.mean_wait), short),
        _tile("95 % wait at most", before.total.p95_wait * _SECOND, after.total.p95_wait * _SECOND, short),
        _tile("longest wait", before.total.longest_wait, after.total.longest_wait, short),
        _tile("evictions", before.total.evicted, after.total.evicted, _count),
        _tile("GPU-hours used", before.total.used_area, after.total.used_area, hours, less_is_better=None),
        _tile("from first to last event", before.end - before.start, after.end - after.start, short),
        f"<div class='tile'><b>{impact.changed:,}</b><span>decisions that differ</span></div>",
        _tile("rejected, or waiting at the end", _left_out(before.total), _left_out(after.total), _count),
    ]
    return f"<div class='tiles'>{''.join(tiles)}</div>"


def _left_out(figures: Figures) -> int:
    """How many workloads were rejected or still wait at the end, because the waits do not include them."""
    return figures.rejected + figures.waiting


def _count(value: int) -> str:
    return f"{value:,}"


def _tile(what: str, before: int, after: int, write: Callable[[int], str], less_is_better: bool | None = True) -> str:
    change = _change(before, after, write, less_is_better)
    was = f"was {write(before)}, {change}" if before != after else change
    return f"<div class='tile'><b>{write(after)}</b><span>{what}</span><em>{was}</em></div>"


def _change(before: int, after: int, write: Callable[[int], str], less_is_better: bool | None = True) -> str:
    """By how much a figure changes; what gets better or worse is coloured, unless it is by too little to be written."""
    if before == after:
        return "unchanged"
    written = signed(write(after - before))
    kind = "" if less_is_better is None or written[0] not in "+-" else "good" if (after < before) == less_is_better else "bad"
    return f"<span class='{kind}'>{written}</span>"


def _queues(impact: ClosedImpact) -> str:
    header = ("Queue", "Owns", "GPU-hours", "Mean wait", "95 % wait at most", "Longest wait", "Evicted", "Rejected", "Waiting at the end")
    names = sorted({each.queue for each in (*impact.before.queues, *impact.after.queues)})
    rows = [_row(escape(name), impact.before.of_queue(name), impact.after.of_queue(name)) for name in names]
    key = "<p class='key'>Each figure as it would be, and by how much it changes.</p>"
    return key + table(header, [*rows, _row("<b>all</b>", impact.before.total, impact.after.total)]) + _devices(impact, names)


def _devices(impact: ClosedImpact, queues: list[str]) -> str:
    """What changes of devices that are no GPUs, each in its own unit."""
    rows = []
    pairs = [(escape(name), impact.before.of_queue(name), impact.after.of_queue(name)) for name in queues]
    for name, before, after in [*pairs, ("<b>all</b>", impact.before.total, impact.after.total)]:
        for device in sorted(before.devices.keys() | after.devices.keys()):
            old, new = before.devices.get(device, NO_DEVICES), after.devices.get(device, NO_DEVICES)
            owns = _cell(old.owned, new.owned, partial(_amount, device), None)
            used = _cell(old.used_area, new.used_area, partial(_hours, device), None)
            rows.append((name, escape(device), owns, used))
    return f"<h3>Other devices</h3>{table(('Queue', 'Device', 'Owns', 'Hours in use'), rows)}" if rows else ""


def _amount(device: str, value: int) -> str:
    return format_amount(value, device)


def _hours(device: str, area: int) -> str:
    return unit_hours(area, device)


def _row(name: str, before: Figures, after: Figures) -> tuple[str, ...]:
    return (
        name,
        _cell(before.owned, after.owned, gpus, None),
        _cell(before.used_area, after.used_area, hours, None),
        _cell(int(before.mean_wait), int(after.mean_wait), short),
        _cell(before.p95_wait * _SECOND, after.p95_wait * _SECOND, short),
        _cell(before.longest_wait, after.longest_wait, short),
        _cell(before.evicted, after.evicted, _count),
        _cell(before.rejected, after.rejected, _count),
        _cell(before.waiting, after.waiting, _count),
    )


def _cell(before: int, after: int, write: Callable[[int], str], less_is_better: bool | None = True) -> str:
    return write(after) if before == after else f"{write(after)}<br><small>{_change(before, after, write, less_is_better)}</small>"


def _changes(impact: ClosedImpact) -> str:
    same = f"<p>{impact.same_decisions:,} of {impact.before.decisions:,} recorded decisions are the same at the same moment.</p>"
    header = ("Decision", "Queue", "No longer taken", "New", "At the same moment, but otherwise")
    rows = [
        (kind.removeprefix("Workload").lower(), escape(queue), _count(tally.gone), _count(tally.new), _count(tally.other))
        for kind, queue, tally in impact.tallies
    ]
    return same + (table(header, rows) if rows else "")


# --- charts ---------------------------------------------------------------------------------------------------------


def _charts(before: Series, after: Series) -> str:
    """GPUs in use and asked for by all, and in use by each queue, most changed first."""
    old, new = charts.lines(before, "used"), charts.lines(after, "used")
    waits = charts.lines(before, "waiting")[""], charts.lines(after, "waiting")[""]
    key = "<p class='key'><i></i>recorded<i class='new'></i>under the new policy</p>"
    wide = _figure("GPUs in use", old[""], new[""]) + _figure("GPUs asked for by waiting workloads", *waits)
    names = sorted((old.keys() | new.keys()) - {""}, key=lambda name: (-_distance(old.get(name), new.get(name)), name))
    queues = "".join(
        _figure(f"{name} <span>GPUs in use</span>", old.get(raw), new.get(raw)) for raw in names[:_MOST_QUEUES] for name in [escape(raw)]
    )
    left_out = len(names) - _MOST_QUEUES
    note = (
        f"<p class='key'>The {_MOST_QUEUES} queues whose use changes most; {left_out:,} others are in the table.</p>"
        if left_out > 0
        else ""
    )
    return f"{key}<div class='wide'>{wide}</div>{note}<div class='grid'>{queues}</div>"


def _figure(caption: str, before: charts.ChartLine | None, after: charts.ChartLine | None) -> str:
    return f"<figure><figcaption>{caption}</figcaption>{charts.comparison_chart('GPUs over time', before, after)}</figure>"


def _distance(before: charts.ChartLine | None, after: charts.ChartLine | None) -> float:
    """How far the use of a queue changes: the difference of its averages, which only puts charts in order."""
    averages = [float(line[1].mean()) if line is not None else 0.0 for line in (before, after)]
    return abs(averages[0] - averages[1])


# --- explanations ---------------------------------------------------------------------------------------------------


def _parting(impact: ClosedImpact) -> str:
    if impact.parting is None:
        return "<p>They never do.</p>"
    first = f"<p>At {date(impact.parting.time)}, event {impact.parting_seq:,} of the journal. Up to then they are the same.</p>"
    return first + _pair(impact, *parting_told(impact.parting))


def _pair(impact: ClosedImpact, before: Iterable[str], after: Iterable[str]) -> str:
    sides = (("", "recorded", before), (" new", escape(impact.policy.file), after))
    told = "".join(
        f"<div class='side{kind}'><b>{title}</b>{''.join(f'<p>{escape(line)}</p>' for line in lines)}</div>" for kind, title, lines in sides
    )
    return f"<div class='pair'>{told}</div>"


def _affected(impact: ClosedImpact) -> str:
    if not impact.affected:
        return "<p>Nobody.</p>"
    rank = (
        "Ranked by the GPU-hours that a workload waits for, and that evictions take from it, more or less than it did; of one that is "
        "rejected now, by those that it got."
    )
    return f"<p class='key'>{rank}</p>" + "".join(_workload(impact, each) for each in impact.affected)


def _workload(impact: ClosedImpact, each: Explained) -> str:
    kind = "bad" if each.cost > 0 else "good"
    cost = f"<span class='{kind}'>{signed(hours(each.cost))} GPU-hours</span>" if each.cost else ""
    title = f"<h3>{escape(each.workload)} <span>of {escape(each.after.fate.queue)} {escape(effect_told(each))}</span> {cost}</h3>"
    return f"<div class='who'>{title}{_pair(impact, fate_told(each.before), fate_told(each.after))}</div>"


def _impossible(impact: ClosedImpact) -> str:
    if not impact.impossible:
        return ""
    rows = [
        (f"{each.seq:,}", date(each.time), escape(each.kind), escape(each.about), escape(each.reason))
        for each in impact.impossible[:_MOST_FACTS]
    ]
    left_out = len(impact.impossible) - _MOST_FACTS
    note = f"<p>{left_out:,} more are listed by <code>--format json</code>.</p>" if left_out > 0 else ""
    return "<h2>Recorded events that cannot happen</h2>" + table(("Event", "When", "Fact", "About", "Why not"), rows, numbers=False) + note


def _reading(impact: ClosedImpact) -> str:
    notes = [*assumptions(impact.setting), *_WORDS]
    if impact.activations > 1:
        notes.append(f"The journal activates a policy {impact.activations} times; the new policy stands in the place of each.")
    if impact.endless:
        notes.append(f"{impact.endless:,} workloads have no recorded end; once admitted, they run on to the end of the new history.")
    first = (
        "<p>This is a closed loop: the history was played again, and what the new policy decides has its effects on all that follows.</p>"
    )
    return first + "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"


def _policies(impact: ClosedImpact) -> str:
    """The difference of the texts, and both texts whole."""
    old, new = impact.recorded_policy, impact.policy
    if old is None:
        return source(new.file, new.text)
    name = new.file if new.file != old.file else f"{new.file} (new)"
    changed = list(unified_diff(old.text.splitlines(), new.text.splitlines(), f"{old.file} (recorded)", new.file, lineterm=""))
    kinds = {"+": "plus", "-": "minus", "@": "place"}
    shown = "".join(f"<span class='{kinds.get(line[:1], '')}'>{escape(line) or ' '}</span>" for line in changed)
    diff = f"<pre class='diff'>{shown}</pre>" if changed else "<p>The texts are the same.</p>"
    texts = ((f"{old.file}, as recorded last", old.file, old.text), (name, name, new.text))
    return diff + "".join(f"<details><summary>{escape(title)}</summary>{source(file, text)}</details>" for title, file, text in texts)
