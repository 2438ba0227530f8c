"""Plain requests: one pod set, all of it or nothing, of resources of one group, in nobody's place. Nearly all workloads ask like that.

Where the first flavor that may serve one has room for it, no search is needed to nominate it. Such a nomination has no record; a search
finds the same and writes one.
"""

from ... import columns as c
from ...tables import Tables
from ..quota.tree import add_to, exceeds_owned, level_that_fits, most, room
from ..requests import plain_of
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
    if not (t.nom[nom, c.N_NOTED] == row + 1 or ask_plainly(t, row, nom)) or not plainly_has_room(t, queue, nom):
        return False
    t.nom[nom, c.N_ROW], t.nom[nom, c.N_QUEUE], t.nom[nom, c.N_REPLACED], t.nom[nom, c.N_MODE] = row, queue, c.NONE, c.FITS
    t.nom[nom, c.N_VICTIMS], t.nom[nom, c.N_IS_PLAIN] = 0, 1
    return True


def ask_plainly(t: Tables, row: int, nom: int) -> bool:
    """Note what a plain request asks of the first flavor that may serve it; say whether there is one."""
    group, spec, queue = plain_group(t, row), t.work[row, c.SPEC], t.work[row, c.QUEUE]
    if group == c.NONE:
        return False
    for i in range(t.pool[group]):
        flavor = t.pool[group + 1 + i]
        if may_serve(t, queue, spec, flavor):
            t.ask[plain_of(nom), 0, 0] = 0
            for j in range(t.spec[spec + c.S_RESOURCES]):
                asked = asked_in_all(t, spec, j)
                if asked > 0:
                    slot = slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID])
                    add_to(t, plain_of(nom), slot, asked)
            sort_by_slot(t, plain_of(nom))
            t.nom[nom, c.N_NOTED], t.nom[nom, c.N_TRIED] = row + 1, i if i < t.pool[group] - 1 else c.NONE
            return True
    return False


def plainly_has_room(t: Tables, queue: int, nom: int) -> bool:
    """Whether there is room for a plain request where it was noted, and the queue does not look further there."""
    ask = plain_of(nom)
    t.nom[nom, c.N_LEVEL] = 0
    for k in range(1, t.ask[ask, 0, 0] + 1):
        slot, asked = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT]
        if asked > room(t, queue, slot) or (t.node[queue, c.LOOKS_ON_BORROWING] and exceeds_owned(t, queue, slot, asked)):
            return False
        if t.state[c.FLAT]:
            level, _ = level_that_fits(t, queue, slot, asked)
            t.nom[nom, c.N_LEVEL] = max(t.nom[nom, c.N_LEVEL], level)
    return True
