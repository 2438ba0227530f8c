"""How long the workloads of a recorded history ran, taken from their recorded admissions and ends."""

from dataclasses import dataclass

from ...engine.events import AnyEvent, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced
from ...engine.facts import WorkloadAdopted, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted, WorkloadUpdated
from ...journal.errors import DamagedError
from ...journal.journal import Journal
from .driver import OnEvict

Submission = tuple[str, int]
"""A workload's name, and which of the submissions under that name it is, counted from 1."""


@dataclass(slots=True)
class _Ran:
    """A live workload: when it started (None: not running), how long it ran before, and whether its eviction is under way."""

    submission: Submission
    since: int | None = None
    before: int = 0
    stopping: bool = False


def recorded_lengths(journal: Journal, on_evict: OnEvict, upto: int | None = None) -> dict[Submission, int]:
    """The run time, in microseconds, of every submission whose end was recorded up to an event.

    Under `restart` only the last run counts, because an eviction lost the earlier ones; under `resume` it is the sum of all runs.
    """
    lengths: dict[Submission, int] = {}
    live: dict[str, _Ran] = {}
    counts: dict[str, int] = {}
    for recorded in journal.events(upto=upto):
        event = recorded.event
        try:
            if isinstance(event, WorkloadSubmitted):
                counts[event.workload] = counts.get(event.workload, 0) + 1
                live[event.workload] = _Ran((event.workload, counts[event.workload]))
            elif (ended := _note(live, event)) is not None:
                lengths[ended.submission] = event.time - _since(ended) + (ended.before if on_evict == "resume" else 0)
        except (KeyError, AssertionError):
            message = f"event {recorded.seq} cannot have happened then: `{getattr(event, 'workload', '')}` is not live, or does not run"
            raise DamagedError(recorded.seq, message, "run `gpol replay`") from None
    return lengths


def _note(live: dict[str, _Ran], event: AnyEvent) -> _Ran | None:
    """Note what an event starts, stops and ends; return the workload that finished, if one did."""
    match event:
        case WorkloadAdmitted():
            live[event.workload].since = event.time
        case WorkloadAdopted():
            live[event.workload].since, live[event.workload].stopping = event.since, event.evicting
        case WorkloadEvicted():
            _stop(live[event.workload], event.time)
        case WorkloadUpdated() if event.requeued is not None and live[event.workload].stopping:
            _stop(live[event.workload], event.time)
        case WorkloadFinished():
            return live.pop(event.workload)
        case WorkloadCancelled() | WorkloadRejected() | WorkloadReplaced():
            del live[event.workload]
    return None


def _since(ran: _Ran) -> int:
    assert ran.since is not None
    return ran.since


def _stop(ran: _Ran, time: int) -> None:
    ran.before += time - _since(ran)
    ran.since, ran.stopping = None, False
