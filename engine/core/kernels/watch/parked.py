"""Queues in which somebody waits, in lists: those that may put somebody up, and of each tree those in which all are parked.

So a cycle does not look at queues that have nobody to put up. A queue returns to the first list when somebody joins its line, and when
something became free in its tree. The links of all lists stand in the same columns of the node.
"""

from ... import columns as c
from ...tables import Tables


def put_before(t: Tables, queue: int, first: int) -> None:
    """Put a queue that is in no list before the first of one (NONE: it is empty)."""
    t.node[queue, c.NEXT_WAITING], t.node[queue, c.LAST_WAITING] = first, c.NONE
    if first != c.NONE:
        t.node[first, c.LAST_WAITING] = queue


def list_waiting(t: Tables, queue: int) -> None:
    """Put a queue that is in no list among those that may put somebody up."""
    put_before(t, queue, t.state[c.FIRST_WAITING])
    t.state[c.FIRST_WAITING], t.node[queue, c.ALL_PARKED] = queue, 0


def unlist(t: Tables, queue: int) -> None:
    """Take a queue out of its list."""
    before, after = t.node[queue, c.LAST_WAITING], t.node[queue, c.NEXT_WAITING]
    if before != c.NONE:
        t.node[before, c.NEXT_WAITING] = after
    elif t.node[queue, c.ALL_PARKED]:
        t.node[t.node[queue, c.TOP], c.FIRST_PARKED] = after
    else:
        t.state[c.FIRST_WAITING] = after
    if after != c.NONE:
        t.node[after, c.LAST_WAITING] = before


def list_parked(t: Tables, queue: int) -> None:
    """Note that all who wait in a queue are parked; it is in the first list."""
    unlist(t, queue)
    top = t.node[queue, c.TOP]
    put_before(t, queue, t.node[top, c.FIRST_PARKED])
    t.node[top, c.FIRST_PARKED], t.node[queue, c.ALL_PARKED] = queue, 1


def return_queue(t: Tables, queue: int) -> None:
    """Note that somebody joined the line of a queue."""
    if t.node[queue, c.ALL_PARKED]:
        unlist(t, queue)
        list_waiting(t, queue)


def return_tree(t: Tables, top: int) -> None:
    """Let all queues of a tree return in which something became free."""
    queue = t.node[top, c.FIRST_PARKED]
    t.node[top, c.FIRST_PARKED] = c.NONE
    while queue != c.NONE:
        following = t.node[queue, c.NEXT_WAITING]
        list_waiting(t, queue)
        queue = following
