"""The history of a workload, in words."""

from collections.abc import Iterator, Sequence

from ...engine.events import AnyDecision, AnyEvent
from ...engine.facts import OperatorAction, WorkloadAdopted, WorkloadSubmitted, WorkloadUpdated
from ...engine.units import format_time
from ...journal.journal import Recorded
from ...sim.report.wording import decision_told
from .fact_details import asked_by, details

_MOST_EVENTS = 12
"""How many events of a long history are shown."""


def history_lines(workload: str, history: Sequence[Recorded]) -> Iterator[str]:
    """The first event and the newest ones, a line or several each."""
    for recorded in [*history[:1], *history[1:][-_MOST_EVENTS:]]:
        for number, line in enumerate(_event(recorded.event)):
            yield f"{recorded.seq:>8}  {format_time(recorded.event.time)}  {line}" if number == 0 else f"          {line}"
    if len(history) > _MOST_EVENTS + 1:
        yield f"({len(history) - _MOST_EVENTS - 1} earlier events are left out; `gpol log --workload {workload}` shows all)"


def _event(event: AnyEvent) -> list[str]:
    if isinstance(event, AnyDecision):
        return decision_told(event)
    match event:
        case WorkloadSubmitted():
            pods = ", ".join(asked_by(event, number) for number in range(len(event.pod_sets)))
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
