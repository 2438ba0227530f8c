"""One fact decided again, and its decisions compared byte for byte with the recorded ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...engine.errors import FactError
from ...engine.events import AnyDecision
from ...engine.facts import Fact, PolicyActivated
from ...engine.policy_graph import PolicyGraph
from ..journal import Batch
from ..recorded_policies import Compile, PolicyRefusedError
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
    return compared(batch, [decision.payload() for decision in decided])


def compared(batch: Batch, decided: Sequence[bytes]) -> Difference | None:
    """The first decision of a batch that is not the one decided now; None: there is none."""
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
