"""What those in a line wish for: the reach of their queue (`reach.py`) from which on they are looked at again, by slot.

A wish stands by the row of `wait`, and the least wish of all below in the line's tree beside it. So the first in line whom a reach may help
is found without a walk. Who was never looked at wishes for nothing in particular, and is looked at whatever the reach. In cycles only the
wish says who is parked as itself (`places.py`).
"""

from ... import columns as c
from ...tables import Tables


def wish_for_anything(t: Tables, row: int) -> None:
    """Let a row be looked at whatever the reach; where it stays in its line, `gather_wishes` has to follow."""
    at = t.work[row, c.WAIT]
    for slot in range(t.state[c.SLOTS]):
        t.wish[at, slot, c.WISH] = c.NEVER
    t.wish[at, 0, c.WISH] = c.ANYTIME


def gather_least(t: Tables, row: int) -> bool:
    """Write the least wishes of a row and of those below it in the line's tree; say whether one of them changed."""
    changes = False
    at, earlier, later = t.work[row, c.WAIT], t.work[row, c.EARLIER], t.work[row, c.LATER]
    for slot in range(max(1, t.state[c.SLOTS])):
        least = t.wish[at, slot, c.WISH]
        if earlier != c.NONE:
            least = min(least, t.wish[t.work[earlier, c.WAIT], slot, c.LEAST])
        if later != c.NONE:
            least = min(least, t.wish[t.work[later, c.WAIT], slot, c.LEAST])
        changes = changes or t.wish[at, slot, c.LEAST] != least
        t.wish[at, slot, c.LEAST] = least
    return changes


def gather_wishes(t: Tables, row: int) -> None:
    """The same for a row (NONE: for nobody) whose wish changed, or below whom somebody came or left, and for those above it, as far up as
    that changes anything."""
    while row != c.NONE and gather_least(t, row):
        row = t.work[row, c.ABOVE]


def is_reached(t: Tables, node: int, row: int, column: int) -> bool:
    """Whether the reach that is noted of a node comes up to a wish (`WISH`: of the row; `LEAST`: of somebody at or below it).

    The node is the row's queue; in cycles, the top of its tree.
    """
    at = t.work[row, c.WAIT]
    for slot in range(max(1, t.state[c.SLOTS])):
        if t.wish[at, slot, column] <= t.watch[node, slot, c.REACH]:
            return True
    return False


def first_reached(t: Tables, node: int, row: int) -> int:
    """The first in line at or below a row (NONE: there is none) whose wish is reached; NONE where there is none."""
    if row == c.NONE or not is_reached(t, node, row, c.LEAST):
        return c.NONE
    while True:
        if t.work[row, c.EARLIER] != c.NONE and is_reached(t, node, t.work[row, c.EARLIER], c.LEAST):
            row = t.work[row, c.EARLIER]
        elif is_reached(t, node, row, c.WISH):
            return row
        else:
            row = t.work[row, c.LATER]


def next_reached(t: Tables, node: int, row: int) -> int:
    """The first in line after a row whose wish is reached; NONE where there is none."""
    found = first_reached(t, node, t.work[row, c.LATER])
    while found == c.NONE and t.work[row, c.ABOVE] != c.NONE:
        above = t.work[row, c.ABOVE]
        if t.work[above, c.EARLIER] == row:
            found = above if is_reached(t, node, above, c.WISH) else first_reached(t, node, t.work[above, c.LATER])
        row = above
    return found


# --- what changed since it was last looked at whom that may help -------------------------------------------------------------


def note_change(t: Tables, queue: int, what: int) -> None:
    """Note that the wishes in a queue's line changed (`BY_WISHES`), or what it uses as well (`BY_CHARGES`)."""
    if t.node[queue, c.CHANGED] == 0:
        t.node[queue, c.NEXT_CHANGED] = t.state[c.FIRST_CHANGED]
        t.state[c.FIRST_CHANGED] = queue
    t.node[queue, c.CHANGED] = max(t.node[queue, c.CHANGED], what)
