"""What the nodes below each node ask it for, by slot, so that those it can help are found without a look at the others.

The children of a node form a tree in a part of `asked`. Its rows are counted from where the part begins: 1 is the top, 2n and 2n + 1 are
below n, and in the last half of the part each child has a leaf; row 0 is not used. Each row has, of each slot, the least that is asked for
at or below it. Leaves without a child ask for `NEVER`, which is above whatever arrives anywhere, so that no search ends at one of them.
"""

from ... import columns as c
from ...tables import Tables


def write_asked(t: Tables, node: int, slot: int, asks: int) -> bool:
    """Write what a node asks its parent for; say whether that changes the least that the parent is asked for."""
    parent, at = t.node[node, c.PARENT], t.node[node, c.ASKED_ROW]
    first, column = t.node[parent, c.FIRST_ASKED], c.OF_SLOT + slot
    if t.asked[first + at, column] == asks:
        return False
    t.asked[first + at, column] = asks
    while at > 1:
        at //= 2
        least = min(t.asked[first + 2 * at, column], t.asked[first + 2 * at + 1, column])
        if t.asked[first + at, column] == least:
            return False
        t.asked[first + at, column] = least
    t.watch[parent, slot, c.NEED] = t.asked[first + 1, column]
    return True


def first_helped(t: Tables, parent: int) -> int:
    """The first child of a node for which as much arrives there as it asks for, of some slot; NONE where there is none."""
    return helped_below(t, parent, 1) if is_met(t, parent, 1) else c.NONE


def next_helped(t: Tables, node: int) -> int:
    """The first after a node of the children beside it for which that is so."""
    parent, at = t.node[node, c.PARENT], t.node[node, c.ASKED_ROW]
    while at > 1:
        if at % 2 == 0 and is_met(t, parent, at + 1):
            return helped_below(t, parent, at + 1)
        at //= 2
    return c.NONE


def helped_below(t: Tables, parent: int, at: int) -> int:
    """The first child at or below a row of its part whose least is met."""
    first = t.node[parent, c.FIRST_ASKED]
    while t.asked[first + at, c.ASKER] == c.NONE:
        at = 2 * at if is_met(t, parent, 2 * at) else 2 * at + 1
    return t.asked[first + at, c.ASKER]


def is_met(t: Tables, parent: int, at: int) -> bool:
    """Whether as much arrives at a node as the least in a row of its part, of some slot."""
    row = t.node[parent, c.FIRST_ASKED] + at
    for slot in range(max(1, t.state[c.SLOTS])):
        if t.asked[row, c.OF_SLOT + slot] <= max(t.watch[parent, slot, c.ROOM], t.watch[parent, slot, c.EXTRA]):
            return True
    return False
