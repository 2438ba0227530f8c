"""When running jobs end: a heap of (moment, number of the admission, job), the first one on top.

Ends of runs that an eviction cut short stay in the heap, and are dropped once they are on top.
"""

from ... import columns as c
from ...tables import Tables


def ends_before(t: Tables, left: int, right: int) -> bool:
    """Whether one end comes before another one: of two at the same moment, that of the job admitted first."""
    if t.ends[left, c.END_TIME] != t.ends[right, c.END_TIME]:
        return t.ends[left, c.END_TIME] < t.ends[right, c.END_TIME]
    return t.ends[left, c.END_ADMISSION] < t.ends[right, c.END_ADMISSION]


def swap_ends(t: Tables, left: int, right: int) -> None:
    """Let two ends change places."""
    for column in range(c.END_WIDTH):
        t.ends[left, column], t.ends[right, column] = t.ends[right, column], t.ends[left, column]


def push_end(t: Tables, moment: int, admission: int, job: int) -> None:
    """Note when a job ends that was just admitted."""
    at = t.state[c.ENDS]
    t.state[c.ENDS] = at + 1
    t.ends[at, c.END_TIME], t.ends[at, c.END_ADMISSION], t.ends[at, c.END_JOB] = moment, admission, job
    while at > 0 and ends_before(t, at, (at - 1) // 2):
        swap_ends(t, at, (at - 1) // 2)
        at = (at - 1) // 2


def pop_end(t: Tables) -> None:
    """Drop the first end."""
    count = t.state[c.ENDS] - 1
    t.state[c.ENDS] = count
    swap_ends(t, 0, count)
    at = 0
    while True:
        first, left = at, 2 * at + 1
        for child in range(left, min(left + 2, count)):
            if ends_before(t, child, first):
                first = child
        if first == at:
            return
        swap_ends(t, at, first)
        at = first


def next_end(t: Tables) -> int:
    """When the next job ends, which is then on top; NONE where none runs."""
    while t.state[c.ENDS] > 0:
        if t.job[t.ends[0, c.END_JOB], c.J_ADMISSION] == t.ends[0, c.END_ADMISSION]:
            return t.ends[0, c.END_TIME]
        pop_end(t)
    return c.NONE
