"""Replay: feed the recorded facts to the core again, and compare every decision byte for byte with the recorded one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..engine.errors import FactError
from ..engine.events import AnyDecision, Fact, PolicyActivated
from ..engine.graph import PolicyGraph
from .errors import DamagedError
from .journal import Batch, Journal
from .policies import Compile, PolicyRefusedError, compile_recorded
from .records import TOLD_EVERY, Progress


class Decider(Protocol):
    """What decides: the core, or something that stands in for it."""

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> Sequence[AnyDecision]:
        """Take in a fact and return all decisions that follow. Raises FactError for one that cannot have happened."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where history and its recomputation part: both versions at event `seq`; None: there is none on that side."""

    seq: int
    problem: str
    recorded: str | None
    recomputed: str | None


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The outcome: so many facts were fed and so many decisions came out as recorded, until the difference, if there is one."""

    facts: int
    decisions: int
    difference: Difference | None = None

    @property
    def same(self) -> bool:
        """Whether every decision is the recorded one."""
        return self.difference is None

    @property
    def seq(self) -> int:
        """The last event up to which all is the same."""
        return self.facts + self.decisions

    @property
    def bad_seq(self) -> int | None:
        """The first event that differs; None: none does."""
        return None if self.difference is None else self.difference.seq

    @property
    def problem(self) -> str:
        """What differs; nothing: an empty text."""
        return "" if self.difference is None else self.difference.problem

    @property
    def recorded(self) -> str:
        """The event as it was recorded; empty where there is none."""
        return "" if self.difference is None else self.difference.recorded or ""

    @property
    def recomputed(self) -> str:
        """The event as it is decided now; empty where there is none."""
        return "" if self.difference is None else self.difference.recomputed or ""


def replay(
    journal: Journal, progress: Progress | None = None, *, decider: Decider | None = None, compile_policy: Compile = compile_recorded
) -> ReplayReport:
    """Decide everything again and report the first difference, in memory that does not depend on the journal's length.

    A `decider` given by the caller (new, without any state) stands behind the last event afterwards, ready to go on from there.
    """
    decider = _core() if decider is None else decider
    facts = decisions = 0
    try:
        for batch in journal.batches():
            difference = replay_batch(batch, decider, compile_policy)
            if difference is not None:
                return ReplayReport(facts, decisions, difference)
            facts, decisions = facts + 1, decisions + len(batch.decisions)
            if progress is not None and facts % TOLD_EVERY == 0:
                progress(facts + decisions)
    except DamagedError as error:
        seq = facts + decisions + 1 if error.seq is None else error.seq
        return ReplayReport(facts, decisions, Difference(seq, error.message, None, None))
    if progress is not None:
        progress(facts + decisions)
    return ReplayReport(facts, decisions)


def _core() -> Decider:
    from ..engine.reference import Core

    return Core()


def replay_batch(batch: Batch, decider: Decider, compile_policy: Compile) -> Difference | None:
    """Decide a fact again, and compare; None where every decision is the recorded one."""
    seq, fact = batch.fact.seq, batch.fact.event
    graph: PolicyGraph | None = None
    if isinstance(fact, PolicyActivated):
        try:
            graph = compile_policy(fact)
        except PolicyRefusedError as error:
            return Difference(seq, f"the policy recorded at event {seq} does not compile: {error}", fact.digest, None)
        if graph.digest != fact.digest:
            return Difference(seq, f"the policy recorded at event {seq} has another digest than its text", fact.digest, graph.digest)
    try:
        decided = decider.step(fact, graph)  # type: ignore[arg-type]  # a batch begins with a fact
    except FactError as error:
        return Difference(seq, f"the fact at event {seq} cannot have happened: {error}", batch.fact.payload.decode(), None)
    return _compare(batch, [decision.payload() for decision in decided])


def _compare(batch: Batch, decided: Sequence[bytes]) -> Difference | None:
    recorded = [decision.payload for decision in batch.decisions]
    for place in range(max(len(recorded), len(decided))):
        seq = batch.fact.seq + 1 + place
        old = recorded[place] if place < len(recorded) else None
        new = decided[place] if place < len(decided) else None
        if old != new:
            return Difference(seq, _problem(seq, batch.fact.seq, old, new), _shown(old), _shown(new))
    return None


def _problem(seq: int, cause: int, old: bytes | None, new: bytes | None) -> str:
    if old is None:
        return f"a decision is missing at event {seq}: the fact at event {cause} causes one more than was recorded"
    if new is None:
        return f"the decision at event {seq} does not follow from the fact at event {cause}"
    return f"the decision at event {seq} is not the one that the fact at event {cause} causes"


def _shown(payload: bytes | None) -> str | None:
    return None if payload is None else payload.decode(errors="replace")
