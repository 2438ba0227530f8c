"""Classical victims, over tables: the queue's own by priority, and those of queues that borrow (`definition/preemption/classical.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Tables
from ..quota.tree import all_borrow, borrows, copy_request, exceeds_owned, local_left, next_beside, next_node
from .candidates import next_candidate, satisfies, sink_giver
from .trial import add_victim, enough, fill_back, give_all_back


def search_classically(t: Tables, row: int, ask: int, need: int) -> int:
    """Find the victims without whom a request fits; return the grade. All are put back, and listed."""
    queue = t.work[row, c.QUEUE]
    split, others = list_others(t, row, ask, need)
    count = others + list_queue(t, row, need, queue, others)
    forbidden = t.node[queue, c.TO_BORROW] == 0
    first, second = True, 0  # whether the first attempt borrows, and whether there is a second one, which does the opposite
    if others > 0 and not (forbidden and not under_nominal(t, queue, need)):
        first, second = not (forbidden and split == others), 1
    for attempt in range(1 + second):
        if take_in_order(t, row, ask, need, split, others, count, first == (attempt == 0)):
            give_all_back(t)
            return grade_of(t, queue)
    t.state[c.VICTIMS] = 0
    return c.NO_VICTIMS


def grade_of(t: Tables, queue: int) -> int:
    """What the victims make of a flavor: the queue's own have to go, or only others that borrow."""
    for at in range(t.state[c.VICTIMS]):
        if t.work[t.victim[at, c.V_ROW], c.QUEUE] == queue:
            return c.PREEMPT
    return c.RECLAIMING


def under_nominal(t: Tables, queue: int, need: int) -> bool:
    """Whether the queue uses less than it owns of every slot in need."""
    for k in range(1, t.ask[need, 0, 0] + 1):
        slot = t.ask[need, k, c.SLOT]
        if t.quota[queue, slot, c.USED] >= t.quota[queue, slot, c.NOMINAL]:
            return False
    return True


def list_others(t: Tables, row: int, ask: int, need: int) -> tuple[int, int]:
    """List other queues with candidates: first those of whom priority decides, then those over whom the workload has an advantage.

    Return how many the first are, and how many all are.
    """
    queue = t.work[row, c.QUEUE]
    if t.node[queue, c.RECLAIMS] == c.POLICY_NOTHING:
        return 0, 0
    copy_request(t, ask, c.ASK_LEFT)
    split, count, seen, above = c.NONE, 0, queue, t.node[queue, c.PARENT]
    while above >= 0:  # once there is an advantage there is one all the way up
        exceeds = False
        for k in range(1, t.ask[c.ASK_LEFT, 0, 0] + 1):
            slot = t.ask[c.ASK_LEFT, k, c.SLOT]
            exceeds = exceeds or exceeds_owned(t, seen, slot, t.ask[c.ASK_LEFT, k, c.AMOUNT])
            t.ask[c.ASK_LEFT, k, c.AMOUNT] = max(0, t.ask[c.ASK_LEFT, k, c.AMOUNT] - local_left(t, seen, slot))
        if not exceeds and split == c.NONE:
            split = count
        node = t.node[above, c.FIRST_BORROWER]
        while node != c.NONE:
            entered = node != seen and borrows(t, node, need)
            if entered and t.node[node, c.IS_QUEUE]:
                count += list_queue(t, row, need, node, count)
            if entered:
                node = next_node(t, node, above, c.FIRST_BORROWER, c.BORROWER_AFTER)
            else:
                node = next_beside(t, node, above, c.BORROWER_AFTER)
        seen, above = above, t.node[above, c.PARENT]
    return count if split == c.NONE else split, count


def list_queue(t: Tables, row: int, need: int, node: int, at: int) -> int:
    """List a queue in `giver` if it has a candidate; return how many were listed."""
    if next_candidate(t, row, need, node, c.NONE) == c.NONE:
        return 0
    t.giver[at] = node
    return 1


def take_in_order(t: Tables, row: int, ask: int, need: int, split: int, others: int, count: int, borrowing: bool) -> bool:
    """Take candidates in order until the workload fits, then put back those without whom it fits as well; say whether it does.

    Those over whom there is an advantage go first, then those of whom priority decides, then the queue's own; before them all, in the same
    order, whoever goes anyway. `giver` holds the queues of each part as a heap that begins at `begins`; `left` of them have candidates.
    """
    queue, begins, left = t.work[row, c.QUEUE], np.empty(3, np.int64), np.empty(3, np.int64)
    begins[0], begins[1], begins[2] = split, 0, others
    left[0], left[1], left[2] = others - split, split, count - others
    for at in range(count):
        t.node[t.giver[at], c.NEXT_VICTIM] = next_candidate(t, row, need, t.giver[at], c.NONE)
    for part in range(3):
        for at in range(left[part] // 2 - 1, -1, -1):
            sink_giver(t, queue, begins[part], left[part], at)
    t.state[c.VICTIMS] = 0
    for evicting in (1, 0):
        for part in range(3):
            first, advantage = begins[part], part == 0
            while left[part] > 0 and t.work[t.node[t.giver[first], c.NEXT_VICTIM], c.EVICTING] >= evicting:
                node, kind = t.giver[first], c.NONE
                each = t.node[node, c.NEXT_VICTIM]
                t.node[node, c.NEXT_VICTIM] = c.NONE  # a queue that may not give is done
                if may_give(t, queue, node, need, advantage, borrowing):
                    t.node[node, c.NEXT_VICTIM] = next_candidate(t, row, need, node, each)
                    kind = kind_of(t, row, each, advantage, borrowing)
                if t.node[node, c.NEXT_VICTIM] == c.NONE:
                    left[part] -= 1
                    t.giver[first], t.giver[first + left[part]] = t.giver[first + left[part]], node
                sink_giver(t, queue, first, left[part], 0)
                if kind != c.NONE:
                    add_victim(t, each, kind, c.NONE)
                    if enough(t, row, ask, False, not borrowing):
                        fill_back(t, row, ask, False, not borrowing)
                        return True
    give_all_back(t)
    return False


def may_give(t: Tables, queue: int, node: int, need: int, advantage: bool, borrowing: bool) -> bool:
    """Whether a queue may give somebody in an attempt, as use is now. If not, it gives nobody in it: taking victims only lowers use."""
    if node == queue:
        return True
    return (advantage or not borrowing or t.node[queue, c.TO_BORROW] == 1) and all_borrow(t, queue, node, need)


def kind_of(t: Tables, row: int, victim: int, advantage: bool, borrowing: bool) -> int:
    """How a candidate would go whose queue may give; NONE: it may not. Some go only where the workload then fits what its queue owns."""
    queue = t.work[row, c.QUEUE]
    if t.work[victim, c.QUEUE] == queue:
        return c.IN_QUEUE
    by_priority = not advantage and t.node[queue, c.TO_BORROW] == 1 and satisfies(t, c.POLICY_LOWER, row, victim)
    if by_priority and t.node[queue, c.HAS_UP_TO] and t.when[victim, c.PRIORITY] > t.node[queue, c.UP_TO]:
        by_priority = False
    if borrowing and not advantage and not by_priority:
        return c.NONE
    return c.WHILE_BORROWING_KIND if by_priority else c.RECLAIM
