"""explain: where a workload stands, how it got there, and what would change it."""

from collections import Counter

from ..engine.events import (
    AnyEvent,
    Charge,
    Limit,
    Operand,
    OperatorAction,
    RuleRef,
    Why,
    WorkloadAdmitted,
    WorkloadAdopted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ..engine.reference.remedies import Remedy
from ..engine.reference.whereabouts import CandidateStanding, Standing
from ..engine.units import format_amount, format_time
from ..journal.asof import core_at
from ..journal.errors import JournalError
from ..journal.journal import Journal, Recorded
from .auditing import details, open_journal
from .moments import parse_moment
from .output import GOOD, NOT_VERIFIED, Format, refuse, say, say_json

_MOST_EVENTS = 12
"""How many events of a long history are shown."""

_MOST_CANDIDATES = 20
"""How many groups are shown of those that might have gone."""

_MOST_NAMES = 5
"""How many workloads are named of a group."""

_OUTCOMES = ("taken", "spared", "not reached", "share", "only without borrowing", "not borrowing", "not allowed")
"""What came of a candidate, those that would go first."""


def explain_workload(path: str, workload: str, at: str | None, form: Format) -> int:
    """Explain a workload as of a seq or a time."""
    try:
        with open_journal(path) as journal:
            seq = _seq(journal, at)
            core = core_at(journal, seq)
            history = list(journal.events(upto=core.seq, stream=f"workload/{workload}"))
            if not history:
                refuse(f"no workload `{workload}` was submitted up to event {core.seq}; `gpol log` lists what was")
            standing = core.standing(workload)
            if form is Format.json:
                events = [{"seq": recorded.seq, "event": recorded.event.model_dump()} for recorded in history]
                say_json("explain", workload=workload, seq=core.seq, history=events, standing=standing.model_dump() if standing else None)
            else:
                _show(workload, core.seq, core.time, history, standing)
    except JournalError as error:
        refuse(str(error), NOT_VERIFIED)
    return GOOD


def _seq(journal: Journal, at: str | None) -> int:
    if journal.head[0] == 0:
        refuse("the journal is empty, so there is nothing to explain")
    if at is None:
        return journal.head[0]
    if at.isascii() and at.isdigit():
        last = journal.head[0]
        seq = int(at) if len(at) <= len(str(last)) else 0
        if not 1 <= seq <= last:
            refuse(f"--at: the journal has events 1 to {last}, not {at}; write a time as 2026-01-02T03:04:05Z")
        return seq
    moment = parse_moment(at, "--at")
    seq = journal.seq_at(moment) if moment is not None else 0
    if seq == 0:
        refuse(f"--at: nothing had happened by {at}")
    return seq


def _show(workload: str, seq: int, time: int, history: list[Recorded], standing: Standing | None) -> None:
    last = history[-1].event
    state = standing.state if standing is not None else "rejected" if isinstance(last, WorkloadRejected) else "over"
    say(f"{workload} is {state} at {format_time(time)} (event {seq})")
    if standing is not None and standing.state == "pending":
        for line in _waiting(standing):
            say(f"  {line}")
    say("history")
    for recorded in history[:1] + history[1:][-_MOST_EVENTS:]:
        for number, line in enumerate(_event(recorded.event)):
            say(f"  {recorded.seq:>8}  {format_time(recorded.event.time)}  {line}" if number == 0 else f"            {line}")
    if len(history) > _MOST_EVENTS + 1:
        say(f"  ({len(history) - _MOST_EVENTS - 1} earlier events are left out; `gpol log --workload {workload}` shows all)")


# --- waiting --------------------------------------------------------------------------------------------------------


def _waiting(standing: Standing) -> list[str]:
    lines = [f"why: {standing.reason}" + _by(standing.rule)]
    if standing.position is not None:
        lines.append(f"place: {standing.position} of {standing.waiting} in queue {standing.queue}, priority {standing.priority}")
    if standing.asked_priority not in (None, standing.priority):
        lines.append(f"priority: asked for {standing.asked_priority}, counts as {standing.priority}")
    lines += [f"{operand.name}: {operand.value}" for operand in standing.operands]
    if standing.limit is not None:
        lines.append(f"limit: {_limit(standing.limit)}")
    for keeper in standing.keepers:
        lines.append(f"keeps it: {keeper.workload} until {format_time(keeper.until)}" + _by(keeper.protect))
    for flavor in standing.flavors:
        short = f", {_amount(flavor.limit.deficit, flavor.limit.resource)} more needed" if flavor.limit is not None else ""
        lines.append(f"flavor {flavor.flavor} for {flavor.pod_set} ({', '.join(flavor.resources)}): {flavor.reason}{short}")
    for rule in standing.rules:
        lines.append(f"rule {rule.rule.name} ({rule.rule.file}:{rule.rule.line}): {rule.outcome}")
    lines += _candidates(standing.candidates)
    return lines + [f"would run, once it is next, if {_remedy(remedy)}" for remedy in standing.remedies]


def _candidates(candidates: tuple[CandidateStanding, ...]) -> list[str]:
    """Who might have gone for it: those that would first, then why the others don't, and how many are left out.

    Those of a queue for whom the same was compared are told together.
    """
    ranked = sorted(candidates, key=lambda each: (_OUTCOMES.index(each.outcome), each.queue, each.workload))
    alike: dict[tuple[str, ...], list[CandidateStanding]] = {}
    for each in ranked:
        alike.setdefault((each.outcome, each.queue, _by(each.rule), _told(each.operands)), []).append(each)
    groups = list(alike.items())
    lines = [
        f"candidates of {queue}: {outcome}{rule} ({compared}): {_names([each.workload for each in group])}"
        for (outcome, queue, rule, compared), group in groups[:_MOST_CANDIDATES]
    ]
    rest: Counter[str] = Counter(each.outcome for _, group in groups[_MOST_CANDIDATES:] for each in group)
    if rest:
        lines.append("candidates not shown: " + ", ".join(f"{rest[outcome]} {outcome}" for outcome in _OUTCOMES if rest[outcome]))
    return lines


def _told(operands: tuple[Operand, ...]) -> str:
    return "; ".join(f"{operand.name} {operand.value}" for operand in operands)


def _names(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else "")


def _by(rule: RuleRef | None) -> str:
    return f" by {rule.name} ({rule.file}:{rule.line})" if rule is not None else ""


def _amount(amount: int, resource: str) -> str:
    return f"{format_amount(amount, resource)} {resource}"


def _limit(limit: Limit) -> str:
    kinds = {"owned": "what it may use of what is owned", "borrowing": "its borrowing limit", "capacity": "what exists"}
    asked, available = _amount(limit.asked, limit.resource), _amount(limit.available, limit.resource)
    deficit = _amount(limit.deficit, limit.resource)
    return f"{kinds[limit.limit]} at {limit.node}: asks for {asked} on {limit.flavor}, {available} available, {deficit} more needed"


def _raised(limit: Limit) -> str:
    more = f"{_amount(limit.deficit, limit.resource)} more"
    if limit.limit == "borrowing":
        return f"{limit.node} could borrow {more} on {limit.flavor}"
    if limit.limit == "owned":
        return f"{limit.node} owned {more} on {limit.flavor}"
    return f"{limit.flavor} had {more} that nobody owns"


def _remedy(remedy: Remedy) -> str:
    match remedy.kind:
        case "ends":
            return f"{_names(list(remedy.workloads))} ended"
        case "limits":
            return " and ".join(_raised(limit) for limit in remedy.limits)
        case "flavor":
            return f"{' and '.join('its queue' if who == 'queue' else 'it' for who in remedy.by)} accepted flavor {remedy.flavor}"
        case "time":
            return f"nothing else changes until {format_time(remedy.until or 0)}"
        case _:
            return "the hold ended"


# --- history --------------------------------------------------------------------------------------------------------


def _event(event: AnyEvent) -> list[str]:
    match event:
        case WorkloadSubmitted():
            pods = ", ".join(_pods(event, number) for number in range(len(event.pod_sets)))
            queue = f" to queue {event.queue}" if event.queue is not None else ""
            replaces = f", to take the place of {event.replaces}" if event.replaces is not None else ""
            return [f"submitted{queue}: {pods}" + (f", priority {event.priority}" if event.priority is not None else "") + replaces]
        case WorkloadAdmitted():
            borrowed = f", borrowing {_charges(event.borrowed)}" if event.borrowed else ""
            return [f"admitted to {event.queue} on {_charges(event.usage)}{borrowed}: {event.why.reason}{_by(event.why.rule)}"]
        case WorkloadEvicted():
            for_whom = f" for {event.beneficiary}" if event.beneficiary is not None else ""
            return [f"evicted{for_whom} ({event.preemption}){_by(event.why.rule)}", *_compared(event.why, "the beneficiary's limit")]
        case WorkloadAdopted():
            told = ", told to stop" if event.evicting else ""
            return [f"found running in {event.queue} since {format_time(event.since)}{told}"]
        case WorkloadDeferred():
            waits = "its victims" if event.preempting else "the next cycle" if event.waits == "next" else "something to become free"
            return [f"deferred: {event.why.reason}{_by(event.why.rule)}, waits for {waits}", *_compared(event.why)]
        case WorkloadReplaced():
            return [f"replaced by {event.by}, which is admitted with what it held: {_charges(event.usage)}"]
        case WorkloadRejected():
            return [f"rejected: {event.why.reason}{_by(event.why.rule)}", *_compared(event.why)]
        case OperatorAction():
            return details(event)
        case WorkloadUpdated():
            return [f"updated: {', '.join(details(event)) or 'nothing'}"]
        case _:
            return [event.kind.removeprefix("Workload").lower()]


def _compared(why: Why, limit: str = "limit") -> list[str]:
    told = [", ".join(f"{operand.name} = {operand.value}" for operand in why.operands)] if why.operands else []
    return told + ([f"{limit}: {_limit(why.limit)}"] if why.limit is not None else [])


def _pods(event: WorkloadSubmitted, number: int) -> str:
    pod_set = event.pod_sets[number]
    each = " and ".join(_amount(amount, resource) for resource, amount in pod_set.requests.items())
    flavors = f" on {' or '.join(pod_set.flavors)}" if pod_set.flavors else ""
    return (f"{pod_set.count} x {each}" if pod_set.count > 1 else each) + flavors


def _charges(charges: tuple[Charge, ...]) -> str:
    return " and ".join(f"{_amount(charge.amount, charge.resource)} of {charge.flavor}" for charge in charges) or "nothing"
