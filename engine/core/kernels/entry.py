"""The one way into the kernels from outside: which of them is to run, over which tables, with which number.

It is one because compiled code holds all that it calls: two ways in would be compiled, and kept, twice.
"""

from .. import columns as c
from ..tables import Tables
from .cycle import begin_cycle, next_cycle, run_cycle
from .loop.play import only_waits, play
from .places import end, enter, enter_all, leave
from .settle import settle


def run_kernel(t: Tables, which: int, number: int) -> int:
    """Run a kernel; what it returns, or DONE."""
    if which == c.SETTLE:
        return settle(t, number)
    if which == c.RUN_CYCLE:
        return run_cycle(t)
    if which == c.NEXT_CYCLE:
        return next_cycle(t)
    if which == c.PLAY:
        return play(t, number)
    if which == c.ONLY_WAITS:
        return int(only_waits(t, number))
    if which == c.BEGIN_CYCLE:
        begin_cycle(t)
    elif which == c.ENTER:
        enter(t, number)
    elif which == c.ENTER_ALL:
        enter_all(t)
    elif which == c.LEAVE:
        leave(t, number)
    elif which == c.END_WORKLOAD:
        end(t, number)
    return c.DONE
