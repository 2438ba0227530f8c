"""Whom a queue may evict in Kueue's two ways, and in which order, over tables (`definition/preemption/candidates.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..line import tie_break
from .trial import takes_place_of, uses


def satisfies(t: Tables, policy: int, row: int, victim: int) -> bool:
    """Whether a queue's policy lets a workload evict another."""
    if t.work[victim, c.PINNED] or takes_place_of(t, row, victim):
        return False
    mine, theirs = t.work[row, c.PRIORITY], t.work[victim, c.PRIORITY]
    if policy == c.POLICY_ANY:
        return True
    if policy == c.POLICY_LOWER:
        return theirs < mine
    if policy == c.POLICY_NEWER:
        return theirs < mine or (theirs == mine and t.when[row, c.QUEUED] < t.when[victim, c.QUEUED])
    return False


def is_candidate(t: Tables, row: int, victim: int, need: int) -> bool:
    """Whether a running workload uses a slot in need, and the queue of the waiting one may evict it."""
    if t.work[victim, c.OUT] or not uses(t, victim, need):
        return False
    queue = t.work[row, c.QUEUE]
    policy = t.node[queue, c.OWN] if t.work[victim, c.QUEUE] == queue else t.node[queue, c.RECLAIMS]
    return satisfies(t, policy, row, victim)


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
    if t.work[left, c.PRIORITY] != t.work[right, c.PRIORITY]:
        return t.work[left, c.PRIORITY] < t.work[right, c.PRIORITY]
    if t.when[left, c.ADMITTED] != t.when[right, c.ADMITTED]:
        return t.when[left, c.ADMITTED] > t.when[right, c.ADMITTED]
    return tie_break(t, left, right) < 0


def precedes_in_queue(t: Tables, left: int, right: int, queue: int) -> bool:
    """The same of two workloads of one queue: of one that admits by usage, whoever's local queue has used more goes first."""
    first, second = rank_of_local(t, left), rank_of_local(t, right)
    if t.work[left, c.EVICTING] == t.work[right, c.EVICTING] and first != second:
        return first > second
    return precedes(t, left, right, queue)


def gather(t: Tables, row: int, need: int, node: int, found: Ints, count: int) -> int:
    """Append the candidates of a queue in their order; return how many there are now."""
    begin, queue = count, t.work[row, c.QUEUE]
    if not t.node[node, c.INACTIVE]:
        each = t.node[node, c.FIRST_RUNNING]
        while each != c.NONE:
            if is_candidate(t, row, each, need):
                found[count] = each
                count += 1
            each = t.work[each, c.NEXT_RUNNING]
    starts, runs = np.empty(count - begin + 1, np.int64), 0
    for at in range(begin, count):
        if at == begin or not precedes_in_queue(t, found[at - 1], found[at], queue):
            starts[runs] = at
            runs += 1
    merge_runs(t, found, starts, runs, count, queue, True)
    return count


def merge_queues(t: Tables, rows: Ints, begin: int, end: int, queue: int) -> None:
    """Bring candidates of several queues, each in its own order, into one order: of their first ones the best goes first, each time."""
    starts, runs = np.empty(end - begin + 1, np.int64), 0
    for at in range(begin, end):
        if at == begin or t.work[rows[at], c.QUEUE] != t.work[rows[at - 1], c.QUEUE]:
            starts[runs] = at
            runs += 1
    merge_runs(t, rows, starts, runs, end, queue, False)


def merge_runs(t: Tables, rows: Ints, starts: Ints, runs: int, end: int, queue: int, in_one_queue: bool) -> None:
    """Merge runs of candidates, which begin at `starts` and have their order each, two by two until there is one; the last one ends at
    `end`."""
    if runs < 2:
        return
    starts[runs] = end
    first = starts[0]
    merged, width = np.empty(end - first, np.int64), 1
    while width < runs:
        for run in range(0, runs, 2 * width):
            left, middle, stop = starts[run], starts[min(run + width, runs)], starts[min(run + 2 * width, runs)]
            right = middle
            for at in range(left, stop):
                if left == middle:
                    from_right = True
                elif right == stop:
                    from_right = False
                elif in_one_queue:
                    from_right = precedes_in_queue(t, rows[right], rows[left], queue)
                else:
                    from_right = precedes(t, rows[right], rows[left], queue)
                merged[at - first] = rows[right] if from_right else rows[left]
                right, left = right + int(from_right), left + int(not from_right)
        rows[first:end] = merged
        width *= 2
