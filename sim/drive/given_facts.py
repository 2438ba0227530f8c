"""Facts in a row as a core plays them many at a time, and what came of them as batches."""

from collections.abc import Sequence
from itertools import starmap

from ...engine.cores import EncodedEvents, GivenFacts, PlayedBatch, PlayedFacts
from ...engine.events import AnyDecision, AnyEvent
from ...engine.facts import Fact, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from ...engine.outcome.history import ADVANCING, CANCELLING, FINISHING, SUBMITTING
from ...journal.decode import FORM, compares, decode

_KINDS: dict[type[Fact], int] = {
    WorkloadSubmitted: SUBMITTING,
    WorkloadFinished: FINISHING,
    WorkloadCancelled: CANCELLING,
    TimeAdvanced: ADVANCING,
}


def may_be_given(fact: Fact, with_wakes: bool) -> bool:
    """Whether a fact is of a kind that a core plays many at a time. With wakes, moments are those that the core finds itself."""
    return type(fact) in _KINDS and not (with_wakes and isinstance(fact, TimeAdvanced))


def given_facts(facts: Sequence[tuple[Fact, bytes]]) -> GivenFacts:
    """Facts of these kinds, each with its bytes, to be played."""
    kinds = [_KINDS[type(fact)] for fact, _ in facts]
    workloads = ["" if kind == ADVANCING else fact.workload for kind, (fact, _) in zip(kinds, facts, strict=True)]  # type: ignore[union-attr]

    def submission(place: int) -> WorkloadSubmitted:
        fact, _ = facts[place]
        assert isinstance(fact, WorkloadSubmitted)
        return fact

    return GivenFacts(kinds, [fact.time for fact, _ in facts], workloads, list(starmap(_said, facts)), submission)


def _said(fact: Fact, payload: bytes) -> str | None:
    """What a submission says but for its name and its time; None where that decides too, for other facts, and where nobody can tell."""
    if not isinstance(fact, WorkloadSubmitted) or compares(fact):
        return None
    match = FORM.fullmatch(payload.decode())
    return match[5] if match is not None and match[4] else None


def batches_of(facts: Sequence[tuple[Fact, bytes]], played: PlayedFacts, with_wakes: bool) -> tuple[list[PlayedBatch], EncodedEvents]:
    """What came of facts and of the wakes between them, batch by batch, and the same as the bytes of a journal."""
    given, read, before = iter(facts), list[AnyEvent](), 0
    found, payloads = list[PlayedBatch](), list[bytes]()
    ends = [*played.facts[1:], len(played.facts) + len(played.decisions)]
    for kind, time, at, end in zip(played.kinds, played.times, played.facts, ends, strict=False):
        fact, payload = _wake(time) if with_wakes and kind == ADVANCING else next(given)
        caused = played.decisions[before : before + end - at - 1]
        before += len(caused)
        decisions: list[AnyDecision] = [decode(each) for each in caused]  # type: ignore[misc]  # a decision each
        found.append((fact, decisions))
        read += (fact, *decisions)
        payloads += (payload, *caused)
    return found, EncodedEvents([event.kind for event in read], [event.__dict__.get("workload") for event in read], payloads)


def _wake(time: int) -> tuple[Fact, bytes]:
    fact = TimeAdvanced(time=time)
    return fact, fact.payload()
