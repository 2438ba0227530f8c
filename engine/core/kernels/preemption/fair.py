"""Fair victims, over tables: of the node with the greatest share, level by level (`definition/preemption/fair_sharing.py`)."""

from ... import columns as c
from ...tables import Tables
from ..quota.borrowers import borrows_anything
from ..quota.shares import ShareNumbers, order_of_shares, share, share_without
from ..quota.tree import borrows, charge_all, is_below, next_beside, next_node, sides, uncharge_all
from .candidates import next_candidate, sink_giver
from .classical import grade_of
from .trial import add_victim, enough, fill_back, give_all_back, note_share


def search_fairly(t: Tables, row: int, ask: int, need: int) -> int:
    """Find the victims without whom a request fits; return the grade. All are put back, and listed.

    `visited` has the nodes that may give, each before those below it. `giver` has a heap for each cohort, which begins at `FIRST_RIVAL`:
    its children that may give, the one with the greatest share on top.
    """
    queue, fit = t.work[row, c.QUEUE], False
    t.state[c.VICTIMS] = 0
    charge_all(t, queue, ask)
    if may_find_victims(t, row, need):
        count = list_nodes(t, row, need)
        fit = by_first(t, row, ask, need, count) or (t.state[c.STRATEGY_2] > 0 and by_second(t, row, ask, count))
    uncharge_all(t, queue, ask)
    if fit:
        fill_back(t, row, ask, False, False)
    give_all_back(t)
    if not fit:
        t.state[c.VICTIMS] = 0
        return c.NO_VICTIMS
    return grade_of(t, queue)


def may_find_victims(t: Tables, row: int, need: int) -> bool:
    """Whether there may be a first victim for a request that is charged; without a first one there is none at all.

    There is none if nobody in the queue itself may go, the request makes the queue borrow, and the queue reclaims nothing or, on every
    level, all that borrow have a smaller share than the side that asks. Taking a victim out never raises the share of the victim's side, so
    neither strategy allows it.
    """
    queue = ours = t.work[row, c.QUEUE]
    if not borrows(t, queue, need) or next_candidate(t, row, need, queue, c.NONE) != c.NONE:
        return True
    above = t.node[queue, c.PARENT]
    while above >= 0 and t.node[queue, c.RECLAIMS] != c.POLICY_NOTHING:
        each = t.node[above, c.FIRST_BORROWER]
        while each != c.NONE:
            if each != ours and order_of_shares(t, share(t, ours), share(t, each)) <= 0:
                return True
            each = t.node[each, c.BORROWER_AFTER]
        ours, above = above, t.node[above, c.PARENT]
    return False


def list_nodes(t: Tables, row: int, need: int) -> int:
    """List the nodes of a queue's tree that may give something to it, with the first candidate of each queue; return how many.

    Those above the queue come first, the top before all. What borrows nothing gives nothing, nor does anybody below it: taking victims only
    lowers use.
    """
    queue, ours = t.work[row, c.QUEUE], c.NONE
    node, count = queue, t.node[queue, c.DEPTH] + 1
    while node != c.NONE:
        list_node(t, row, need, node, t.node[node, c.DEPTH])
        each = t.node[node, c.FIRST_BORROWER]
        while each != c.NONE:
            if each == ours:
                each = next_beside(t, each, node, c.BORROWER_AFTER)
            else:
                list_node(t, row, need, each, count)
                count += 1
                each = next_node(t, each, node, c.FIRST_BORROWER, c.BORROWER_AFTER)
        ours, node = node, t.node[node, c.PARENT]
    return count


def list_node(t: Tables, row: int, need: int, node: int, at: int) -> None:
    """List a node, with the first candidate if it is a queue that may give something of what is needed."""
    t.visited[at] = node
    t.node[node, c.NEXT_VICTIM] = t.node[node, c.FIRST_REFUSED] = c.NONE
    if t.node[node, c.IS_QUEUE] and (node == t.work[row, c.QUEUE] or borrows(t, node, need)):
        t.node[node, c.NEXT_VICTIM] = next_candidate(t, row, need, node, c.NONE)


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
    """Note whom the first strategy refused first in a queue, and whether it would refuse all of them.

    It would if all who run there are alike, or if the share of the victim's side is too small already, as taking a victim out never raises
    that share.
    """
    if t.node[target, c.FIRST_REFUSED] == c.NONE:
        t.node[target, c.FIRST_REFUSED] = each
    ours, theirs = sides(t, t.work[row, c.QUEUE], target)
    if t.node[target, c.UNLIKE] == 0 or not is_fair(t, strategy, share(t, ours), share(t, theirs), share(t, theirs)):
        t.node[target, c.NEXT_VICTIM] = c.NONE


def by_first(t: Tables, row: int, ask: int, need: int, count: int) -> bool:
    """Take victims by the first strategy, wherever the share is greatest; say whether they are enough. Whom it refuses first is noted."""
    queue = t.work[row, c.QUEUE]
    within = not borrows(t, queue, need)
    rank_givers(t, queue, count)
    while True:
        target, taken = next_queue(t, queue), False
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
        rank_again(t, queue, target)


def by_second(t: Tables, row: int, ask: int, count: int) -> bool:
    """Take at most one victim of each queue, whom the first strategy refused first there, by the second strategy."""
    queue = t.work[row, c.QUEUE]
    for i in range(count):
        t.node[t.visited[i], c.NEXT_VICTIM] = t.node[t.visited[i], c.FIRST_REFUSED]
    rank_givers(t, queue, count)
    while True:
        target = next_queue(t, queue)
        if target == c.NONE:
            return False
        if try_victim(t, row, t.node[target, c.NEXT_VICTIM], t.state[c.STRATEGY_2]) and enough(t, row, ask, True, False):
            return True
        t.node[target, c.NEXT_VICTIM] = c.NONE
        rank_again(t, queue, target)


# --- the queue to take the next victim of -------------------------------------------------------------------------------


def rank_givers(t: Tables, queue: int, count: int) -> None:
    """Bring the children of each cohort that have something to give into a heap, the greatest share on top."""
    for i in range(count):
        t.node[t.visited[i], c.GIVERS] = 0
    for i in range(count - 1, -1, -1):  # all below a node come before it
        node, parent = t.visited[i], t.node[t.visited[i], c.PARENT]
        for at in range(t.node[node, c.GIVERS] // 2 - 1, -1, -1):
            sink_giver(t, queue, t.node[node, c.FIRST_RIVAL], t.node[node, c.GIVERS], at)
        if i > 0 and gives(t, queue, node):
            t.giver[t.node[parent, c.FIRST_RIVAL] + t.node[parent, c.GIVERS]] = node
            t.node[parent, c.GIVERS] += 1


def rank_again(t: Tables, queue: int, target: int) -> None:
    """Bring a queue to its place that was the one to take the next victim of, and all above it."""
    node = target
    while node != t.node[queue, c.TOP]:
        parent = t.node[node, c.PARENT]
        first = t.node[parent, c.FIRST_RIVAL]
        if not gives(t, queue, node):
            t.node[parent, c.GIVERS] -= 1
            t.giver[first] = t.giver[first + t.node[parent, c.GIVERS]]
        sink_giver(t, queue, first, t.node[parent, c.GIVERS], 0)
        node = parent


def next_queue(t: Tables, queue: int) -> int:
    """The queue to take the next victim of: down from the top, each time to the child with the greatest share; NONE: nobody is left."""
    node = t.node[queue, c.TOP]
    while not t.node[node, c.IS_QUEUE]:
        if t.node[node, c.GIVERS] == 0:
            return c.NONE
        node = t.giver[t.node[node, c.FIRST_RIVAL]]
    return node if t.node[node, c.NEXT_VICTIM] != c.NONE else c.NONE


def gives(t: Tables, queue: int, node: int) -> bool:
    """Whether a node has something to give to a queue: it borrows, or the queue is below it, and candidates are left below it."""
    left = t.node[node, c.NEXT_VICTIM] != c.NONE if t.node[node, c.IS_QUEUE] else t.node[node, c.GIVERS] > 0
    return left and (is_below(t, queue, node) or borrows_anything(t, node))
