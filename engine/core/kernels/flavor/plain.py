"""Plain requests: one pod set, all of it or nothing, of resources of one group, in nobody's place. Nearly all workloads ask like that.

Where the first flavor that may serve one has room for it, no search is needed to nominate it. Such a nomination has no record; a search
finds the same and writes one.
"""

from ... import columns as c
from ...tables import Tables
from ..quota.tree import add_to, exceeds_owned, fits, free, level_that_fits, limit_left, local_left, most, quota_left
from ..requests import asked_by, plain_of
from .flavors import sort_by_slot
from .pod_sets import pod_set_at, resource_at, slot_of


def asked_in_all(t: Tables, spec: int, j: int) -> int:
    """What a plain request asks of the j-th resource."""
    pod_set = pod_set_at(t, spec, 0)
    return max(0, t.spec[pod_set + c.P_REQUESTS + j]) * t.spec[pod_set + c.P_LEFT]


def plain_group(t: Tables, row: int) -> int:
    """The group of all resources that a workload asks for; NONE where its request is not plain."""
    spec, group = t.work[row, c.SPEC], c.NONE
    if t.spec[spec + c.S_PODSETS] != 1 or t.spec[spec + c.S_SPARE] > 0 or t.work[row, c.REPLACES] != c.NONE:
        return c.NONE
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if asked_in_all(t, spec, j) > 0:
            its_group = t.spec[resource_at(t, spec, j) + c.R_GROUP]
            if its_group == c.NONE or (group != c.NONE and group != its_group):
                return c.NONE
            group = its_group
        elif not t.state[c.TOGETHER] and t.spec[pod_set_at(t, spec, 0) + c.P_REQUESTS + j] != c.NONE:
            return c.NONE  # nothing of it is asked for, and it is judged all the same
    return group


def may_serve(t: Tables, queue: int, spec: int, flavor: int) -> bool:
    """Whether nothing but room keeps a plain request off a flavor."""
    pod_set, resources = pod_set_at(t, spec, 0), t.spec[spec + c.S_RESOURCES]
    if t.spec[pod_set + c.P_REQUESTS + resources + flavor]:
        return False
    for j in range(resources):
        asked = asked_in_all(t, spec, j)
        if asked > 0:
            slot = slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID])
            if slot == c.NONE or asked > most(t, queue, slot):
                return False
    return True


def fits_plainly(t: Tables, row: int, nom: int) -> bool:
    """Nominate a workload of a plain request if it is clear that it fits, as far as comparing it with others takes; say whether it is.

    That is so where the first flavor that may serve it has room, and the queue would not rather look at the next one. That flavor never
    changes as long as the workload stands in its line, so it is looked for once.
    """
    queue = t.work[row, c.QUEUE]
    if t.nom[nom, c.N_NOTED] != row + 1 and not ask_plainly(t, row, nom):
        return False
    if t.node[queue, c.NEEDS_OF] != row:
        note_from_above(t, row, nom)
    if not has_room_above(t, queue, nom):
        return False
    t.nom[nom, c.N_ROW], t.nom[nom, c.N_QUEUE], t.nom[nom, c.N_REPLACED], t.nom[nom, c.N_MODE] = row, queue, c.NONE, c.FITS
    t.nom[nom, c.N_VICTIMS], t.nom[nom, c.N_IS_PLAIN], t.nom[nom, c.N_LEVEL], t.nom[nom, c.N_STANDS] = 0, 1, 0, 0
    if t.state[c.FLAT]:
        t.nom[nom, c.N_LEVEL] = level_above(t, queue, nom)
    return True


def ask_plainly(t: Tables, row: int, nom: int) -> bool:
    """Note what a plain request asks of the first flavor that may serve it; say whether there is one."""
    group, spec, queue = plain_group(t, row), t.work[row, c.SPEC], t.work[row, c.QUEUE]
    if group == c.NONE:
        return False
    for i in range(t.pool[group]):
        flavor = t.pool[group + 1 + i]
        if may_serve(t, queue, spec, flavor):
            if t.tree[flavor, c.T_LEVELS] > 0:
                return False  # its pods have to find places
            t.ask[plain_of(nom), 0, 0] = 0
            for j in range(t.spec[spec + c.S_RESOURCES]):
                asked = asked_in_all(t, spec, j)
                if asked > 0:
                    slot = slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID])
                    add_to(t, plain_of(nom), slot, asked)
            sort_by_slot(t, plain_of(nom))
            t.node[queue, c.NEEDS_OF] = c.NONE  # it may name this row for what another one asked for
            t.nom[nom, c.N_NOTED], t.nom[nom, c.N_TRIED] = row + 1, i if i < t.pool[group] - 1 else c.NONE
            return True
    return False


def note_from_above(t: Tables, row: int, nom: int) -> None:
    """Note what the plain request that is noted of a workload needs from above its queue, so that looking at it takes no look at that.

    Of each slot that is what the queue cannot keep local; of a queue without a parent, what it lacks of its own. It is `NEVER` where the
    borrowing limit allows less, or where the queue would rather look at the next flavor.
    """
    queue, ask = t.work[row, c.QUEUE], plain_of(nom)
    count = t.ask[ask, 0, 0]
    for k in range(count):
        slot, asked = t.ask[ask, k + 1, c.SLOT], t.ask[ask, k + 1, c.AMOUNT]
        borrows, needed = exceeds_owned(t, queue, slot, asked), asked - local_left(t, queue, slot)
        if t.node[queue, c.PARENT] < 0:
            needed = asked - (t.quota[queue, slot, c.OWNED] - t.quota[queue, slot, c.USED])
        elif asked > limit_left(t, queue, slot):
            needed = c.NEVER
        if borrows and t.node[queue, c.LOOKS_ON_BORROWING]:
            needed = c.NEVER
        t.plain[nom, k, c.E_SLOT], t.plain[nom, k, c.E_ASKED] = slot, asked
        t.plain[nom, k, c.E_FROM_ABOVE], t.plain[nom, k, c.E_BORROWS] = needed, borrows
    t.plain[nom, count, c.E_SLOT] = c.NONE
    t.node[queue, c.NEEDS_OF] = row


def has_room_above(t: Tables, queue: int, nom: int) -> bool:
    """Whether there is what a noted plain request needs from above its queue, and what it asks for exists and is idle."""
    k, parent = 0, t.node[queue, c.PARENT]
    while t.plain[nom, k, c.E_SLOT] != c.NONE:
        slot, arrives = t.plain[nom, k, c.E_SLOT], 0
        if parent >= 0:
            arrives, _, _ = quota_left(t, parent, slot)
        if t.plain[nom, k, c.E_FROM_ABOVE] > arrives or (not t.state[c.FOREST] and t.plain[nom, k, c.E_ASKED] > free(t, slot)):
            return False
        k += 1
    return True


def level_above(t: Tables, queue: int, nom: int) -> int:
    """The height from which a noted plain request that fits would come: 0 where the queue owns as much."""
    k, highest = 0, 0
    while t.plain[nom, k, c.E_SLOT] != c.NONE:
        if t.plain[nom, k, c.E_BORROWS] and t.node[queue, c.PARENT] >= 0:
            level, _ = level_that_fits(t, t.node[queue, c.PARENT], t.plain[nom, k, c.E_SLOT], t.plain[nom, k, c.E_FROM_ABOVE])
            highest = max(highest, level)
        k += 1
    return highest


def still_fits(t: Tables, nom: int) -> bool:
    """Whether there is room for what a nomination asks for, after others were charged."""
    queue = t.nom[nom, c.N_QUEUE]
    if t.nom[nom, c.N_IS_PLAIN] and t.node[queue, c.NEEDS_OF] == t.nom[nom, c.N_ROW]:
        return has_room_above(t, queue, nom)
    return fits(t, queue, asked_by(t, nom))
