"""Where a waiting workload stands, in words: why, its place, flavor by flavor, candidate by candidate, and what would let it run."""

from collections import Counter
from typing import get_args

from ...engine.event_parts import Limit
from ...engine.explain.standing import CandidateStanding, FlavorStanding, Remedy, Standing
from ...engine.explain.unplaced import unplaced_told
from ...engine.outcome.nomination import CandidateOutcome
from ...engine.units import format_time
from ...sim.report.wording import amount, by, charges_told, limit_told, names, never_told, total
from ..shared.output import counted

_MOST_CANDIDATES = 20
"""How many groups of candidates are shown."""

_MOST_KEPT = 10
"""How many candidates are shown one by one with what keeps them."""

_MOST_IMPEDIMENTS = 5
"""How many reasons are shown why it can never run."""

_OUTCOMES: tuple[CandidateOutcome, ...] = get_args(CandidateOutcome)

_ONE_BY_ONE = ("taken", "spared", "not reached", "share")
"""Outcomes of candidates that were looked at one by one."""

_KEPT: dict[CandidateOutcome, str] = {
    "never evicted": "its class is never evicted",
    "protected": "it is protected",
    "guard": "the guard of the rule is false",
    "gave way": "it had this workload evicted before, and the rule does not evict it in turn",
    "just admitted": "it was admitted by the last fact, and the next one may evict it",
    "not borrowing": "its queue uses no more than it owns",
    "out of reach": "the rule does not look in its queue",
    "not triggered": "no preempt rule applies",
    "not enough": "it may go, but all who may go free too little",
    "replaced": "this workload takes its place",
}
"""Why a candidate is not evicted by preempt rules; the rule or class that says so follows."""

_LAST = {
    "no fit": "no flavor could serve it, and no eviction was tried",
    "no candidates": "it needs preemption, and its candidates free too little",
    "overtaken": "other workloads took the room in the same cycle",
    "overlapping": "its victims were preempted for another workload in the same cycle",
    "deferred": "it fits once the victims of other workloads have stopped",
    "preempting": "it preempts its victims and waits until they have stopped",
    "turned away": "it may not be admitted, whatever is free",
    "no room": "no pass found room for it",
    "let in": "it was let in, and no pass found room for it yet",
}
"""What the last cycle that looked at it came to."""

_NOW = {
    "fits": "it is admitted once it is next",
    "evicts": "it preempts the candidates that are taken, once it is next",
    "waits": "it waits, even once it is next",
    "cycle fits": "the next cycle admits it",
    "cycle evicts": "the next cycle promises it room that others leave",
    "cycle waits": "the next cycle finds no room for it",
}


_NOW_HELD = {
    "fits": "once nothing holds it, it is admitted when it is next",
    "evicts": "once nothing holds it, it evicts others when it is next",
    "waits": "it would wait, even if nothing held it",
}


def waiting(standing: Standing) -> list[str]:
    """Everything that is known of a waiting workload, a line each."""
    lines = [f"why: {standing.reason}" + by(standing.rule)]
    lines += never(standing)
    lines += [f"{operand.name}: {operand.value}" for operand in standing.operands]
    for why in standing.also:
        said = ", ".join(f"{operand.name} {operand.value}" for operand in why.operands)
        lines.append(f"also: {why.reason}{by(why.rule)}" + (f" ({said})" if said else ""))
    if standing.outcome is not None:
        victims = f": {names(list(standing.victims))}" if standing.victims else ""
        lines.append(f"last cycle: {_LAST[standing.outcome]}{victims}")
    if standing.now is not None:
        lines.append(f"as things stand: {(_NOW_HELD if standing.held else _NOW)[standing.now]}")
    lines += _place(standing)
    if standing.limit is not None:
        lines.append(f"limit: {limit_told(standing.limit, standing.reason)}")
    if standing.places is not None:
        lines.append(f"no places on {unplaced_told(standing.places)}")
    for keeper in standing.keepers:
        lines.append(f"waits for: {keeper.workload}, protected until {format_time(keeper.until)}" + by(keeper.protect))
    lines += [_flavor(flavor) for flavor in standing.flavors]
    for rule in standing.rules:
        lines.append(f"rule {rule.rule.name} ({rule.rule.file}:{rule.rule.line}): {rule.outcome}")
    if standing.evicts == "nothing" and standing.candidates:
        lines.append("nobody is evicted under this policy: it uses no preempt rules")
    lines += _candidates(standing.candidates) if standing.evicts == "in cycles" else _kept(standing)
    return lines + [f"would run, once it is next, if {_remedy(remedy)}{_at_cost(remedy)}" for remedy in standing.remedies]


def never(standing: Standing) -> list[str]:
    """Why it can never run as things stand, a line each, with what to do; nothing where it can."""
    lines = [f"can never run: {never_told(each)}" for each in standing.never[:_MOST_IMPEDIMENTS]]
    more = len(standing.never) - _MOST_IMPEDIMENTS
    return [*lines, *([f"can never run: {more} more reasons like these"] if more > 0 else [])]


def _place(standing: Standing) -> list[str]:
    lines = []
    if standing.position is not None:
        parked = ", parked until something becomes free" if standing.parked else ""
        lines.append(f"place: {standing.position} of {standing.waiting} in queue {standing.queue}, priority {standing.priority}{parked}")
    if standing.asked_priority not in (None, standing.priority):
        lines.append(f"priority: asked for {standing.asked_priority}, counts as {standing.priority}")
    return lines


def _flavor(flavor: FlavorStanding) -> str:
    limits = flavor.limits or (() if flavor.limit is None else (flavor.limit,))
    said = [f"{amount(limit.deficit, limit.resource)} more needed" for limit in limits]
    said += [*flavor.because, *(["borrowing"] if flavor.borrows and flavor.reason in ("Fits", "Preempt") else [])]
    place = f"flavor {flavor.flavor}" if flavor.flavor else "any flavor"
    return f"{place} for {flavor.pod_set} ({', '.join(flavor.resources)}): {', '.join([flavor.reason, *said])}"


def _kept(standing: Standing) -> list[str]:
    """Who uses what it lacks, who uses most first, with what keeps each of them from being evicted, and how many others there are."""
    lines = []
    told = {keeper.workload for keeper in standing.keepers}
    candidates = [each for each in standing.candidates if each.workload not in told]
    for each in candidates[:_MOST_KEPT]:
        rule = f": {each.rule.name} ({each.rule.file}:{each.rule.line})" if each.rule is not None else ""
        compared = "".join(f", {operand.name} = {operand.value}" for operand in each.operands)
        until = f", until {format_time(each.until)} if nothing but time changes" if each.until is not None else ""
        lines.append(f"kept: {each.workload} of {each.queue}, {charges_told(each.usage)}: {_KEPT[each.outcome]}{rule}{compared}{until}")
    rest = [(each.outcome, 1, each.usage) for each in candidates[_MOST_KEPT:]]
    rest += [(each.outcome, each.count, each.usage) for each in standing.left_out]
    for outcome in sorted({outcome for outcome, _, _ in rest}, key=_OUTCOMES.index):
        alike = [(count, usage) for each, count, usage in rest if each == outcome]
        usage = charges_told(total(usage for _, usage in alike))
        lines.append(f"kept, not shown: {counted(sum(count for count, _ in alike), 'workload')}, {usage}: {_KEPT[outcome]}")
    return lines


def _candidates(candidates: tuple[CandidateStanding, ...]) -> list[str]:
    """The candidates: first those that would be preempted, then why the others are not, and how many are left out.

    Candidates with the same comparison are told together: by queue where they were compared one by one, else of all queues.
    """
    ranked = sorted(candidates, key=lambda each: (_OUTCOMES.index(each.outcome), each.queue, each.workload))
    alike: dict[tuple[str, ...], list[CandidateStanding]] = {}
    for each in ranked:
        told = "; ".join([*(f"{operand.name} {operand.value}" for operand in each.operands), *(["told to stop"] if each.evicting else [])])
        queue = each.queue if each.outcome in _ONE_BY_ONE else ""
        alike.setdefault((each.outcome, queue, by(each.rule), f" ({told})" if told else ""), []).append(each)
    groups = list(alike.items())
    lines = []
    for (outcome, _, rule, compared), group in groups[:_MOST_CANDIDATES]:
        queues, workloads = sorted({each.queue for each in group}), [each.workload for each in group]
        lines.append(f"candidates of {names(queues)}: {outcome}{rule}{compared}: {names(workloads)}")
    rest: Counter[str] = Counter(each.outcome for _, group in groups[_MOST_CANDIDATES:] for each in group)
    if rest:
        lines.append("candidates not shown: " + ", ".join(f"{rest[outcome]} {outcome}" for outcome in _OUTCOMES if rest[outcome]))
    return lines


# --- remedies -------------------------------------------------------------------------------------------------------


def _remedy(remedy: Remedy) -> str:
    match remedy.kind:
        case "ends":
            return f"{names(list(remedy.workloads))} ended"
        case "limits":
            return " and ".join(_raised(limit) for limit in remedy.limits)
        case "flavor":
            accepting = " and ".join("its queue" if who == "queue" else "it" for who in remedy.by)
            needs = f" ({'; '.join(remedy.needs)})" if remedy.needs else ""
            return f"{accepting} accepted flavor {remedy.flavor}{needs}"
        case "time":
            return f"nothing else changes until {format_time(remedy.until or 0)}"
        case "release":
            return "nothing held it any more"


def _at_cost(remedy: Remedy) -> str:
    return f", evicting {names(list(remedy.evicting))}" if remedy.evicting else ""


def _raised(limit: Limit) -> str:
    more = f"{amount(limit.deficit, limit.resource)} more"
    if limit.limit == "borrowing":
        return f"{limit.node} could borrow {more} on {limit.flavor}"
    if limit.limit == "owned":
        return f"{limit.node} owned {more} on {limit.flavor}"
    return f"{limit.flavor} had {more} that nobody owns"
