"""Compares the decisions of two histories while both are read, and finds the first moment at which they differ.

Two decisions are the same if they decide the same at the same time; their reasons and sequence numbers do not count.
"""

from collections import Counter
from dataclasses import dataclass, field

from ...engine.event_parts import Assignment, Charge
from ...engine.events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadReplaced,
    WorkloadResized,
)
from ..measure.measure import NO_QUEUE

What = tuple[object, ...]
"""The content of a decision, beginning with its kind and workload."""


def what(decision: AnyDecision) -> What:
    """The content of a decision that is compared: everything but its reason, its time and its cause."""
    common = (decision.kind, decision.workload)
    match decision:
        case WorkloadAdmitted():
            return (*common, decision.queue, _given(decision.assignments), _charges(decision.usage), _charges(decision.borrowed))
        case WorkloadEvicted():
            return (*common, decision.queue, decision.beneficiary, decision.preemption, _charges(decision.usage))
        case WorkloadPlaced():
            where = tuple((each.pod_set, place.domain, place.pods) for each in decision.assignments for place in each.places)
            return (*common, decision.queue, where)
        case WorkloadMoved():
            return (*common, decision.queue, decision.beneficiary, _given(decision.assignments))
        case WorkloadResized():
            return (*common, decision.queue, decision.beneficiary, _given(decision.assignments), _charges(decision.usage))
        case WorkloadReplaced():
            return (*common, decision.queue, decision.by, _charges(decision.usage))
        case WorkloadDeferred():
            tried = tuple((each.pod_set, each.resource, each.index) for each in decision.tried)
            return (*common, decision.queue, decision.waits, decision.preempting, decision.alike, tried)
        case WorkloadRejected():
            return common


def _given(assignments: tuple[Assignment, ...]) -> What:
    return tuple((each.pod_set, each.count, tuple(sorted(each.flavors.items())), each.places) for each in assignments)


def _charges(charges: tuple[Charge, ...]) -> tuple[tuple[str, str, int], ...]:
    return tuple((charge.flavor, charge.resource, charge.amount) for charge in charges)


@dataclass(slots=True)
class Tally:
    """Decisions of one kind about one queue: those in the recorded history alone, those in the other alone, and those that are in both, at
    the same moment about the same workload, but decide something else."""

    gone: int = 0
    new: int = 0
    other: int = 0


Placed = tuple[int, AnyDecision]
"""A decision with its seq in the recorded history; 0 for one of the other."""


@dataclass(frozen=True, slots=True)
class Parting:
    """The first moment at which two histories differ: its time, and the decisions that only one of them has then."""

    time: int
    recorded: tuple[Placed, ...]
    played: tuple[AnyDecision, ...]


@dataclass(slots=True)
class _Moment:
    recorded: list[Placed] = field(default_factory=list)
    played: list[Placed] = field(default_factory=list)


@dataclass(slots=True)
class Changes:
    """Compares two histories moment by moment; `tallies` are by kind and queue, `same` counts decisions that both have.

    Only moments that one of the two histories has not passed yet are kept.
    """

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    same: int = 0
    parting: Parting | None = None
    _moments: dict[int, _Moment] = field(default_factory=dict)
    _recorded_until: int = -1
    _played_until: int = -1

    @property
    def changed(self) -> int:
        """How many decisions differ; two that decide something else about one workload at one moment count once."""
        return sum(tally.gone + tally.new + tally.other for tally in self.tallies.values())

    def take_recorded(self, seq: int, time: int, decisions: list[AnyDecision]) -> None:
        """Note a batch of the recorded history; `seq` is that of its fact."""
        if decisions:
            self._moments.setdefault(time, _Moment()).recorded += list(enumerate(decisions, start=seq + 1))
        if time > self._recorded_until:
            self._recorded_until = time
            self._settle(min(time, self._played_until))

    def take_played(self, time: int, decisions: list[AnyDecision]) -> None:
        """Note a batch of the other history."""
        if decisions:
            self._moments.setdefault(time, _Moment()).played += [(0, decision) for decision in decisions]
        if time > self._played_until:
            self._played_until = time
            self._settle(min(time, self._recorded_until))

    def finish(self) -> None:
        """Compare the remaining moments, at the end of both histories."""
        self._settle(max(self._recorded_until, self._played_until) + 1)

    def _settle(self, before: int) -> None:
        """Compare the moments that both histories have passed."""
        for time in sorted(time for time in self._moments if time < before):
            self._compare(time, self._moments.pop(time))

    def _compare(self, time: int, moment: _Moment) -> None:
        gone, come = _difference(moment.recorded, moment.played), _difference(moment.played, moment.recorded)
        self.same += len(moment.played) - len(come)
        if not gone and not come:
            return
        if self.parting is None:
            self.parting = Parting(time, tuple(gone), tuple(decision for _, decision in come))
        paired = Counter(map(_about, come)) & Counter(map(_about, gone))
        left = paired.copy()
        for placed in gone:
            left[_about(placed)] -= 1
            self._tally(placed[1]).gone += left[_about(placed)] < 0
        for placed in come:
            tally, is_paired = self._tally(placed[1]), paired[_about(placed)] > 0
            paired[_about(placed)] -= 1
            tally.other += is_paired
            tally.new += not is_paired

    def _tally(self, decision: AnyDecision) -> Tally:
        queue = NO_QUEUE if isinstance(decision, WorkloadRejected) else decision.queue
        return self.tallies.setdefault((decision.kind, queue), Tally())


def _about(placed: Placed) -> tuple[str, str]:
    return placed[1].kind, placed[1].workload


def _difference(some: list[Placed], others: list[Placed]) -> list[Placed]:
    """The decisions of `some` that `others` lack; of equal ones, the last."""
    keys = [what(decision) for _, decision in some]
    more = Counter(keys) - Counter(what(decision) for _, decision in others)
    found = []
    for each, key in zip(reversed(some), reversed(keys), strict=True):
        if more[key] > 0:
            more[key] -= 1
            found.append(each)
    return found[::-1]
