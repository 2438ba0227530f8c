"""Replay: feed the recorded facts to the core again, and compare every decision byte for byte with the recorded one.

A decision that differs was altered or made up, unless another semantics version decided it: then a difference is to be expected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ...engine.errors import FactError
from ...engine.events import AnyDecision
from ...engine.facts import Fact, PolicyActivated
from ...engine.policy_graph import PolicyGraph
from ...engine.semantics import SEMANTICS
from ..errors import DamagedError, JournalError
from ..journal import Batch, Journal
from ..recorded_policies import Compile, PolicyRefusedError, compile_recorded
from ..records import TOLD_EVERY, Progress
from ..store.writers import Writer


class Decider(Protocol):
    """What decides: the core, or something that stands in for it."""

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> Sequence[AnyDecision]:
        """Take in a fact and return all decisions that follow. Raises FactError for one that cannot have happened."""
        ...


@dataclass(frozen=True, slots=True)
class Difference:
    """The first event that is not the same when it is decided again: both versions of event `seq`; None: there is none on that side.

    `writer` is the program that wrote the event, where it decided by another semantics version than this program does; else None.
    """

    seq: int
    problem: str
    recorded: str | None
    recomputed: str | None
    writer: Writer | None = None


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
    def writer(self) -> Writer | None:
        """The program that wrote the differing event by another semantics version; None: nothing differs, or not for that reason."""
        return None if self.difference is None else self.difference.writer

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
                return ReplayReport(facts, decisions, replace(difference, writer=writer_by_other_semantics(journal, difference.seq)))
            facts, decisions = facts + 1, decisions + len(batch.decisions)
            if progress is not None and facts % TOLD_EVERY == 0:
                progress(facts + decisions)
    except DamagedError as error:
        seq = facts + decisions + 1 if error.seq is None else error.seq
        return ReplayReport(facts, decisions, Difference(seq, error.message, None, None))
    if progress is not None:
        progress(facts + decisions)
    return ReplayReport(facts, decisions)


def writer_by_other_semantics(journal: Journal, seq: int) -> Writer | None:
    """The program that wrote an event, where it decided by another semantics version than this one; None also where nothing says so."""
    try:
        writer = journal.writer_of(seq)
    except JournalError:  # the table is damaged, and the events are not: a difference is then judged as one of this version
        return None
    return None if writer is None or writer.semantics == SEMANTICS else writer


def other_semantics(seq: int, writer: Writer) -> str:
    """What it means that an event differs which another semantics version decided."""
    return (
        f"event {seq} was written under semantics {writer.semantics} by gpol {writer.program}; this program decides by semantics"
        f" {SEMANTICS}: a difference is expected, and says nothing about tampering; replay with that version"
    )


def _core() -> Decider:
    from ...engine.default_core import new_core

    return new_core()


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
