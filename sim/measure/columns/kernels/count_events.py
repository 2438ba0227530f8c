"""Counting events, batch by batch: a fact and what was decided because of it. See `Measure.take`."""

from .. import count_columns as c
from ..count_tables import CountTables
from .count_shares import entitle, share_out, touch
from .workload_places import charge, discharge, leave_line, stand_in_line


def count_events(t: CountTables, begin: int, end: int) -> int:
    """Count the events from one row to before another, whole batches; return FINE, or how they contradict each other."""
    while begin < end:
        after = begin + 1
        while after < end and t.events[after, c.E_KIND] > c.ADVANCING:
            after += 1
        found = count_batch(t, begin, after)
        if found != c.FINE:
            return found
        begin = after
    return c.FINE


def count_batch(t: CountTables, fact: int, after: int) -> int:
    """Count a fact and the decisions in the rows behind it."""
    pass_time(t, t.events[fact, c.E_TIME])
    t.state[c.FACTS] += 1
    t.state[c.DECISIONS] += after - fact - 1
    found = count_rows(t, fact, fact + 1)
    if found == c.FINE:
        if t.state[c.AT_ONCE]:
            note_used(t, fact + 1, after)
        found = count_rows(t, fact + 1, after)
    if found != c.FINE:
        return found
    if t.state[c.AT_ONCE] and not fits_supply(t, fact + 1, after):
        return c.BEYOND_SUPPLY
    share_out(t)
    queue = t.state[c.FIRST_TOUCHED]
    while queue != c.NONE:
        entitle(t, queue)
        t.queue[queue, c.IS_TOUCHED] = 0
        queue = t.queue[queue, c.NEXT_TOUCHED]
    t.state[c.FIRST_TOUCHED] = c.NONE
    return c.FINE


def count_rows(t: CountTables, begin: int, end: int) -> int:
    """Count the events in some rows; return FINE, or what the first wrong one contradicts."""
    for row in range(begin, end):
        found = count_event(t, row)
        if found != c.FINE:
            t.state[c.WRONG_ROW] = row
            return found
    return c.FINE


def count_event(t: CountTables, row: int) -> int:
    """Count one event; return FINE, or what it contradicts."""
    kind, job = t.events[row, c.E_KIND], t.events[row, c.E_JOB]
    if kind == c.ADVANCING:
        return c.FINE
    name = t.job[job, c.JOB_NAME]
    if kind == c.SUBMITTING:
        if t.live[name, c.STATE] != c.GONE:
            return c.LIVE_ALREADY
        submitted(t, job, name)
    elif t.live[name, c.STATE] == c.GONE:
        return c.NOT_LIVE
    elif kind == c.FINISHING or kind == c.REPLACING:
        over(t, name, c.CANCELLED if t.events[row, c.IS_CANCELLATION] else c.FINISHED)
    elif kind == c.REJECTING:
        over(t, name, c.REJECTED)
    elif kind == c.ADMITTING:
        if t.live[name, c.STATE] == c.RUNNING:
            return c.RUNS_ALREADY
        if t.events[row, c.E_QUEUE] != t.queue_node[t.live[name, c.LIVE_QUEUE]]:
            return c.WAITS_ELSEWHERE
        admitted(t, name, row)
    elif kind == c.EVICTING_ONE:
        if t.live[name, c.STATE] != c.RUNNING:
            return c.DOES_NOT_RUN
        evicted(t, name)
    return c.FINE


# --- what becomes of a workload ---------------------------------------------------------------------------------------------


def submitted(t: CountTables, job: int, name: int) -> None:
    """A workload is submitted, and waits."""
    queue = t.job[job, c.JOB_QUEUE]
    t.queue[queue, c.SUBMITTED] += 1
    t.live[name, c.LIVE_JOB], t.live[name, c.LIVE_QUEUE], t.live[name, c.SINCE] = job, queue, t.state[c.NOW]
    t.live[name, c.FIRST_CHARGE] = c.NONE
    stand_in_line(t, name)
    touch(t, queue)


def over(t: CountTables, name: int, column: int) -> None:
    """A workload is gone: whatever it used or waited for ends. The column counts those that go like that."""
    queue = t.live[name, c.LIVE_QUEUE]
    if t.live[name, c.STATE] == c.WAITING:
        leave_line(t, name)
    discharge(t, name)
    t.live[name, c.STATE] = c.GONE
    t.queue[queue, column] += 1
    touch(t, queue)


def admitted(t: CountTables, name: int, row: int) -> None:
    """A workload runs from now, and is charged what the event says."""
    queue, wait = t.live[name, c.LIVE_QUEUE], t.state[c.NOW] - t.live[name, c.SINCE]
    leave_line(t, name)
    t.live[name, c.STATE] = c.RUNNING
    t.queue[queue, c.ADMITTED] += 1
    add_wait(t, queue, wait)
    t.queue[queue, c.WAIT_MOST] = max(t.queue[queue, c.WAIT_MOST], wait)
    at = t.state[c.WAITED]
    t.waited[at, c.WAITED_IN], t.waited[at, c.WAITED_SECONDS] = queue, (wait + 999_999) // 1_000_000
    t.state[c.WAITED] = at + 1
    charge(t, name, t.events[row, c.E_CHARGES], t.events[row, c.E_CHARGED])
    touch(t, queue)


def evicted(t: CountTables, name: int) -> None:
    """A running workload stops, and waits again."""
    queue = t.live[name, c.LIVE_QUEUE]
    discharge(t, name)
    t.queue[queue, c.EVICTED] += 1
    t.live[name, c.SINCE] = t.state[c.NOW]
    stand_in_line(t, name)
    touch(t, queue)


# --- time, and what exists ----------------------------------------------------------------------------------------------------


def pass_time(t: CountTables, time: int) -> None:
    """Add to the areas what held from the last fact to this one."""
    elapsed = time - t.state[c.NOW]
    t.state[c.NOW] = time
    if elapsed == 0:
        return
    for queue in range(t.state[c.QUEUES]):
        for what in range(t.state[c.COUNTED]):
            if t.counted[queue, what, c.USED]:
                add_product(t, queue, what, c.USED_AREA, t.counted[queue, what, c.USED], elapsed)
                if t.counted[queue, what, c.BORROWED]:
                    add_product(t, queue, what, c.BORROWED_AREA, t.counted[queue, what, c.BORROWED], elapsed)
            if t.counted[queue, what, c.LENT]:
                add_product(t, queue, what, c.LENT_AREA, t.counted[queue, what, c.LENT], elapsed)


def add_wait(t: CountTables, queue: int, wait: int) -> None:
    """Add a wait, which may be negative, to those of a queue."""
    low = t.queue[queue, c.WAIT_TOTAL_LOW] + wait  # below 2**63
    t.queue[queue, c.WAIT_TOTAL_LOW] = low & (c.MOST - 1)
    t.queue[queue, c.WAIT_TOTAL] += low >> 62


def add_product(t: CountTables, queue: int, what: int, high: int, amount: int, time: int) -> None:
    """Add a product of two numbers below 2**62 to a sum in two columns; the time may be negative, and above -2**62."""
    half = 2**31 - 1
    across = (amount >> 31) * (time & half) + (amount & half) * (time >> 31)  # below 2**63
    low = t.counted[queue, what, high + 1] + (amount & half) * (time & half)  # below 2**63
    carried = low >> 62
    low = (low & (c.MOST - 1)) + ((across & half) << 31)  # below 2**63
    t.counted[queue, what, high + 1] = low & (c.MOST - 1)
    t.counted[queue, what, high] += (amount >> 31) * (time >> 31) + (across >> 31) + carried + (low >> 62)


def note_used(t: CountTables, begin: int, after: int) -> None:
    """Note what is used of all slots to which the decisions in these rows admit."""
    for row in range(begin, after):
        if t.events[row, c.E_KIND] == c.ADMITTING:
            charges = t.events[row, c.E_CHARGES]
            for at in range(charges, charges + t.events[row, c.E_CHARGED] * c.CHARGE_WIDTH, c.CHARGE_WIDTH):
                t.slot[t.tape[at + c.CHARGE_SLOT], c.SLOT_BEFORE] = t.slot[t.tape[at + c.CHARGE_SLOT], c.SLOT_USED]


def fits_supply(t: CountTables, begin: int, after: int) -> bool:
    """Whether the decisions in these rows take no more than exists, or was used before; else note which, and of what (`Measure._audit`)."""
    for row in range(begin, after):
        if t.events[row, c.E_KIND] == c.ADMITTING:
            charges = t.events[row, c.E_CHARGES]
            for at in range(charges, charges + t.events[row, c.E_CHARGED] * c.CHARGE_WIDTH, c.CHARGE_WIDTH):
                slot = t.tape[at + c.CHARGE_SLOT]
                if t.slot[slot, c.SLOT_USED] > max(t.slot[slot, c.SLOT_EXISTS], t.slot[slot, c.SLOT_BEFORE]):
                    t.state[c.WRONG_ROW], t.state[c.WRONG_SLOT] = row, slot
                    return False
    return True
