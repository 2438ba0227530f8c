"""How long the workloads of a recorded history ran, taken from their recorded admissions and ends."""

from dataclasses import dataclass

from ...engine.elastic.pod_counts import is_elastic
from ...engine.events import AnyEvent, WorkloadAdmitted, WorkloadEvicted, WorkloadRejected, WorkloadReplaced, WorkloadResized
from ...engine.facts import WorkloadAdopted, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted, WorkloadUpdated
from ...journal.errors import DamagedError
from ...journal.journal import Journal
from .driver import OnEvict, pods_at_work

Submission = tuple[str, int]
"""A workload's name, and which of the submissions under that name it is, counted from 1."""


@dataclass(slots=True)
class _Ran:
    """A live workload: since when it runs with so many pods (None: not running), what work it did in this run before that, and in runs
    before this one, and whether its eviction is under way. Of a workload that is not elastic `pods` is 1."""

    submission: Submission
    elastic: bool
    since: int | None = None
    pods: int = 1
    done: int = 0
    before: int = 0
    stopping: bool = False

    def run(self, since: int, pods: int) -> None:
        """It runs with so many pods since a moment."""
        self.since, self.pods = since, pods if self.elastic else 1

    def work(self, time: int) -> int:
        """The work of this run up to a moment."""
        assert self.since is not None
        return self.done + (time - self.since) * self.pods


def recorded_lengths(journal: Journal, on_evict: OnEvict, upto: int | None = None) -> dict[Submission, int]:
    """The work of every submission whose end was recorded up to an event: its run time in microseconds or, of an elastic one, pods times
    microseconds (`gpol.sim.drive.driver.work_of`).

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
                live[event.workload] = _Ran((event.workload, counts[event.workload]), is_elastic(event))
            elif (ended := _note(live, event)) is not None:
                lengths[ended.submission] = ended.work(event.time) + (ended.before if on_evict == "resume" else 0)
        except (KeyError, AssertionError):
            message = f"event {recorded.seq} cannot have happened then: `{getattr(event, 'workload', '')}` is not live, or does not run"
            raise DamagedError(recorded.seq, message, "run `gpol replay`") from None
    return lengths


def _note(live: dict[str, _Ran], event: AnyEvent) -> _Ran | None:
    """Note what an event starts, stops and ends; return the workload that finished, if one did."""
    match event:
        case WorkloadAdmitted():
            live[event.workload].run(event.time, pods_at_work(event.assignments))
        case WorkloadAdopted():
            live[event.workload].run(event.since, pods_at_work(event.placements))
            live[event.workload].stopping = event.evicting
        case WorkloadResized():
            ran = live[event.workload]
            ran.done = ran.work(event.time)
            ran.run(event.time, pods_at_work(event.assignments))
        case WorkloadEvicted():
            _stop(live[event.workload], event.time)
        case WorkloadUpdated() if event.requeued is not None and live[event.workload].stopping:
            _stop(live[event.workload], event.time)
        case WorkloadFinished():
            return live.pop(event.workload)
        case WorkloadCancelled() | WorkloadRejected() | WorkloadReplaced():
            del live[event.workload]
    return None


def _stop(ran: _Ran, time: int) -> None:
    ran.before += ran.work(time)
    ran.since, ran.done, ran.stopping = None, 0, False
