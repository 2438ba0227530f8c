"""Fair victims, over tables: of the node with the greatest share, level by level (`definition/preemption/fair_sharing.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..quota.shares import ShareNumbers, order_of_shares, share, share_without
from ..quota.tree import borrows, borrows_anything, charge_all, is_below, sides, uncharge_all
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
    count = list_candidates(t, row, need, rows)
    if count == 0:
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
    for i in range(t.state[c.QUEUES]):
        node = t.pool[t.state[c.QUEUE_NODES] + i]
        t.node[node, c.NEXT_VICTIM] = t.node[node, c.LAST_VICTIM] = 0
        if t.node[node, c.TOP] == t.node[queue, c.TOP] and (node == queue or borrows(t, node, need)):
            t.node[node, c.NEXT_VICTIM] = count
            count = gather(t, row, need, node, rows, count)
            t.node[node, c.LAST_VICTIM] = count
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
    while True:
        target = next_queue(t, queue, rows)
        if target == c.NONE:
            return False, refused
        if target == queue or within:
            each = rows[t.node[target, c.NEXT_VICTIM]]
            t.node[target, c.NEXT_VICTIM] += 1
            add_victim(t, each, c.IN_QUEUE if target == queue else c.RECLAIM, c.NONE)
            if enough(t, row, ask, True, False):
                return True, refused
            continue
        while t.node[target, c.NEXT_VICTIM] < t.node[target, c.LAST_VICTIM]:
            each = rows[t.node[target, c.NEXT_VICTIM]]
            t.node[target, c.NEXT_VICTIM] += 1
            if try_victim(t, row, each, t.state[c.STRATEGY_1]):
                if enough(t, row, ask, True, False):
                    return True, refused
                break
            retry[refused] = each
            refused += 1


def by_second(t: Tables, row: int, ask: int, rows: Ints, retry: Ints, refused: int) -> bool:
    """Take at most one victim of each queue that is left, by the second strategy."""
    queue = t.work[row, c.QUEUE]
    for i in range(t.state[c.QUEUES]):
        node = t.pool[t.state[c.QUEUE_NODES] + i]
        t.node[node, c.NEXT_VICTIM] = t.node[node, c.LAST_VICTIM] = 0
    for i in range(refused - 1, -1, -1):  # of each queue the one that was refused first
        node = t.work[retry[i], c.QUEUE]
        rows[i] = retry[i]
        t.node[node, c.NEXT_VICTIM], t.node[node, c.LAST_VICTIM] = i, i + 1
    while True:
        target = next_queue(t, queue, rows)
        if target == c.NONE:
            return False
        if try_victim(t, row, rows[t.node[target, c.NEXT_VICTIM]], t.state[c.STRATEGY_2]) and enough(t, row, ask, True, False):
            return True
        t.node[target, c.NEXT_VICTIM] = t.node[target, c.LAST_VICTIM]


# --- the queue to take the next victim of -------------------------------------------------------------------------------


def next_queue(t: Tables, queue: int, rows: Ints) -> int:
    """The queue to take the next victim of: down from the top, each time to the child with the greatest share; NONE: nobody is left.

    Where a child turns out to have nothing to give it is marked as `SPENT`, and its cohort is looked at again.
    """
    node = t.node[queue, c.TOP]
    if node == queue:
        return queue if has_victims(t, queue) else c.NONE
    t.state[c.TICK] += 1
    while True:
        child = greatest_child(t, node, queue, rows)
        if child == c.NONE:
            if node == t.node[queue, c.TOP]:
                return c.NONE
            t.node[node, c.SPENT] = t.state[c.TICK]
            node = t.node[node, c.PARENT]
        elif t.node[child, c.IS_QUEUE]:
            return child
        else:
            node = child


def has_victims(t: Tables, node: int) -> bool:
    """Whether candidates of a queue are left."""
    return t.node[node, c.NEXT_VICTIM] < t.node[node, c.LAST_VICTIM]


def greatest_child(t: Tables, node: int, queue: int, rows: Ints) -> int:
    """The child of a cohort with the greatest share that may have something to give.

    A cohort wins a tie with a queue, and the last by name a tie of cohorts; of queues it is the one whose best victim goes first.
    """
    best, best_share = c.NONE, (0, 0, 1)
    child = t.node[node, c.FIRST_CHILD]
    while child != c.NONE:
        is_queue = t.node[child, c.IS_QUEUE] == 1
        gives = t.node[child, c.SPENT] != t.state[c.TICK] and (not is_queue or has_victims(t, child))
        if gives and (is_below(t, queue, child) or borrows_anything(t, child)):
            mine = share(t, child)
            order = 1 if best == c.NONE else order_of_shares(t, mine, best_share)
            if order == 0:
                if is_queue != (t.node[best, c.IS_QUEUE] == 1):
                    order = -1 if is_queue else 1
                elif is_queue:
                    order = 1 if precedes(t, rows[t.node[child, c.NEXT_VICTIM]], rows[t.node[best, c.NEXT_VICTIM]], queue) else -1
                else:
                    order = 1 if child > best else -1
            if order > 0:
                best, best_share = child, mine
        child = t.node[child, c.NEXT_CHILD]
    return best
