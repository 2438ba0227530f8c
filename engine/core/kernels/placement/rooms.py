"""How many pods fit into each domain of a topology, over tables (`definition/placement/room.py`).

What a workload asks for of places stands behind the rest of its demand: a part for each pod set (`part_of`). `lack` is what its pod sets
take of a place already while others are placed.
"""

from ... import columns as c
from ...tables import Tables

MOST_PODS = 2**31 - 1
"""So many pods fit where nothing limits them."""


def part_of(t: Tables, spec: int, pod_set: int) -> int:
    """Where the part of a demand begins that says what a pod set asks for of places."""
    return t.spec[spec + c.S_PLACES] + pod_set * t.state[c.PART_WIDTH]


def wish_at(t: Tables, part: int, flavor: int) -> int:
    """Where the wish of a pod set on a flavor begins."""
    return part + c.A_AMOUNTS + t.state[c.PLACE_RESOURCES] + flavor * t.state[c.WISH_PART]


def code_at(t: Tables, part: int, flavor: int, leaf: int) -> int:
    """What keeps a pod set off a node of a flavor: 0 nothing, else a number of `PlaceParts.causes` plus 1."""
    return t.spec[part + t.state[c.KINDS_AT] + flavor * t.state[c.KINDS] + t.leaf[leaf, c.L_KIND]]


def is_of_nodes(t: Tables, flavor: int) -> bool:
    """Whether the lowest domains of a flavor are nodes."""
    return t.tree[flavor, c.T_OF_NODES] == 1


def left_at(t: Tables, leaf: int, k: int, empty: bool) -> int:
    """What is left of a resource in a lowest domain, or would be if nobody used anything, beside what the workload itself takes."""
    return (t.size[leaf, k] if empty else t.free[leaf, k]) - t.lack[leaf, k]


def fitting(t: Tables, leaf: int, part: int, empty: bool, beside: int) -> tuple[int, int]:
    """How many pods of a part fit into a lowest domain, and the resource that limits them (NONE: none); with one pod of `beside` (NONE:
    without) there already."""
    found, limit = MOST_PODS, c.NONE
    for k in range(t.state[c.PLACE_RESOURCES]):
        one = t.spec[part + c.A_AMOUNTS + k]
        if one > 0 and t.leaf[leaf, c.L_UNLIMITED + k] == 0:
            left = left_at(t, leaf, k, empty) - (t.spec[beside + c.A_AMOUNTS + k] if beside != c.NONE else 0)
            fits = min(MOST_PODS, left // one) if left > 0 else 0
            if fits < found:
                found, limit = fits, k
    return found, limit


def domains_of(t: Tables, flavor: int, level: int) -> tuple[int, int]:
    """The first domain of a level of a flavor, and the one behind the last."""
    return t.tree[flavor, c.T_FIRST + 2 * level], t.tree[flavor, c.T_FIRST + 2 * level + 1]


def count_leaf(t: Tables, room: int, flavor: int, domain: int, workers: int, leader: int, empty: bool, slice_size: int) -> None:
    """Count what fits into a lowest domain; `slice_size` is 0 where slices stand in wider ones."""
    leaf = t.domain[domain, c.D_LEAF]
    for column in range(c.ROOM_WIDTH):
        t.room[room, domain, column] = 0
    of_nodes = is_of_nodes(t, flavor)
    code = code_at(t, workers, flavor, leaf) if of_nodes else 0
    if code:
        t.tally[room, code - 1] += 1
        t.room[room, domain, c.R_CAUSE] = code
        return
    pods, limit = fitting(t, leaf, workers, empty, c.NONE)
    if pods == 0:
        t.tally[room, t.state[c.CAUSES] + limit] += 1
        t.room[room, domain, c.R_CAUSE] = t.state[c.CAUSES] + limit + 1
    led, leaders = pods, 0
    if leader != c.NONE:
        kept_off = of_nodes and t.state[c.PLACING_WAY] != c.COUNTED and code_at(t, leader, flavor, leaf) > 0
        if not kept_off and fitting(t, leaf, leader, empty, c.NONE)[0] > 0:
            leaders = 1
            led, _ = fitting(t, leaf, workers, empty, leader)
    t.room[room, domain, c.R_PODS], t.room[room, domain, c.R_PODS_LED], t.room[room, domain, c.R_LEADERS] = pods, led, leaders
    if slice_size > 0:
        t.room[room, domain, c.R_SLICES], t.room[room, domain, c.R_SLICES_LED] = pods // slice_size, led // slice_size


def sum_up(t: Tables, room: int, domain: int, level: int, wish: int, is_led: bool) -> None:
    """Sum up what fits into the parts of a domain; the leader stands where it takes the least from the workers."""
    part = t.spec[wish + c.I_INNER + level + 1]
    pods, slices, leaders, less_pods, less_slices, able = 0, 0, 0, MOST_PODS, MOST_PODS, False
    first = t.domain[domain, c.D_FIRST_CHILD]
    for child in range(first, first + t.domain[domain, c.D_CHILDREN]):
        whole, whole_led = t.room[room, child, c.R_PODS] // part * part, t.room[room, child, c.R_PODS_LED] // part * part
        pods, slices = pods + whole, slices + t.room[room, child, c.R_SLICES]
        leaders = max(leaders, t.room[room, child, c.R_LEADERS])
        if not is_led or t.room[room, child, c.R_LEADERS]:
            able = True
            less_pods = min(less_pods, whole - whole_led)
            less_slices = min(less_slices, t.room[room, child, c.R_SLICES] - t.room[room, child, c.R_SLICES_LED])
    led, slices_led = (pods - less_pods, slices - less_slices) if able else (0, 0)
    if level == t.spec[wish + c.I_SLICE_LEVEL]:
        slices, slices_led = pods // t.spec[wish + c.I_SLICE_SIZE], led // t.spec[wish + c.I_SLICE_SIZE]
    t.room[room, domain, c.R_PODS], t.room[room, domain, c.R_SLICES] = pods, slices
    t.room[room, domain, c.R_PODS_LED], t.room[room, domain, c.R_SLICES_LED], t.room[room, domain, c.R_LEADERS] = led, slices_led, leaders
