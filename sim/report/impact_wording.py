"""The results of impact in words, workload by workload, for commands and pages."""

from ...engine.events import AnyDecision
from ...engine.explain.standing import Standing
from ...engine.explain.unplaced import unplaced_told
from ...engine.units import format_time
from ..impact.closed_impact import Explained, Told
from ..impact.history_diff import Parting
from ..impact.open_impact import Shown
from ..impact.recorded_settings import EvictionSetting
from .wording import by, decision_told, hours, limit_told, short

_NOTHING = "nothing"
_RUNS = "goes on running"

RULES = {
    "restart": "an evicted run begins anew",
    "resume": "an evicted run goes on where it stopped",
}
"""What an eviction costs, by `on_evict`."""


def assumptions(setting: EvictionSetting) -> list[str]:
    """The assumptions of a closed loop, one sentence each."""
    told = f", as event {setting.seq} records" if setting.seq is not None else ""
    return [
        "Recorded facts are played as they are until the histories part.",
        "From then on submissions, cancellations, changes of capacity and what operators did come when they came.",
        f"A run takes as long as it took, counted from its admission; {RULES[setting.on_evict]}{told}.",
        "Nobody submits more, less or something else because waits are other ones.",
    ]


OPEN_ASSUMPTIONS = (
    "Each recorded moment is decided again on the state that was recorded there; what is decided has no effect on the next moment.",
    "Moments that only the other policy would have decided at are not looked at.",
    "What differs about a workload is told once, for as long as the recorded history leaves it as it is.",
)
"""The assumptions of an open loop, one sentence each."""


def fate_told(told: Told) -> list[str]:
    """What became of a workload in one history, and why: its longest wait, its costliest eviction, its end; a line each."""
    fate, lines = told.fate, []
    if fate.longest > 0:
        end = fate.admission.time if fate.admission is not None else fate.since
        lines.append(f"waited {short(fate.longest)} from {format_time(end - fate.longest)}" + _standing(told.standing))
        if told.standing is not None and told.standing.limit is not None:
            lines.append(limit_told(told.standing.limit, told.standing.reason))
        if told.standing is not None and told.standing.places is not None:
            lines.append(f"no places on {unplaced_told(told.standing.places)}")
        lines += decision_told(fate.admission)[:1] if fate.admission is not None else ["was not admitted after that"]
    elif fate.admission is not None:
        lines.append(f"at once {decision_told(fate.admission)[0]}")
    if fate.eviction is not None:
        times = "once" if fate.evictions == 1 else f"{fate.evictions:,} times"
        cost = f", at a cost of {hours(fate.lost)} GPU-hours" if fate.lost else ""
        lines.append(f"evicted {times}{cost}; worst at {format_time(fate.eviction.time)}:")
        lines.append(decision_told(fate.eviction)[0])
    if fate.rejection is not None:
        lines.append(decision_told(fate.rejection)[0])
    elif fate.state in ("waiting", "running"):
        lines.append(f"{'waits' if fate.state == 'waiting' else 'runs'} at the end of the history")
    return lines


def _standing(standing: Standing | None) -> str:
    return "" if standing is None else f": {standing.reason}{by(standing.rule)}"


def effect_told(explained: Explained) -> str:
    """How much worse or better off a workload is. If one history rejects it, only that is said."""
    before, after = explained.before.fate.state, explained.after.fate.state
    if before != after == "rejected":
        return "is rejected" + (f", and does without the {hours(explained.cost)} GPU-hours that it got" if explained.cost else "")
    if after != before == "rejected":
        return f"is no longer rejected, and is {after} at the end"
    parts = []
    if explained.extra_wait:
        parts.append(f"waits {short(abs(explained.extra_wait))} {'longer' if explained.extra_wait > 0 else 'less'}")
    lost = explained.after.fate.lost - explained.before.fate.lost
    if lost:
        parts.append(f"loses {hours(abs(lost))} GPU-hours {'more' if lost > 0 else 'less'} to evictions")
    if before != after:
        parts.append(f"is {after} instead of {before} at the end")
    return ", ".join(parts)


def parting_told(parting: Parting) -> tuple[list[str], list[str]]:
    """What each of two histories decided at the first difference: a line for each decision, all lines of them where the first are the same."""
    recorded, played = [decision for _, decision in parting.recorded], list(parting.played)
    before, after = _decisions(recorded, 1), _decisions(played, 1)
    return (before, after) if before != after else (_decisions(recorded), _decisions(played))


def _decisions(decisions: list[AnyDecision], most: int | None = None) -> list[str]:
    return [f"{decision.workload} {line}" for decision in decisions for line in decision_told(decision)[:most]] or [_NOTHING]


def shown_told(shown: Shown) -> tuple[list[str], list[str]]:
    """What was decided about a workload at a recorded moment, and what is decided now, with the reasons."""
    found = shown.redecision
    before = decision_told(found.recorded) if found.recorded is not None else _stands(shown.before)
    after = decision_told(found.decided) if found.decided is not None else _stands(found.standing)
    if found.category == "no longer evicted":
        after = [_RUNS]
    return before, after


def _stands(standing: Standing | None) -> list[str]:
    if standing is None:
        return [_NOTHING]
    if standing.state == "running":
        return [_RUNS]
    lines = [f"waits: {standing.reason}{by(standing.rule)}"]
    return [*lines, limit_told(standing.limit, standing.reason)] if standing.limit is not None else lines
