"""How far a queue reaches in a slot: no request beyond it can be helped, neither by what is idle nor by evictions from others.

A request is refused, at any moment, where it asks for more of a slot than the reach and all that the queue's own victims use of it.
Proof: to fit it needs room. If others have to go, let m be the lowest node of the queue's path beside which somebody goes. Until the first
one there goes, only the queue's own victims are gone at and below m, and no share beside m grew. That first one falls to one of two kinds
of rules. One wants m, or a node below it on the path, to stay within what it owns with the request. The guard of the other wants the share
of m with the request not to exceed the share beside it that the victim is of. Both bound the request by what is used now. The borrowing
limits at and below m bound it as well: they count only what is charged at or below their node, and of that only the queue's own victims go.
Where all rules compare with the share that is left without the victim (`SHARES_AFTER`), what it frees at least counts. A policy with a rule
of another kind keeps no refusals (`KEEPS`). Time does not come into it, so who is refused for this wakes nobody.

The reach only grows where something is set free, or where the share of another node grows.
"""

from ... import columns as c
from ...tables import Tables
from ..flavor.plain import asked_in_all, may_serve, plain_group
from ..flavor.pod_sets import resource_at, slot_of
from ..line import first_in_line, next_in_tree
from ..preemption.ahead import UNKNOWN_BOTH
from ..preemption.rules import is_kept, rule_at
from ..quota.holdings import charges_of
from ..quota.shares import share, share_at_most_after
from ..quota.tree import limit_left, local_left, room
from .wishes import gather_wishes, note_change, wish_for_anything


def reach_of(t: Tables, queue: int, slot: int) -> int:
    """How far a queue reaches in a slot as things stand."""
    reach, kept, by_limits, node = room(t, queue, slot), 0, c.BEYOND, queue
    while t.node[node, c.PARENT] >= 0:  # the node is the m of the proof: limits above it do not count
        by_limits = min(by_limits, kept + limit_left(t, node, slot))
        reach = max(reach, min(by_limits, kept + reach_by_rules(t, node, slot)))
        kept += local_left(t, node, slot)
        node = t.node[node, c.PARENT]
    return reach


def reach_by_rules(t: Tables, node: int, slot: int) -> int:
    """What may arrive at a node, below the top, of a slot so that some rule lets others go for it; far below 0: nothing."""
    left = t.quota[node, slot, c.OWNED] - t.quota[node, slot, c.USED]
    if t.state[c.KEEPS] == c.BY_SHARES:
        return left + share_allows(t, node, slot)
    if t.node[node, c.IS_QUEUE]:
        return left if t.state[c.RESTS_ON_QUEUE] else c.ANYTIME
    return left if t.state[c.RESTS_ON_COHORT] else c.ANYTIME


def share_allows(t: Tables, node: int, slot: int) -> int:
    """How much a node may use of a slot beyond what it owns, at most, until its share is above all shares beside it."""
    parent = t.node[node, c.PARENT]
    greatest = t.node[parent, c.SECOND if t.node[parent, c.GREATEST_OF] == node else c.GREATEST]
    lendable, weight = t.quota[parent, slot, c.LENDABLE], t.node[node, c.WEIGHT]
    parts = t.slot[slot, c.WORTH] * t.node[node, c.WEIGHT_PARTS]
    if greatest >= c.WIDEST_SHARE or lendable <= 0 or parts == 0 or weight == 0:
        return c.BEYOND
    allowed = (greatest * (lendable // c.ONE_SHARE) + greatest * (lendable % c.ONE_SHARE) // c.ONE_SHARE + 1) // parts + 1
    return c.BEYOND if allowed >= c.BEYOND // weight else allowed * weight


def share_bound(t: Tables, node: int) -> int:
    """The greatest share of a node that rules compare with, in parts of `ONE_SHARE`, rounded up; `WIDEST_SHARE` where it is as great."""
    level, above, below = share_at_most_after(t, node) if t.state[c.SHARES_AFTER] else share(t, node)
    if level > 0 or above // below >= c.WIDEST_SHARE // c.ONE_SHARE:
        return c.WIDEST_SHARE
    found, rest, parts = above // below, above % below, c.ONE_SHARE
    while parts > 1:
        found, rest, parts = 2 * found, 2 * rest, parts // 2
        if rest >= below:
            found, rest = found + 1, rest - below
    return found + 1


def note_reach(t: Tables, queue: int) -> bool:
    """Note how far a queue reaches; say whether that is further than it was in some slot."""
    further = False
    for slot in range(max(1, t.state[c.SLOTS])):
        reach = 0
        if slot < t.state[c.SLOTS]:
            reach = min(c.BEYOND, reach_of(t, queue, slot)) + t.watch[queue, slot, c.JOINED]
        further = further or reach > t.watch[queue, slot, c.REACH]
        t.watch[queue, slot, c.REACH] = reach
    return further


# --- wishes of those who are refused ---------------------------------------------------------------------------------------


def note_joined(t: Tables, queue: int, row: int) -> None:
    """Note that a workload runs in a queue from now, where policies decide at once: those who wait there may come to evict it.

    Reach and wishes are compared with all that ever joined on top, so that it counts for wishes that were noted before.
    """
    priority = t.when[row, c.PRIORITY]
    is_first = t.node[queue, c.FIRST_RUNNING] == c.NONE
    if t.state[c.SHARES_AFTER]:
        note_least_freed(t, queue, row, is_first)
    t.node[queue, c.LEAST_RUNNING] = priority if is_first else min(priority, t.node[queue, c.LEAST_RUNNING])
    if t.state[c.EVICTS_OWN] == c.BY_PRIORITY and (t.node[queue, c.LINE] == c.NONE or priority >= t.node[queue, c.MOST_WAITING]):
        return
    cell = charges_of(t, row)
    while cell >= 0:
        slot = t.cell[cell, c.SLOT]
        t.watch[queue, slot, c.JOINED] += t.cell[cell, c.AMOUNT]
        if t.watch[queue, slot, c.JOINED] > c.MOST_JOINED:
            t.watch[queue, slot, c.JOINED] = 0
            waits = first_in_line(t, queue)
            while waits != c.NONE:
                wish_for_anything(t, waits)
                gather_wishes(t, waits)
                waits = next_in_tree(t, waits)
        cell = t.cell[cell, c.NEXT]


def note_least_freed(t: Tables, queue: int, row: int, is_first: bool) -> None:
    """Note that a workload runs, where of each node and slot the least is kept that it has back once one of those below it is gone.

    Above a node that keeps a part local that may be nothing. Above queues the least of all who ever ran counts.
    """
    for slot in range(t.state[c.SLOTS]):
        t.slot[slot, c.LEFT] = 0
    cell = charges_of(t, row)
    while cell >= 0:
        t.slot[t.cell[cell, c.SLOT], c.LEFT] = t.cell[cell, c.AMOUNT]
        cell = t.cell[cell, c.NEXT]
    for slot in range(t.state[c.SLOTS]):
        node, freed = queue, t.slot[slot, c.LEFT]
        t.watch[node, slot, c.LEAST_FREED] = freed if is_first else min(freed, t.watch[node, slot, c.LEAST_FREED])
        while t.node[node, c.PARENT] >= 0:
            freed = 0 if t.quota[node, slot, c.LOCAL] > 0 else freed
            node = t.node[node, c.PARENT]
            t.watch[node, slot, c.LEAST_FREED] = min(freed, t.watch[node, slot, c.LEAST_FREED])


def waits_for_room(t: Tables, row: int) -> bool:
    """Whether a workload is refused because each flavor is short of a slot beyond the reach of its queue; that is then its wish.

    Only for plain requests (`flavor/plain.py`); the reach has to be noted.
    """
    spec = t.work[row, c.SPEC]
    group = plain_group(t, row) if t.state[c.KEEPS] else c.NONE
    if group == c.NONE:
        return False
    for slot in range(t.state[c.SLOTS]):
        t.slot[slot, c.HELPS] = 0
    refused = wish_by_flavor(t, row, spec, group)
    if refused and t.state[c.EVICTS_OWN]:
        note_own_victims(t, row)
        refused = wish_by_flavor(t, row, spec, group)
    if not refused:
        wish_for_anything(t, row)
    gather_wishes(t, row)
    note_change(t, t.work[row, c.QUEUE], c.BY_WISHES)
    return refused


def wish_by_flavor(t: Tables, row: int, spec: int, group: int) -> bool:
    """Wish, of each flavor that may do, for the slot that is missing most; say whether each is missing one."""
    queue, at = t.work[row, c.QUEUE], t.work[row, c.WAIT]
    for slot in range(t.state[c.SLOTS]):
        t.wish[at, slot, c.WISH] = c.NEVER
    for i in range(t.pool[group]):
        flavor = t.pool[group + 1 + i]
        if may_serve(t, queue, spec, flavor):
            slot, asked = most_missing(t, queue, spec, flavor)
            if slot == c.NONE:
                return False
            wish = asked - t.slot[slot, c.HELPS] + t.watch[queue, slot, c.JOINED]
            t.wish[at, slot, c.WISH] = min(t.wish[at, slot, c.WISH], wish)
    return True


def most_missing(t: Tables, queue: int, spec: int, flavor: int) -> tuple[int, int]:
    """The slot of a flavor of which most is asked for beyond the reach and what own victims use, and how much is; NONE: of none is."""
    missing, found, found_asked = 0, c.NONE, 0
    for j in range(t.spec[spec + c.S_RESOURCES]):
        asked = asked_in_all(t, spec, j)
        if asked > 0:
            slot = slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID])
            beyond = asked - t.slot[slot, c.HELPS] - (t.watch[queue, slot, c.REACH] - t.watch[queue, slot, c.JOINED])
            if beyond > missing:
                missing, found, found_asked = beyond, slot, asked
    return found, found_asked


def note_own_victims(t: Tables, row: int) -> None:
    """Note how much those of a workload's own queue use whom it may evict, now or at any other moment, whatever the shares."""
    queue = t.work[row, c.QUEUE]
    if t.state[c.EVICTS_OWN] == c.BY_PRIORITY and t.when[row, c.PRIORITY] <= t.node[queue, c.LEAST_RUNNING]:
        return
    each = t.node[queue, c.FIRST_RUNNING]
    while each != c.NONE:
        if not t.work[each, c.PINNED] and may_ever_go(t, row, each):
            cell = charges_of(t, each)
            while cell >= 0:
                t.slot[t.cell[cell, c.SLOT], c.HELPS] += t.cell[cell, c.AMOUNT]
                cell = t.cell[cell, c.NEXT]
        each = next_in_tree(t, each)


def may_ever_go(t: Tables, row: int, each: int) -> bool:
    """Whether some rule for the own queue may let a workload go for another one."""
    for rule in range(t.pool[t.state[c.RULES]]):
        if t.pool[rule_at(t, rule) + c.L_SCOPE] == c.SAME_QUEUE and not is_kept(t, rule, row, each, t.state[c.TIME], UNKNOWN_BOTH):
            return True
    return False
