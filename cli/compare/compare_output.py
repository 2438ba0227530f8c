"""What compare prints: a row for each policy, a row for each policy of each queue, and who fares differently, and why."""

from collections.abc import Iterable, Iterator

from ...sim.compare.comparison import Comparison, DifferentJob
from ...sim.compare.played_policy import EarlyEnd, FailedPolicy, JobCounts, PlayedPolicy
from ...sim.drive.driver import OnEvict
from ...sim.drive.job import JobSource
from ...sim.measure.figures import Figures
from ...sim.report.compare_wording import best_told, different_told, early_briefly, early_told, notes, under_told
from ...sim.report.wording import hours, hours_number, percent, short
from ..impact.impact_output import figures_json
from ..shared.output import Format, counted, say, say_json
from ..shared.tables import table

_SECOND = 1_000_000

_MOST_DIFFERENT = 3
"""How many workloads or groups of each sort are told that fare differently; json has all."""

_MOST_PATHS = 3
"""How many ways in which queues lose workloads to others are told of each policy; json has all."""

_COUNTS = ("ran", "waiting", "never", "rejected", "evictions", "in turns", "evicted", "most")
_TIMES = ("mean wait", "p95", "longest", "in line", "GPU-hours", "lost")
"""The columns of figures: two tables, so that neither is too wide for a terminal."""

_KEY_OF_COUNTS = (
    "ran, waiting, never, rejected, evicted: workloads; waiting: at the end; never: those of them that can never run",
    "in turns: evictions of workloads that had been evicted before, and nothing but time had passed; most: evictions of one workload",
)
_KEY_OF_TIMES = (
    "mean wait, p95, longest: waits that ended with an admission; in line: of a workload in all, on average, with what has not ended",
    "lost: GPU-hours that evicted workloads had to do again; in use: of the GPU-hours that there were up to the end",
)


def show_comparison(comparison: Comparison, form: Format, source: JobSource, on_evict: OnEvict) -> None:
    """Print what policies made of the same jobs."""
    if form is Format.json:
        _json(comparison, source, on_evict)
        return
    policies = comparison.policies
    say(f"{counted(comparison.jobs, 'workload')} of {source.name} under {len(policies)} {'policy' if len(policies) == 1 else 'policies'}")
    table("Policies", ("policy", "profile", *_COUNTS), [_counts_row(each) for each in policies], form)
    _lines(_KEY_OF_COUNTS)
    table("Waits and work", ("policy", *_TIMES, "in use", "makespan", "loop"), [_times_row(each) for each in policies], form)
    _lines(_KEY_OF_TIMES)
    if best := best_told(comparison):
        say(best)
    _lines(notes(comparison))
    for each in comparison.played:
        for number, line in enumerate(early_told(each)):
            say(line if number == 0 else f"   {line}")
    _queues(comparison, form)
    _evictions(comparison, form)
    _different(comparison)


def _lines(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)


def _counts_row(each: PlayedPolicy | FailedPolicy) -> tuple[str, ...]:
    named = (each.name, each.policy.profile or "-")
    return (*named, *(("-",) * len(_COUNTS) if isinstance(each, FailedPolicy) else _counts(each.history.total, each.total)))


def _times_row(each: PlayedPolicy | FailedPolicy) -> tuple[str, ...]:
    if isinstance(each, FailedPolicy):
        return (each.name, *["-"] * (len(_TIMES) + 2), "failed")
    history, used = each.history, percent(each.used, each.existed)
    return (each.name, *_times(history.total, each.total), used, short(history.end - history.start), early_briefly(each))


def _queues(comparison: Comparison, form: Format) -> None:
    """The figures of each queue under each policy; `-` where a policy lacks the queue."""
    counts, times = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for queue in comparison.queues:
        for each in comparison.played:
            figures, counted_ones = each.history.of_queue(queue), each.counts_of(queue)
            has = each.has_queue(queue)
            counts.append((queue, each.name, *(_counts(figures, counted_ones) if has else ("-",) * len(_COUNTS))))
            share = percent(figures.used_area, each.used)
            times.append((queue, each.name, *((*_times(figures, counted_ones), share) if has else ("-",) * (len(_TIMES) + 1))))
    table("Per queue", ("queue", "policy", *_COUNTS), counts, form, groups=True)
    table("Waits and work per queue", ("queue", "policy", *_TIMES, "share"), times, form, groups=True)


def _counts(figures: Figures, counts: JobCounts) -> tuple[str, ...]:
    numbers = (
        counts.ran, figures.waiting, counts.never, figures.rejected,
        figures.evicted, counts.in_turns, counts.evicted, counts.most_evictions,
    )  # fmt: skip
    return tuple(f"{number:,}" for number in numbers)


def _times(figures: Figures, counts: JobCounts) -> tuple[str, ...]:
    waits = (int(figures.mean_wait), figures.p95_wait * _SECOND, figures.longest_wait)
    return (
        *(short(wait) if figures.admitted else "-" for wait in waits),
        short(int(counts.mean_wait)) if counts.lined_up else "-",
        hours(figures.used_area),
        hours(counts.lost),
    )


def _evictions(comparison: Comparison, form: Format) -> None:
    """Which queues lose workloads to which, most often first."""
    rows = [
        (each.name, path.queue, path.beneficiary_queue or "-", path.rule or "-", path.preemption, f"{count:,}")
        for each in comparison.played
        for path, count in each.eviction_paths()[:_MOST_PATHS]
    ]
    if rows:
        table("Who is evicted for whom", ("policy", "evicted of", "for one of", "by", "kind", "evictions"), rows, form, groups=True)


def _different(comparison: Comparison) -> None:
    if not comparison.is_compared:
        return
    count, policies = comparison.states_differ, len(comparison.to_the_end)
    say(
        f"{counted(count, 'workload')} of {comparison.jobs:,} {'ends' if count == 1 else 'end'} in different states "
        f"under the {policies} policies that were played to the end"
    )
    told = list(_first_of_each_sort(comparison))
    for number, different in enumerate(told, start=1):
        say(f"{number}. {different_told(different)}")
        for under in different.under:
            for line, text in enumerate(under_told(under)):
                say(f"   {under.name + ':' if line == 0 else ' ' * (len(under.name) + 1)} {text}")
    if len(told) < len(comparison.different):
        say(f"{len(comparison.different) - len(told):,} more are told by --format json, and on the page of --report")


def _first_of_each_sort(comparison: Comparison) -> Iterator[DifferentJob]:
    for by in ("state", "wait", "evictions"):
        yield from [each for each in comparison.different if each.by == by][:_MOST_DIFFERENT]


# --- json -----------------------------------------------------------------------------------------------------------


def _json(comparison: Comparison, source: JobSource, on_evict: OnEvict) -> None:
    say_json(
        "compare", workloads=source.name, jobs=comparison.jobs, on_evict=on_evict, policies=[each.name for each in comparison.policies],
        compared=[each.name for each in comparison.to_the_end] if comparison.is_compared else [], states_differ=comparison.states_differ,
    )  # fmt: skip
    for each in comparison.policies:
        _policy_json(each)
    for queue in comparison.queues:
        for each in comparison.played:
            counts = each.counts_of(queue)
            figures = _figures_json(each.history.of_queue(queue), counts) if each.has_queue(queue) else None
            say_json("compare-queue", queue=queue, policy=each.name, figures=figures)
    for each in comparison.played:
        for path, count in each.eviction_paths():
            say_json("compare-evictions", policy=each.name, **path._asdict(), count=count)
    for different in comparison.different:
        _different_json(different)


def _policy_json(each: PlayedPolicy | FailedPolicy) -> None:
    policy = each.policy
    named = {"policy": each.name, "profile": policy.profile or None, "digest": policy.graph.digest}
    if isinstance(each, FailedPolicy):
        say_json("compare-policy", **named, failed=each.message)
        return
    history = each.history
    say_json(
        "compare-policy", **named, failed=None, loops=int(each.early is not None and each.early.kind == "loop"),
        early=_early_json(each.early), start=history.start, end=history.end, facts=history.facts, decisions=history.decisions,
        exists_gpu_milli=each.exists, existed_gpu_hours=hours_number(each.existed),
        utilisation=round(each.used / each.existed, 6) if each.existed else None, figures=_figures_json(history.total, each.total),
    )  # fmt: skip


def _early_json(early: EarlyEnd | None) -> dict[str, object] | None:
    if early is None:
        return None
    turns = [{**turn._asdict(), "rule": turn.rule.model_dump() if turn.rule is not None else None} for turn in early.turns]
    return {
        "reason": early.kind,
        "time": early.time,
        "since": early.since,
        "message": early.message,
        "turns": turns,
        "remedy": early.remedy,
    }


def _figures_json(figures: Figures, counts: JobCounts) -> dict[str, object]:
    return {
        **figures_json(figures),
        "ran": counts.ran,
        "never": counts.never,
        "evicted_workloads": counts.evicted,
        "evictions_in_turns": counts.in_turns,
        "most_evictions": counts.most_evictions,
        "mean_in_line_us": int(counts.mean_wait),
        "lost_gpu_hours": hours_number(counts.lost),
    }


def _different_json(different: DifferentJob) -> None:
    under = [
        {
            "policy": each.name,
            "state": each.outcome.state if each.outcome is not None else None,
            "wait_us": each.outcome.wait if each.outcome is not None else None,
            "evictions": each.outcome.evictions if each.outcome is not None else None,
            "lost_gpu_hours": hours_number(each.outcome.lost) if each.outcome is not None else None,
            "told": list(under_told(each)),
        }
        for each in different.under
    ]
    say_json(
        "compare-workload", by=different.by, workloads=different.workloads, count=different.count, spread=different.spread,
        queue=different.queue, under=under,
    )  # fmt: skip
