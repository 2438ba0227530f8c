"""explain: where a workload stands, how it got there, and what would change it."""

from ..engine.events import (
    AnyEvent,
    Charge,
    OperatorAction,
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
from ..engine.reference.whereabouts import Standing
from ..engine.units import format_time
from ..journal.asof import core_at
from ..journal.errors import JournalError
from ..journal.journal import Recorded
from .auditing import details, open_journal
from .moments import find_moment
from .output import GOOD, NOT_VERIFIED, Format, refuse, say, say_json
from .standings import amount, by, limit_told, waiting

_MOST_EVENTS = 12
"""How many events of a long history are shown."""


def explain_workload(path: str, workload: str, at: str | None, form: Format) -> int:
    """Explain a workload as of a moment."""
    try:
        with open_journal(path) as journal:
            core = core_at(journal, find_moment(journal, at))
            history = list(journal.events(upto=core.seq, stream=f"workload/{workload}"))
            if not history:
                refuse(f"no workload `{workload}` was submitted up to event {core.seq}; `gpol log` lists what was")
            standing = core.standing(workload)
            if form is Format.json:
                events = [{"seq": recorded.seq, "event": recorded.event.model_dump()} for recorded in history]
                where = standing.model_dump() if standing else None
                say_json("explain", workload=workload, seq=core.seq, time=core.time, history=events, standing=where)
            else:
                _show(workload, core.seq, core.time, history, standing)
    except JournalError as error:
        refuse(str(error), NOT_VERIFIED)
    return GOOD


def _show(workload: str, seq: int, time: int, history: list[Recorded], standing: Standing | None) -> None:
    last = history[-1].event
    state = standing.state if standing is not None else "rejected" if isinstance(last, WorkloadRejected) else "over"
    say(f"{workload} is {state} at {format_time(time)} (event {seq})")
    if standing is not None and standing.state == "pending":
        for line in waiting(standing):
            say(f"  {line}")
    say("history")
    for recorded in history[:1] + history[1:][-_MOST_EVENTS:]:
        for number, line in enumerate(_event(recorded.event)):
            say(f"  {recorded.seq:>8}  {format_time(recorded.event.time)}  {line}" if number == 0 else f"            {line}")
    if len(history) > _MOST_EVENTS + 1:
        say(f"  ({len(history) - _MOST_EVENTS - 1} earlier events are left out; `gpol log --workload {workload}` shows all)")


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
            place = f"admitted to {event.queue} on {_charges(event.usage)}{borrowed}"
            return [f"{place}: {event.why.reason}{by(event.why.rule)}", *_compared(event.why)]
        case WorkloadEvicted():
            for_whom = f" for {event.beneficiary}" if event.beneficiary is not None else ""
            return [f"evicted{for_whom} ({event.preemption}){by(event.why.rule)}", *_compared(event.why, "the beneficiary's limit")]
        case WorkloadAdopted():
            told = ", told to stop" if event.evicting else ""
            return [f"found running in {event.queue} since {format_time(event.since)}{told}"]
        case WorkloadDeferred():
            waits = "its victims" if event.preempting else "the next cycle" if event.waits == "next" else "something to become free"
            return [f"deferred: {event.why.reason}{by(event.why.rule)}, waits for {waits}", *_compared(event.why)]
        case WorkloadReplaced():
            return [f"replaced by {event.by}, which is admitted with what it held: {_charges(event.usage)}"]
        case WorkloadRejected():
            return [f"rejected: {event.why.reason}{by(event.why.rule)}", *_compared(event.why)]
        case OperatorAction():
            return details(event)
        case WorkloadUpdated():
            return [f"updated: {', '.join(details(event)) or 'nothing'}"]
        case _:
            return [event.kind.removeprefix("Workload").lower()]


def _compared(why: Why, limit: str = "limit") -> list[str]:
    told = [", ".join(f"{operand.name} = {operand.value}" for operand in why.operands)] if why.operands else []
    return told + ([f"{limit}: {limit_told(why.limit, why.reason)}"] if why.limit is not None else [])


def _pods(event: WorkloadSubmitted, number: int) -> str:
    pod_set = event.pod_sets[number]
    each = " and ".join(amount(asked, resource) for resource, asked in pod_set.requests.items())
    flavors = f" on {' or '.join(pod_set.flavors)}" if pod_set.flavors else ""
    return (f"{pod_set.count} x {each}" if pod_set.count > 1 else each) + flavors


def _charges(charges: tuple[Charge, ...]) -> str:
    return " and ".join(f"{amount(charge.amount, charge.resource)} of {charge.flavor}" for charge in charges) or "nothing"
