"""Which children of a cohort borrow, in a list of the cohort: a search for victims then looks at them alone. Their order means nothing."""

from ... import columns as c
from ...tables import Tables


def change_use(t: Tables, node: int, slot: int, change: int) -> None:
    """Change what a node uses of a slot; where it begins or ceases to borrow, it enters or leaves the list of its parent."""
    used, owned = t.quota[node, slot, c.USED], t.quota[node, slot, c.OWNED]
    t.quota[node, slot, c.USED] = used + change
    borrowed, borrows_now = used > owned, used + change > owned
    if borrowed == borrows_now or t.node[node, c.PARENT] < 0:
        return
    if borrows_now:
        t.node[node, c.SLOTS_BORROWED] += 1
        if t.node[node, c.SLOTS_BORROWED] == 1:
            enter_list(t, node)
    else:
        t.node[node, c.SLOTS_BORROWED] -= 1
        if t.node[node, c.SLOTS_BORROWED] == 0:
            leave_list(t, node)


def enter_list(t: Tables, node: int) -> None:
    """Put a node into the list of its parent."""
    parent = t.node[node, c.PARENT]
    after = t.node[parent, c.FIRST_BORROWER]
    t.node[node, c.BORROWER_BEFORE], t.node[node, c.BORROWER_AFTER], t.node[parent, c.FIRST_BORROWER] = c.NONE, after, node
    if after != c.NONE:
        t.node[after, c.BORROWER_BEFORE] = node


def leave_list(t: Tables, node: int) -> None:
    """Take a node out of the list of its parent."""
    before, after = t.node[node, c.BORROWER_BEFORE], t.node[node, c.BORROWER_AFTER]
    if before == c.NONE:
        t.node[t.node[node, c.PARENT], c.FIRST_BORROWER] = after
    else:
        t.node[before, c.BORROWER_AFTER] = after
    if after != c.NONE:
        t.node[after, c.BORROWER_BEFORE] = before


def borrows_anything(t: Tables, node: int) -> bool:
    """Whether a node uses more than its subtree owns of any slot. The top of a tree can borrow from nobody."""
    return t.node[node, c.SLOTS_BORROWED] > 0
