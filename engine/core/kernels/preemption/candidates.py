"""Whom a queue may evict in Kueue's two ways, and in which order, over tables (`definition/preemption/candidates.py`).

Candidates are looked for one by one, in the order in which those of a queue run (`running.py`): `NEXT_VICTIM` of a queue's node is the next
one. Of several queues the one to give next is the first of a heap.
"""

from ... import columns as c
from ...tables import Tables
from ..line import next_in_tree, tie_break
from ..quota.shares import order_of_shares, share
from .trial import takes_place_of, uses


def satisfies(t: Tables, policy: int, row: int, victim: int) -> bool:
    """Whether a queue's policy lets a workload evict another."""
    if t.work[victim, c.PINNED] or takes_place_of(t, row, victim):
        return False
    mine, theirs = t.when[row, c.PRIORITY], t.when[victim, c.PRIORITY]
    if policy == c.POLICY_ANY:
        return True
    if policy == c.POLICY_LOWER:
        return theirs < mine
    if policy == c.POLICY_NEWER:
        return theirs < mine or (theirs == mine and t.when[row, c.QUEUED] < t.when[victim, c.QUEUED])
    return False


def rank_of_local(t: Tables, row: int) -> int:
    """How much the local queue of a workload has used, as a rank; 0 where its queue does not admit by usage."""
    local = t.work[row, c.LOCAL_QUEUE]
    return 0 if local == c.NONE or not t.node[t.work[row, c.QUEUE], c.BY_USAGE] else t.local[local, c.USAGE_RANK]


def precedes(t: Tables, left: int, right: int, queue: int) -> bool:
    """Whether a queue takes one victim before another: who goes anyway, then of other queues, then of low priority, then who came last."""
    if t.work[left, c.EVICTING] != t.work[right, c.EVICTING]:
        return t.work[left, c.EVICTING] == 1
    own, other_own = t.work[left, c.QUEUE] == queue, t.work[right, c.QUEUE] == queue
    if own != other_own:
        return other_own
    if t.when[left, c.PRIORITY] != t.when[right, c.PRIORITY]:
        return t.when[left, c.PRIORITY] < t.when[right, c.PRIORITY]
    if t.when[left, c.ADMITTED] != t.when[right, c.ADMITTED]:
        return t.when[left, c.ADMITTED] > t.when[right, c.ADMITTED]
    return tie_break(t, left, right) < 0


# --- candidates, one after another ------------------------------------------------------------------------------------------


def next_candidate(t: Tables, row: int, need: int, queue: int, last: int) -> int:
    """The candidate of a queue after another one (NONE: the first one), in its order: of those who use a slot in need; NONE: nobody."""
    own = t.work[row, c.QUEUE]
    policy = t.node[own, c.OWN if queue == own else c.RECLAIMS]
    if policy == c.POLICY_NOTHING or t.node[queue, c.INACTIVE]:
        return c.NONE
    each = t.node[queue, c.FIRST_RUNNING] if last == c.NONE else next_in_tree(t, last)
    if t.node[queue, c.BY_USAGE]:
        return next_by_usage(t, policy, row, need, each, last)
    kept_from = t.when[row, c.PRIORITY] + int(policy == c.POLICY_NEWER)
    while each != c.NONE and not is_candidate(t, policy, row, each, need):
        if policy != c.POLICY_ANY and not t.work[each, c.EVICTING] and t.when[each, c.PRIORITY] >= kept_from:
            return c.NONE  # who comes after it has that priority or more: they are kept as well
        each = next_in_tree(t, each)
    return each


def is_candidate(t: Tables, policy: int, row: int, victim: int, need: int) -> bool:
    """Whether a running workload uses a slot in need, and a policy lets the waiting one evict it."""
    return not t.work[victim, c.OUT] and satisfies(t, policy, row, victim) and uses(t, victim, need)


def next_by_usage(t: Tables, policy: int, row: int, need: int, each: int, last: int) -> int:
    """The same in a queue that admits by usage: whoever's local queue has used more goes first. `each` runs next after the last one."""
    while last != c.NONE and each != c.NONE:
        if order_by_usage(t, each, last) == 0 and is_candidate(t, policy, row, each, need):
            return each
        each = next_in_tree(t, each)
    found = c.NONE
    each = t.node[t.work[last, c.QUEUE], c.FIRST_RUNNING] if last != c.NONE else each
    while each != c.NONE:
        comes = last == c.NONE or order_by_usage(t, last, each) < 0
        if comes and (found == c.NONE or order_by_usage(t, each, found) < 0) and is_candidate(t, policy, row, each, need):
            found = each
        each = next_in_tree(t, each)
    return found


def order_by_usage(t: Tables, left: int, right: int) -> int:
    """-1, 0 or 1: how two who run in a queue compare, whoever goes anyway first, then whose local queue has used more."""
    if t.work[left, c.EVICTING] != t.work[right, c.EVICTING]:
        return -1 if t.work[left, c.EVICTING] else 1
    first, second = rank_of_local(t, left), rank_of_local(t, right)
    return 0 if first == second else -1 if first > second else 1


# --- queues to take the next victim of --------------------------------------------------------------------------------------


def sink_giver(t: Tables, queue: int, first: int, count: int, at: int) -> None:
    """Bring a node to its place in a heap in `giver`, which begins at `first`, whose other nodes are in theirs.

    If it does not stay it mostly belongs near the bottom. So it goes down there, and up again as far as it has to.
    """
    node, top = t.giver[first + at], at
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and gives_before(t, queue, t.giver[first + child + 1], t.giver[first + child]):
            child += 1
        if at == top and gives_before(t, queue, node, t.giver[first + child]):
            return
        t.giver[first + at], at = t.giver[first + child], child
    while at > top and gives_before(t, queue, node, t.giver[first + (at - 1) // 2]):
        t.giver[first + at], at = t.giver[first + (at - 1) // 2], (at - 1) // 2
    t.giver[first + at] = node


def gives_before(t: Tables, queue: int, node: int, other: int) -> bool:
    """Whether a node gives before another one: where shares count the greater one does; of queues, the one whose best victim goes first.

    A cohort wins a tie with a queue, and the last by name a tie of cohorts.
    """
    order = order_of_shares(t, share(t, node), share(t, other)) if t.state[c.FAIR] else 0
    if order != 0:
        return order > 0
    if t.node[node, c.IS_QUEUE] != t.node[other, c.IS_QUEUE]:
        return t.node[other, c.IS_QUEUE] == 1
    if not t.node[node, c.IS_QUEUE]:
        return node > other
    return precedes(t, t.node[node, c.NEXT_VICTIM], t.node[other, c.NEXT_VICTIM], queue)
