"""What queues borrow, lend, and owe to those who wait, once a batch is counted. See `FlavorLending` and `Measure._entitle`."""

from .. import count_columns as c
from ..count_tables import CountTables


def touch(t: CountTables, queue: int) -> None:
    """Note that something about a queue changed."""
    if not t.queue[queue, c.IS_TOUCHED]:
        t.queue[queue, c.IS_TOUCHED], t.queue[queue, c.NEXT_TOUCHED] = 1, t.state[c.FIRST_TOUCHED]
        t.state[c.FIRST_TOUCHED] = queue


# --- lending ------------------------------------------------------------------------------------------------------------------


def share_out(t: CountTables) -> None:
    """Set what each queue borrows and lends now."""
    queue = t.state[c.FIRST_TOUCHED]
    while queue != c.NONE:
        pool_uses(t, queue)
        queue = t.queue[queue, c.NEXT_TOUCHED]
    for pool in range(t.state[c.POOLS]):
        if t.pool[pool, c.IS_CHANGED]:
            t.pool[pool, c.IS_CHANGED] = 0
            lend(t, pool)


def pool_uses(t: CountTables, queue: int) -> None:
    """Set what a queue leaves idle of each pool and what it borrows, where it uses more or less of it than before."""
    for what in range(t.state[c.COUNTED]):
        t.counted[queue, what, c.BORROWED] = 0
    for pool in range(t.state[c.POOLS]):
        owns, before, uses = t.share[queue, pool, c.OWNS], t.share[queue, pool, c.POOLED], t.share[queue, pool, c.USES]
        t.counted[queue, t.pool[pool, c.POOL_COUNTED], c.BORROWED] += max(0, uses - owns)
        if uses != before:
            t.pool[pool, c.POOL_BORROWED] += max(0, uses - owns) - max(0, before - owns)
            t.pool[pool, c.IDLE] += max(0, owns - uses) - max(0, owns - before)
            t.pool[pool, c.IS_CHANGED] = 1
            t.share[queue, pool, c.POOLED] = uses


def lend(t: CountTables, pool: int) -> None:
    """Set what each queue lends of a pool: the parts add up exactly to all that is lent, and go by what each leaves idle."""
    all_idle, before, what = t.pool[pool, c.IDLE], t.pool[pool, c.POOL_LENT], t.pool[pool, c.POOL_COUNTED]
    unowned = max(0, t.pool[pool, c.EXISTS] - t.pool[pool, c.OWNED])
    lent = min(all_idle, max(0, t.pool[pool, c.POOL_BORROWED] - unowned))
    if before == 0 and lent == 0:
        return
    t.pool[pool, c.POOL_LENT], t.pool[pool, c.HAS_LENT] = lent, 1
    idle, given = 0, 0
    for queue in range(t.state[c.QUEUES]):
        idle += max(0, t.share[queue, pool, c.OWNS] - t.share[queue, pool, c.USES])
        upto = idle * lent // all_idle if lent else 0  # below 2**62: what queues own together is bounded for it
        t.counted[queue, what, c.LENT] += upto - given - t.share[queue, pool, c.LENDS]
        t.share[queue, pool, c.LENDS], given = upto - given, upto


# --- who fits what its queue owns -------------------------------------------------------------------------------------------


def entitle(t: CountTables, queue: int) -> None:
    """See which waiting workloads of a queue fit what it owns, now that something about it changed."""
    waiting, entitled = t.queue[queue, c.FIRST_WAITING], t.queue[queue, c.FIRST_ENTITLED]
    if waiting == c.NONE and entitled == c.NONE:
        return
    most = make_room(t, queue)
    now, kept = t.state[c.NOW], c.NONE
    while entitled != c.NONE:
        following = t.live[entitled, c.NEXT_ENTITLED]
        if t.live[entitled, c.STATE] == c.WAITING and fits(t, queue, entitled, most):
            t.live[entitled, c.NEXT_ENTITLED], kept = kept, entitled
        else:
            waited = now - t.live[entitled, c.ENTITLED_SINCE]
            t.queue[queue, c.OWNER_WAIT_MOST] = max(t.queue[queue, c.OWNER_WAIT_MOST], waited)
            t.live[entitled, c.ENTITLED_SINCE] = c.NONE
        entitled = following
    while most > 0 and waiting != c.NONE:
        if t.live[waiting, c.ENTITLED_SINCE] == c.NONE and fits(t, queue, waiting, most):
            t.live[waiting, c.ENTITLED_SINCE] = now
            t.live[waiting, c.NEXT_ENTITLED], kept = kept, waiting
        waiting = t.live[waiting, c.LATER]
    t.queue[queue, c.FIRST_ENTITLED] = kept


def make_room(t: CountTables, queue: int) -> int:
    """Set what a queue owns, may use and does not use of each flavor; return it all together."""
    most, begin = 0, t.queue[queue, c.ORDER]
    for at in range(begin, begin + t.queue[queue, c.ORDER_LENGTH]):
        flavor = t.order[at]
        t.pool[flavor, c.ROOM] = max(0, t.share[queue, flavor, c.OWNS] - t.share[queue, flavor, c.USES])
        most += t.pool[flavor, c.ROOM]
    return most


def fits(t: CountTables, queue: int, name: int, most: int) -> bool:
    """Whether a workload asks for GPUs, and its pod sets fit into the room, each into the first flavor that will do."""
    kind = t.job[t.live[name, c.LIVE_JOB], c.JOB_KIND]
    if t.kind[kind, c.KIND_GPUS] == 0 or t.kind[kind, c.KIND_GPUS] > most:
        return False
    begin, end = t.queue[queue, c.ORDER], t.queue[queue, c.ORDER] + t.queue[queue, c.ORDER_LENGTH]
    for at in range(begin, end):
        t.pool[t.order[at], c.LEFT] = t.pool[t.order[at], c.ROOM]
    for ask in range(t.kind[kind, c.FIRST_ASK], t.kind[kind, c.FIRST_ASK] + t.kind[kind, c.ASKS]):
        at, gpus = begin, t.ask[ask, c.ASK_GPUS]
        while at < end and (t.pool[t.order[at], c.LEFT] < gpus or not t.ask[ask, c.MAY_USE + t.order[at]]):
            at += 1
        if at == end:
            return False
        t.pool[t.order[at], c.LEFT] -= gpus
    return True
