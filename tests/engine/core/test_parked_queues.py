"""Queues in which somebody waits stand in one list each: those that may put somebody up, and of each tree those in which all are parked."""

from collections import Counter

from fuzzing import tables_after
from gpol.engine.core import columns as c
from gpol.engine.core.kernels.line import first_in_line, next_in_tree
from gpol.engine.core.kernels.places import is_parked
from gpol.engine.core.kernels.watch.parked import are_all_parked
from gpol.engine.core.tables import Tables

HISTORIES = 12
FACTS = 80


def listed(t: Tables, first: int) -> list[int]:
    """The queues of a list, whose links are right in both directions."""
    found, before, node = list[int](), c.NONE, first
    while node != c.NONE:
        assert t.node[node, c.WAITING_BEFORE] == before
        found.append(int(node))
        before, node = node, t.node[node, c.WAITING_AFTER]
    return found


def all_are_parked(t: Tables, queue: int) -> bool:
    """Whether nobody in a line may be put up."""
    row = first_in_line(t, queue)
    while row != c.NONE:
        if not is_parked(t, row):
            return False
        row = next_in_tree(t, row)
    return True


def test_each_queue_in_which_somebody_waits_stands_in_one_list() -> None:
    """And all are parked in those that are listed so, after every fact of some histories."""
    seen = Counter[str]()
    for number in range(HISTORIES):
        for tables in tables_after(f"parked queues/{number}", True, number % 2 == 0, FACTS):
            seen.update(checked(tables))
    assert min(seen["waiting"], seen["parked"]) > 50, seen


def checked(t: Tables) -> dict[str, int]:
    """How many queues stand in either kind of list, where the lists are right."""
    nodes = range(int(t.state[c.NODES]))
    waiting = listed(t, int(t.state[c.FIRST_WAITING]))
    by_tree = {top: listed(t, int(t.node[top, c.FIRST_PARKED])) for top in nodes if t.node[top, c.TOP] == top}
    assert all(t.node[top, c.LAST_PARKED] == queues[-1] for top, queues in by_tree.items() if queues)
    parked = [queue for queues in by_tree.values() for queue in queues]
    assert sorted(waiting + parked) == [node for node in nodes if t.node[node, c.WAITS] > 0]
    assert [are_all_parked(t, queue) for queue in waiting + parked] == [False] * len(waiting) + [True] * len(parked)
    assert all(all_are_parked(t, queue) for queue in parked)
    return {"waiting": len(waiting), "parked": len(parked)}
