"""Whose turn it is among the workloads that queues put up, over tables (`definition/admission/entry_order.py`).

A queue's nomination has the number of the queue. Deciding at once, the open queues each put one up; in cycles those with an `ENTRY` do.
`BEST` of a node is the best at or below it. Its rivals are the children below which something is put up.
"""

import numpy as np

from .. import columns as c
from ..tables import Ints, Tables
from .guards import number_of
from .line import tie_break
from .quota.shares import order_of_shares, share
from .quota.tree import borrows, charge_all, uncharge_all
from .requests import request_of, usage_of


def next_entry(t: Tables) -> int:
    """The nomination whose turn it is; NONE where there is none."""
    count = max(1, t.pool[t.state[c.QUEUE_KEYS]])
    best_keys, keys = np.empty((count, 3), np.int64), np.empty((count, 3), np.int64)
    if t.state[c.FLAT]:
        best = c.NONE
        for queue in range(t.state[c.QUEUES]):
            node = t.pool[t.state[c.QUEUE_NODES] + queue]
            if t.node[node, c.ENTRY]:
                note_entry(t, node, queue, keys)
                if best == c.NONE or entry_precedes(t, queue, keys, best, best_keys):
                    best = queue
                    best_keys[:] = keys
        return best
    return best_of_rivals(t, best_keys, keys)


def best_of_rivals(t: Tables, best_keys: Ints, keys: Ints) -> int:
    """The best of all that queues put up, level by level up the tree; only nodes with an entry below are looked at."""
    nodes, count = np.empty(t.state[c.NODES], np.int64), 0
    t.state[c.TICK] += 1
    if t.state[c.BY_RULES]:
        queue = t.state[c.FIRST_OPEN]
        while queue != c.NONE:
            nodes[count] = queue
            count += 1
            join_rivals(t, queue)
            queue = t.node[queue, c.NEXT_OPEN]
    else:
        for i in range(t.state[c.QUEUES]):
            queue = t.pool[t.state[c.QUEUE_NODES] + i]
            if t.node[queue, c.ENTRY]:
                nodes[count] = queue
                count += 1
                join_rivals(t, queue)
    root, at = c.NONE, 0
    while at < count:
        node = nodes[at]
        at += 1
        t.node[node, c.BEST] = best_below(t, node, best_keys, keys)
        parent = t.node[node, c.PARENT]
        if parent < 0:
            root = node if root == c.NONE else min(root, node)
        else:
            t.node[parent, c.RIVALS_LEFT] -= 1
            if t.node[parent, c.RIVALS_LEFT] == 0:
                nodes[count] = parent
                count += 1
    return c.NONE if root == c.NONE else t.node[root, c.BEST]


def join_rivals(t: Tables, node: int) -> None:
    """List a node among the rivals of its parent, and the parent in turn, up to where that was done."""
    parent, is_first = t.node[node, c.PARENT], True
    while parent >= 0 and is_first:
        is_first = t.node[parent, c.MET] != t.state[c.TICK]
        if is_first:
            t.node[parent, c.MET], t.node[parent, c.FIRST_RIVAL], t.node[parent, c.RIVALS_LEFT] = t.state[c.TICK], c.NONE, 0
        t.node[node, c.NEXT_RIVAL] = t.node[parent, c.FIRST_RIVAL]
        t.node[parent, c.FIRST_RIVAL] = node
        t.node[parent, c.RIVALS_LEFT] += 1
        node, parent = parent, t.node[parent, c.PARENT]


def best_below(t: Tables, node: int, best_keys: Ints, keys: Ints) -> int:
    """The best nomination at or below a node: each rival puts up its own best, and they are compared with that rival charged."""
    if t.node[node, c.IS_QUEUE]:
        return t.node[node, c.QUEUE_INDEX]
    rival = t.node[node, c.FIRST_RIVAL]
    if t.node[rival, c.NEXT_RIVAL] == c.NONE:
        return t.node[rival, c.BEST]
    best = c.NONE
    while rival != c.NONE:
        entry = t.node[rival, c.BEST]
        charge_all(t, t.nom[entry, c.N_QUEUE], request_of(entry))
        note_entry(t, rival, entry, keys)
        uncharge_all(t, t.nom[entry, c.N_QUEUE], request_of(entry))
        if best == c.NONE or entry_precedes(t, entry, keys, best, best_keys):
            best = entry
            best_keys[:] = keys
        rival = t.node[rival, c.NEXT_RIVAL]
    return best


def note_entry(t: Tables, node: int, entry: int, keys: Ints) -> None:
    """Write the values of the policy's keys for a nomination that is compared at a node."""
    at = t.state[c.QUEUE_KEYS] + 1
    for k in range(t.pool[t.state[c.QUEUE_KEYS]]):
        field = t.pool[at + k * c.KEY_WIDTH + c.K_FIELD]
        keys[k, 1] = keys[k, 2] = 0
        if field == c.F_BORROWING:
            keys[k, 0] = t.nom[entry, c.N_LEVEL] if t.state[c.FLAT] else int(borrows(t, node, usage_of(entry)))
        elif field == c.F_SHARE:
            keys[k, 0], keys[k, 1], keys[k, 2] = share(t, node)
        else:
            keys[k, 0] = number_of(t, t.nom[entry, c.N_ROW], field, t.pool[at + k * c.KEY_WIDTH + c.K_ARGUMENT], 0)


def entry_precedes(t: Tables, entry: int, keys: Ints, other: int, other_keys: Ints) -> bool:
    """Whether a nomination comes before another one."""
    at = t.state[c.QUEUE_KEYS] + 1
    for k in range(t.pool[t.state[c.QUEUE_KEYS]]):
        if t.pool[at + k * c.KEY_WIDTH + c.K_FIELD] == c.F_SHARE:
            mine, others = (keys[k, 0], keys[k, 1], keys[k, 2]), (other_keys[k, 0], other_keys[k, 1], other_keys[k, 2])
            order = order_of_shares(t, mine, others)
        else:
            order = 0 if keys[k, 0] == other_keys[k, 0] else -1 if keys[k, 0] < other_keys[k, 0] else 1
        if order != 0:
            return (order > 0) == (t.pool[at + k * c.KEY_WIDTH + c.K_DESCENDING] == 1)
    return tie_break(t, t.nom[entry, c.N_ROW], t.nom[other, c.N_ROW]) < 0
