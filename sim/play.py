"""Playing facts: through the core, with the moments in between at which time alone decides."""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
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


class EndlessError(RuntimeError):
    """A policy under which time alone decides on and on, with the workload and the rule that keep it going."""


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
    _endless: WorkloadEvicted | None = None

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> Iterator[Batch]:
        """Play a fact, and before it every moment up to its time at which time alone decides.

        Raises FactError, with nothing played, for a fact that is impossible; OvertakenError where it became so on the way.
        """
        if not self._is_due(fact.time):
            yield self.step(fact, graph)
            return
        self._foresee(fact, graph)
        yield from self.advance(fact.time)
        try:
            batch = self.step(fact, graph)
        except FactError as error:
            raise OvertakenError(str(error)) from None
        yield batch

    def _foresee(self, fact: Fact, graph: PolicyGraph | None) -> None:
        """Raise FactError for a fact that is impossible now and would still be after the moments before it."""
        try:
            self.core.check(fact, graph)
        except FactError:
            if not self._may_become_possible(fact):
                raise
            trial = Player(_copy(self.core))
            for _ in trial.advance(fact.time):
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
                raise EndlessError(_endless(self._endless))
            yield self.step(TimeAdvanced(time=wake))

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
            self._endless = None
            return
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                self._turns[decision.workload] += 1
                if self._turns[decision.workload] > MOST_TURNS:
                    self._endless = decision

    def flush(self) -> None:
        """Hand on what waits for its group to fill. What the sink fails to take, or is stopped at, is never handed on twice."""
        if self.sink is not None and self._waiting:
            batches, self._waiting = self._waiting, []
            self.sink.append(batches)


def _endless(decision: WorkloadEvicted) -> str:
    rule = decision.why.rule
    by = f" by {rule.name} ({rule.file}:{rule.line})" if rule is not None else ""
    return (
        f"time alone evicted `{decision.workload}` more than {MOST_TURNS:,} times, now for `{decision.beneficiary}`{by}: "
        "the policy lets workloads take turns; let the rule's guard rank the two, such as by priority"
    )


def _copy(core: Core) -> Core:
    """A core that goes its own way. What never changes is shared."""
    shared: list[object] = [core.graph]
    for workload in core.state.workloads.values():
        shared += (workload.fact, workload.assignments)
    return deepcopy(core, {id(each): each for each in shared})
