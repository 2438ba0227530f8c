"""Whom a change may help: what the queues below a node need to arrive at it, least first, and the queues that get as much now.

A queue needs what the one in its line wishes for who wishes for least. What a node asks its parent for (`asked.py`) is that, less what it
keeps local; anything will do if a rule lets others go for as much at the node itself, and nothing will if its borrowing limit allows less.
A cohort needs the least of what it is asked for. So it takes no look at a queue to see that nobody in it can be helped.
"""

import numpy as np

from ... import columns as c
from ...tables import Tables
from ..line import first_in_line
from ..quota.tree import limit_left, local_left
from .asked import first_helped, next_helped, write_asked
from .reach import reach_by_rules, share_bound


def note_needs(t: Tables) -> None:
    """Bring up to date what nodes need, after all changes that were noted."""
    nodes, count, deepest = np.empty(t.state[c.NODES], np.int64), 0, 0
    queue = t.state[c.FIRST_CHANGED]
    if queue == c.NONE:
        return
    while queue != c.NONE:
        need_of_queue(t, queue)
        nodes[count] = queue
        count += 1
        deepest = max(deepest, t.node[queue, c.DEPTH])
        queue = t.node[queue, c.NEXT_CHANGED]
    t.state[c.FIRST_CHANGED] = c.NONE
    for depth in range(deepest, -1, -1):  # what is above comes after all that is below
        for i in range(count):
            if t.node[nodes[i], c.DEPTH] == depth:
                node, parent = nodes[i], t.node[nodes[i], c.PARENT]
                if pass_on(t, node):
                    if t.node[parent, c.CHANGED] == 0:
                        nodes[count] = parent
                        count += 1
                    t.node[parent, c.CHANGED] = max(t.node[parent, c.CHANGED], t.node[node, c.CHANGED])
                t.node[node, c.CHANGED] = 0


def need_of_queue(t: Tables, queue: int) -> None:
    """Write what a queue needs: for the one in its line who wishes for least, or for the first, if others may not pass."""
    row = first_in_line(t, queue) if t.node[queue, c.STRICT] else t.node[queue, c.LINE]
    for slot in range(max(1, t.state[c.SLOTS])):
        need = c.NEVER
        if row != c.NONE:
            need = t.wish[t.work[row, c.WAIT], slot, c.WISH if t.node[queue, c.STRICT] else c.LEAST]
        t.watch[queue, slot, c.NEED] = need if is_any_or_never(need) else need - t.watch[queue, slot, c.JOINED]


def is_any_or_never(need: int) -> bool:
    """Whether a need is one for anything, or one that nothing meets."""
    return need <= -c.BEYOND or need >= c.BEYOND


def pass_on(t: Tables, node: int) -> bool:
    """Let the parent of a node know what the node asks for, and what its share is; say whether the parent has to be looked at."""
    parent, changes = t.node[node, c.PARENT], t.node[node, c.CHANGED] == c.BY_CHARGES
    if t.node[node, c.STALE]:
        ask_anew(t, node)
    if parent < 0:
        return False
    if changes and t.state[c.KEEPS] == c.BY_SHARES:
        note_share_bound(t, node, parent)
    for slot in range(max(1, t.state[c.SLOTS])):
        if write_asked(t, node, slot, what_it_asks(t, node, slot)):
            changes = True
    return changes


def note_share_bound(t: Tables, node: int, parent: int) -> None:
    """Note the share of a node, and the two greatest beside it; where one of them grew, what all of them ask for is found anew."""
    before, bound = t.node[node, c.BOUND], share_bound(t, node)
    t.node[node, c.BOUND] = bound
    if bound == before:
        return
    first, second = t.node[parent, c.GREATEST], t.node[parent, c.SECOND]
    if bound < before and (t.node[parent, c.GREATEST_OF] == node or before == second):
        greatest_shares(t, parent)
    elif t.node[parent, c.GREATEST_OF] == node:
        t.node[parent, c.GREATEST] = bound
    elif bound > first:
        t.node[parent, c.GREATEST], t.node[parent, c.GREATEST_OF], t.node[parent, c.SECOND] = bound, node, first
    else:
        t.node[parent, c.SECOND] = max(bound, second)
    if t.node[parent, c.GREATEST] > first or t.node[parent, c.SECOND] > second:
        t.node[parent, c.STALE] = 1


def greatest_shares(t: Tables, parent: int) -> None:
    """Find the greatest share below a cohort, whose it is, and the next one."""
    first, of, second, child = 0, c.NONE, 0, t.node[parent, c.FIRST_CHILD]
    while child != c.NONE:
        bound = t.node[child, c.BOUND]
        if of == c.NONE or bound > first:
            first, of, second = bound, child, first
        else:
            second = max(second, bound)
        child = t.node[child, c.NEXT_CHILD]
    t.node[parent, c.GREATEST], t.node[parent, c.GREATEST_OF], t.node[parent, c.SECOND] = first, of, second


def ask_anew(t: Tables, node: int) -> None:
    """Write anew what each child of a cohort asks for, as the greatest of their shares, or the next one, grew."""
    child = t.node[node, c.FIRST_CHILD]
    while child != c.NONE:
        for slot in range(max(1, t.state[c.SLOTS])):
            write_asked(t, child, slot, what_it_asks(t, child, slot))
        child = t.node[child, c.NEXT_CHILD]
    t.node[node, c.STALE] = 0


def what_it_asks(t: Tables, node: int, slot: int) -> int:
    """What has to arrive at the parent of a node so that somebody below the node may be helped."""
    need = t.watch[node, slot, c.NEED]
    if is_any_or_never(need):
        return c.ANYTIME if need < 0 else c.NEVER
    if limit_left(t, node, slot) < need:
        return c.NEVER  # neither room above nor victims elsewhere help (`reach.py`)
    return c.ANYTIME if reach_by_rules(t, node, slot) >= need else need - local_left(t, node, slot)


# --- who is helped --------------------------------------------------------------------------------------------------------


def open_queues(t: Tables, of_all: bool) -> None:
    """List the queues of which somebody may be helped as things stand (`FIRST_OPEN`, `NEXT_OPEN`): of all, or of those that are open.

    All changes have to be noted. `OPENED` of a queue is the number of the last such list that has it, 0 once it is closed.
    """
    before = t.state[c.OPENING]
    t.state[c.FIRST_OPEN], t.state[c.OPENING] = c.NONE, before + 1
    for slot in range(t.state[c.SLOTS]):
        t.watch[0, slot, c.ROOM] = t.quota[0, slot, c.OWNED] - t.quota[0, slot, c.USED]
        t.watch[0, slot, c.EXTRA] = c.ANYTIME
    parent, node = 0, first_helped(t, 0)
    while parent != c.NONE:
        if node == c.NONE:  # nobody more below this parent: go on beside it
            node, parent = parent, t.node[parent, c.PARENT]
            node = c.NONE if parent == c.NONE else next_helped(t, node)
        elif t.node[node, c.IS_QUEUE]:
            if of_all or t.node[node, c.OPENED] == before:
                t.node[node, c.OPENED], t.node[node, c.NEXT_OPEN] = before + 1, t.state[c.FIRST_OPEN]
                t.state[c.FIRST_OPEN] = node
            node = next_helped(t, node)
        else:
            note_what_arrives(t, node)
            parent, node = node, first_helped(t, node)


def note_what_arrives(t: Tables, node: int) -> None:
    """Write how much may arrive at a cohort: by the room above it, and by rules."""
    parent = t.node[node, c.PARENT]
    for slot in range(t.state[c.SLOTS]):
        kept = local_left(t, node, slot)
        by_rules = max(kept + t.watch[parent, slot, c.EXTRA], reach_by_rules(t, node, slot))
        t.watch[node, slot, c.ROOM] = min(limit_left(t, node, slot), kept + t.watch[parent, slot, c.ROOM])
        t.watch[node, slot, c.EXTRA] = min(limit_left(t, node, slot), by_rules)
