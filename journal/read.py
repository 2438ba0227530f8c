"""Reading a journal by what an event is about: its workload, kind, queue and time."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..engine.events import AnyEvent, WorkloadCancelled, WorkloadFinished, WorkloadRejected, WorkloadReplaced, WorkloadSubmitted
from .journal import Journal
from .records import Recorded


@dataclass(frozen=True, slots=True)
class Selection:
    """Which events to read; all that is given must hold. Times are microseconds since the epoch, both included."""

    workload: str | None = None
    kind: str | None = None
    queue: str | None = None
    since: int | None = None
    until: int | None = None


def select(journal: Journal, selection: Selection) -> Iterator[Recorded]:
    """The events that are selected, in order. A workload's are found by the index, times by bisection, kinds and queues by reading on.

    An event is a queue's when it names the queue, or when it is of a workload that another event of the same submission places
    there: of the events around it that name a queue, the last one before it counts, else the first one after it.
    """
    after = 0 if selection.since is None else journal.seq_at(selection.since - 1)
    upto = None if selection.until is None else journal.seq_at(selection.until)
    if selection.workload is not None:
        found = journal.of_workload(selection.workload, after, upto)
    elif selection.kind is not None:
        found = journal.of_kinds([selection.kind], after, upto)
    else:
        found = journal.events(after, upto)
    places = _Places(journal, remember=selection.kind is None)
    for recorded in found:
        if selection.kind is not None and recorded.event.kind != selection.kind:
            continue
        if selection.queue is None or places.queue_of(recorded) == selection.queue:
            yield recorded


class _Places:
    """Finds the queue of an event. May remember where live workloads are if it is asked about all of their events, in order."""

    def __init__(self, journal: Journal, *, remember: bool) -> None:
        self._journal = journal
        self._remember = remember
        self._known: dict[str, str | None] = {}

    def queue_of(self, recorded: Recorded) -> str | None:
        """The queue that an event names, or that the events around it say its workload is in; None for an event of no queue."""
        event = recorded.event
        workload = getattr(event, "workload", None)
        if workload is None:
            return None
        queue = _named(event)
        if queue is None:
            queue = self._known[workload] if workload in self._known else self._search(workload, recorded.seq)
        if self._remember:
            self._known[workload] = queue
            if isinstance(event, WorkloadFinished | WorkloadCancelled | WorkloadReplaced | WorkloadRejected):
                del self._known[workload]
        return queue

    def _search(self, workload: str, seq: int) -> str | None:
        """Go over the workload's events: a submission under the same name later on is another workload."""
        queue = None
        for recorded in self._journal.of_workload(workload):
            submission = isinstance(recorded.event, WorkloadSubmitted)
            if recorded.seq > seq and (queue is not None or submission):
                break
            queue = _named(recorded.event) or (None if submission else queue)
        return queue


def _named(event: AnyEvent) -> str | None:
    queue = getattr(event, "queue", None)
    return queue if isinstance(queue, str) else None
