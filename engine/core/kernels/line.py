"""The line of a queue: a search tree (a treap) of its waiting workloads, in the policy's order.

The left side comes earlier. A parent's `HEAP` is at most its children's, and follows from the number of the submission, so that the tree
has the same form wherever the same workloads wait.
"""

from .. import columns as c
from ..tables import Tables
from .guards import number_of
from .watch.wishes import gather_least, gather_wishes, wish_for_anything


def text_order(t: Tables, left: int, right: int) -> int:
    """-1, 0 or 1: how two texts compare; each is its length in characters' bytes, then seven of them a number."""
    if left == right:
        return 0
    words = (min(t.text[left], t.text[right]) + 6) // 7
    for k in range(1, words + 1):
        if t.text[left + k] != t.text[right + k]:
            return -1 if t.text[left + k] < t.text[right + k] else 1
    return 0 if t.text[left] == t.text[right] else -1 if t.text[left] < t.text[right] else 1


def tie_break(t: Tables, left: int, right: int) -> int:
    """-1, 0 or 1: how two workloads compare by their identity outside, then by the order of submission."""
    order = text_order(t, t.work[left, c.UID], t.work[right, c.UID])
    if order != 0:
        return order
    first, second = t.work[left, c.NUMBER], t.work[right, c.NUMBER]
    return 0 if first == second else -1 if first < second else 1


def goes_before(t: Tables, left: int, right: int) -> bool:
    """Whether a waiting workload of a queue comes before another one."""
    at = t.state[c.WORKLOAD_KEYS]
    for k in range(at + 1, at + 1 + t.pool[at] * c.KEY_WIDTH, c.KEY_WIDTH):
        field, argument = t.pool[k + c.K_FIELD], t.pool[k + c.K_ARGUMENT]
        first, second = number_of(t, left, field, argument, 0), number_of(t, right, field, argument, 0)
        if first != second:
            return (first > second) == (t.pool[k + c.K_DESCENDING] == 1)
    return tie_break(t, left, right) < 0


def replace_below(t: Tables, queue: int, above: int, old: int, new: int) -> None:
    """Let a row (or NONE) take another one's place below `above` (NONE: as the queue's first)."""
    if above == c.NONE:
        t.node[queue, c.LINE] = new
    elif t.work[above, c.EARLIER] == old:
        t.work[above, c.EARLIER] = new
    else:
        t.work[above, c.LATER] = new
    if new != c.NONE:
        t.work[new, c.ABOVE] = above


def lift(t: Tables, queue: int, row: int) -> None:
    """Turn the tree so that a row stands where its parent stood."""
    parent = t.work[row, c.ABOVE]
    side, other = (c.EARLIER, c.LATER) if t.work[parent, c.EARLIER] == row else (c.LATER, c.EARLIER)
    moved = t.work[row, other]
    replace_below(t, queue, t.work[parent, c.ABOVE], parent, row)
    t.work[parent, side] = moved
    if moved != c.NONE:
        t.work[moved, c.ABOVE] = parent
    t.work[row, other] = parent
    t.work[parent, c.ABOVE] = row
    gather_least(t, parent)
    gather_least(t, row)


def queue_up(t: Tables, row: int) -> None:
    """Put a waiting workload in its place."""
    queue = t.work[row, c.QUEUE]
    t.work[row, c.EARLIER] = t.work[row, c.LATER] = c.NONE
    t.work[row, c.HEAP] = ((t.work[row, c.NUMBER] & 0x7FFFFFFF) * 2654435761) & 0x7FFFFFFF
    above, below = c.NONE, t.node[queue, c.LINE]
    earlier = False
    while below != c.NONE:
        above = below
        earlier = goes_before(t, row, above)
        below = t.work[above, c.EARLIER if earlier else c.LATER]
    t.work[row, c.ABOVE] = above
    if above == c.NONE:
        t.node[queue, c.LINE], t.node[queue, c.MOST_WAITING] = row, t.work[row, c.PRIORITY]
    else:
        t.node[queue, c.MOST_WAITING] = max(t.node[queue, c.MOST_WAITING], t.work[row, c.PRIORITY])
        t.work[above, c.EARLIER if earlier else c.LATER] = row
    wish_for_anything(t, row)
    gather_wishes(t, row)
    while t.work[row, c.ABOVE] != c.NONE and t.work[t.work[row, c.ABOVE], c.HEAP] > t.work[row, c.HEAP]:
        lift(t, queue, row)
    t.work[row, c.IN_LINE] = 1
    node, nom = queue, t.node[queue, c.QUEUE_INDEX]
    if t.nom[nom, c.N_ROW] == row:
        t.nom[nom, c.N_IS_PLAIN] = 0
    while node >= 0:  # another one may have stood in this row
        t.node[node, c.KEYS_OF] = c.NONE
        node = t.node[node, c.PARENT]
    t.state[c.WAITS_AT] = queue
    t.state[c.WAITING] += 1
    t.node[queue, c.WAITS] += 1
    if t.node[queue, c.WAITS] == 1:
        first = t.state[c.FIRST_WAITING]
        t.node[queue, c.NEXT_WAITING], t.node[queue, c.LAST_WAITING] = first, c.NONE
        if first != c.NONE:
            t.node[first, c.LAST_WAITING] = queue
        t.state[c.FIRST_WAITING] = queue


def leave_line(t: Tables, row: int) -> None:
    """Take a workload out of its line."""
    queue = t.work[row, c.QUEUE]
    while t.work[row, c.EARLIER] != c.NONE and t.work[row, c.LATER] != c.NONE:
        left, right = t.work[row, c.EARLIER], t.work[row, c.LATER]
        lift(t, queue, left if t.work[left, c.HEAP] < t.work[right, c.HEAP] else right)
    below = t.work[row, c.EARLIER] if t.work[row, c.EARLIER] != c.NONE else t.work[row, c.LATER]
    replace_below(t, queue, t.work[row, c.ABOVE], row, below)
    gather_wishes(t, t.work[row, c.ABOVE])
    t.work[row, c.IN_LINE] = 0
    t.state[c.WAITING] -= 1
    t.node[queue, c.WAITS] -= 1
    if t.node[queue, c.WAITS] == 0:
        before, after = t.node[queue, c.LAST_WAITING], t.node[queue, c.NEXT_WAITING]
        if before == c.NONE:
            t.state[c.FIRST_WAITING] = after
        else:
            t.node[before, c.NEXT_WAITING] = after
        if after != c.NONE:
            t.node[after, c.LAST_WAITING] = before


def first_in_line(t: Tables, queue: int) -> int:
    """Who comes first in a queue; NONE where nobody waits."""
    row, found = t.node[queue, c.LINE], c.NONE
    while row != c.NONE:
        found, row = row, t.work[row, c.EARLIER]
    return found


def next_in_line(t: Tables, row: int) -> int:
    """Who comes after a workload in its line; NONE where it is the last."""
    if t.work[row, c.LATER] != c.NONE:
        row = t.work[row, c.LATER]
        while t.work[row, c.EARLIER] != c.NONE:
            row = t.work[row, c.EARLIER]
        return row
    while t.work[row, c.ABOVE] != c.NONE and t.work[t.work[row, c.ABOVE], c.LATER] == row:
        row = t.work[row, c.ABOVE]
    return t.work[row, c.ABOVE]
