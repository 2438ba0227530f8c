"""The page of a comparison: several policies on the same jobs, for the people who have to choose one."""

from collections.abc import Callable, Sequence
from html import escape

from ..compare.comparison import Comparison, DifferentJob
from ..compare.played_policy import FailedPolicy, JobCounts, PlayedPolicy
from ..measure.figures import Figures
from . import stack_charts as charts
from .compare_wording import best_told, different_told, early_briefly, early_told, notes, under_told
from .impact_wording import RULES
from .page import date, document, source, table
from .policy_charts import PolicyCharts
from .run_record import RunSettings
from .wording import hours, percent, short

_SECOND = 1_000_000

_MOST_BESIDE = 4
"""Up to how many policies two tables of queues stand beside each other; the names of more would be too narrow."""

_MOST_PATHS = 8
"""How many ways in which queues lose workloads to others are told of each policy."""

_WORDS = (
    "Every policy is played from the same submissions, each workload for the same time once it is admitted. Nobody submits more, less or "
    "something else because waits are other ones.",
    "Time in line is all the time that a workload waits: from its submission to its admission, and from each eviction to the next one. "
    "A wait that has not ended counts up to the end of the history. A workload that is rejected is not counted.",
    "The longest wait, and the 95 % of waits, are of waits that ended with an admission.",
    "GPU-hours lost are those of runs that an eviction ended, where evicted workloads begin anew. They are part of the GPU-hours in use.",
    "Evictions in turns are those of workloads that had been evicted before while nothing but time had passed: no submission and no end. "
    "A policy that comes to rest at once has none.",
    "A policy that never comes to rest is stopped, and its figures and charts end there. It is left out where policies are ranked and where "
    "workloads are compared.",
    "The share in use is of the GPU-hours that there were from the first submission to the end of the policy's own history.",
)
"""The terms of the page, explained for readers who do not know gpol."""

_STYLE = """
:root{--good:#1a7f37;--bad:#b42318;--bar:#0550ae22}
@media(prefers-color-scheme:dark){:root{--good:#56d364;--bad:#ff7b72;--bar:#79c0ff2e}}
h2{margin-top:2.6rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
.lead{font-size:1.15rem;max-width:60rem}.key{color:var(--dim);font-size:.9rem}.good{color:var(--good);font-weight:600}.bad{color:var(--bad)}
.policies th,.policies td{padding:.35rem .3rem;font-size:.8rem}.policies th{white-space:normal;vertical-align:bottom}
.policies small,.figures th small{display:block;font-weight:400;color:var(--dim)}
.stop{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--bad);border-radius:8px;padding:.6rem 1rem;margin:1rem 0}
.stop p{margin:.25rem 0;overflow-wrap:anywhere}.stop p:first-child{font-weight:600}
.pairs{display:grid;grid-template-columns:1fr 1fr;gap:0 1rem}.pairs figure{margin:.5rem 0}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,34rem),1fr));gap:0 2rem}.figures div{min-width:0}
.figures.many{grid-template-columns:1fr}.figures th{font-size:.8rem}
.figures table{table-layout:fixed}.figures th:first-child{width:6rem}.figures td:first-child{overflow:hidden;text-overflow:ellipsis}
.figures th{white-space:normal;overflow-wrap:anywhere;vertical-align:bottom}
.figures td.b{background:linear-gradient(to left,var(--bar) var(--p),transparent var(--p))}
.who{margin:1.4rem 0}.who h3{margin:0;font-size:1.05rem}
.sides{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:1rem;margin:.6rem 0}
.side{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem 1rem;min-width:0}
.side b{font-size:.85rem;color:var(--dim);font-weight:600}.side p{margin:.25rem 0;overflow-wrap:anywhere;font-size:.9rem}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--mark)}
@media(max-width:720px){body{margin:1rem auto}.pairs{grid-template-columns:1fr}h1{font-size:1.5rem}}
"""


def compare_page(comparison: Comparison, settings: RunSettings) -> str:
    """The page of a comparison, as HTML."""
    played = comparison.played
    drawn = PolicyCharts(played) if played else None
    count = len(comparison.policies)
    title = f"{settings.source.name} under {count} {'policy' if count == 1 else 'policies'}"
    began = f", from {date(min(each.history.start for each in played))} UTC on" if played else ""
    sections = [
        f"<h1>{escape(title)}</h1><p class='sub'>{comparison.jobs:,} workloads{began}, played under each policy by gpol. "
        "All times on this page are UTC. <a href='#reading'>How to read this page</a></p>",
        _lead(comparison),
        _table(comparison),
        *(_early(each) for each in played if each.early is not None),
        "".join(f"<p class='key'>{escape(note)}</p>" for note in notes(comparison)),
        *(_over_time(drawn) if drawn is not None else ()),
        "<h2>Queue by queue</h2>" + _queues(comparison),
        "<h2>Who is evicted for whom</h2>" + _evictions(comparison),
        "<h2>Who fares most differently</h2>" + _different(comparison),
        "<h2 id='reading'>How to read this page</h2><ul>" + "".join(f"<li>{escape(word)}</li>" for word in _WORDS) + "</ul>",
        "<h2>Inputs and settings</h2>" + _settings(comparison, settings),
        "<h2>The policies</h2>" + "".join(_text(each) for each in comparison.policies),
        charts.script(drawn.charts, drawn.moments, drawn.end) if drawn is not None else "",
    ]
    return document(f"{title}: gpol", sections, charts.STYLE + _STYLE)


# --- figures --------------------------------------------------------------------------------------------------------


def _lead(comparison: Comparison) -> str:
    best = best_told(comparison)
    restless = [each.name for each in comparison.played if each.early is not None and each.early.kind == "loop"]
    parts = [f"{' and '.join(restless)} never {'comes' if len(restless) == 1 else 'come'} to rest."] if restless else []
    parts += [f"{best[0].upper()}{best[1:]}."] if best else []
    return f"<p class='lead'>{escape(' '.join(parts))}</p>" if parts else ""


_HEADER = (
    "Policy", "Loop", "Ran", "Waiting", "Never", "Rejected", "Evictions", "In turns", "Evicted", "Most", "Mean wait", "95 % of waits",
    "Longest", "In line", "GPU-hours", "Lost", "In use", "Makespan",
)  # fmt: skip


def _table(comparison: Comparison) -> str:
    ended = comparison.to_the_end
    rows = [_row(each, ended if isinstance(each, PlayedPolicy) and each.early is None else []) for each in comparison.policies]
    key = (
        "<p class='key'>Ran, waiting, never (those of the waiting that can never run), rejected and evicted are workloads; most is how often "
        "one of them was evicted. In use is the share of all GPU-hours. Green is the least of all policies that were played to the end.</p>"
    )
    return f"<div class='policies'>{key}{table(_HEADER, rows)}</div>"


def _row(each: PlayedPolicy | FailedPolicy, ended: Sequence[PlayedPolicy]) -> tuple[str, ...]:
    name = escape(each.name) + (f"<small>{escape(each.policy.profile)}</small>" if each.policy.profile else "")
    if isinstance(each, FailedPolicy):
        return (name, "<span class='bad'>failed</span>", *["-"] * (len(_HEADER) - 2))
    figures, counts, history = each.history.total, each.total, each.history

    def best(value: Callable[[PlayedPolicy], int], write: Callable[[int], str]) -> str:
        values = [value(other) for other in ended]
        is_least = len(set(values)) > 1 and value(each) == min(values)
        return f"<span class='good'>{write(value(each))}</span>" if is_least else write(value(each))

    waits = [short(us) if figures.admitted else "-" for us in (int(figures.mean_wait), figures.p95_wait * _SECOND, figures.longest_wait)]
    loop = early_briefly(each)
    return (
        name,
        f"<span class='bad'>{loop}</span>" if each.early is not None else loop,
        *(_count(count) for count in (counts.ran, figures.waiting, counts.never, figures.rejected)),
        best(lambda other: other.history.total.evicted, _count),
        best(lambda other: other.total.in_turns, _count),
        _count(counts.evicted),
        _count(counts.most_evictions),
        *waits,
        best(lambda other: int(other.total.mean_wait), short),
        hours(figures.used_area),
        best(lambda other: other.total.lost, hours),
        percent(each.used, each.existed),
        short(history.end - history.start),
    )


def _count(value: int) -> str:
    return f"{value:,}"


def _early(each: PlayedPolicy) -> str:
    return "<div class='stop'>" + "".join(f"<p>{escape(line)}</p>" for line in early_told(each)) + "</div>"


_Figure = tuple[str, Callable[[Figures, JobCounts], int], Callable[[int], str]]

_BY_QUEUE: tuple[_Figure, ...] = (
    ("Time in line, on average", lambda figures, counts: int(counts.mean_wait), short),
    ("95 % of waits at most", lambda figures, counts: figures.p95_wait * _SECOND, short),
    ("Longest wait", lambda figures, counts: figures.longest_wait, short),
    ("Evictions", lambda figures, counts: figures.evicted, _count),
    ("GPU-hours lost", lambda figures, counts: counts.lost, hours),
    ("GPU-hours in use", lambda figures, counts: figures.used_area, hours),
)


def _queues(comparison: Comparison) -> str:
    key = "<p class='key'>Bars compare the policies of a row. A queue that a policy lacks is marked by -.</p>"
    tables = "".join(f"<div><h3>{title}</h3>{_matrix(comparison, value, write)}</div>" for title, value, write in _BY_QUEUE)
    kind = "figures many" if len(comparison.played) > _MOST_BESIDE else "figures"
    return f"{key}<div class='{kind}'>{tables}</div>"


def _matrix(comparison: Comparison, value: Callable[[Figures, JobCounts], int], write: Callable[[int], str]) -> str:
    """A figure of each queue under each policy, and of all queues."""
    played = comparison.played
    rows = [
        (escape(queue), [value(each.history.of_queue(queue), each.counts_of(queue)) if each.has_queue(queue) else None for each in played])
        for queue in comparison.queues
    ]
    rows.append(("<b>all</b>", [value(each.history.total, each.total) for each in played]))
    heads = "<th>Queue</th>" + "".join(f"<th>{_head(each)}</th>" for each in played)
    body = "".join(f"<tr><td>{name}</td>{''.join(_bar(each, values, write) for each in values)}</tr>" for name, values in rows)
    width = f"min-width:{6 + 5.5 * len(played)}rem"
    return f"<div class='scroll'><table style='{width}'><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"


def _head(each: PlayedPolicy) -> str:
    """A policy above its column, with how far it was played where that is not the end."""
    early = each.early
    return escape(each.name) + (f"<small>up to {short(early.time - each.history.start)}</small>" if early is not None else "")


def _bar(value: int | None, row: Sequence[int | None], write: Callable[[int], str]) -> str:
    if value is None:
        return "<td>-</td>"
    most = max(each or 0 for each in row)
    return f"<td class='b' style='--p:{100 * value // most if most else 0}%'>{write(value)}</td>"


# --- over time ------------------------------------------------------------------------------------------------------


def _over_time(drawn: PolicyCharts) -> list[str]:
    """For each policy what is in use and what is waited for, side by side."""
    figures = "".join(charts.drawn(drawn.charts, drawn.moments, drawn.end))
    return ["<h2>Over time</h2>", charts.legend(drawn.styles, "what exists"), f"<div class='pairs'>{figures}</div>"]


# --- who is evicted, who differs ------------------------------------------------------------------------------------


def _evictions(comparison: Comparison) -> str:
    header = ("Policy", "Evicted of", "For one of", "By", "Kind", "Evictions")
    rows = [
        tuple(escape(cell or "-") for cell in (each.name, *path[:2], path.rule, path.preemption, _count(count)))
        for each in comparison.played
        for path, count in each.eviction_paths()[:_MOST_PATHS]
    ]
    key = f"<p class='key'>The {_MOST_PATHS} most frequent ways of each policy.</p>"
    return key + table(header, rows, numbers=False) if rows else "<p>Nobody.</p>"


def _different(comparison: Comparison) -> str:
    if not comparison.is_compared:
        return "<p>Workloads are compared where two policies or more were played to the end.</p>"
    count = comparison.states_differ
    told = f"{count:,} of {comparison.jobs:,} workloads {'ends' if count == 1 else 'end'} in different states"
    ended = f"the {len(comparison.to_the_end)} policies that were played to the end"
    rank = f"{told} under {ended}. Then come those whose time in line, and those whose evictions, differ most."
    return f"<p class='key'>{escape(rank)}</p>" + "".join(_who(each) for each in comparison.different)


def _who(different: DifferentJob) -> str:
    sides = "".join(
        f"<div class='side'><b>{escape(under.name)}</b>{''.join(f'<p>{escape(line)}</p>' for line in under_told(under))}</div>"
        for under in different.under
    )
    return f"<div class='who'><h3>{escape(different_told(different))}</h3><div class='sides'>{sides}</div></div>"


# --- inputs ---------------------------------------------------------------------------------------------------------


def _settings(comparison: Comparison, settings: RunSettings) -> str:
    rows = [
        *((escape(each.name), escape(each.policy.graph.digest)) for each in comparison.policies),
        ("Workloads", f"{escape(settings.source.name)}, read as {escape(settings.form)}"),
        ("Their SHA-256", escape(settings.source.digest)),
        ("Evicted workloads", f"--on-evict {settings.on_evict}: {RULES[settings.on_evict]}"),
        ("Time zone", "UTC"),
    ]
    return table(("What", "Is"), rows, numbers=False)


def _text(each: PlayedPolicy | FailedPolicy) -> str:
    return f"<details><summary>{escape(each.name)}</summary>{source(each.name, each.policy.text)}</details>"
