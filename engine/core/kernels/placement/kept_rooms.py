"""How many pods fit into each domain of a topology, counted for several kinds of pods and kept.

Each of these counts has a row in `room`, `tally` and `kept`. `touched` lists the lowest domains in which what is free has changed: a count
that is asked for again takes in only what was touched since it was asked for last.
"""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from .rooms import count_leaf, domains_of, sum_up, wish_at


def room_in(t: Tables, domain: int, column: int) -> int:
    """What the count that was asked for last says of a domain."""
    return t.room[t.state[c.COUNT_READ], domain, column]


def write_slices(t: Tables, domains: Ints, size: int) -> None:
    """Write over that count how many slices of another size fit into domains; so it is not kept."""
    room = t.state[c.COUNT_READ]
    t.kept[room, c.K_WORKERS] = c.NONE
    for domain in domains:
        t.room[room, domain, c.R_SLICES] = t.room[room, domain, c.R_PODS] // size
        t.room[room, domain, c.R_SLICES_LED] = t.room[room, domain, c.R_PODS_LED] // size


def touch(t: Tables, leaf: int) -> None:
    """Note that what is free in a lowest domain changes."""
    if t.leaf[leaf, c.L_TOUCHED] >= t.state[c.SEEN]:
        return
    if t.state[c.TOUCHES] == len(t.touched):
        list_once(t)
    t.leaf[leaf, c.L_TOUCHED] = t.state[c.TOUCHES]
    t.touched[t.state[c.TOUCHES]] = leaf
    t.state[c.TOUCHES] += 1


def list_once(t: Tables) -> None:
    """List each lowest domain once, where it changed last: there is room for more changes then, and each count still knows its place."""
    listed, before = 0, np.empty(t.state[c.TOUCHES] + 1, np.int64)
    for at in range(t.state[c.TOUCHES]):
        before[at], leaf = listed, t.touched[at]
        if t.leaf[leaf, c.L_TOUCHED] == at:
            t.leaf[leaf, c.L_TOUCHED], t.touched[listed] = listed, leaf
            listed += 1
    before[t.state[c.TOUCHES]] = listed
    for room in range(len(t.kept)):
        if t.kept[room, c.K_WORKERS] != c.NONE:
            t.kept[room, c.K_UP_TO] = before[t.kept[room, c.K_UP_TO]]
    t.state[c.TOUCHES], t.state[c.SEEN] = listed, before[t.state[c.SEEN]]


def count_rooms(t: Tables, flavor: int, workers: int, leader: int, wish: int, empty: bool) -> None:
    """Count what fits into each domain of a flavor, for `room_in`; `workers` and `leader` (NONE: none) are parts. `tally` counts why a node
    takes none."""
    alike, led = t.spec[wish + c.I_ALIKE], t.spec[wish_at(t, leader, flavor) + c.I_ALIKE] if leader != c.NONE else c.NONE
    room = room_for(t, alike, led, int(empty))
    first, last = domains_of(t, flavor, t.tree[flavor, c.T_LEVELS] - 1)
    size = t.spec[wish + c.I_SLICE_SIZE] if t.spec[wish + c.I_SLICE_LEVEL] == t.tree[flavor, c.T_LEVELS] - 1 else 0
    since = t.kept[room, c.K_UP_TO]
    if t.kept[room, c.K_WORKERS] == c.NONE or (leader != c.NONE and 2 * (t.state[c.TOUCHES] - since) > last - first):
        count_all(t, room, flavor, workers, leader, wish, size, empty)
    else:
        for at in range(since, t.state[c.TOUCHES]):
            leaf = t.touched[at]
            if t.leaf[leaf, c.L_TOUCHED] == at and first <= t.leaf[leaf, c.L_DOMAIN] < last:
                count_again(t, room, flavor, t.leaf[leaf, c.L_DOMAIN], workers, leader, wish, size, empty)
    t.state[c.COUNT_READ], t.state[c.SEEN] = room, t.state[c.TOUCHES]
    t.state[c.COUNTS] += 1
    t.kept[room, c.K_WORKERS], t.kept[room, c.K_LEADER], t.kept[room, c.K_EMPTY] = alike, led, int(empty)
    t.kept[room, c.K_UP_TO], t.kept[room, c.K_USED] = t.state[c.TOUCHES], t.state[c.COUNTS]


def room_for(t: Tables, alike: int, led: int, empty: int) -> int:
    """The row of a count: the one that is kept, or the one that was not asked for the longest, which is not kept any more."""
    oldest = 0
    for room in range(len(t.kept)):
        if t.kept[room, c.K_WORKERS] == alike and t.kept[room, c.K_LEADER] == led and t.kept[room, c.K_EMPTY] == empty:
            return room
        if t.kept[room, c.K_USED] < t.kept[oldest, c.K_USED]:
            oldest = room
    t.kept[oldest, c.K_WORKERS] = c.NONE
    return oldest


def count_all(t: Tables, room: int, flavor: int, workers: int, leader: int, wish: int, size: int, empty: bool) -> None:
    """Count all domains of a flavor; `size` is that of slices in lowest domains (0: they stand in wider ones)."""
    for code in range(t.state[c.CAUSES] + t.state[c.PLACE_RESOURCES]):
        t.tally[room, code] = 0
    levels = t.tree[flavor, c.T_LEVELS]
    first, last = domains_of(t, flavor, levels - 1)
    for domain in range(first, last):
        count_leaf(t, room, flavor, domain, workers, leader, empty, size)
    for level in range(levels - 2, -1, -1):
        first, last = domains_of(t, flavor, level)
        for domain in range(first, last):
            sum_up(t, room, domain, level, wish, leader != c.NONE)


def count_again(t: Tables, room: int, flavor: int, domain: int, workers: int, leader: int, wish: int, size: int, empty: bool) -> None:
    """Count a lowest domain again, and all above it."""
    if t.room[room, domain, c.R_CAUSE] > 0:
        t.tally[room, t.room[room, domain, c.R_CAUSE] - 1] -= 1
    pods, slices = t.room[room, domain, c.R_PODS], t.room[room, domain, c.R_SLICES]
    count_leaf(t, room, flavor, domain, workers, leader, empty, size)
    level, above = t.tree[flavor, c.T_LEVELS] - 2, t.domain[domain, c.D_PARENT]
    while above != c.NONE:
        if leader != c.NONE:
            sum_up(t, room, above, level, wish, True)
        else:
            pods, slices = add_change(t, room, domain, above, level, wish, pods, slices)
        domain, level, above = above, level - 1, t.domain[above, c.D_PARENT]


def add_change(t: Tables, room: int, domain: int, above: int, level: int, wish: int, pods: int, slices: int) -> tuple[int, int]:
    """What `sum_up` counts above a domain that held so many pods and slices before, where nobody leads; return what was there before."""
    part = t.spec[wish + c.I_INNER + level + 1]
    before, slices_before = t.room[room, above, c.R_PODS], t.room[room, above, c.R_SLICES]
    now = before + t.room[room, domain, c.R_PODS] // part * part - pods // part * part
    slices_now = slices_before + t.room[room, domain, c.R_SLICES] - slices
    if level == t.spec[wish + c.I_SLICE_LEVEL]:
        slices_now = now // t.spec[wish + c.I_SLICE_SIZE]
    t.room[room, above, c.R_PODS] = t.room[room, above, c.R_PODS_LED] = now
    t.room[room, above, c.R_SLICES] = t.room[room, above, c.R_SLICES_LED] = slices_now
    return before, slices_before
