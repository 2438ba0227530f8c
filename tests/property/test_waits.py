"""What a core keeps, nominations and the next wake, is for speed alone: one that forgets them decides the same and wakes alike."""

from example_counts import one_example_in
from generators import SECOND, Case, activation, cases, fact_of
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.explain.pending import standing
from gpol.engine.facts import Fact, TimeAdvanced
from hypothesis import given
from hypothesis import strategies as st

MOST_WAKES = 20
"""So many moments at which time alone may decide are played after a history; under some generated rules they never end."""


def forget(core: Core) -> Core:
    """The same core with its nominations and its next wake forgotten."""
    assert isinstance(core, DefinitionCore)
    core._waits.clear()
    core._wake_is_known = False
    return core


def played_alike(remembering: Core, forgetting: Core, fact: Fact) -> None:
    """Play a fact to both: the same is decided, byte for byte, and time alone decides next at the same moment."""
    decided = [decision.payload() for decision in remembering.step(fact)]
    assert [decision.payload() for decision in forget(forgetting).step(fact)] == decided
    assert forget(forgetting).next_wake() == remembering.next_wake()


@one_example_in(2)  # one costs 0.3 s
@given(cases(), st.lists(st.booleans(), min_size=30, max_size=30))
def test_a_core_that_forgets_decides_the_same(case: Case, waits: list[bool]) -> None:
    """After every fact, and at the moments that time alone brings, both decide the same, wake alike and tell the same of all who live."""
    remembering, forgetting = new_core(), new_core()
    for core in (remembering, forgetting):
        core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        played_alike(remembering, forgetting, fact_of(remembering, case, number, step))
        if waits[number]:  # time passes, and nothing else: what was refused is refused for longer
            played_alike(remembering, forgetting, TimeAdvanced(time=remembering.time + SECOND))
    for name in remembering.view.names():
        assert standing(remembering, name) == standing(forget(forgetting), name)
    for _ in range(MOST_WAKES):
        wake = remembering.next_wake()
        if wake is None:
            break
        played_alike(remembering, forgetting, TimeAdvanced(time=wake))
