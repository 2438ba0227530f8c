"""Facts in a row as a core plays them many at a time, and what came of them: as columns, as the bytes of a journal, and as batches."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import starmap

import numpy as np

from ...engine.cores import EncodedEvents, GivenFacts, PlayedBatch, PlayedFacts
from ...engine.facts import Fact, TimeAdvanced, WorkloadCancelled, WorkloadFinished, WorkloadSubmitted
from ...engine.outcome.history import ADVANCING, CANCELLING, E_JOB, E_KIND, E_TIME, EVENT_NAMES, FINISHING, SUBMITTING, Columns
from ...journal.decode import FORM, compares, decode

_KINDS: dict[type[Fact], int] = {
    WorkloadSubmitted: SUBMITTING,
    WorkloadFinished: FINISHING,
    WorkloadCancelled: CANCELLING,
    TimeAdvanced: ADVANCING,
}

FactAndBytes = tuple[Fact, bytes]
"""A fact, and its bytes in a journal."""


def may_be_given(fact: Fact, with_wakes: bool) -> bool:
    """Whether a fact is of a kind that a core plays many at a time. With wakes, moments are those that the core finds itself."""
    return type(fact) in _KINDS and not (with_wakes and isinstance(fact, TimeAdvanced))


def given_facts(facts: Sequence[FactAndBytes]) -> GivenFacts:
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


class PlayedStretch:
    """What came of facts that were played in one go, and of the wakes between them.

    `given` has all facts that were offered to the core; it may have played only the first of them.
    """

    def __init__(self, facts: Sequence[FactAndBytes], given: GivenFacts, played: PlayedFacts, with_wakes: bool) -> None:
        self.given, self._given_facts, self._played, self._with_wakes = given, facts, played, with_wakes

    @property
    def events(self) -> Columns:
        """A row for each event (`engine/outcome/history.py`); a job is some number of its name."""
        return self._played.events

    @property
    def tape(self) -> Columns:
        """The charges of admissions, among other numbers."""
        return self._played.tape

    @cached_property
    def places(self) -> Columns:
        """Of each row of a fact in `events` its place in `given`; -1 of a wake that was not given."""
        kinds = self.events[self.fact_rows, E_KIND]
        is_given = kinds != ADVANCING if self._with_wakes else np.ones(len(kinds), bool)
        return np.where(is_given, np.cumsum(is_given) - 1, -1)

    @property
    def submitted(self) -> list[int]:
        """The places in `given` of the submissions that were played."""
        found: list[int] = self.places[self.events[self.fact_rows, E_KIND] == SUBMITTING].tolist()
        return found

    @property
    def fact_rows(self) -> Sequence[int]:
        """The rows of the facts."""
        return self._played.facts

    @cached_property
    def workloads(self) -> list[str | None]:
        """Of which workload each event is; None where it is of none."""
        numbers, at = np.unique(self.events[:, E_JOB], return_inverse=True)
        names = [self._played.names[number] if number >= 0 else None for number in numbers.tolist()]
        return [names[number] for number in at.tolist()]

    def decisions(self) -> Iterator[tuple[int, bytes]]:
        """The row of each decision, and its bytes."""
        return zip(np.flatnonzero(self.events[:, E_KIND] > ADVANCING).tolist(), self._played.decisions, strict=True)

    def batches(self) -> Iterator[PlayedBatch]:
        """What was played, as facts and decisions."""
        return map(self._batch, range(len(self.fact_rows)))

    def batch(self, row: int) -> PlayedBatch:
        """The fact in a row of `events`, and what it caused."""
        return self._batch(bisect_left(self.fact_rows, row))

    def last_batches(self) -> list[PlayedBatch]:
        """The last fact that is no wake, if there is one, and the wakes behind it."""
        kinds = self.events[self.fact_rows, E_KIND]
        others = np.flatnonzero(kinds != ADVANCING)
        return [self._batch(nth) for nth in range(int(others[-1]) if len(others) else 0, len(kinds))]

    def _batch(self, nth: int) -> PlayedBatch:
        rows, decisions = self.fact_rows, self._played.decisions
        end = rows[nth + 1] if nth + 1 < len(rows) else len(self.events)
        fact, _ = self._fact(nth)
        caused = decisions[rows[nth] - nth : end - nth - 1]
        return fact, [decode(each) for each in caused]  # type: ignore[misc]  # a decision each

    def _fact(self, nth: int) -> FactAndBytes:
        place = int(self.places[nth])
        if place >= 0:
            return self._given_facts[place]
        fact = TimeAdvanced(time=int(self.events[self.fact_rows[nth], E_TIME]))
        return fact, fact.payload()

    def encoded(self) -> EncodedEvents:
        """What was played, as the bytes of a journal."""
        kinds = [EVENT_NAMES[kind] for kind in self.events[:, E_KIND].tolist()]
        payloads = [b""] * len(kinds)
        for nth, row in enumerate(self.fact_rows):
            fact, payloads[row] = self._fact(nth)
            kinds[row] = fact.kind
        for row, payload in self.decisions():
            payloads[row] = payload
        return EncodedEvents(kinds, self.workloads, payloads)
