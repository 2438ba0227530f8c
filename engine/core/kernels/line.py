"""The line of a queue: a search tree (a treap) of its waiting workloads, in the policy's order. Those who run have such a tree as well.

The left side comes earlier. A parent's `heap_of` is at most its children's, and follows from the number of the submission, so that the tree
has the same form wherever the same workloads stand in it.
"""

from .. import columns as c
from ..tables import Tables
from .guards import number_of
from .watch.parked import list_waiting, return_queue, unlist
from .watch.wishes import gather_least, gather_wishes


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
    first, second = t.when[left, c.NUMBER], t.when[right, c.NUMBER]
    return 0 if first == second else -1 if first < second else 1


def order_by_keys(t: Tables, at: int, left: int, right: int) -> int:
    """-1, 0 or 1: how two workloads compare by keys that are numbers and no durations."""
    for k in range(at + 1, at + 1 + t.pool[at] * c.KEY_WIDTH, c.KEY_WIDTH):
        field, argument = t.pool[k + c.K_FIELD], t.pool[k + c.K_ARGUMENT]
        first, second = number_of(t, left, field, argument, 0), number_of(t, right, field, argument, 0)
        if first != second:
            return -1 if (first > second) == (t.pool[k + c.K_DESCENDING] == 1) else 1
    return 0


def goes_before(t: Tables, left: int, right: int) -> bool:
    """Whether a waiting workload of a queue comes before another one."""
    order = order_by_keys(t, t.state[c.WORKLOAD_KEYS], left, right)
    return order < 0 or (order == 0 and tie_break(t, left, right) < 0)


# --- the tree, of those who wait in a queue (`LINE`) or run in it (`RUNNING`) ---------------------------------------------


def heap_of(t: Tables, row: int) -> int:
    """The number by which a workload stands above others, as good as drawn by lot."""
    return ((t.when[row, c.NUMBER] & 0x7FFFFFFF) * 2654435761) & 0x7FFFFFFF


def replace_below(t: Tables, queue: int, tree: int, above: int, old: int, new: int) -> None:
    """Let a row (or NONE) take another one's place below `above` (NONE: as the tree's top)."""
    if above == c.NONE:
        t.node[queue, tree] = new
    elif t.work[above, c.EARLIER] == old:
        t.work[above, c.EARLIER] = new
    else:
        t.work[above, c.LATER] = new
    if new != c.NONE:
        t.work[new, c.ABOVE] = above


def lift(t: Tables, queue: int, tree: int, row: int) -> None:
    """Turn the tree so that a row stands where its parent stood."""
    parent = t.work[row, c.ABOVE]
    side, other = (c.EARLIER, c.LATER) if t.work[parent, c.EARLIER] == row else (c.LATER, c.EARLIER)
    moved = t.work[row, other]
    replace_below(t, queue, tree, t.work[parent, c.ABOVE], parent, row)
    t.work[parent, side] = moved
    if moved != c.NONE:
        t.work[moved, c.ABOVE] = parent
    t.work[row, other] = parent
    t.work[parent, c.ABOVE] = row
    if tree == c.LINE:
        gather_least(t, parent)
        gather_least(t, row)


def join_tree(t: Tables, queue: int, tree: int, row: int, above: int, side: int) -> None:
    """Put a row on a free side of another one (NONE: the tree is empty), and bring the tree into its form."""
    t.work[row, c.EARLIER] = t.work[row, c.LATER] = c.NONE
    t.work[row, c.ABOVE] = above
    if above == c.NONE:
        t.node[queue, tree] = row
    else:
        t.work[above, side] = row
    if tree == c.LINE:
        gather_least(t, row)
        gather_wishes(t, above)
    while t.work[row, c.ABOVE] != c.NONE and heap_of(t, t.work[row, c.ABOVE]) > heap_of(t, row):
        lift(t, queue, tree, row)


def leave_tree(t: Tables, queue: int, tree: int, row: int) -> None:
    """Take a row out of its tree."""
    while t.work[row, c.EARLIER] != c.NONE and t.work[row, c.LATER] != c.NONE:
        left, right = t.work[row, c.EARLIER], t.work[row, c.LATER]
        lift(t, queue, tree, left if heap_of(t, left) < heap_of(t, right) else right)
    below = t.work[row, c.EARLIER] if t.work[row, c.EARLIER] != c.NONE else t.work[row, c.LATER]
    replace_below(t, queue, tree, t.work[row, c.ABOVE], row, below)


def next_in_tree(t: Tables, row: int) -> int:
    """Who comes after a workload in its line, or among those who run; NONE where it is the last."""
    return neighbor(t, row, c.LATER, c.EARLIER)


def neighbor(t: Tables, row: int, side: int, other: int) -> int:
    """Who comes next to a workload on a side; `other` is the other side."""
    if t.work[row, side] != c.NONE:
        row = t.work[row, side]
        while t.work[row, other] != c.NONE:
            row = t.work[row, other]
        return row
    while t.work[row, c.ABOVE] != c.NONE and t.work[t.work[row, c.ABOVE], side] == row:
        row = t.work[row, c.ABOVE]
    return t.work[row, c.ABOVE]


# --- the line ---------------------------------------------------------------------------------------------------------------


def queue_up(t: Tables, row: int) -> None:
    """Put a waiting workload in its place."""
    queue = t.work[row, c.QUEUE]
    above, below, side = c.NONE, t.node[queue, c.LINE], c.EARLIER
    while below != c.NONE:
        above = below
        side = c.EARLIER if goes_before(t, row, above) else c.LATER
        below = t.work[above, side]
    priority = t.when[row, c.PRIORITY]
    t.node[queue, c.MOST_WAITING] = priority if above == c.NONE else max(t.node[queue, c.MOST_WAITING], priority)
    join_tree(t, queue, c.LINE, row, above, side)
    t.wait[t.work[row, c.WAIT], c.IN_LINE] = 1
    node, nom = queue, t.node[queue, c.QUEUE_INDEX]
    # Another one may have stood in this row, or the same one with other pods or another priority.
    if t.nom[nom, c.N_NOTED] == row + 1:
        t.nom[nom, c.N_NOTED] = 0
    while node >= 0:
        t.node[node, c.KEYS_OF] = c.NONE
        node = t.node[node, c.PARENT]
    t.state[c.WAITS_AT] = queue
    t.state[c.WAITING] += 1
    t.node[queue, c.WAITS] += 1
    if t.node[queue, c.WAITS] == 1:
        list_waiting(t, queue)
    else:
        return_queue(t, queue)


def leave_line(t: Tables, row: int) -> None:
    """Take a workload out of its line."""
    queue = t.work[row, c.QUEUE]
    leave_tree(t, queue, c.LINE, row)
    gather_wishes(t, t.work[row, c.ABOVE])
    t.wait[t.work[row, c.WAIT], c.IN_LINE] = 0
    t.state[c.WAITING] -= 1
    t.node[queue, c.WAITS] -= 1
    if t.node[queue, c.WAITS] == 0:
        unlist(t, queue)


def first_in_line(t: Tables, queue: int) -> int:
    """Who comes first in a queue; NONE where nobody waits."""
    row, found = t.node[queue, c.LINE], c.NONE
    while row != c.NONE:
        found, row = row, t.work[row, c.EARLIER]
    return found
