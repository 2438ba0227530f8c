"""Fair victims, over tables: of the node with the greatest share, level by level (`definition/preemption/fair_sharing.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..quota.shares import ShareNumbers, order_of_shares, share, share_without
from ..quota.tree import borrows, borrows_anything, charge_all, is_below, next_beside, next_node, sides, uncharge_all
from .candidates import next_candidate, sink_giver
from .classical import grade_of
from .trial import add_victim, enough, fill_back, give_all_back, note_share


def search_fairly(t: Tables, row: int, ask: int, need: int) -> int:
    """Find the victims without whom a request fits; return the grade. All are put back, and listed.

    `nodes` are those that may give, each before those below it. `heap` has the children of each that do, the greatest share first.
    """
    queue, nodes, heap = t.work[row, c.QUEUE], np.empty(t.state[c.NODES], np.int64), np.empty(t.state[c.NODES], np.int64)
    t.state[c.VICTIMS] = 0
    charge_all(t, queue, ask)
    count = list_nodes(t, row, need, nodes)
    fit = by_first(t, row, ask, need, nodes[:count], heap)
    if not fit and t.state[c.STRATEGY_2]:
        fit = by_second(t, row, ask, nodes[:count], heap)
    uncharge_all(t, queue, ask)
    if fit:
        fill_back(t, row, ask, False, False)
    give_all_back(t)
    if not fit:
        t.state[c.VICTIMS] = 0
        return c.NO_VICTIMS
    return grade_of(t, queue)


def list_nodes(t: Tables, row: int, need: int, nodes: Ints) -> int:
    """List the nodes of a queue's tree that may give something to it, with the first candidate of each queue; return how many.

    What borrows nothing gives nothing, nor does anybody below it: taking victims only lowers use.
    """
    queue, count = t.work[row, c.QUEUE], 0
    node = top = t.node[queue, c.TOP]
    while node != c.NONE:
        entered = is_below(t, queue, node) or borrows_anything(t, node)
        if entered:
            nodes[count] = node
            count += 1
            t.node[node, c.NEXT_VICTIM] = t.node[node, c.FIRST_REFUSED] = c.NONE
            if t.node[node, c.IS_QUEUE] and (node == queue or borrows(t, node, need)):
                t.node[node, c.NEXT_VICTIM] = next_candidate(t, row, need, node, c.NONE)
        node = next_node(t, node, top) if entered else next_beside(t, node, top)
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


def note_refused(t: Tables, row: int, target: int, each: int, strategy: int) -> None:
    """Note whom the first strategy refused first in a queue. Nobody is left there if it would not be fair were nothing freed.

    Without a victim the share of its side is never greater.
    """
    if t.node[target, c.FIRST_REFUSED] == c.NONE:
        t.node[target, c.FIRST_REFUSED] = each
    ours, theirs = sides(t, t.work[row, c.QUEUE], target)
    if not is_fair(t, strategy, share(t, ours), share(t, theirs), share(t, theirs)):
        t.node[target, c.NEXT_VICTIM] = c.NONE


def by_first(t: Tables, row: int, ask: int, need: int, nodes: Ints, heap: Ints) -> bool:
    """Take victims by the first strategy, wherever the share is greatest; say whether they are enough. Whom it refuses first is noted."""
    queue = t.work[row, c.QUEUE]
    within = not borrows(t, queue, need)
    rank_givers(t, queue, nodes, heap)
    while True:
        target, taken = next_queue(t, queue, heap), False
        if target == c.NONE:
            return False
        while not taken and t.node[target, c.NEXT_VICTIM] != c.NONE:
            each = t.node[target, c.NEXT_VICTIM]
            t.node[target, c.NEXT_VICTIM] = next_candidate(t, row, need, target, each)
            if target == queue or within:
                add_victim(t, each, c.IN_QUEUE if target == queue else c.RECLAIM, c.NONE)
                taken = True
            elif try_victim(t, row, each, t.state[c.STRATEGY_1]):
                taken = True
            else:
                note_refused(t, row, target, each, t.state[c.STRATEGY_1])
        if taken and enough(t, row, ask, True, False):
            return True
        rank_again(t, queue, target, heap)


def by_second(t: Tables, row: int, ask: int, nodes: Ints, heap: Ints) -> bool:
    """Take at most one victim of each queue, whom the first strategy refused first there, by the second strategy."""
    queue = t.work[row, c.QUEUE]
    for node in nodes:
        t.node[node, c.NEXT_VICTIM] = t.node[node, c.FIRST_REFUSED]
    rank_givers(t, queue, nodes, heap)
    while True:
        target = next_queue(t, queue, heap)
        if target == c.NONE:
            return False
        if try_victim(t, row, t.node[target, c.NEXT_VICTIM], t.state[c.STRATEGY_2]) and enough(t, row, ask, True, False):
            return True
        t.node[target, c.NEXT_VICTIM] = c.NONE
        rank_again(t, queue, target, heap)


# --- the queue to take the next victim of -------------------------------------------------------------------------------


def rank_givers(t: Tables, queue: int, nodes: Ints, heap: Ints) -> None:
    """Bring the children of each cohort that have something to give into a heap, the greatest share on top."""
    for node in nodes:
        t.node[node, c.GIVERS] = 0
    for i in range(len(nodes) - 1, -1, -1):  # all below a node come before it
        node, parent = nodes[i], t.node[nodes[i], c.PARENT]
        for at in range(t.node[node, c.GIVERS] // 2 - 1, -1, -1):
            sink_giver(t, queue, heap, t.node[node, c.FIRST_RIVAL], t.node[node, c.GIVERS], at)
        if i > 0 and gives(t, queue, node):
            heap[t.node[parent, c.FIRST_RIVAL] + t.node[parent, c.GIVERS]] = node
            t.node[parent, c.GIVERS] += 1


def rank_again(t: Tables, queue: int, target: int, heap: Ints) -> None:
    """Bring a queue to its place that was the one to take the next victim of, and all above it."""
    node = target
    while node != t.node[queue, c.TOP]:
        parent = t.node[node, c.PARENT]
        first = t.node[parent, c.FIRST_RIVAL]
        if not gives(t, queue, node):
            t.node[parent, c.GIVERS] -= 1
            heap[first] = heap[first + t.node[parent, c.GIVERS]]
        sink_giver(t, queue, heap, first, t.node[parent, c.GIVERS], 0)
        node = parent


def next_queue(t: Tables, queue: int, heap: Ints) -> int:
    """The queue to take the next victim of: down from the top, each time to the child with the greatest share; NONE: nobody is left."""
    node = t.node[queue, c.TOP]
    while not t.node[node, c.IS_QUEUE]:
        if t.node[node, c.GIVERS] == 0:
            return c.NONE
        node = heap[t.node[node, c.FIRST_RIVAL]]
    return node if t.node[node, c.NEXT_VICTIM] != c.NONE else c.NONE


def gives(t: Tables, queue: int, node: int) -> bool:
    """Whether a node has something to give to a queue: it borrows, or the queue is below it, and candidates are left below it."""
    left = t.node[node, c.NEXT_VICTIM] != c.NONE if t.node[node, c.IS_QUEUE] else t.node[node, c.GIVERS] > 0
    return left and (is_below(t, queue, node) or borrows_anything(t, node))
