"""Playing facts: through the core, with the moments in between at which time alone decides."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from ..engine.events import AnyDecision, AnyEvent, Fact, TimeAdvanced
from ..engine.graph import PolicyGraph
from ..engine.reference import Core

Batch = tuple[Fact, list[AnyDecision]]
"""A fact and the decisions it caused."""


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

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> Iterator[Batch]:
        """Play a fact, and before it every moment up to its time at which time alone decides. Raises FactError."""
        yield from self.advance(fact.time)
        yield self.step(fact, graph)

    def advance(self, time: int) -> Iterator[Batch]:
        """Play the moments up to a time, that time included, at which time alone decides."""
        while (wake := self.core.next_wake()) is not None and wake <= time:
            yield self.step(TimeAdvanced(time=wake))

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> Batch:
        """Play a fact alone."""
        decisions = self.core.step(fact, graph)
        if self.sink is not None:
            self._waiting.append([fact, *decisions])
            if len(self._waiting) >= self.group:
                self.flush()
        return fact, decisions

    def flush(self) -> None:
        """Hand on what waits for its group to fill."""
        if self.sink is not None and self._waiting:
            self.sink.append(self._waiting)
            self._waiting = []


def play_all(player: Player, facts: Iterable[tuple[Fact, PolicyGraph | None]]) -> Iterator[Batch]:
    """Play facts in order, and flush at the end, also after an error: what was decided before it is kept."""
    try:
        for fact, graph in facts:
            yield from player.play(fact, graph)
    finally:
        player.flush()
