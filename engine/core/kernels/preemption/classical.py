"""Classical victims, over tables: the queue's own by priority, and those of queues that borrow (`definition/preemption/classical.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..quota.tree import borrows, copy_request, exceeds_owned, local_left, next_beside, next_node
from .candidates import gather, merge_queues, satisfies
from .trial import add_victim, enough, fill_back, give_all_back


def search_classically(t: Tables, row: int, ask: int, need: int) -> int:
    """Find the victims without whom a request fits; return the grade. All are put back, and listed."""
    rows, grounds, meetings = (
        np.empty(max(1, t.state[c.LIVE]), np.int64),
        np.empty(max(1, t.state[c.LIVE]), np.int64),
        np.empty(max(1, t.state[c.LIVE]), np.int64),
    )
    queue = t.work[row, c.QUEUE]
    advantaged, others = by_others(t, row, ask, need, rows, grounds, meetings)
    count = gather(t, row, need, queue, rows, others)
    for i in range(others, count):
        grounds[i], meetings[i] = c.OWN_GROUND, c.NONE
    order = np.empty(count, np.int64)
    at = 0
    for evicting in (1, 0):
        for i in range(count):
            if t.work[rows[i], c.EVICTING] == evicting:
                order[at] = i
                at += 1
    forbidden = t.node[queue, c.TO_BORROW] == 0
    first, second = True, 0  # whether the first attempt borrows, and whether there is a second one, which does the opposite
    if others > 0 and not (forbidden and not under_nominal(t, queue, need)):
        first, second = not (forbidden and advantaged == 0), 1
    for attempt in range(1 + second):
        if take_in_order(t, row, ask, need, rows, grounds, meetings, order, first == (attempt == 0)):
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


def by_others(t: Tables, row: int, ask: int, need: int, rows: Ints, grounds: Ints, meetings: Ints) -> tuple[int, int]:
    """List candidates of other queues: those over whom the workload has an advantage, then those whose priority decides.

    Return how many the first are, and how many all are.
    """
    queue = t.work[row, c.QUEUE]
    if t.node[queue, c.RECLAIMS] == c.POLICY_NOTHING:
        return 0, 0
    copy_request(t, ask, c.ASK_LEFT)
    advantage, seen, count, advantaged = False, queue, 0, 0
    split = c.NONE
    above = t.node[seen, c.PARENT]
    begins = 0
    while above >= 0:  # once there is an advantage there is one all the way up, so the two parts are two stretches, the second one first
        exceeds = False
        for k in range(1, t.ask[c.ASK_LEFT, 0, 0] + 1):
            exceeds = exceeds or exceeds_owned(t, seen, t.ask[c.ASK_LEFT, k, c.SLOT], t.ask[c.ASK_LEFT, k, c.AMOUNT])
        if not exceeds and not advantage:
            advantage, split = True, count
        for k in range(1, t.ask[c.ASK_LEFT, 0, 0] + 1):
            kept = local_left(t, seen, t.ask[c.ASK_LEFT, k, c.SLOT])
            t.ask[c.ASK_LEFT, k, c.AMOUNT] = max(0, t.ask[c.ASK_LEFT, k, c.AMOUNT] - kept)
        begins = count
        count = gather_below(t, row, need, above, seen, rows, count)
        for i in range(begins, count):
            grounds[i], meetings[i] = ground_of(t, row, rows[i], advantage), above
        seen, above = above, t.node[above, c.PARENT]
    split = count if split == c.NONE else split
    advantaged = count - split
    arrange(t, queue, rows, grounds, meetings, 0, split)
    arrange(t, queue, rows, grounds, meetings, split, count)
    if advantaged and split:
        for part in (rows, grounds, meetings):
            turned = np.concatenate((part[split:count], part[:split]))
            part[:count] = turned
    return advantaged, count


def arrange(t: Tables, queue: int, rows: Ints, grounds: Ints, meetings: Ints, begin: int, end: int) -> None:
    """Bring a stretch of candidates of several queues into their order."""
    if end - begin < 2:
        return
    for i in range(begin, end):
        t.work[rows[i], c.PLACE] = i
    ground, meeting = grounds[begin:end].copy(), meetings[begin:end].copy()
    merge_queues(t, rows, begin, end, queue)
    for i in range(begin, end):
        was = t.work[rows[i], c.PLACE] - begin
        grounds[i], meetings[i] = ground[was], meeting[was]


def gather_below(t: Tables, row: int, need: int, top: int, skip: int, rows: Ints, count: int) -> int:
    """Append the candidates of the queues below a cohort, but for one subtree, entering only what uses more than it owns."""
    node = t.node[top, c.FIRST_CHILD]
    while node != c.NONE:
        entered = node != skip and borrows(t, node, need)
        if entered and t.node[node, c.IS_QUEUE]:
            count = gather(t, row, need, node, rows, count)
        node = next_node(t, node, top) if entered else next_beside(t, node, top)
    return count


def ground_of(t: Tables, row: int, victim: int, advantage: bool) -> int:
    """Why a candidate of another queue may go."""
    if advantage:
        return c.ADVANTAGE
    queue = t.work[row, c.QUEUE]
    if not t.node[queue, c.TO_BORROW] or not satisfies(t, c.POLICY_LOWER, row, victim):
        return c.WITHOUT_BORROWING
    if t.node[queue, c.HAS_UP_TO] and t.work[victim, c.PRIORITY] > t.node[queue, c.UP_TO]:
        return c.WITHOUT_BORROWING
    return c.WHILE_BORROWING


def take_in_order(
    t: Tables,
    row: int,
    ask: int,
    need: int,
    rows: Ints,
    grounds: Ints,
    meetings: Ints,
    order: Ints,
    borrowing: bool,
) -> bool:
    """Take candidates in order until the workload fits, then put back those without whom it fits as well; say whether it does."""
    t.state[c.VICTIMS] = 0
    for i in order:
        if grounds[i] == c.WITHOUT_BORROWING and borrowing:
            continue
        if grounds[i] != c.OWN_GROUND and not all_borrow(t, rows[i], meetings[i], need):
            continue
        kind = c.IN_QUEUE if grounds[i] == c.OWN_GROUND else c.WHILE_BORROWING_KIND if grounds[i] == c.WHILE_BORROWING else c.RECLAIM
        add_victim(t, rows[i], kind, c.NONE)
        if enough(t, row, ask, False, not borrowing):
            fill_back(t, row, ask, False, not borrowing)
            return True
    give_all_back(t)
    return False


def all_borrow(t: Tables, row: int, meeting: int, need: int) -> bool:
    """Whether a candidate's queue, and every cohort between it and the one where the paths meet, still uses more than it owns."""
    node = t.work[row, c.QUEUE]
    while node != meeting:
        if not borrows(t, node, need):
            return False
        node = t.node[node, c.PARENT]
    return True
