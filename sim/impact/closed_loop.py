"""Closed loop: a recorded history is played again under another policy, and each decision changes the state for the next one.

As long as both histories are the same, the recorded facts are played as they are, in their order. So the same policy gives the same
history, whatever program wrote the journal and however late its wakes were. From the first difference on, the replay continues as a
simulation: facts from outside keep their times, workloads end after their run time, and wakes come when they are due.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...engine.cores import PlayedBatch
from ...engine.errors import FactError
from ...engine.events import AnyDecision
from ...engine.facts import (
    Fact,
    PolicyActivated,
    TimeAdvanced,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ...journal.journal import Batch as RecordedBatch
from ...journal.journal import Journal
from ...journal.read.as_of import follow
from ..drive.driver import OnEvict, Runs, drive, noted
from ..drive.player import Player
from ..drive.policy import Policy
from ..drive.run_lengths import Submission
from .history_diff import what


@dataclass(frozen=True, slots=True)
class Impossible:
    """A recorded fact that cannot happen under the other policy: its seq, time and kind, what it is about, and why not."""

    seq: int
    time: int
    kind: str
    about: str
    reason: str


class _Recorded(NamedTuple):
    """A recorded fact with its decisions, and which submission of its workload's name it is about (0: it is about no workload)."""

    seq: int
    fact: Fact
    decisions: list[AnyDecision]
    submission: int


class ClosedLoop:
    """Plays a journal up to event `upto` again under a policy.

    `observe` is told every recorded batch, in order, before what is played in its place. `impossible` lists the facts that could not be
    played. The policy is activated wherever one was, `activations` times.
    """

    def __init__(
        self,
        journal: Journal,
        policy: Policy,
        player: Player,
        lengths: dict[Submission, int],
        on_evict: OnEvict,
        observe: Callable[[RecordedBatch], None],
        upto: int,
    ) -> None:
        self.policy = policy
        self.player = player
        self.impossible: list[Impossible] = []
        self.activations = 0
        self._journal = journal
        self._lengths = lengths
        self._runs = Runs(on_evict)
        self._observe = observe
        self._last = upto
        self._batches = journal.batches(upto=upto)
        self._submissions: dict[str, int] = {}
        self._played: dict[str, int] = {}
        self._before = Player()
        self._next: _Recorded | None = None

    def run(self) -> Generator[PlayedBatch]:
        """Yield every batch that is played. Raises EndlessError, and JournalError for a journal that cannot be read."""
        try:
            self._next = self._read()
            same = yield from self._together()
            if not same:
                self._look_on()
                last = self._journal.at(self._last).event.time
                yield from drive(self.player, self._runs, self, until=last)
        finally:
            self.player.flush()

    @property
    def endless(self) -> int:
        """How many live workloads have no recorded end."""
        return self._runs.endless

    def submission(self, workload: str) -> int:
        """The number of the last played submission of this name, counted from 1."""
        return self._played[workload]

    # --- while both histories are the same ------------------------------------------------------------------------------

    def _together(self) -> Generator[PlayedBatch, None, bool]:
        """Play recorded facts as they are until a decision or a wake differs. Returns whether the whole history was the same."""
        while (recorded := self._next) is not None:
            if self._wakes_otherwise(recorded):
                return False
            self._next = self._read()
            played = list(noted(self._runs, self._play(recorded)))
            yield from played
            decided = [what(decision) for _, decisions in played for decision in decisions]
            if not played or decided != [what(decision) for decision in recorded.decisions]:
                return False
        return True

    def _wakes_otherwise(self, recorded: _Recorded) -> bool:
        """Whether a wake comes at another time than in the recorded history, before the recorded fact or in its place.

        A recorded wake may be late or early, as in a live system. That is not a difference between the policies.
        """
        wake, fact = self.player.next_wake(), recorded.fact
        if isinstance(fact, TimeAdvanced):
            expected = wake == fact.time
        else:
            first = not self.player.core.decides_in_cycles and not isinstance(fact, WorkloadFinished)
            expected = wake is None or wake >= fact.time + first
        if expected:
            return False
        before = self._before.core
        follow(self._journal, before, after=before.seq, upto=recorded.seq - 1)
        return wake != self._before.next_wake()

    # --- arrivals -------------------------------------------------------------------------------------------------------

    @property
    def time(self) -> int | None:
        """When the next recorded fact from outside comes."""
        return None if self._next is None else self._next.fact.time

    @property
    def fact(self) -> Fact | None:
        """The next recorded fact from outside."""
        return None if self._next is None else self._next.fact

    def arrive(self) -> Iterator[PlayedBatch]:
        """Play the next recorded fact from outside."""
        assert self._next is not None
        recorded, self._next = self._next, self._read()
        self._look_on()
        yield from self._play(recorded)

    def _look_on(self) -> None:
        """Skip the recorded ends and wakes, because this history has its own."""
        while self._next is not None and isinstance(self._next.fact, WorkloadFinished | TimeAdvanced):
            self._next = self._read()

    def _read(self) -> _Recorded | None:
        batch = next(self._batches, None)
        if batch is None:
            return None
        self._observe(batch)
        fact: Fact = batch.fact.event  # type: ignore[assignment]  # a batch begins with a fact
        workload = getattr(fact, "workload", None)
        if workload is not None and isinstance(fact, WorkloadSubmitted):
            self._submissions[workload] = self._submissions.get(workload, 0) + 1
        decisions: list[AnyDecision] = [each.event for each in batch.decisions]  # type: ignore[misc]
        return _Recorded(batch.fact.seq, fact, decisions, 0 if workload is None else self._submissions.get(workload, 0))

    # --- playing --------------------------------------------------------------------------------------------------------

    def _play(self, recorded: _Recorded) -> Iterator[PlayedBatch]:
        """Play a recorded fact, or note that it cannot happen."""
        fact = recorded.fact
        try:
            self._check_same(recorded)
            yield self._step(recorded)
        except FactError as error:
            about = next((str(name) for field in ("workload", "node", "flavor", "local_queue") if (name := getattr(fact, field, None))), "")
            self.impossible.append(Impossible(recorded.seq, fact.time, fact.kind, about, str(error)))

    def _check_same(self, recorded: _Recorded) -> None:
        """Raise FactError if the fact is about a later submission, while an earlier one of the same name still runs here."""
        if recorded.submission == 0 or isinstance(recorded.fact, WorkloadSubmitted):
            return
        name: str = recorded.fact.workload  # type: ignore[union-attr]
        if self._runs.submission(name) not in (None, recorded.submission):
            raise FactError(f"`{name}` is still an earlier workload of that name")

    def _step(self, recorded: _Recorded) -> PlayedBatch:
        match fact := recorded.fact:
            case PolicyActivated():
                self.activations += 1
                return self.player.step(self.policy.activation(fact.time), self.policy.graph)
            case WorkloadSubmitted():
                batch = self.player.step(fact)
                self._played[fact.workload] = recorded.submission
                self._runs.submit(fact, self._lengths.get((fact.workload, recorded.submission)), recorded.submission)
            case WorkloadFinished() | WorkloadCancelled():
                batch = self.player.step(fact)
                self._runs.over(fact.workload)
            case WorkloadAdopted():
                batch = self.player.step(fact)
                self._runs.start(fact.workload, fact.since, fact.placements)
            case WorkloadUpdated():
                workload = self.player.core.view.workload(fact.workload)
                stops = workload is not None and workload.evicting and fact.requeued is not None
                batch = self.player.step(fact)
                if stops:
                    self._runs.stop(fact.workload, fact.time)
            case _:
                batch = self.player.step(fact)
        return batch
