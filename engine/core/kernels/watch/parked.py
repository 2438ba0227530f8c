"""Queues in which somebody waits, in lists: those that may put somebody up, and of each tree those in which all are parked.

So a cycle does not look at queues that have nobody to put up. A queue returns to the first list when somebody joins its line, and when
something became free in its tree. The links of all lists stand in the same columns of the node. `ALL_PARKED` is the epoch of the tree in
which all were parked; 0 where a queue was listed since. With each return a new epoch begins, so it
need not be changed in queues that return.
"""

from ... import columns as c
from ...tables import Tables


def put_before(t: Tables, queue: int, first: int) -> None:
    """Put a queue that is in no list before the first of one (NONE: it is empty)."""
    t.node[queue, c.WAITING_AFTER], t.node[queue, c.WAITING_BEFORE] = first, c.NONE
    if first != c.NONE:
        t.node[first, c.WAITING_BEFORE] = queue


def list_waiting(t: Tables, queue: int) -> None:
    """Put a queue that is in no list among those that may put somebody up."""
    put_before(t, queue, t.state[c.FIRST_WAITING])
    t.state[c.FIRST_WAITING], t.node[queue, c.ALL_PARKED] = queue, 0


def are_all_parked(t: Tables, queue: int) -> bool:
    """Whether a queue stands in the list of its tree."""
    return t.node[queue, c.ALL_PARKED] == t.node[t.node[queue, c.TOP], c.EPOCH]


def unlist(t: Tables, queue: int) -> None:
    """Take a queue out of its list."""
    before, after, parked = t.node[queue, c.WAITING_BEFORE], t.node[queue, c.WAITING_AFTER], are_all_parked(t, queue)
    if before != c.NONE:
        t.node[before, c.WAITING_AFTER] = after
    elif parked:
        t.node[t.node[queue, c.TOP], c.FIRST_PARKED] = after
    else:
        t.state[c.FIRST_WAITING] = after
    if after != c.NONE:
        t.node[after, c.WAITING_BEFORE] = before
    elif parked:
        t.node[t.node[queue, c.TOP], c.LAST_PARKED] = before


def move_to_parked(t: Tables, queue: int) -> None:
    """Move a queue in which all are parked from the first list to that of its tree."""
    unlist(t, queue)
    top = t.node[queue, c.TOP]
    if t.node[top, c.FIRST_PARKED] == c.NONE:
        t.node[top, c.LAST_PARKED] = queue
    put_before(t, queue, t.node[top, c.FIRST_PARKED])
    t.node[top, c.FIRST_PARKED], t.node[queue, c.ALL_PARKED] = queue, t.node[top, c.EPOCH]


def return_queue(t: Tables, queue: int) -> None:
    """Move a queue back to the first list, as somebody joined its line."""
    if are_all_parked(t, queue):
        unlist(t, queue)
        list_waiting(t, queue)


def return_tree(t: Tables, top: int) -> None:
    """Begin a new epoch of a tree, as something became free there: all its parked queues return to the first list, before those in it."""
    first, last = t.node[top, c.FIRST_PARKED], t.node[top, c.LAST_PARKED]
    t.node[top, c.EPOCH] += 1
    t.node[top, c.FIRST_PARKED] = c.NONE
    if first != c.NONE:
        after = t.state[c.FIRST_WAITING]
        t.node[last, c.WAITING_AFTER], t.state[c.FIRST_WAITING] = after, first
        if after != c.NONE:
            t.node[after, c.WAITING_BEFORE] = last
