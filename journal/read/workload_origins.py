"""What an event's workload is: the submission that it came with, and the queue that it is in."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ...engine.events import AnyEvent, WorkloadRejected, WorkloadReplaced
from ...engine.facts import WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from ..journal import Journal
from ..records import Recorded, workload_stream


class Origin(NamedTuple):
    """Where an event's workload comes from and belongs; None for an event of no workload, or of one in no queue."""

    seq: int | None
    submission: WorkloadSubmitted | None
    queue: str | None


_AT_HAND = 100
"""How many of the events after one are looked at before the journal is asked."""

NO_ORIGIN = Origin(None, None, None)
"""Of an event that is of no workload."""


class Origins:
    """Finds the origins of events. May `remember` live workloads if it is asked about all of their events, in order.

    An event is a queue's when it names the queue, or when it is of a workload that another event of the same submission places
    there: of the events around it that name a queue, the last one before it counts, else the first one after it.
    """

    def __init__(self, journal: Journal, *, remember: bool) -> None:
        self._journal = journal
        self._remember = remember
        self._known: dict[str, Origin] = {}

    def of(self, recorded: Recorded, coming: Iterable[Recorded] = ()) -> Origin:
        """The origin of an event's workload, as of that event; `coming` are some of the events right after it, if they are at hand."""
        event = recorded.event
        workload = getattr(event, "workload", None)
        if workload is None:
            return NO_ORIGIN
        if isinstance(event, WorkloadSubmitted):
            origin = Origin(recorded.seq, event, event.queue or self._placed_later(workload, recorded.seq, coming))
        else:
            origin = self._known.get(workload) or self._search(workload, recorded.seq)
        queue = _named(event)
        if queue is not None:
            origin = origin._replace(queue=queue)
        if self._remember:
            self._known[workload] = origin
            if isinstance(event, WorkloadFinished | WorkloadCancelled | WorkloadReplaced | WorkloadRejected):
                del self._known[workload]
        return origin

    def _search(self, workload: str, seq: int) -> Origin:
        """Go back over the workload's events to its submission; one under the same name before that was another workload's."""
        queue = None
        for recorded in self._journal.backwards(upto=seq, stream=workload_stream(workload)):
            queue = queue or _named(recorded.event)
            if isinstance(recorded.event, WorkloadSubmitted):
                return Origin(recorded.seq, recorded.event, queue or self._placed_later(workload, seq))
        return Origin(None, None, queue)

    def _placed_later(self, workload: str, seq: int, coming: Iterable[Recorded] = ()) -> str | None:
        """The first queue that a later event of the same submission names."""
        for recorded in self._later(workload, seq, coming):
            if isinstance(recorded.event, WorkloadSubmitted):
                return None
            queue = _named(recorded.event)
            if queue is not None:
                return queue
        return None

    def _later(self, workload: str, seq: int, coming: Iterable[Recorded]) -> Iterator[Recorded]:
        """The workload's events behind a number: first those among the ones at hand, then those that the journal has behind them."""
        for recorded in coming:
            seq = recorded.seq
            if getattr(recorded.event, "workload", None) == workload:
                yield recorded
        yield from self._journal.of_workload(workload, seq)


def with_coming(events: Iterator[Recorded]) -> Iterator[tuple[Recorded, Iterable[Recorded]]]:
    """Each event with some that come after it: most submissions are placed soon, which saves asking the journal."""
    window = deque(islice(events, _AT_HAND))
    for following in events:
        window.append(following)
        yield window.popleft(), window
    while window:
        yield window.popleft(), window


def _named(event: AnyEvent) -> str | None:
    queue = getattr(event, "queue", None)
    return queue if isinstance(queue, str) else None
