"""Fair victims, over tables: of the node with the greatest share, level by level (`definition/preemption/fair_sharing.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..quota.shares import ShareNumbers, order_of_shares, share, share_without
from ..quota.tree import borrows, borrows_anything, charge_all, is_below, next_node, sides, uncharge_all
from .candidates import gather, precedes
from .classical import grade_of
from .trial import add_victim, enough, fill_back, give_all_back, note_share


def search_fairly(t: Tables, row: int, ask: int, need: int) -> int:
    """Find the victims without whom a request fits; return the grade. All are put back, and listed.

    `NEXT_VICTIM` and `LAST_VICTIM` of a queue's node say which part of the list of candidates is left.
    """
    queue = t.work[row, c.QUEUE]
    rows = np.empty(max(1, t.state[c.LIVE]), np.int64)
    retry = np.empty(max(1, t.state[c.LIVE]), np.int64)
    t.state[c.VICTIMS] = 0
    if list_candidates(t, row, need, rows) == 0:
        return c.NO_VICTIMS
    charge_all(t, queue, ask)
    fit, retried = by_first(t, row, ask, need, rows, retry)
    if not fit and t.state[c.STRATEGY_2]:
        fit = by_second(t, row, ask, rows, retry, retried)
    uncharge_all(t, queue, ask)
    if fit:
        fill_back(t, row, ask, False, False)
    give_all_back(t)
    if not fit:
        t.state[c.VICTIMS] = 0
        return c.NO_VICTIMS
    return grade_of(t, queue)


def list_candidates(t: Tables, row: int, need: int, rows: Ints) -> int:
    """List the candidates of the queue itself and of all of its tree that borrow, each queue in its own order; return how many."""
    queue, count = t.work[row, c.QUEUE], 0
    node = t.node[queue, c.TOP]
    while node != c.NONE:
        t.node[node, c.NEXT_VICTIM] = count
        if t.node[node, c.IS_QUEUE] and (node == queue or borrows(t, node, need)):
            count = gather(t, row, need, node, rows, count)
        t.node[node, c.LAST_VICTIM] = count
        node = next_node(t, node, t.node[queue, c.TOP])
    return count


def is_fair(t: Tables, strategy: int, mine: ShareNumbers, theirs: ShareNumbers, theirs_after: ShareNumbers) -> bool:
    """Whether a strategy lets a victim go, by the shares of the two sides below the cohort where their paths meet."""
    if strategy == c.FINAL_SHARE:
        return order_of_shares(t, mine, theirs_after) <= 0
    return order_of_shares(t, mine, theirs) < 0


def try_victim(t: Tables, row: int, each: int, strategy: int) -> bool:
    """Take a victim if its going is fair; say whether it is."""
    ours, theirs = sides(t, t.work[row, c.QUEUE], t.work[each, c.QUEUE])
    mine, before, after = share(t, ours), share(t, theirs), share_without(t, theirs, each)
    if not is_fair(t, strategy, mine, before, after):
        return False
    at = add_victim(t, each, c.FAIR_SHARING, c.NONE)
    t.victim[at, c.V_COMPARED] = 3
    note_share(t, at, c.V_VALUES, mine)
    note_share(t, at, c.V_VALUES + 3, before)
    note_share(t, at, c.V_VALUES + 6, after)
    return True


def by_first(t: Tables, row: int, ask: int, need: int, rows: Ints, retry: Ints) -> tuple[bool, int]:
    """Take victims by the first strategy, wherever the share is greatest; say whether they are enough, and how many were refused."""
    queue, refused = t.work[row, c.QUEUE], 0
    within = not borrows(t, queue, need)
    heap, shares = np.empty(t.state[c.NODES], np.int64), np.empty((t.state[c.NODES], 3), np.int64)
    rank_givers(t, queue, rows, heap, shares)
    while True:
        target = next_queue(t, queue, heap)
        if target == c.NONE:
            return False, refused
        if target == queue or within:
            each = rows[t.node[target, c.NEXT_VICTIM]]
            t.node[target, c.NEXT_VICTIM] += 1
            add_victim(t, each, c.IN_QUEUE if target == queue else c.RECLAIM, c.NONE)
            if enough(t, row, ask, True, False):
                return True, refused
            rank_again(t, queue, target, rows, heap, shares)
            continue
        while has_victims(t, target):
            each = rows[t.node[target, c.NEXT_VICTIM]]
            t.node[target, c.NEXT_VICTIM] += 1
            if try_victim(t, row, each, t.state[c.STRATEGY_1]):
                if enough(t, row, ask, True, False):
                    return True, refused
                break
            retry[refused] = each
            refused += 1
        rank_again(t, queue, target, rows, heap, shares)


def by_second(t: Tables, row: int, ask: int, rows: Ints, retry: Ints, refused: int) -> bool:
    """Take at most one victim of each queue that is left, by the second strategy."""
    queue = t.work[row, c.QUEUE]
    node = t.node[queue, c.TOP]
    while node != c.NONE:
        t.node[node, c.NEXT_VICTIM] = t.node[node, c.LAST_VICTIM] = 0
        node = next_node(t, node, t.node[queue, c.TOP])
    for i in range(refused - 1, -1, -1):  # of each queue the one that was refused first
        node = t.work[retry[i], c.QUEUE]
        rows[i] = retry[i]
        t.node[node, c.NEXT_VICTIM], t.node[node, c.LAST_VICTIM] = i, i + 1
    heap, shares = np.empty(t.state[c.NODES], np.int64), np.empty((t.state[c.NODES], 3), np.int64)
    rank_givers(t, queue, rows, heap, shares)
    while True:
        target = next_queue(t, queue, heap)
        if target == c.NONE:
            return False
        if try_victim(t, row, rows[t.node[target, c.NEXT_VICTIM]], t.state[c.STRATEGY_2]) and enough(t, row, ask, True, False):
            return True
        t.node[target, c.NEXT_VICTIM] = t.node[target, c.LAST_VICTIM]
        rank_again(t, queue, target, rows, heap, shares)


# --- the queue to take the next victim of -------------------------------------------------------------------------------


def rank_givers(t: Tables, queue: int, rows: Ints, heap: Ints, shares: Ints) -> None:
    """Bring the children of each cohort of a queue's tree that have something to give into a heap, the greatest share on top."""
    top = node = t.node[queue, c.TOP]
    while True:
        t.node[node, c.GIVERS] = 0
        while t.node[node, c.FIRST_CHILD] != c.NONE:
            node = t.node[node, c.FIRST_CHILD]
            t.node[node, c.GIVERS] = 0
        while True:  # all below a node comes before it
            first, count, parent = t.node[node, c.FIRST_RIVAL], t.node[node, c.GIVERS], t.node[node, c.PARENT]
            for i in range(count):
                note_share_of(t, heap[first + i], shares)
            for at in range(count // 2 - 1, -1, -1):
                sink_giver(t, queue, rows, heap, shares, first, count, at)
            if node == top:
                return
            if gives(t, queue, node):
                heap[t.node[parent, c.FIRST_RIVAL] + t.node[parent, c.GIVERS]] = node
                t.node[parent, c.GIVERS] += 1
            if t.node[node, c.NEXT_CHILD] != c.NONE:
                node = t.node[node, c.NEXT_CHILD]
                break
            node = parent


def rank_again(t: Tables, queue: int, target: int, rows: Ints, heap: Ints, shares: Ints) -> None:
    """Bring a queue to its place that was the one to take the next victim of, and all above it."""
    node = target
    while node != t.node[queue, c.TOP]:
        parent = t.node[node, c.PARENT]
        first = t.node[parent, c.FIRST_RIVAL]
        if gives(t, queue, node):
            note_share_of(t, node, shares)
        else:
            t.node[parent, c.GIVERS] -= 1
            heap[first] = heap[first + t.node[parent, c.GIVERS]]
        sink_giver(t, queue, rows, heap, shares, first, t.node[parent, c.GIVERS], 0)
        node = parent


def next_queue(t: Tables, queue: int, heap: Ints) -> int:
    """The queue to take the next victim of: down from the top, each time to the child with the greatest share; NONE: nobody is left."""
    node = t.node[queue, c.TOP]
    while not t.node[node, c.IS_QUEUE]:
        if t.node[node, c.GIVERS] == 0:
            return c.NONE
        node = heap[t.node[node, c.FIRST_RIVAL]]
    return node if has_victims(t, node) else c.NONE


def has_victims(t: Tables, node: int) -> bool:
    """Whether candidates of a queue are left."""
    return t.node[node, c.NEXT_VICTIM] < t.node[node, c.LAST_VICTIM]


def gives(t: Tables, queue: int, node: int) -> bool:
    """Whether a node has something to give to a queue: it borrows, or the queue is below it, and candidates are left below it."""
    left = has_victims(t, node) if t.node[node, c.IS_QUEUE] else t.node[node, c.GIVERS] > 0
    return left and (is_below(t, queue, node) or borrows_anything(t, node))


def note_share_of(t: Tables, node: int, shares: Ints) -> None:
    """Write the share of a node."""
    shares[node, 0], shares[node, 1], shares[node, 2] = share(t, node)


def sink_giver(t: Tables, queue: int, rows: Ints, heap: Ints, shares: Ints, first: int, count: int, at: int) -> None:
    """Bring a node to its place in a heap whose other nodes are in theirs."""
    while True:
        best = at
        for child in range(2 * at + 1, min(2 * at + 3, count)):
            if gives_before(t, queue, rows, shares, heap[first + child], heap[first + best]):
                best = child
        if best == at:
            return
        heap[first + at], heap[first + best] = heap[first + best], heap[first + at]
        at = best


def gives_before(t: Tables, queue: int, rows: Ints, shares: Ints, node: int, other: int) -> bool:
    """Whether a node gives before another one: the greater share does.

    A cohort wins a tie with a queue, and the last by name a tie of cohorts; of queues it is the one whose best victim goes first.
    """
    mine, others = (shares[node, 0], shares[node, 1], shares[node, 2]), (shares[other, 0], shares[other, 1], shares[other, 2])
    order = order_of_shares(t, mine, others)
    if order != 0:
        return order > 0
    if t.node[node, c.IS_QUEUE] != t.node[other, c.IS_QUEUE]:
        return t.node[other, c.IS_QUEUE] == 1
    if not t.node[node, c.IS_QUEUE]:
        return node > other
    return precedes(t, rows[t.node[node, c.NEXT_VICTIM]], rows[t.node[other, c.NEXT_VICTIM]], queue)
