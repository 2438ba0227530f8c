"""Which domains pods fill as Kueue counts them, over tables (`definition/placement/fill.py`).

What was filled stands in `filled`: a row for each domain with the workers and the leaders there, of one level after the other.
"""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from .kept_rooms import room_in, write_slices
from .rooms import domains_of

TOO_LITTLE = -1
"""Instead of how many domains are filled: there is no room for all. `FIT_IN` says how much fits, `ENDED_AT` at which level that is."""

_MOST = 2**31 - 1


def fill_counted(t: Tables, flavor: int, wish: int, pods: int, leaders: int) -> int:
    """Fill the lowest domains of a flavor; return how many rows of `filled` there are then, in order of the domains, or TOO_LITTLE."""
    order = np.empty(t.state[c.MOST_DOMAINS], np.int64)
    level, count = first_domains(t, flavor, wish, pods, leaders, order)
    if count == TOO_LITTLE:
        return TOO_LITTLE
    rows = share_out(t, wish, order[:count], pods, leaders, t.spec[wish + c.I_SLICE_SIZE], True, 0)
    slice_level = t.spec[wish + c.I_SLICE_LEVEL]
    while level < t.tree[flavor, c.T_LEVELS] - 1:
        if level < slice_level:
            rows = down_over_all(t, wish, pods, leaders, rows, order)
        else:
            rows = down_within_each(t, wish, level + 1, rows, order)
        level += 1
    placed, led = 0, 0
    for at in range(rows):
        placed, led = placed + t.filled[at, c.Z_PODS], led + t.filled[at, c.Z_LEADERS]
    if placed != pods or led != leaders:
        t.state[c.FIT_IN], t.state[c.ENDED_AT] = 0, t.spec[wish + c.I_LEVEL]
        return TOO_LITTLE
    return in_order(t, rows)


def in_order(t: Tables, rows: int) -> int:
    """Bring what was filled into the order of domains, without those where nobody stands; return how many are left."""
    kept = 0
    for at in np.argsort(rows_filled(t, rows)[:, c.Z_DOMAIN]):
        for column in range(c.FILLED_WIDTH):
            t.filled[rows + kept, column] = t.filled[at, column]
        kept += int(t.filled[at, c.Z_PODS] > 0 or t.filled[at, c.Z_LEADERS] > 0)
    for at in range(kept):
        for column in range(c.FILLED_WIDTH):
            t.filled[at, column] = t.filled[rows + at, column]
    return kept


def rows_filled(t: Tables, rows: int) -> Ints:
    """A copy of what was filled, to be read while it is written anew."""
    copy = np.empty((rows, c.FILLED_WIDTH), np.int64)
    for at in range(rows):
        for column in range(c.FILLED_WIDTH):
            copy[at, column] = t.filled[at, column]
    return copy


# --- the domains to begin with ------------------------------------------------------------------------------------------


def first_domains(t: Tables, flavor: int, wish: int, pods: int, leaders: int, order: Ints) -> tuple[int, int]:
    """The domain of the level that is asked for, or of the first one above, that has room for all; or several of the widest, or of this
    level where nothing is said of how near pods stand. Return the level and how many domains there are, in `order`."""
    loose, slices = t.spec[wish + c.I_LOOSE] == 1, pods // t.spec[wish + c.I_SLICE_SIZE]
    level = t.spec[wish + c.I_LEVEL]
    while True:
        first, last = domains_of(t, flavor, level)
        count = last - first
        for domain in range(first, last):
            order[domain - first] = domain
        with_leader_first(t, order[:count], loose)
        if loose:
            for at in range(count):
                domain = order[at]
                if room_in(t, domain, c.R_LEADERS) >= leaders and room_of(t, domain, True, leaders > 0) >= slices:
                    order[0] = domain
                    return level, 1
        top = order[0]
        if room_in(t, top, c.R_SLICES_LED) >= slices and room_in(t, top, c.R_LEADERS) >= leaders:
            order[0] = top if loose else best_fit(t, order[:count], slices, leaders, True)
            return level, 1
        if t.spec[wish + c.I_REQUIRED]:
            t.state[c.FIT_IN], t.state[c.ENDED_AT] = room_in(t, top, c.R_SLICES), level
            return level, TOO_LITTLE
        if level == 0 or loose:
            return level, several(t, wish, level, pods, leaders, order, count)
        level -= 1


def several(t: Tables, wish: int, level: int, pods: int, leaders: int, order: Ints, count: int) -> int:
    """Domains that have room for all together, first one for the leader, then others; they stand at the front of `order` then."""
    loose, size = t.spec[wish + c.I_LOOSE] == 1, t.spec[wish + c.I_SLICE_SIZE]
    slices = pods // size
    leader_spared(t, order[:count], pods, leaders, size, True)
    found, chosen, at, left, heads = np.empty(count, np.int64), 0, 0, slices, leaders
    while heads > 0 and at < count and room_in(t, order[at], c.R_LEADERS) > 0:
        domain = order[at]
        if not loose and room_in(t, domain, c.R_SLICES_LED) >= left:
            domain = best_fit(t, order[at:count], left, heads, True)
        found[chosen] = domain
        chosen += 1
        heads -= room_in(t, domain, c.R_LEADERS)
        left -= room_in(t, domain, c.R_SLICES_LED)
        at += 1
    if heads > 0:
        t.state[c.FIT_IN], t.state[c.ENDED_AT] = leaders - heads, level
        return TOO_LITTLE
    rest = order[at:count].copy()
    reorder(rest, rest.copy())
    by_room(t, rest, loose)
    for i in range(len(rest)):
        if left <= 0:
            break
        domain = rest[i]
        if not loose and room_in(t, domain, c.R_SLICES) >= left:
            domain = best_fit(t, rest[i:], left, 0, True)
        found[chosen] = domain
        chosen += 1
        left -= room_in(t, domain, c.R_SLICES)
    if left > 0:
        t.state[c.FIT_IN], t.state[c.ENDED_AT] = slices - left, level
        return TOO_LITTLE
    for i in range(chosen):
        order[i] = found[i]
    return chosen


# --- down the levels ----------------------------------------------------------------------------------------------------


def down_over_all(t: Tables, wish: int, pods: int, leaders: int, rows: int, order: Ints) -> int:
    """One level down, above the level of the slices: all of them over all the domains below, whatever each domain above was given."""
    count = 0
    for at in range(rows):
        domain = t.filled[at, c.Z_DOMAIN]
        first = t.domain[domain, c.D_FIRST_CHILD]
        for child in range(first, first + t.domain[domain, c.D_CHILDREN]):
            order[count] = child
            count += 1
    reorder(order[:count], order[:count].copy())
    by_room(t, order[:count], t.spec[wish + c.I_LOOSE] == 1)
    return share_out(t, wish, order[:count], pods, leaders, t.spec[wish + c.I_SLICE_SIZE], True, 0)


def down_within_each(t: Tables, wish: int, level: int, rows: int, order: Ints) -> int:
    """One level down, at the level of the slices or below: what each domain was given over the domains in it."""
    part, above = t.spec[wish + c.I_INNER + level], rows_filled(t, rows)
    made = 0
    for at in range(rows):
        domain, count = above[at, c.Z_DOMAIN], 0
        first = t.domain[domain, c.D_FIRST_CHILD]
        for child in range(first, first + t.domain[domain, c.D_CHILDREN]):
            order[count] = child
            count += 1
        by_room(t, order[:count], t.spec[wish + c.I_LOOSE] == 1)
        if part > 1:
            write_slices(t, order[:count], part)
        made = share_out(t, wish, order[:count], above[at, c.Z_PODS], above[at, c.Z_LEADERS], part, part > 1, made)
    return made


def share_out(t: Tables, wish: int, domains: Ints, pods: int, leaders: int, size: int, in_slices: bool, begin: int) -> int:
    """Share pods (in slices of a size, or one by one) and leaders out over domains in their order, in rows of `filled` from `begin` on; the
    last of them is filled best. Return the row behind the last one: `begin` where they do not suffice."""
    loose = t.spec[wish + c.I_LOOSE] == 1
    leader_spared(t, domains, pods, leaders, size, in_slices)
    left, each, rows, heads = pods // size if in_slices else pods, size if in_slices else 1, begin, leaders
    for at in range(len(domains)):
        domain, led = domains[at], heads > 0
        room = room_of(t, domain, in_slices, led)
        if not loose and room >= left and (not led or room_in(t, domain, c.R_LEADERS) >= heads):
            domain = best_fit(t, domains[at:], left, heads, in_slices)
            room = room_of(t, domain, in_slices, led)
        if room >= left and (not led or room_in(t, domain, c.R_LEADERS) >= heads):
            return fill_one(t, rows, domain, left * each, heads)
        given, leads = min(room, left), min(room_in(t, domain, c.R_LEADERS), heads)
        rows = fill_one(t, rows, domain, given * each, leads)
        left -= given
        heads -= leads
    return begin


def fill_one(t: Tables, rows: int, domain: int, pods: int, leaders: int) -> int:
    """Write that so many stand in a domain; return the next row."""
    t.filled[rows, c.Z_DOMAIN], t.filled[rows, c.Z_PODS], t.filled[rows, c.Z_LEADERS] = domain, pods, leaders
    return rows + 1


# --- orders ---------------------------------------------------------------------------------------------------------------


def room_of(t: Tables, domain: int, in_slices: bool, led: bool) -> int:
    """How many slices or pods fit into a domain, with the leader there or without."""
    if in_slices:
        return room_in(t, domain, c.R_SLICES_LED if led else c.R_SLICES)
    return room_in(t, domain, c.R_PODS_LED if led else c.R_PODS)


def best_fit(t: Tables, domains: Ints, needed: int, leaders: int, in_slices: bool) -> int:
    """The domain with room for all that is needed and for the leaders in which least is left then, the first of several."""
    best, least = c.NONE, 0
    for domain in domains:
        room = room_of(t, domain, in_slices, leaders > 0)
        if room_in(t, domain, c.R_LEADERS) >= leaders and room >= needed and (best == c.NONE or room < least):
            best, least = domain, room
    return domains[0] if best == c.NONE else best


def by_room(t: Tables, domains: Ints, loose: bool) -> None:
    """Bring domains into the order of the slices that fit, most first (where loose: fewest first), then of the fewest pods, then by path.

    They stand in the order of their paths.
    """
    keys = np.empty(len(domains), np.int64)
    for at in range(len(domains)):
        slices = room_in(t, domains[at], c.R_SLICES)
        keys[at] = (slices if loose else _MOST - slices) << 31 | room_in(t, domains[at], c.R_PODS)
    reorder(domains, keys)


def with_leader_first(t: Tables, domains: Ints, loose: bool) -> None:
    """The same order by what fits beside the leader, those first into which the leader fits."""
    keys = np.empty(len(domains), np.int64)
    for at in range(len(domains)):
        slices = room_in(t, domains[at], c.R_SLICES_LED)
        order = (slices if loose else _MOST - slices) << 31 | room_in(t, domains[at], c.R_PODS_LED)
        keys[at] = order - 2**62 - 2**61 if room_in(t, domains[at], c.R_LEADERS) else order
    reorder(domains, keys)


def reorder(domains: Ints, keys: Ints) -> None:
    """Bring domains into the order of their keys; those of equal keys stay as they are."""
    before = domains.copy()
    order = np.argsort(keys, kind="mergesort")
    for at in range(len(domains)):
        domains[at] = before[order[at]]


def leader_spared(t: Tables, domains: Ints, pods: int, leaders: int, size: int, in_slices: bool) -> None:
    """Bring the first domain to the front in which the leader takes no more from the workers than there is to spare."""
    if leaders == 0 or len(domains) < 2:
        return
    needed, there = pods // size if in_slices else pods, 0
    for domain in domains:
        there += room_of(t, domain, in_slices, False)
    for at in range(len(domains)):
        taken = room_of(t, domains[at], in_slices, False) - room_of(t, domains[at], in_slices, True)
        if room_in(t, domains[at], c.R_LEADERS) >= leaders and there - taken >= needed:
            first = domains[at]
            for before in range(at, 0, -1):
                domains[before] = domains[before - 1]
            domains[0] = first
            return
