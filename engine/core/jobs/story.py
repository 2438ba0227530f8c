"""What a loop played in one go, told in full: the decisions that each fact caused."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ...events import AnyDecision
from ...explain.decisions import tell
from ...guard import Field
from ...guard_truth import own_value
from ...intake.holds import turned_away
from ...intake.rejection import rejection
from ...outcome.decision import Hold, Outcome
from ...workload import Workload
from .. import columns as c
from ..outcomes import Tape
from ..store import TableStore
from ..tables import Ints


class Story:
    """The events of a chunk as `columns`, the first of them with the number `first`, and the tape that tells of them.

    `workload` gives the one that had a name at an event. `named` has the number of the name of each event's job.
    """

    def __init__(self, store: TableStore, columns: Ints, tape: Ints, first: int, workload: Callable[[str, int], Workload]) -> None:
        self.graph, self.first, self.columns, self.tape = store.graph, first, columns, tape
        self._in_cycles = store.tables.state[c.IN_CYCLES] == 1
        self._names, self._demand, self._workload = store.names, store.demands.at, workload
        self.named: list[int] = store.tables.job[columns[:, c.E_JOB], c.J_NAME].tolist() if len(store.tables.job) else []
        self._at, self._told = -1, list[AnyDecision]()

    @cached_property
    def events(self) -> list[list[int]]:
        """A list of columns for each event."""
        found: list[list[int]] = self.columns.tolist()
        return found

    @cached_property
    def facts(self) -> Ints:
        """Of each event, where its fact stands."""
        is_fact = self.columns[:, c.E_KIND] <= c.ADVANCING
        return np.maximum.accumulate(np.where(is_fact, np.arange(len(is_fact)), 0))

    @cached_property
    def numbers(self) -> list[int]:
        """The tape."""
        found: list[int] = self.tape.tolist()
        return found

    @cached_property
    def reader(self) -> Tape:
        """Reads outcomes from the tape."""
        return Tape(self.graph, self.numbers, self._names, self._demand, self._text)

    def decisions(self, at: int) -> list[AnyDecision]:
        """What the fact in a row caused."""
        if at != self._at:
            self._at = at
            event = self.events[at]
            self._told = tell(self.graph, self._outcomes(event), event[c.E_TIME], self.first + at)
        return self._told

    def _outcomes(self, event: list[int]) -> list[Outcome]:
        outcomes, block = list[Outcome](), event[c.E_BLOCK]
        if self._at + 1 < len(self.events) and self.events[self._at + 1][c.E_KIND] == c.REJECTING:
            rejected = rejection(self.graph, self._workload(self._names[self.named[self._at]], self._at))
            assert rejected is not None
            outcomes.append(rejected)
        if block != c.NONE:
            outcomes += self.reader.in_cycle(block, self._turned_away) if self._in_cycles else self.reader.at_once(block)
        return outcomes

    def _text(self, name: str, field: Field) -> str:
        return str(own_value(self.graph, self._workload(name, self._at), field))

    def _turned_away(self, name: str) -> Hold:
        return next(turned_away(self.graph, self._workload(name, self._at)))
