"""Which children of a cohort borrow, in a list of the cohort: a search for victims then looks at them alone. Their order means nothing."""

from ... import columns as c
from ...tables import Tables


def begin_to_borrow(t: Tables, node: int) -> None:
    """Count one more slot of which a node uses more than it owns; with the first one it enters the list of its parent."""
    parent = t.node[node, c.PARENT]
    if parent < 0:
        return
    t.node[node, c.SLOTS_BORROWED] += 1
    if t.node[node, c.SLOTS_BORROWED] == 1:
        after = t.node[parent, c.FIRST_BORROWER]
        t.node[node, c.BORROWER_BEFORE], t.node[node, c.BORROWER_AFTER], t.node[parent, c.FIRST_BORROWER] = c.NONE, after, node
        if after != c.NONE:
            t.node[after, c.BORROWER_BEFORE] = node


def cease_to_borrow(t: Tables, node: int) -> None:
    """Count one slot less of which a node uses more than it owns; with the last one it leaves the list of its parent."""
    parent = t.node[node, c.PARENT]
    if parent < 0:
        return
    t.node[node, c.SLOTS_BORROWED] -= 1
    if t.node[node, c.SLOTS_BORROWED] == 0:
        before, after = t.node[node, c.BORROWER_BEFORE], t.node[node, c.BORROWER_AFTER]
        if before == c.NONE:
            t.node[parent, c.FIRST_BORROWER] = after
        else:
            t.node[before, c.BORROWER_AFTER] = after
        if after != c.NONE:
            t.node[after, c.BORROWER_BEFORE] = before


def borrows_anything(t: Tables, node: int) -> bool:
    """Whether a node uses more than its subtree owns of any slot; never so of the top of a tree, whatever it uses."""
    return t.node[node, c.SLOTS_BORROWED] > 0
