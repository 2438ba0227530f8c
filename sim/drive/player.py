"""Playing facts: through the core, with the moments in between at which time alone decides."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from ..engine.errors import FactError
from ..engine.events import (
    AnyDecision,
    AnyEvent,
    Fact,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    WorkloadEvicted,
    WorkloadFinished,
    WorkloadUpdated,
)
from ..engine.graph import PolicyGraph
from ..engine.reference import Core
from ..engine.units import INT64_MAX

Batch = tuple[Fact, list[AnyDecision]]
"""A fact and the decisions it caused."""

MOST_TURNS = 1_000
"""How often time alone may evict one workload between two facts; beyond, its policy lets workloads take turns."""

MOST_TURNS_IN_CYCLES = 100
"""The same in a policy that decides in cycles, where every turn is an eviction and an admission of its own."""


class EndlessError(RuntimeError):
    """A policy under which time alone decides on and on, with the workloads and the rules that keep it going.

    `evictions` are the last ones of those that take turns: one for each victim and beneficiary.
    """

    def __init__(self, message: str, evictions: tuple[WorkloadEvicted, ...] = ()) -> None:
        super().__init__(message)
        self.evictions = evictions


class OvertakenError(FactError):
    """A fact that was possible until time, on the way to it, decided something else. That was played, and stands."""


class Sink(Protocol):
    """Takes batches, several at a time; a journal is one."""

    def append(self, batches: list[list[AnyEvent]]) -> object:
        """Keep batches, all or none."""


@dataclass(slots=True)
class Player:
    """Plays facts through a core and hands every batch on, in groups of `group`."""

    core: Core = field(default_factory=Core)
    sink: Sink | None = None
    group: int = 500
    _waiting: list[list[AnyEvent]] = field(default_factory=list)
    _turns: Counter[str] = field(default_factory=Counter)
    _last: dict[tuple[str, str | None], WorkloadEvicted] = field(default_factory=dict)
    _endless: WorkloadEvicted | None = None

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> Iterator[Batch]:
        """Play a fact, and before it every moment up to its time at which time alone decides; in cycles, its own moment comes after it.

        Raises FactError, with nothing played, for a fact that is impossible; OvertakenError where it became so on the way.
        """
        before = fact.time - 1 if self.core.collects else fact.time
        if not self._is_due(before):
            yield self.step(fact, graph)
            return
        self._foresee(fact, graph, before)
        yield from self.advance(before)
        try:
            batch = self.step(fact, graph)
        except FactError as error:
            raise OvertakenError(str(error)) from None
        yield batch

    def _foresee(self, fact: Fact, graph: PolicyGraph | None, before: int) -> None:
        """Raise FactError for a fact that is impossible now and would still be after the moments before it."""
        try:
            self.core.check(fact, graph)
        except FactError:
            if not self._may_become_possible(fact):
                raise
            trial = Player(self.core.copy())
            for _ in trial.advance(before):
                pass
            trial.core.check(fact, graph)

    def _may_become_possible(self, fact: Fact) -> bool:
        """Time alone starts and stops workloads, so only what hangs on whether one runs may become possible by it."""
        if isinstance(fact, WorkloadFinished | WorkloadUpdated | OperatorAction):
            return fact.workload in self.core.state.workloads
        return isinstance(fact, PolicyActivated)

    def next_wake(self) -> int | None:
        """The next moment at which time alone decides; None where there is none, or none that 64 bits hold."""
        wake = self.core.next_wake()
        return wake if wake is not None and wake <= INT64_MAX else None

    def _is_due(self, time: int) -> bool:
        wake = self.next_wake()
        return wake is not None and wake <= time

    def advance(self, time: int) -> Iterator[Batch]:
        """Play the moments up to a time, that time included, at which time alone decides. Raises EndlessError."""
        while (wake := self.next_wake()) is not None and wake <= time:
            if self._endless is not None:
                raise EndlessError(*self._taking_turns(self._endless))
            yield self.step(TimeAdvanced(time=wake))

    def come_to_rest(self, before: int = INT64_MAX + 1) -> Iterator[Batch]:
        """Where the policy decides in cycles, run those that are due until none is, or none before a time. Raises EndlessError."""
        while self.core.collects and (wake := self.next_wake()) is not None and wake < before:
            yield from self.advance(wake)

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> Batch:
        """Play a fact alone. Raises FactError, with nothing played."""
        decisions = self.core.step(fact, graph)
        if self.sink is not None:
            self._waiting.append([fact, *decisions])
            if len(self._waiting) >= self.group:
                self.flush()
        self._count_turns(fact, decisions)
        return fact, decisions

    def _count_turns(self, fact: Fact, decisions: list[AnyDecision]) -> None:
        """Facts are finite, so only what time alone decides can go on for ever."""
        if not isinstance(fact, TimeAdvanced):
            self._turns.clear()
            self._last.clear()
            self._endless = None
            return
        most = MOST_TURNS_IN_CYCLES if self.core.collects else MOST_TURNS
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                self._turns[decision.workload] += 1
                self._last[decision.workload, decision.beneficiary] = decision
                if self._turns[decision.workload] > most:
                    self._endless = decision

    def _taking_turns(self, decision: WorkloadEvicted) -> tuple[str, tuple[WorkloadEvicted, ...]]:
        """What goes on and on: a message, and the evictions that have come back again and again, by name of the victim."""
        often = self._turns[decision.workload] // 4
        pairs = sorted(self._last, key=lambda pair: (pair[0], pair[1] or ""))
        evictions = tuple(self._last[pair] for pair in pairs if self._turns[pair[0]] >= often)
        more = [f"`{other.workload}` for `{other.beneficiary}`{_by(other)}" for other in evictions if other is not decision]
        told = f"; {len(more)} more take turns with it: {', '.join(more[:3])}" if more else ""
        return (
            f"time alone evicted `{decision.workload}` more than {self._turns[decision.workload] - 1:,} times, now for "
            f"`{decision.beneficiary}`{_by(decision)}{told}: the policy lets workloads take turns; {_remedy(self.core, evictions)}",
            evictions,
        )

    def flush(self) -> None:
        """Hand on what waits for its group to fill. What the sink fails to take, or is stopped at, is never handed on twice."""
        if self.sink is not None and self._waiting:
            batches, self._waiting = self._waiting, []
            self.sink.append(batches)


def _remedy(core: Core, evictions: tuple[WorkloadEvicted, ...]) -> str:
    """What to change so that these evictions end for sure."""
    if not core.collects:
        return "let the rule's guard rank the two, such as by priority"
    if all(eviction.preemption == "in-queue" for eviction in evictions):
        return "let the queue admit by priority, and not by usage"
    return "let queues evict their own only, or use the profile gpol.fair"


def _by(decision: WorkloadEvicted) -> str:
    rule = decision.why.rule
    return f" by {rule.name} ({rule.file}:{rule.line})" if rule is not None else ""
