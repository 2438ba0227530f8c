"""The places of a workload: among those who wait in its queue, and in what is charged. See `QueueFigures.wait` and `Measure._charge`."""

from .. import count_columns as c
from ..count_tables import CountTables


def stand_in_line(t: CountTables, name: int) -> None:
    """A workload waits in its queue."""
    queue = t.live[name, c.LIVE_QUEUE]
    first = t.queue[queue, c.FIRST_WAITING]
    t.live[name, c.STATE] = c.WAITING
    t.live[name, c.EARLIER], t.live[name, c.LATER] = c.NONE, first
    if first != c.NONE:
        t.live[first, c.EARLIER] = name
    t.queue[queue, c.FIRST_WAITING] = name


def leave_line(t: CountTables, name: int) -> None:
    """A workload waits no more."""
    earlier, later = t.live[name, c.EARLIER], t.live[name, c.LATER]
    if earlier == c.NONE:
        t.queue[t.live[name, c.LIVE_QUEUE], c.FIRST_WAITING] = later
    else:
        t.live[earlier, c.LATER] = later
    if later != c.NONE:
        t.live[later, c.EARLIER] = earlier


def charge(t: CountTables, name: int, begin: int, count: int) -> None:
    """Charge a workload so many amounts, which begin there on the tape, and keep them in the same order."""
    last = c.NONE
    t.state[c.CHARGES] += count
    for at in range(begin, begin + count * c.CHARGE_WIDTH, c.CHARGE_WIDTH):
        row = t.state[c.FREE_CHARGE]
        t.state[c.FREE_CHARGE] = t.charge[row, c.NEXT_CHARGE]
        t.charge[row, c.SLOT], t.charge[row, c.AMOUNT] = t.tape[at + c.CHARGE_SLOT], t.tape[at + c.CHARGE_AMOUNT]
        t.charge[row, c.NEXT_CHARGE] = c.NONE
        if last == c.NONE:
            t.live[name, c.FIRST_CHARGE] = row
        else:
            t.charge[last, c.NEXT_CHARGE] = row
        last = row
        use(t, t.live[name, c.LIVE_QUEUE], t.charge[row, c.SLOT], t.charge[row, c.AMOUNT])


def discharge(t: CountTables, name: int) -> None:
    """Charge a workload nothing more."""
    row = t.live[name, c.FIRST_CHARGE]
    while row != c.NONE:
        use(t, t.live[name, c.LIVE_QUEUE], t.charge[row, c.SLOT], -t.charge[row, c.AMOUNT])
        following = t.charge[row, c.NEXT_CHARGE]
        t.charge[row, c.NEXT_CHARGE] = t.state[c.FREE_CHARGE]
        t.state[c.FREE_CHARGE] = row
        t.state[c.CHARGES] -= 1
        row = following
    t.live[name, c.FIRST_CHARGE] = c.NONE


def use(t: CountTables, queue: int, slot: int, amount: int) -> None:
    """Let a queue use more of a slot, or less."""
    t.slot[slot, c.SLOT_USED] += amount
    t.slot[slot, c.SLOT_WAS_USED] = 1
    units = amount * t.slot[slot, c.UNITS]
    if units:
        pool = t.slot[slot, c.SLOT_POOL]
        t.counted[queue, t.pool[pool, c.POOL_COUNTED], c.USED] += units
        t.share[queue, pool, c.USES] += units
        t.share[queue, pool, c.WAS_USED] = 1
