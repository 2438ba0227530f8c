"""Beside each who waits stands the least wish of all below in the line's tree, however often workloads come, leave and wish anew."""

from collections import Counter

from fuzzing import queues_after
from gpol.engine.core import columns as c
from gpol.engine.core.tables import Tables

HISTORIES = 14
FACTS = 80


def test_the_least_wish_of_each_tree_is_known() -> None:
    """After every fact of some histories, in cycles and at once."""
    seen = Counter[int]()
    for tables, queue in queues_after("least wishes", HISTORIES, FACTS):
        seen[len(checked(tables, int(tables.node[queue, c.LINE])))] += 1
    assert sum(often for many, often in seen.items() if many > 3) > 50, seen


def checked(t: Tables, row: int) -> list[list[int]]:
    """The wishes of all at or below a row, where the least ones are right."""
    if row == c.NONE:
        return []
    at = t.work[row, c.WAIT]
    wishes = [t.wish[at, :, c.WISH].tolist()]
    for side in (c.EARLIER, c.LATER):
        wishes += checked(t, int(t.work[row, side]))
    assert t.wish[at, :, c.LEAST].tolist() == [min(of_slot) for of_slot in zip(*wishes, strict=True)]
    return wishes
