"""Those who run in a queue, in a standing order: a tree like that of its line, in which whoever a search would take first comes first.

By preempt rules that is the order of the first rule; of its keys the share of the queue is the same for all. In Kueue's two ways it is the
order of candidates, but for the usage of local queues.

`UNLIKE` of a queue's node counts the neighbors in that order who differ in what they hold, or in priority: where it is 0, all are alike.
It is kept by rules and by shares; classically it stays 0.
"""

from ... import columns as c
from ...tables import Tables
from ..line import join_tree, leave_tree, neighbor, next_in_tree, order_by_keys
from .candidates import precedes


def yields_before(t: Tables, left: int, right: int) -> bool:
    """Whether a workload that runs in a queue comes before another one."""
    if not t.state[c.BY_RULES]:
        return precedes(t, left, right, t.work[left, c.QUEUE])
    order = order_by_keys(t, t.state[c.VICTIM_KEYS], left, right)
    return order < 0 or (order == 0 and t.when[left, c.NUMBER] > t.when[right, c.NUMBER])


def join_running(t: Tables, row: int) -> None:
    """Put a workload among those who run. Who was admitted last mostly comes first, so its place is looked for from there."""
    queue = t.work[row, c.QUEUE]
    above, side = t.node[queue, c.FIRST_RUNNING], c.EARLIER
    if above == c.NONE or yields_before(t, row, above):
        t.node[queue, c.FIRST_RUNNING] = row
    else:
        while t.work[above, c.ABOVE] != c.NONE and not yields_before(t, row, t.work[above, c.ABOVE]):
            above = t.work[above, c.ABOVE]
        side = c.LATER
        while t.work[above, side] != c.NONE:
            above = t.work[above, side]
            side = c.EARLIER if yields_before(t, row, above) else c.LATER
    join_tree(t, queue, c.RUNNING, row, above, side)
    t.node[queue, c.UNLIKE] += unlike_for(t, row)
    t.node[queue, c.LAST_STARTED_BY] = max(t.node[queue, c.LAST_STARTED_BY], t.when[row, c.STARTED_BY])


def leave_running(t: Tables, row: int) -> None:
    """Take a workload out of those who run."""
    queue = t.work[row, c.QUEUE]
    t.node[queue, c.UNLIKE] -= unlike_for(t, row)
    if t.node[queue, c.FIRST_RUNNING] == row:
        t.node[queue, c.FIRST_RUNNING] = next_in_tree(t, row)
    leave_tree(t, queue, c.RUNNING, row)


def unlike_for(t: Tables, row: int) -> int:
    """By how much `UNLIKE` is more with a workload among those who run than without it."""
    if not (t.state[c.BY_RULES] or t.state[c.FAIR]):
        return 0
    before, after, more = neighbor(t, row, c.EARLIER, c.LATER), next_in_tree(t, row), 0
    if before != c.NONE and not are_alike(t, before, row):
        more += 1
    if after != c.NONE and not are_alike(t, row, after):
        more += 1
    if before != c.NONE and after != c.NONE and not are_alike(t, before, after):
        more -= 1
    return more


def are_alike(t: Tables, left: int, right: int) -> bool:
    """Whether two who run in one queue ask for the same, at the same priority, and are charged the same."""
    return t.work[left, c.HOLDING] == t.work[right, c.HOLDING] and t.when[left, c.PRIORITY] == t.when[right, c.PRIORITY]
