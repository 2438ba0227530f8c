"""What was said of live workloads, as far as their rows do not have it: kept once for all of whom the same was said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..event_parts import CheckState, as_json, unchecked
from ..facts import WorkloadSubmitted
from ..workload import Workload
from .jobs import OF_ITS_OWN

MOST_SAYINGS = 4_096
"""How many are remembered to be shared; then all are forgotten, and it begins anew."""


@dataclass(frozen=True, slots=True)
class Saying:
    """What was said of workloads; the fields are those of `Workload`.

    INVARIANT: `fact` is the submission of one of them. The others differ in what is in `OF_ITS_OWN` alone, so nothing else is read of it.
    """

    fact: WorkloadSubmitted
    asked_priority: int | str | None
    remaining: tuple[int, ...]
    held_by_owner: bool
    held_by_operator: str | None
    boost: int
    checks: Mapping[str, CheckState]
    requeued: int | None


class Foreign(NamedTuple):
    """The same of a workload that an outside system had before: when it was submitted and created, and its identity, are its own."""

    said: Saying
    time: int
    created: int | None
    uid: str


KeptSaying = Saying | Foreign
"""What is kept of a live workload beside its row, which has its name, and when it was submitted or created."""


@dataclass(slots=True)
class Sayings:
    """Finds what is to be kept of workloads. Nothing but memory depends on what is remembered."""

    _known: dict[tuple[object, ...], Saying] = field(default_factory=dict)

    def of(self, workload: Workload) -> Saying:
        """What was said of a workload."""
        w, said = workload, as_json(workload.fact, exclude=OF_ITS_OWN)
        checks = tuple(w.checks.items())  # snapshots have them in the order in which they were told
        key = (said, w.asked_priority, w.remaining, w.held_by_owner, w.held_by_operator, w.boost, checks, w.requeued)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_SAYINGS:
                self._known.clear()
            known = Saying(w.fact, w.asked_priority, w.remaining, w.held_by_owner, w.held_by_operator, w.boost, w.checks, w.requeued)
            self._known[key] = known
        return known


def kept(said: Saying, time: int, created: int | None, uid: str) -> KeptSaying:
    """What is kept of a workload of which that was said."""
    return Foreign(said, time, created, uid) if created is not None or uid else said


def said_of(known: KeptSaying) -> Saying:
    """What was said of a workload."""
    return known.said if isinstance(known, Foreign) else known


def workload_of(known: KeptSaying, name: str, submitted: int, number: int, queue: int, priority: int, pinned: bool) -> Workload:
    """A workload as it was kept, with what its row has: its name, when it was submitted or created, and where it stands. It waits."""
    said = said_of(known)
    time, created, uid = known[1:] if isinstance(known, Foreign) else (submitted, None, "")
    own = {"time": time, "workload": name, "created": created, "uid": uid}
    fact = unchecked(WorkloadSubmitted, {**said.fact.__dict__, **own}, said.fact.__pydantic_fields_set__ | own.keys())
    return Workload(
        fact=fact,
        number=number,
        queue=queue,
        asked_priority=said.asked_priority,
        priority=priority,
        pinned=pinned,
        remaining=said.remaining,
        held_by_owner=said.held_by_owner,
        held_by_operator=said.held_by_operator,
        boost=said.boost,
        checks=said.checks,
        requeued=said.requeued,
    )
