"""Which domains pods fill in the policy's own way, over tables: packed, spread, or keeping room (`definition/placement/own_fill.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from .counted import TOO_LITTLE, fill_one, in_order, rows_filled
from .kept_rooms import room_in
from .rooms import MOST_PODS, domains_of, left_at


def fill_own(t: Tables, flavor: int, workers: int, wish: int, pods: int, leaders: int, empty: bool) -> int:
    """Fill the lowest domains of a flavor; return how many rows of `filled` there are then, in order of the domains, or TOO_LITTLE."""
    if not holds_all(t, flavor, wish, pods, leaders):
        return TOO_LITTLE
    levels, level, slices = t.tree[flavor, c.T_LEVELS], t.spec[wish + c.I_LEVEL], pods // t.spec[wish + c.I_SLICE_SIZE]
    while level >= 0:
        chosen = one_for_all(t, flavor, workers, level, level == levels - 1, pods, slices, leaders, empty)
        if chosen != c.NONE:
            rows = fill_one(t, 0, chosen, slices if level <= t.spec[wish + c.I_SLICE_LEVEL] else pods // unit_of(t, wish, level), leaders)
            return go_down(t, flavor, workers, wish, level, rows, empty)
        level -= 1
    first, last = domains_of(t, flavor, 0)
    rows = deal_out(t, workers, wish, in_row(first, last), 0, levels == 1, slices, leaders, empty, 0)
    return go_down(t, flavor, workers, wish, 0, rows, empty)


def holds_all(t: Tables, flavor: int, wish: int, pods: int, leaders: int) -> bool:
    """Whether there is room for all, whatever the way of placing; else `FIT_IN` and `ENDED_AT` say how much there is at which level.

    One domain of the level that is asked for has to hold them or, where that is only preferred, all of the widest level together: these
    hold whatever a single domain holds.
    """
    size, level = t.spec[wish + c.I_SLICE_SIZE], t.spec[wish + c.I_LEVEL] if t.spec[wish + c.I_REQUIRED] else 0
    if pods % size:
        t.state[c.FIT_IN], t.state[c.ENDED_AT] = 0, t.spec[wish + c.I_LEVEL]
        return False
    slices, most, together, least = pods // size, 0, 0, MOST_PODS
    first, last = domains_of(t, flavor, level)
    for domain in range(first, last):
        if holds_pods(t, domain, slices, leaders):
            return True
        most, together = max(most, room_in(t, domain, c.R_SLICES)), together + room_in(t, domain, c.R_SLICES)
        if room_in(t, domain, c.R_LEADERS):
            least = min(least, room_in(t, domain, c.R_SLICES) - room_in(t, domain, c.R_SLICES_LED))
    t.state[c.FIT_IN], t.state[c.ENDED_AT] = most if t.spec[wish + c.I_REQUIRED] else together, level
    if t.spec[wish + c.I_REQUIRED] or (leaders > 0 and least == MOST_PODS):
        return False
    return together - (least if leaders else 0) >= slices


def holds_pods(t: Tables, domain: int, slices: int, leaders: int) -> bool:
    """Whether one domain has room for all."""
    return room_in(t, domain, c.R_LEADERS) >= leaders and room_in(t, domain, c.R_SLICES_LED if leaders else c.R_SLICES) >= slices


def in_row(first: int, last: int) -> Ints:
    """The domains from one up to another, which is not among them."""
    domains = np.empty(last - first, np.int64)
    for at in range(last - first):
        domains[at] = first + at
    return domains


def one_for_all(
    t: Tables, flavor: int, workers: int, level: int, is_lowest: bool, pods: int, slices: int, leaders: int, empty: bool
) -> int:
    """The domain of a level for all of them, of those that have room, by the way; NONE where none has."""
    first, last = domains_of(t, flavor, level)
    best, way = c.NONE, t.state[c.PLACING_WAY]
    domain = next_with_room(t, first, last, slices, leaders)
    while domain < last:
        order = -1 if best == c.NONE else 0
        if order == 0 and way == c.KEEPING_ROOM and is_lowest:
            order = order_of_lost(t, workers, domain, 0, best, 0, pods, empty)
        if order == 0:
            order = room_in(t, domain, c.R_SLICES) - room_in(t, best, c.R_SLICES)
            order = -order if way == c.SPREAD else order
        if order < 0:
            best = domain
        domain = next_with_room(t, domain + 1, last, slices, leaders)
    return best


def next_with_room(t: Tables, domain: int, last: int, slices: int, leaders: int) -> int:
    """The next domain of a level that has room for all of them; `last` where none has.

    The level is that of slices or above it. So where a domain has no room for them, none has in it.
    """
    while domain < last:
        above = t.domain[domain, c.D_PARENT]
        if above != c.NONE and domain == t.domain[above, c.D_FIRST_CHILD] and not holds_pods(t, above, slices, leaders):
            domain += t.domain[above, c.D_CHILDREN]
        elif holds_pods(t, domain, slices, leaders):
            return domain
        else:
            domain += 1
    return last


# --- down the levels ----------------------------------------------------------------------------------------------------


def unit_of(t: Tables, wish: int, level: int) -> int:
    """How many pods stand together in one domain of a level: a slice, from its level up, or a part of one below."""
    return t.spec[wish + c.I_SLICE_SIZE] if level <= t.spec[wish + c.I_SLICE_LEVEL] else t.spec[wish + c.I_INNER + level]


def go_down(t: Tables, flavor: int, workers: int, wish: int, level: int, rows: int, empty: bool) -> int:
    """From domains of a level, with how many of its unit each was given, to the lowest ones with their pods."""
    levels = t.tree[flavor, c.T_LEVELS]
    while level < levels - 1:
        above, made = rows_filled(t, rows), 0
        unit, below = unit_of(t, wish, level), unit_of(t, wish, level + 1)
        for at in range(rows):
            first = t.domain[above[at, c.Z_DOMAIN], c.D_FIRST_CHILD]
            parts = in_row(first, first + t.domain[above[at, c.Z_DOMAIN], c.D_CHILDREN])
            count = above[at, c.Z_PODS] * unit // below
            made = deal_out(t, workers, wish, parts, level + 1, level + 1 == levels - 1, count, above[at, c.Z_LEADERS], empty, made)
        rows, level = made, level + 1
    for at in range(rows):
        t.filled[at, c.Z_PODS] *= unit_of(t, wish, level)
    return in_order(t, rows)


def room_at(t: Tables, wish: int, domain: int, level: int, led: bool) -> int:
    """How much of the unit of a level fits into a domain of it."""
    if level < t.spec[wish + c.I_SLICE_LEVEL]:
        return room_in(t, domain, c.R_SLICES_LED if led else c.R_SLICES)
    return room_in(t, domain, c.R_PODS_LED if led else c.R_PODS) // unit_of(t, wish, level)


def deal_out(
    t: Tables, workers: int, wish: int, domains: Ints, level: int, is_lowest: bool, count: int, leaders: int, empty: bool, begin: int
) -> int:
    """Share a count out over domains of a level, in rows of `filled` from `begin` on; return the row behind the last one."""
    room, given = np.empty(len(domains), np.int64), np.empty(len(domains), np.int64)
    for at in range(len(domains)):
        room[at], given[at] = room_at(t, wish, domains[at], level, False), 0
    leader = leader_at(t, wish, domains, room, level, count) if leaders else c.NONE
    if leader != c.NONE:
        room[leader] = room_at(t, wish, domains[leader], level, True)
    if t.state[c.PLACING_WAY] == c.SPREAD:
        deal_evenly(room, given, count)
    elif t.state[c.PLACING_WAY] == c.KEEPING_ROOM and is_lowest and unit_of(t, wish, level) == 1:
        deal_keeping(t, workers, domains, room, given, count, empty)
    else:
        deal_packed(room, given, count, leader)
    rows = begin
    for at in range(len(domains)):
        if given[at] > 0 or at == leader:
            rows = fill_one(t, rows, domains[at], given[at], int(at == leader))
    return rows


def leader_at(t: Tables, wish: int, domains: Ints, room: Ints, level: int, count: int) -> int:
    """Which of the domains is for the leader: one in which it takes no more than there is to spare, by the order of the way; NONE: none."""
    spare, best, best_room, holds_all = -count, c.NONE, 0, False
    for at in range(len(domains)):
        spare += room[at]
    for at in range(len(domains)):
        led = room_at(t, wish, domains[at], level, True)
        if room_in(t, domains[at], c.R_LEADERS) == 0 or room[at] - led > spare:
            continue
        if led >= count:
            sooner = led > best_room if t.state[c.PLACING_WAY] == c.SPREAD else led < best_room
            if not holds_all or sooner:
                best, best_room, holds_all = at, led, True
        elif not holds_all and (best == c.NONE or led > best_room):
            best, best_room = at, led
    return best


# --- three ways to share out --------------------------------------------------------------------------------------------


def deal_packed(room: Ints, given: Ints, count: int, leader: int) -> None:
    """As few as will do: the one of the leader first, then the emptiest, and for the rest the fullest that holds it."""
    left = count
    if leader != c.NONE:
        given[leader] = min(room[leader], left)
        left -= given[leader]
    order, at = np.argsort(-room, kind="mergesort"), 0
    while left > 0 and at < len(order):
        each = order[at]
        at += 1
        if each == leader or given[each] > 0:
            continue
        if room[each] >= left:
            for other in range(len(room)):
                holds_it = other != leader and given[other] == 0 and room[other] >= left
                if holds_it and (room[other] < room[each] or (room[other] == room[each] and other < each)):
                    each = other
        given[each] = min(room[each], left)
        left -= given[each]


def deal_evenly(room: Ints, given: Ints, count: int) -> None:
    """One by one, each time to the one with the most room left: all keep about as much."""
    level, above = 0, 0
    for at in range(len(room)):
        above = max(above, room[at])
    while level < above:
        middle, there = (level + above + 1) // 2, 0
        for at in range(len(room)):
            there += max(0, room[at] - middle)
        if there >= count:
            level = middle
        else:
            above = middle - 1
    rest = count
    for at in range(len(room)):
        given[at] = max(0, room[at] - level - 1)
        rest -= given[at]
    for at in range(len(room)):
        if rest > 0 and room[at] > level:
            given[at] += 1
            rest -= 1


def deal_keeping(t: Tables, workers: int, domains: Ints, room: Ints, given: Ints, count: int, empty: bool) -> None:
    """One by one to where the least room is lost, of those the fullest."""
    for _ in range(count):
        best = c.NONE
        for at in range(len(domains)):
            if given[at] >= room[at]:
                continue
            if best == c.NONE:
                best = at
                continue
            order = order_of_lost(t, workers, domains[at], given[at], domains[best], given[best], 1, empty)
            if order == 0:
                order = (room[at] - given[at]) - (room[best] - given[best])
            if order < 0:
                best = at
        given[best] += 1


def order_of_lost(t: Tables, workers: int, left: int, before_left: int, right: int, before_right: int, more: int, empty: bool) -> int:
    """-1, 0 or 1: where less room for the kept sizes is lost by so many pods more, beside those that a domain was given before."""
    for size in range(t.state[c.SIZES_KEPT]):
        lost, other = lost_at(t, workers, left, before_left, more, size, empty), lost_at(t, workers, right, before_right, more, size, empty)
        if lost != other:
            return -1 if lost < other else 1
    return 0


def lost_at(t: Tables, workers: int, domain: int, before: int, more: int, size: int, empty: bool) -> int:
    """How many pods of a kept size fit no more once `more` pods stand in a lowest domain, beside `before` of them."""
    leaf, then, after = t.domain[domain, c.D_LEAF], MOST_PODS, MOST_PODS
    for k in range(t.state[c.PLACE_RESOURCES]):
        one, each = t.size_kept[size, k], t.spec[workers + c.A_AMOUNTS + k]
        if one > 0 and t.leaf[leaf, c.L_UNLIMITED + k] == 0:
            left = left_at(t, leaf, k, empty) - before * each
            then = min(then, max(0, left) // one)
            after = min(after, max(0, left - more * each) // one)
    return then - after
