"""Whose turn it is among the workloads that queues put up, over tables (`definition/admission/entry_order.py`).

A queue's nomination has the number of the queue. `ENTRY` of a queue's node says whether it puts one up, `BEST` of a node the best at or
below it.
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
    for i in range(t.state[c.NODES]):  # every node comes after those below it
        node = t.pool[t.state[c.SWEEP_ORDER] + i]
        t.node[node, c.BEST] = best_below(t, node, best_keys, keys)
    for i in range(t.state[c.NODES]):
        if t.node[i, c.PARENT] < 0 and t.node[i, c.BEST] != c.NONE:
            return t.node[i, c.BEST]
    return c.NONE


def best_below(t: Tables, node: int, best_keys: Ints, keys: Ints) -> int:
    """The best nomination at or below a node: each child puts up its own best, and they are compared with that child charged."""
    if t.node[node, c.IS_QUEUE]:
        return t.node[node, c.QUEUE_INDEX] if t.node[node, c.ENTRY] else c.NONE
    best, several = c.NONE, 0
    child = t.node[node, c.FIRST_CHILD]
    while child != c.NONE:
        if t.node[child, c.BEST] != c.NONE:
            best = t.node[child, c.BEST]
            several += 1
        child = t.node[child, c.NEXT_CHILD]
    if several < 2:
        return best
    best = c.NONE
    child = t.node[node, c.FIRST_CHILD]
    while child != c.NONE:
        entry = t.node[child, c.BEST]
        if entry != c.NONE:
            charge_all(t, t.nom[entry, c.N_QUEUE], request_of(entry))
            note_entry(t, child, entry, keys)
            uncharge_all(t, t.nom[entry, c.N_QUEUE], request_of(entry))
            if best == c.NONE or entry_precedes(t, entry, keys, best, best_keys):
                best = entry
                best_keys[:] = keys
        child = t.node[child, c.NEXT_CHILD]
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
