"""Plays facts through the core, and between them the wakes: moments at which the core decides because time has passed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...engine.cores import Core, PlayedBatch, PlayedChunk
from ...engine.default_core import new_core
from ...engine.errors import FactError
from ...engine.events import AnyDecision, AnyEvent, WorkloadEvicted
from ...engine.facts import Fact, OperatorAction, PolicyActivated, TimeAdvanced, WorkloadFinished, WorkloadUpdated
from ...engine.outcome.history import E_TIME
from ...engine.policy_graph import PolicyGraph
from ...engine.units import INT64_MAX
from ...journal.records import BatchSink
from .given_facts import FactAndBytes, PlayedStretch, given_facts

MOST_TURNS = 1_000
"""How often wakes may evict one workload between two facts. More evictions mean a livelock: workloads evict each other in turns."""

MOST_TURNS_IN_CYCLES = 100
"""The same limit for a policy that decides in cycles."""


class EndlessError(RuntimeError):
    """A livelock: a policy under which workloads evict each other in turns without end. The message names workloads and rules.

    `evictions` has the last eviction of each pair of victim and beneficiary, `remedy` what would end them: it is in the message, too.
    """

    def __init__(self, message: str, evictions: tuple[WorkloadEvicted, ...] = (), remedy: str = "") -> None:
        super().__init__(message)
        self.evictions = evictions
        self.remedy = remedy


class OvertakenError(FactError):
    """A fact that the decisions of earlier wakes made impossible. These wakes were played, and stay."""


@dataclass(slots=True)
class Player:
    """Plays facts through a core, and appends the batches to the sink in groups of `group`."""

    core: Core = field(default_factory=new_core)
    sink: BatchSink | None = None
    group: int = 500
    _waiting: list[list[AnyEvent]] = field(default_factory=list)
    _turns: Counter[str] = field(default_factory=Counter)
    _last: dict[tuple[str, str | None], WorkloadEvicted] = field(default_factory=dict)
    _endless: WorkloadEvicted | None = None
    _on_the_way: Fact | None = None
    """The fact before which wakes were played in one go, and which was not played itself."""

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> Iterator[PlayedBatch]:
        """Play the wakes up to the time of a fact, then the fact. In cycles, a wake at the same time comes after the fact.

        Raises FactError, with nothing played, for an impossible fact; OvertakenError if a wake made it impossible.
        """
        before = fact.time - 1 if self.core.decides_in_cycles else fact.time
        on_the_way, self._on_the_way = self._on_the_way is fact, None
        if not on_the_way:
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

    def play_in_one_go(self, facts: Sequence[FactAndBytes], with_wakes: bool = True) -> tuple[int, PlayedStretch | None]:
        """Play facts that `may_be_given`, each with its bytes, and, unless they are recorded, the wakes between them, as far as the core
        can by itself.

        Return how many facts were played, and what came of them, if anything was played. The first fact that was not played is for
        `play`, or for `step` without wakes.
        """
        loop = self.core.given_loop() if not self._turns else None
        if loop is None:
            return 0, None
        self.flush()
        given = given_facts(facts)
        played = loop.play(given, with_wakes)
        if not len(played.events):
            return 0, None
        found = PlayedStretch(facts, given, played, with_wakes)
        if self.sink is not None:
            self.sink.append_encoded(found.encoded(), int(played.events[0, E_TIME]), int(played.events[-1, E_TIME]))
        last = found.last_batches()  # the last other fact ends the count of turns, and it begins anew
        for fact, decisions in last:
            self._count_turns(fact, decisions)
        if with_wakes and isinstance(last[-1][0], TimeAdvanced) and played.played < len(facts):
            self._on_the_way = facts[played.played][0]
        return played.played, found

    def _foresee(self, fact: Fact, graph: PolicyGraph | None, before: int) -> None:
        """Raise FactError for a fact that is impossible now and would still be impossible after the wakes before it."""
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
        """Whether wakes could make the fact possible: they start and stop workloads, so only facts about running workloads can."""
        if isinstance(fact, WorkloadFinished | WorkloadUpdated | OperatorAction):
            return fact.workload in self.core.view.names()
        return isinstance(fact, PolicyActivated)

    def next_wake(self) -> int | None:
        """The time of the next wake; None if there is none, or none within 64 bits."""
        wake = self.core.next_wake()
        return wake if wake is not None and wake <= INT64_MAX else None

    def _is_due(self, time: int) -> bool:
        wake = self.next_wake()
        return wake is not None and wake <= time

    def advance(self, time: int) -> Iterator[PlayedBatch]:
        """Play the wakes up to a time, including that time. Raises EndlessError."""
        while (wake := self.next_wake()) is not None and wake <= time:
            if self._endless is not None:
                raise EndlessError(*self._taking_turns(self._endless))
            yield self.step(TimeAdvanced(time=wake))

    def come_to_rest(self, before: int = INT64_MAX + 1) -> Iterator[PlayedBatch]:
        """If the policy decides in cycles, run cycles until none is due, or none before a given time. Raises EndlessError."""
        while self.core.decides_in_cycles and (wake := self.next_wake()) is not None and wake < before:
            yield from self.advance(wake)

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> PlayedBatch:
        """Play a fact alone. Raises FactError, with nothing played."""
        decisions = self.core.step(fact, graph)
        if self.sink is not None:
            self._waiting.append([fact, *decisions])
            if len(self._waiting) >= self.group:
                self.flush()
        self._count_turns(fact, decisions)
        return fact, decisions

    def keep(self, chunk: PlayedChunk) -> None:
        """Append what the core has played by itself, so that the sink stands where the core stands."""
        if self.sink is not None and len(chunk.events):
            self.sink.append_encoded(chunk.encoded(), int(chunk.events[0, E_TIME]), int(chunk.events[-1, E_TIME]))

    def count_turns(self, turns: Mapping[str, int]) -> None:
        """Count on from what time alone has evicted so far, by workload."""
        self._turns = Counter(turns)

    def _count_turns(self, fact: Fact, decisions: list[AnyDecision]) -> None:
        """Count evictions by wakes, to detect a livelock. Facts need no check: there are finitely many."""
        if not isinstance(fact, TimeAdvanced):
            self._turns.clear()
            self._last.clear()
            self._endless = None
            return
        most = MOST_TURNS_IN_CYCLES if self.core.decides_in_cycles else MOST_TURNS
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                self._turns[decision.workload] += 1
                if self._turns[decision.workload] > most // 4:  # before that a core may have played by itself (`count_turns`)
                    self._last[decision.workload, decision.beneficiary] = decision
                if self._turns[decision.workload] > most:
                    self._endless = decision

    def _taking_turns(self, decision: WorkloadEvicted) -> tuple[str, tuple[WorkloadEvicted, ...], str]:
        """The livelock: a message, the repeated evictions in order of the victim's name, and the remedy."""
        evictions = tuple(self._last[pair] for pair in sorted(self._last, key=lambda pair: (pair[0], pair[1] or "")))
        more = [f"`{other.workload}` for `{other.beneficiary}`{_by(other)}" for other in evictions if other is not decision]
        told = f"; {len(more)} more take turns with it: {', '.join(more[:3])}" if more else ""
        remedy = _remedy(self.core, evictions)
        return (
            f"time alone evicted `{decision.workload}` more than {self._turns[decision.workload] - 1:,} times, now for "
            f"`{decision.beneficiary}`{_by(decision)}{told}: the policy lets workloads take turns; {remedy}",
            evictions,
            remedy,
        )

    def flush(self) -> None:
        """Append the batches of a group that is not full yet. No batch is appended twice, even if the sink failed or was interrupted."""
        if self.sink is not None and self._waiting:
            batches, self._waiting = self._waiting, []
            self.sink.append(batches)


def _remedy(core: Core, evictions: tuple[WorkloadEvicted, ...]) -> str:
    """The change to the policy that certainly ends these evictions."""
    if not core.decides_in_cycles:
        return "let the rule's guard rank the two, such as by priority"
    if all(eviction.preemption == "in-queue" for eviction in evictions):
        return "let the queue admit by priority, and not by usage"
    return "let queues evict their own only, or use the profile gpol.fair"


def _by(decision: WorkloadEvicted) -> str:
    rule = decision.why.rule
    return f" by {rule.name} ({rule.file}:{rule.line})" if rule is not None else ""
