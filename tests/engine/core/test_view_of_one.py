"""A live workload that is read by itself, and how much there is, are what the whole state says of them."""

from collections import Counter

from fuzzing import core_after_each
from gpol.engine.questions.view import DefinitionView

HISTORIES, FACTS = 12, 60


def test_one_workload_is_read_as_the_whole_state_has_it() -> None:
    """After every fact of some histories, in cycles and at once: who runs, waits in line, is held or belongs nowhere."""
    seen = Counter[str]()
    for number in range(HISTORIES):
        for core in core_after_each(f"view of one/{number}", number % 2 == 0, number % 3 == 0, FACTS):
            view, whole = core.view, core.view._whole
            assert isinstance(whole, DefinitionView)
            for name in view.names():
                found = view.workload(name)
                assert found is not None
                assert found == whole.workload(name)
                seen["runs" if found.admitted is not None else "waits" if found.in_line else "is held"] += 1
            assert core.graph is not None
            assert [view.capacity(slot) for slot in range(len(core.graph.slots))] == [
                whole.capacity(slot) for slot in range(len(core.graph.slots))
            ]
            assert view.workload("nobody") is None
    assert min(seen["runs"], seen["waits"], seen["is held"]) > 50, seen
