"""Replay: the facts are decided once more, and every decision compared with the recorded one, byte for byte."""

from dataclasses import dataclass

from pydantic import ValidationError

from ..dsl.checker import compile_policy
from ..dsl.diagnostics import PolicyError
from ..engine.errors import FactError
from ..engine.events import AnyDecision, AnyEvent, Fact, PolicyActivated
from ..engine.graph import PolicyGraph
from ..engine.reference import Core
from .errors import JournalError
from .journal import Journal, Recorded
from .verify import Progress


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """`same`, or the first seq that differs with both versions of the event (empty where one side has none)."""

    same: bool
    seq: int
    facts: int
    decisions: int
    bad_seq: int | None = None
    problem: str = ""
    recorded: str = ""
    recomputed: str = ""


def graph_of(fact: AnyEvent) -> PolicyGraph | None:
    """The policy graph of a PolicyActivated, compiled from the texts inside the event alone; None for other events.

    Raises JournalError where the text does not compile or means something else than it did.
    """
    if not isinstance(fact, PolicyActivated):
        return None
    try:
        graph = compile_policy(fact.text, fact.file, {profile.name: profile.text for profile in fact.profiles})
    except PolicyError as error:
        raise JournalError(f"the recorded policy does not compile: {error}") from error
    if graph.digest != fact.digest:
        raise JournalError(f"the recorded policy has the digest {graph.digest}, the event says {fact.digest}")
    return graph


def replay(journal: Journal, progress: Progress | None = None) -> ReplayReport:
    """Decide every recorded fact again, in memory that does not grow with the journal."""
    core = Core()
    seq = facts = decisions = 0
    try:
        for batch in journal.batches():
            fact = batch[0].event
            assert isinstance(fact, Fact)
            facts += 1
            try:
                again = core.step(fact, graph_of(fact))
            except (FactError, JournalError) as error:
                return ReplayReport(False, seq, facts, decisions, batch[0].seq, f"the fact cannot have happened: {error}", _text(batch[0]))
            difference = _difference(batch, again)
            if difference is not None:
                bad, recorded, recomputed = difference
                return ReplayReport(
                    False, seq, facts, decisions, bad, "the decision is not the one the policy demands", recorded, recomputed
                )
            seq, decisions = batch[-1].seq, decisions + len(again)
            if progress is not None and facts % 500 == 0:
                progress(seq)
    except (ValidationError, JournalError) as error:
        return ReplayReport(False, seq, facts, decisions, seq + 1, f"the journal cannot be read on: {error}")
    return ReplayReport(True, seq, facts, decisions)


def _difference(batch: list[Recorded], again: list[AnyDecision]) -> tuple[int, str, str] | None:
    """The first seq at which recorded and recomputed decisions part."""
    for number in range(max(len(batch) - 1, len(again))):
        recorded = batch[number + 1].payload if number + 1 < len(batch) else b""
        recomputed = again[number].payload() if number < len(again) else b""
        if recorded != recomputed:
            return batch[0].seq + number + 1, recorded.decode(), recomputed.decode()
    return None


def _text(recorded: Recorded) -> str:
    return recorded.payload.decode("utf-8", "replace")
