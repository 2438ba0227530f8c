"""The two cores side by side: what a suite plays through the definition is played through the core over arrays as well, and compared."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from gpol.adapters.kueue.decide import scenarios
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.cores import Core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.events import AnyDecision
from gpol.engine.facts import Fact, TimeAdvanced
from gpol.engine.policy_graph import PolicyGraph
from suites import world
from suites.schedule import is_switched_off, places_nobody_anew
from suites.suite import Case, Suite

BEYOND, ALONE = "facts beyond the tables", "cases by the definition alone"
"""What is counted beside clusters, facts and decisions."""

MOST_CYCLES = 10
"""How many cycles are played once a case is over; some histories never come to rest."""


class TwinCore:
    """The definition, which answers, with the core over arrays beside it. AssertionError where the two do not do the same."""

    def __init__(self, counts: Counter[str]) -> None:
        self._definition, self._tables, self._counts = DefinitionCore(), ArrayCore(kernels=PLAIN), counts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._definition, name)

    def step(self, fact: Fact, graph: PolicyGraph | None = None) -> list[AnyDecision]:
        """Take in a fact by both."""
        decisions, refusal = _stepped(self._definition, fact, graph)
        others, other_refusal = _stepped(self._tables, fact, graph)
        assert [each.payload() for each in others] == [each.payload() for each in decisions], f"decided otherwise over arrays: {others}"
        assert str(other_refusal) == str(refusal), f"refused otherwise over arrays: {other_refusal}"
        assert self._tables.next_wake() == self._definition.next_wake(), "another next wake over arrays"
        self._counts["facts"] += 1
        self._counts["decisions"] += len(decisions)
        self._counts[BEYOND] += self._tables.graph is not None and self._tables._store is None
        if refusal is not None:
            raise refusal
        return decisions

    def end(self) -> None:
        """Play some cycles, and compare the states at the end."""
        for _ in range(MOST_CYCLES):
            wake = self._definition.next_wake()
            if wake is None:
                break
            self.step(TimeAdvanced(time=wake))
        assert self._tables.freeze() == self._definition.freeze(), "another state over arrays"
        self._counts["clusters"] += 1


def _stepped(core: Core, fact: Fact, graph: PolicyGraph | None) -> tuple[list[AnyDecision], FactError | None]:
    try:
        return core.step(fact, graph), None
    except FactError as error:
        return [], error


@contextmanager
def _twins(counts: Counter[str]) -> Iterator[list[TwinCore]]:
    """Let suites make twins, which are listed."""
    made = list[TwinCore]()

    def new_core() -> TwinCore:
        made.append(TwinCore(counts))
        return made[-1]

    with patch.object(world, "DefinitionCore", new_core), patch.object(scenarios, "new_core", new_core):
        yield made


def by_both(suite: Suite, counts: Counter[str]) -> Suite:
    """A suite of which both cores decide each case, and go on after it for some cycles. `counts` says how much was compared.

    Where a case switches something off, the definition is changed for it, and decides alone.
    """

    def compare(case: Case) -> list[str]:
        if is_switched_off(case) or places_nobody_anew(case):
            counts[ALONE] += 1
            return suite.compare(case)
        with _twins(counts) as made:
            found = suite.compare(case)
            for each in made:
                each.end()
        return found

    return replace(suite, compare=compare)
