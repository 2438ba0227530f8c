"""Open loop: every recorded moment is decided again under another policy, each time on the recorded state.

One core, the follower, applies the recorded history. Another core, the decider, starts each moment in the same state and decides the fact.
Differences are counted and then discarded: the next moment is decided on the recorded state again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...engine.cores import Core
from ...engine.default_core import new_core
from ...engine.errors import FactError
from ...engine.events import (
    AnyDecision,
    WorkloadAdmitted,
    WorkloadDeferred,
    WorkloadMoved,
    WorkloadPlaced,
    WorkloadRejected,
    WorkloadResized,
)
from ...engine.explain.pending import standing as standing_of
from ...engine.explain.standing import Standing
from ...engine.facts import Fact, PolicyActivated, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from ...journal.errors import impossible_event
from ...journal.journal import Batch as RecordedBatch
from ..drive.policy import Policy
from ..measure.gpu_amounts import charged, requested
from ..measure.measure import NO_QUEUE
from .closed_loop import Impossible
from .history_diff import what

Category = Literal[
    "newly admitted",
    "no longer admitted",
    "placed otherwise",
    "newly evicted",
    "no longer evicted",
    "evicted otherwise",
    "newly rejected",
    "no longer rejected",
]
"""What another policy decides about a workload at a recorded moment, compared with the recorded decision."""

_ALONE: dict[str, tuple[Category, Category, Category]] = {
    "WorkloadAdmitted": ("newly admitted", "no longer admitted", "placed otherwise"),
    "WorkloadEvicted": ("newly evicted", "no longer evicted", "evicted otherwise"),
    "WorkloadRejected": ("newly rejected", "no longer rejected", "newly rejected"),
}
"""By kind of decision: only the other policy takes it, only the recorded one did, both do but not alike. Of one workload that takes the
place of another its admission counts, and in cycles it counts for nothing that a workload goes on waiting. Where pods of a running one go,
and how many of its surplus it has, counts for nothing either, only that it goes on running or is evicted."""

_About = tuple[str, str]
"""A decision's kind and workload. A fact causes at most one decision of each kind for a workload."""

_INSTEAD = {"WorkloadAdmitted": "WorkloadRejected", "WorkloadRejected": "WorkloadAdmitted"}
"""What one policy decides in place of what the other one does; that is one difference: the workload is newly or no longer rejected."""


@dataclass(frozen=True, slots=True)
class Redecision:
    """A decision that differs at a recorded moment: the seq of the recorded decision or, where there is none, of the fact; what both
    decide (None: nothing), and where the workload stands under the policy where it is no longer admitted, or no longer rejected and not
    admitted."""

    category: Category
    seq: int
    time: int
    workload: str
    queue: str
    gpus: int
    recorded: AnyDecision | None
    decided: AnyDecision | None
    standing: Standing | None = None


@dataclass(slots=True)
class OpenLoop:
    """Decides recorded batches again, one after the other, by the `follower`, a core that nothing has happened to yet, and by a copy of
    it. `unexpressed` are recorded events that the policy has no words for.

    What differs about a workload is told once, at the first moment, for as long as the recorded history leaves the workload as it is.
    """

    policy: Policy
    follower: Core = field(default_factory=new_core)
    unexpressed: list[Impossible] = field(default_factory=list)
    moments: int = 0
    activations: int = 0
    _told: set[tuple[Category, str]] = field(default_factory=set)
    _dropped: set[str] = field(default_factory=set)
    _decider: Core = field(init=False)

    def __post_init__(self) -> None:
        self._decider = self.follower.copy()

    def take(self, batch: RecordedBatch) -> Iterator[Redecision]:
        """Decide the fact of a batch again, and follow what was recorded. Raises DamagedError for what cannot have happened."""
        fact: Fact = batch.fact.event  # type: ignore[assignment]  # a batch begins with a fact
        recorded: list[AnyDecision] = [each.event for each in batch.decisions]  # type: ignore[misc]
        self.moments += 1
        if isinstance(fact, PolicyActivated):
            self.activations += 1
        decided = self._decide(batch.fact.seq, fact)
        yield from self._differences(batch.fact.seq, fact, recorded, decided)
        self._follow(batch.fact.seq, fact, recorded, decided)

    # --- deciding -------------------------------------------------------------------------------------------------------

    def _decide(self, seq: int, fact: Fact) -> list[AnyDecision]:
        """What the policy decides, both cores having taken in the fact; one that it has no words for only lets time pass."""
        about = str(getattr(fact, "workload", ""))
        if isinstance(fact, WorkloadSubmitted):
            self._dropped.discard(fact.workload)
        if about not in self._dropped:
            mine = self.policy.activation(fact.time) if isinstance(fact, PolicyActivated) else fact
            graph = self.policy.graph if isinstance(fact, PolicyActivated) else None
            try:
                decided = self._decider.step(mine, graph)
                self.follower.apply(mine, graph)
                return decided
            except FactError as error:
                self._cannot(seq, fact.time, fact.kind, about or str(getattr(fact, "flavor", getattr(fact, "node", ""))), str(error))
        if self._decider.decides_in_cycles or self._decider.graph is None:
            return []
        moment = TimeAdvanced(time=fact.time)
        try:
            self.follower.apply(moment)
            return self._decider.step(moment)
        except FactError as error:
            raise impossible_event(seq, error) from None

    def _cannot(self, seq: int, time: int, kind: str, about: str, reason: str) -> None:
        self.unexpressed.append(Impossible(seq, time, kind, about, reason))

    # --- comparing ------------------------------------------------------------------------------------------------------

    def _differences(self, seq: int, fact: Fact, recorded: list[AnyDecision], decided: list[AnyDecision]) -> Iterator[Redecision]:
        """What differs, in the order of the recorded decisions and then of the others."""
        old: dict[_About, tuple[int, AnyDecision]] = {
            (each.kind, each.workload): (seq + place, each) for place, each in enumerate(recorded, start=1)
        }
        new: dict[_About, AnyDecision] = {(each.kind, each.workload): each for each in decided}
        for (kind, name), (at, before) in old.items():
            after = new.pop((kind, name), None) or new.pop((_INSTEAD.get(kind, ""), name), None)
            if kind not in _ALONE or name in self._dropped or (after and what(after) == what(before)):
                continue
            yield self._redecision(_category(before, after), at, fact, before, after)
        for (kind, name), after in new.items():
            if kind not in _ALONE:
                continue
            category = _category(None, after)
            if (category, name) not in self._told:
                self._told.add((category, name))
                yield self._redecision(category, seq, fact, None, after)

    def _redecision(self, category: Category, seq: int, fact: Fact, before: AnyDecision | None, after: AnyDecision | None) -> Redecision:
        said = [each for each in (after, before) if each is not None]
        name = said[0].workload
        standing = standing_of(self._decider, name) if category in ("no longer admitted", "no longer rejected") and after is None else None
        return Redecision(category, seq, fact.time, name, *_extent(fact, said), before, after, standing)

    # --- following ------------------------------------------------------------------------------------------------------

    def _follow(self, seq: int, fact: Fact, recorded: list[AnyDecision], decided: list[AnyDecision]) -> None:
        """Bring the follower to the recorded state, and reset the decider to it if it decided otherwise."""
        if isinstance(fact, WorkloadFinished | WorkloadCancelled):
            self._forget(fact.workload)
        for place, decision in enumerate(recorded, start=1):
            self._apply(seq + place, decision)
        for decision in decided:
            if isinstance(decision, WorkloadRejected):
                self._drop(decision.workload)
        if [what(each) for each in recorded] != [what(each) for each in decided]:
            self._decider = self.follower.copy()

    def _apply(self, seq: int, decision: AnyDecision) -> None:
        """Apply a recorded decision. A workload that the policy cannot express is left out from here on."""
        self._forget(decision.workload)
        if decision.workload in self._dropped:
            return
        if isinstance(decision, WorkloadDeferred) and not self.follower.decides_in_cycles:
            return
        reason = self._unspeakable(decision)
        if reason:
            self._cannot(seq, decision.time, decision.kind, decision.workload, reason)
            self._drop(decision.workload)
            return
        try:
            self.follower.apply(decision.model_copy(update={"cause": self.follower.view.cause}))
        except (FactError, AssertionError, LookupError, ValueError) as error:
            raise impossible_event(seq, error) from None

    def _unspeakable(self, decision: AnyDecision) -> str:
        """Why the policy cannot hold what a decision gives to a workload; empty where it can."""
        graph = self.follower.graph
        if not isinstance(decision, WorkloadAdmitted | WorkloadResized) or graph is None:
            return ""
        known = graph.slot_names
        missing = next((charge for charge in decision.usage if (charge.flavor, charge.resource) not in known), None)
        return "" if missing is None else f"the policy has no {missing.resource} on flavor `{missing.flavor}`, on which it ran"

    def _drop(self, workload: str) -> None:
        """Leave a workload out until it is submitted again."""
        if workload in self.follower.view.names():
            self.follower.apply(WorkloadCancelled(time=self.follower.time, workload=workload))
        self._dropped.add(workload)
        self._forget(workload)

    def _forget(self, workload: str) -> None:
        """Note that the recorded history changed a workload, so that new differences about it are reported again."""
        for category, _, _ in _ALONE.values():
            self._told.discard((category, workload))


def _category(before: AnyDecision | None, after: AnyDecision | None) -> Category:
    """The category of a difference between a recorded decision (or none) and the policy's decision (or none)."""
    if before is None or after is None:
        said = after or before
        assert said is not None
        return _ALONE[said.kind][0 if before is None else 1]
    if isinstance(before, WorkloadRejected) and not isinstance(after, WorkloadRejected):
        return "no longer rejected"
    return _ALONE[after.kind][2]


def _extent(fact: Fact, said: Sequence[AnyDecision]) -> tuple[str, int]:
    """The queue and the GPUs, in thousandths, that decisions are about; a rejection says neither, so they are those asked for."""
    for decision in said:
        if not isinstance(decision, WorkloadRejected):
            return decision.queue, 0 if isinstance(decision, WorkloadDeferred | WorkloadMoved | WorkloadPlaced) else charged(decision.usage)
    return (fact.queue or NO_QUEUE, requested(fact.pod_sets)) if isinstance(fact, WorkloadSubmitted) else (NO_QUEUE, 0)
