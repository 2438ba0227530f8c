"""explain: where a workload stands, how it got there, and what would change it."""

from ..engine.events import (
    AnyDecision,
    AnyEvent,
    OperatorAction,
    WorkloadAdopted,
    WorkloadRejected,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ..engine.reference.whereabouts import Standing
from ..engine.units import format_time
from ..journal.asof import core_at
from ..journal.errors import JournalError
from ..journal.journal import Recorded
from ..sim.words import amount, decision_told
from .auditing import details, open_journal, refuse_use
from .moments import find_moment
from .output import GOOD, Format, refuse, say, say_json
from .progress import progress
from .standings import waiting

_MOST_EVENTS = 12
"""How many events of a long history are shown."""


def explain_workload(path: str, workload: str, at: str | None, no_snapshot: bool, form: Format) -> int:
    """Explain a workload as of a moment."""
    try:
        with open_journal(path) as journal:
            moment = find_moment(journal, at)
            with progress("going through events", moment) as tick:
                core = core_at(journal, moment, snapshots=not no_snapshot, progress=tick)
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
        refuse_use(error)
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
    if isinstance(event, AnyDecision):
        return decision_told(event)
    match event:
        case WorkloadSubmitted():
            pods = ", ".join(_pods(event, number) for number in range(len(event.pod_sets)))
            queue = f" to queue {event.queue}" if event.queue is not None else ""
            replaces = f", to take the place of {event.replaces}" if event.replaces is not None else ""
            return [f"submitted{queue}: {pods}" + (f", priority {event.priority}" if event.priority is not None else "") + replaces]
        case WorkloadAdopted():
            told = ", told to stop" if event.evicting else ""
            return [f"found running in {event.queue} since {format_time(event.since)}{told}"]
        case OperatorAction():
            return details(event)
        case WorkloadUpdated():
            return [f"updated: {', '.join(details(event)) or 'nothing'}"]
        case _:
            return [event.kind.removeprefix("Workload").lower()]


def _pods(event: WorkloadSubmitted, number: int) -> str:
    pod_set = event.pod_sets[number]
    each = " and ".join(amount(asked, resource) for resource, asked in pod_set.requests.items())
    flavors = f" on {' or '.join(pod_set.flavors)}" if pod_set.flavors else ""
    return (f"{pod_set.count} x {each}" if pod_set.count > 1 else each) + flavors
