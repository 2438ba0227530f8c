"""A comparison of policies in words, for the command and the page."""

from collections.abc import Iterator

from ...engine.units import format_time
from ..compare.comparison import Comparison, DifferentJob, UnderPolicy
from ..compare.played_policy import FailedPolicy, PlayedPolicy, Turn
from .impact_wording import fate_told
from .wording import by, gpus, hours, names, short

KINDS = {"loop": "never comes to rest", "calendar": "runs beyond the calendar", "impossible": "cannot take a workload"}
"""Why a history ends early, in a few words."""


def early_told(played: PlayedPolicy) -> list[str]:
    """Why a policy was not played to its end, a line each: who takes turns, of which queues and by which lines, and what would end it."""
    early = played.early
    if early is None:
        return []
    ends = f"its figures end at {format_time(early.time)}, {short(early.time - played.history.start)} after the beginning"
    if early.kind != "loop":
        return [f"{played.name} {KINDS[early.kind]}: {early.message}", ends]
    first = f"{played.name} never comes to rest: from {format_time(early.since)} on nothing happens but that workloads take turns"
    return [first, *(_turn_told(turn) for turn in early.turns), ends, f"to end it, {early.remedy}"]


def _turn_told(turn: Turn) -> str:
    return (
        f"{turn.workload} of {turn.queue} is evicted {turn.times:,} times, the last time for {turn.beneficiary} of {turn.beneficiary_queue}"
        f"{by(turn.rule)}"
    )


def early_briefly(played: PlayedPolicy) -> str:
    """When a loop was found, or what else ended a history, for a table."""
    early = played.early
    if early is None:
        return "none"
    after = short(early.time - played.history.start)
    return f"after {after}" if early.kind == "loop" else f"none up to {after}"


def notes(comparison: Comparison) -> list[str]:
    """What has to be known to read the figures: which policies have no figures, lack queues or have other GPUs, and what is compared."""
    told = [f"{each.name} has no figures: {each.message}" for each in comparison.policies if isinstance(each, FailedPolicy)]
    for name, queues in comparison.lacking.items():
        told.append(f"{name} has no queue {names(queues)}: their workloads go to other queues there, or are rejected")
    exist = {each.name: each.exists for each in comparison.played}
    if len(set(exist.values())) > 1:
        each = ", ".join(f"{gpus(exists)} GPUs under {name}" for name, exists in exist.items())
        told.append(f"what exists is not the same: {each}")
    if not comparison.is_compared and len(comparison.policies) > 1:
        told.append("workloads are compared between policies that were played to the end, and there are no two of them")
    return told


def best_told(comparison: Comparison) -> str:
    """Under which policy workloads are in line for the shortest time, fewest are evicted and least work is lost: of those played to the end."""
    ended = comparison.to_the_end
    if len(ended) < 2:
        return ""
    waits = min(each.total.mean_wait for each in ended)
    evictions = min(each.history.total.evicted for each in ended)
    lost = min(each.total.lost for each in ended)
    parts = [
        ("least time in line", short(int(waits)), [each.name for each in ended if each.total.mean_wait == waits]),
        ("fewest evictions", f"{evictions:,}", [each.name for each in ended if each.history.total.evicted == evictions]),
        ("least work lost", f"{hours(lost)} GPU-hours", [each.name for each in ended if each.total.lost == lost]),
    ]
    return "; ".join(f"{what}: {' and '.join(whose)} ({figure})" for what, figure, whose in parts)


def different_told(different: DifferentJob) -> str:
    """Who fares differently, and in what."""
    who = f"{names(different.workloads, different.count)} of {different.queue}"
    if different.by == "state":
        return f"{who} {'ends' if different.count == 1 else 'end'} in different states"
    if different.by == "wait":
        return f"{who} is in line for up to {short(different.spread)} longer"
    return f"{who} is evicted up to {different.spread:,} {'time' if different.spread == 1 else 'times'} more"


def under_told(under: UnderPolicy) -> Iterator[str]:
    """What became of a workload under a policy, and why in its words."""
    if under.outcome is None or under.told is None:
        yield "was not submitted before the history ends"
        return
    if under.outcome.state != "rejected":
        ran = "ran to its end, " if under.outcome.state == "finished" else ""
        yield f"{ran}in line for {short(under.outcome.wait)} in all"
    yield from fate_told(under.told)
