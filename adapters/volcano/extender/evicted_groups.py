"""Whose pods Volcano may evict: the PodGroups that were evicted, and are not admitted again.

That lasts however their submissions go on. One that is evicted may be turned away by a new policy, or ask for another size, which is
another submission of the same PodGroup: its pods still hold the room that was given to somebody else. It ends when the PodGroup is over.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ....engine.events import WorkloadAdmitted, WorkloadEvicted
from ....engine.facts import WorkloadAdopted, WorkloadSubmitted
from ....journal.journal import Journal
from ....journal.records import workload_stream
from ...live.decider import Numbered


class EvictedGroups:
    """A fold of the journal: the queue that each was evicted from, by name. `live` are the names and uids of all that are live in it."""

    def __init__(self, journal: Journal, live: Iterable[tuple[str, str]]) -> None:
        self._journal = journal
        self._uids: dict[str, str] = {}
        self._queues: dict[str, str] = {}
        self._told: Mapping[str, str] | None = None
        for name, uid in live:
            self.see(name, uid)

    def __contains__(self, name: str) -> bool:
        return name in self._queues

    def now(self) -> Mapping[str, str]:
        """The queue that each was evicted from, by name, as it is now; what is returned does not change any more."""
        if self._told is None:
            self._told = MappingProxyType(dict(self._queues))
        return self._told

    def take(self, events: Iterable[Numbered]) -> None:
        """Take in what was decided, in order."""
        for _, event in events:
            if isinstance(event, WorkloadSubmitted):
                if self._uids.get(event.workload, "") != event.uid:
                    self.forget(event.workload)
                self._uids[event.workload] = event.uid
            elif isinstance(event, WorkloadEvicted):
                self._set(event.workload, event.queue)
            elif isinstance(event, WorkloadAdmitted | WorkloadAdopted):
                self._set(event.workload, None)

    def see(self, name: str, uid: str) -> None:
        """Look up in the journal a PodGroup that is there, if this was not done before: it may be over for the core, and still run."""
        if self._uids.get(name) != uid:
            self._uids[name] = uid
            self._set(name, self._look_up(name, uid))

    def end(self, name: str) -> None:
        """A PodGroup is completed: what was decided about it before does not count any more."""
        self._set(name, None)

    def forget(self, name: str) -> None:
        """A PodGroup is gone."""
        self._uids.pop(name, None)
        self._set(name, None)

    def _set(self, name: str, queue: str | None) -> None:
        if self._queues.get(name) == queue:
            return
        self._told = None
        if queue is None:
            del self._queues[name]
        else:
            self._queues[name] = queue

    def _look_up(self, name: str, uid: str) -> str | None:
        """The queue from which a PodGroup was evicted, if that was the last that became of it; its submissions follow one another."""
        last: WorkloadAdmitted | WorkloadAdopted | WorkloadEvicted | None = None
        for event in (each.event for each in self._journal.backwards(stream=workload_stream(name))):
            if isinstance(event, WorkloadSubmitted):
                if event.uid != uid:
                    return None
                if last is not None:
                    return last.queue if isinstance(last, WorkloadEvicted) else None
            elif last is None and isinstance(event, WorkloadAdmitted | WorkloadAdopted | WorkloadEvicted):
                last = event
        return None
