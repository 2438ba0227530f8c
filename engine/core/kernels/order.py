"""Whose turn it is among the workloads that queues put up, over tables (`definition/admission/entry_order.py`).

A queue's nomination has the number of the queue.
`BEST` of a node is the best at or below it. The nodes below which something is put up are rivals where they meet (`MEETS_AT`): at their
parent; heads that are compared all at once, and trees, at the first node. The rivals of a node are a heap in `rival`, the best one on top,
with the values of their keys in `key`. Who has a turn is on top everywhere on its path, and changes nothing beside it.
"""

from .. import columns as c
from ..tables import Ints, Tables
from .guards import number_of
from .line import tie_break
from .quota.shares import order_of_shares, share, share_with
from .quota.tree import would_borrow
from .requests import asked_by, asks_as_noted, usage_of


def line_up(t: Tables, nodes: Ints, count: int) -> int:
    """Compare what so many queues put up; `nodes` has them first, and room for all above them. Return whose turn it is, or NONE."""
    if count == 0:
        return c.NONE
    t.state[c.TICK] += 1
    at = 0
    for i in range(count):
        t.node[nodes[i], c.BEST] = t.node[nodes[i], c.QUEUE_INDEX]
        join_rivals(t, nodes[i])
    while at < count:
        node = nodes[at]
        at += 1
        if not t.node[node, c.IS_QUEUE]:
            compare_rivals(t, node)
        above = t.node[node, c.MEETS_AT]
        if above != c.NONE:
            t.node[above, c.RIVALS_LEFT] -= 1
            if t.node[above, c.RIVALS_LEFT] == 0:
                nodes[count] = above
                count += 1
    return t.node[0, c.BEST]


def join_rivals(t: Tables, node: int) -> None:
    """List a node where it meets its rivals, and that node in turn, up to where that was done."""
    above, is_first = t.node[node, c.MEETS_AT], True
    while above != c.NONE and is_first:
        is_first = t.node[above, c.MET] != t.state[c.TICK]
        if is_first:
            t.node[above, c.MET], t.node[above, c.RIVALS], t.node[above, c.RIVALS_LEFT] = t.state[c.TICK], 0, 0
        t.rival[t.node[above, c.FIRST_RIVAL] + t.node[above, c.RIVALS]] = node
        t.node[above, c.RIVALS] += 1
        t.node[above, c.RIVALS_LEFT] += 1
        node, above = above, t.node[above, c.MEETS_AT]


def compare_rivals(t: Tables, node: int) -> None:
    """Let the best that its rivals put up be the best of a node; what each of them puts up is known."""
    first, count = t.node[node, c.FIRST_RIVAL], t.node[node, c.RIVALS]
    if count > 1:
        for i in range(count):
            note_keys_of_rival(t, t.rival[first + i])
        for at in range(count // 2 - 1, -1, -1):
            sink(t, first, count, at)
    t.node[node, c.BEST] = t.node[t.rival[first], c.BEST]


def sink(t: Tables, first: int, count: int, at: int) -> None:
    """Bring a rival to its place in a heap whose other rivals are in theirs."""
    while True:
        best = at
        for child in range(2 * at + 1, min(2 * at + 3, count)):
            if precedes_rival(t, t.rival[first + child], t.rival[first + best]):
                best = child
        if best == at:
            return
        t.rival[first + at], t.rival[first + best] = t.rival[first + best], t.rival[first + at]
        at = best


def next_in_turn(t: Tables, queue: int) -> int:
    """The nomination whose turn it is after that of a queue, which has changed what its queue uses; NONE where there is none."""
    node, above, leaves = queue, t.node[queue, c.MEETS_AT], True
    while above != c.NONE:
        first = t.node[above, c.FIRST_RIVAL]
        if leaves:
            t.node[above, c.RIVALS] -= 1
            t.rival[first] = t.rival[first + t.node[above, c.RIVALS]]
        elif t.node[above, c.RIVALS] > 1:
            note_keys_of_rival(t, node)
        sink(t, first, t.node[above, c.RIVALS], 0)
        leaves = t.node[above, c.RIVALS] == 0
        if not leaves:
            t.node[above, c.BEST] = t.node[t.rival[first], c.BEST]
        node, above = above, t.node[above, c.MEETS_AT]
    return c.NONE if leaves else t.node[0, c.BEST]


def note_keys_of_rival(t: Tables, node: int) -> None:
    """Write the values of the policy's keys for the best of a node: level by level they are those with it charged.

    Those of whoever asks for the same as the plain request that is noted of it are kept: they follow from the row, and from what is charged
    at or below the node. Where all are compared at once, borrowing and shares follow from more than that, and are written each time.
    """
    flat, entry = t.state[c.FLAT] == 1, t.node[node, c.BEST]
    row, queue, ask, as_noted = t.nom[entry, c.N_ROW], t.nom[entry, c.N_QUEUE], asked_by(t, entry), asks_as_noted(t, entry)
    are_kept = as_noted and t.node[node, c.KEYS_OF] == row
    if not flat and (t.node[node, c.PARENT] < 0 or are_kept):
        return
    at = t.state[c.QUEUE_KEYS] + 1
    for k in range(t.pool[t.state[c.QUEUE_KEYS]]):
        field = t.pool[at + k * c.KEY_WIDTH + c.K_FIELD]
        if field == c.F_BORROWING:
            t.key[node, k, 0] = t.nom[entry, c.N_LEVEL] if flat else int(would_borrow(t, node, queue, ask if as_noted else usage_of(entry)))
        elif field == c.F_SHARE:
            t.key[node, k, 0], t.key[node, k, 1], t.key[node, k, 2] = share(t, node) if flat else share_with(t, node, queue, ask)
        elif not are_kept:
            t.key[node, k, 0] = number_of(t, row, field, t.pool[at + k * c.KEY_WIDTH + c.K_ARGUMENT], 0)
    t.node[node, c.KEYS_OF] = row if as_noted else c.NONE


def precedes_rival(t: Tables, node: int, other: int) -> bool:
    """Whether the best of a node comes before that of a rival; of trees the first one has all its turns first."""
    if not t.state[c.FLAT] and t.node[node, c.PARENT] < 0:
        return node < other
    at = t.state[c.QUEUE_KEYS] + 1
    for k in range(t.pool[t.state[c.QUEUE_KEYS]]):
        if t.pool[at + k * c.KEY_WIDTH + c.K_FIELD] == c.F_SHARE:
            mine = t.key[node, k, 0], t.key[node, k, 1], t.key[node, k, 2]
            order = order_of_shares(t, mine, (t.key[other, k, 0], t.key[other, k, 1], t.key[other, k, 2]))
        else:
            order = 0 if t.key[node, k, 0] == t.key[other, k, 0] else -1 if t.key[node, k, 0] < t.key[other, k, 0] else 1
        if order != 0:
            return (order > 0) == (t.pool[at + k * c.KEY_WIDTH + c.K_DESCENDING] == 1)
    return tie_break(t, t.nom[t.node[node, c.BEST], c.N_ROW], t.nom[t.node[other, c.BEST], c.N_ROW]) < 0
