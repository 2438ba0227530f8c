"""Shares over tables, as three integers: a level, and the two parts of an exact number.

Exact shares are fractions; they are compared by their continued fractions, so that no product can be too large. Rounded ones (Kueue's) are
what a double holds, as 53 binary digits and an exponent. The formulas are those of `definition/quota/fair_share.py`.
"""

from ... import columns as c
from ...tables import Tables
from .holdings import charges_of
from .tree import carried_at, would_carry

ShareNumbers = tuple[int, int, int]
"""Level, then numerator and denominator; or, where shares are rounded, digits (2**52 to 2**53 - 1, 0 for zero) and exponent of two."""


def no_share(t: Tables) -> ShareNumbers:
    """A share of nothing."""
    return 0, 0, c.ZERO_EXPONENT if t.state[c.ROUNDED] else 1


def order_of(left: int, left_of: int, right: int, right_of: int) -> int:
    """-1, 0 or 1: how left/left_of compares with right/right_of; none is below 0, and no divisor is 0."""
    if left_of == right_of:  # mostly: beside each other, and of one weight
        return 0 if left == right else -1 if left < right else 1
    while True:
        first, second = left // left_of, right // right_of
        if first != second:
            return -1 if first < second else 1
        left, right = left - first * left_of, right - second * right_of
        if left == 0 or right == 0:
            return 0 if left == right else -1 if left == 0 else 1
        left, left_of, right, right_of = right_of, right, left_of, left  # of what is left, the reciprocals compare the other way round


def order_of_shares(t: Tables, left: ShareNumbers, right: ShareNumbers) -> int:
    """-1, 0 or 1: how two shares compare."""
    if left[0] != right[0]:
        return -1 if left[0] < right[0] else 1
    if not t.state[c.ROUNDED]:
        return order_of(left[1], left[2], right[1], right[2])
    if left[2] != right[2]:
        return -1 if left[2] < right[2] else 1
    return 0 if left[1] == right[1] else -1 if left[1] < right[1] else 1


def nearest_double(above: int, below: int) -> tuple[int, int]:
    """The double that is closest to above/below, as digits and exponent; halfway, the one whose last digit is even."""
    if above == 0:
        return 0, c.ZERO_EXPONENT
    digits, rest, exponent = above // below, above % below, 0
    dropped = False
    while digits >= 2 << 53:  # one binary digit more than a double has, to round by
        dropped = dropped or digits & 1 == 1
        digits, exponent = digits >> 1, exponent + 1
    for step in (32, 16, 8, 4, 2, 1):  # so many binary digits at once
        while digits < 1 << (54 - step) and below <= 1 << (62 - step):
            rest <<= step
            digits, rest, exponent = digits << step | rest // below, rest % below, exponent - step
    half, digits, exponent = digits & 1, digits >> 1, exponent + 1
    if half and (dropped or rest > 0 or digits & 1):
        digits += 1
        if digits == 1 << 53:
            digits, exponent = digits >> 1, exponent + 1
    return digits, exponent


def share(t: Tables, node: int) -> ShareNumbers:
    """The share of a node; the top has none. It is kept until something is charged at or below the node, or taken back."""
    if not t.node[node, c.SHARE_IS_KNOWN]:
        t.node[node, c.SHARE_LEVEL], t.node[node, c.SHARE_ABOVE], t.node[node, c.SHARE_BELOW] = work_out(t, node)
        t.node[node, c.SHARE_IS_KNOWN], t.node[node, c.AFTER_OF] = 1, c.NONE
    return t.node[node, c.SHARE_LEVEL], t.node[node, c.SHARE_ABOVE], t.node[node, c.SHARE_BELOW]


def work_out(t: Tables, node: int) -> ShareNumbers:
    """The share of a node, less what `LESS` says of each slot."""
    parent = t.node[node, c.PARENT]
    if parent < 0 or t.state[c.FORMULA] == c.BY_NOTHING:
        return no_share(t)
    level, above, below, borrows = 0, 0, 1, False
    by_use = t.state[c.FORMULA] == c.BY_USE
    column = c.TOTAL if by_use else c.USED
    i, slots = 0, t.state[c.SLOTS]
    while i < slots:
        resource, worth, exists = t.slot[t.slot[i, c.BY_RESOURCE], c.RESOURCE], 0, 0
        first = t.slot[i, c.BY_RESOURCE]
        while i < slots and t.slot[t.slot[i, c.BY_RESOURCE], c.RESOURCE] == resource:
            slot = t.slot[i, c.BY_RESOURCE]
            amount = t.quota[node, slot, column] - t.slot[slot, c.LESS]
            if by_use:
                worth += t.slot[slot, c.WORTH] * amount
                exists += t.slot[slot, c.WORTH] * t.slot[slot, c.CAPACITY]
            elif amount > t.quota[node, slot, c.OWNED]:
                worth += t.slot[slot, c.WORTH] * (amount - t.quota[node, slot, c.OWNED])
                borrows = True
            i += 1
        if not by_use:
            exists = t.quota[parent, first, c.LENDABLE]
        if worth > 0 and exists > 0:
            if level == 0 and order_of(worth, exists, above, below) > 0:
                above, below = worth, exists
        elif worth > 0 and not by_use and not t.state[c.FOREST] and (level == 0 or worth > above):
            level, above, below = 2, worth, 1
    return weighed(t, node, level, above, below, borrows and t.state[c.FOREST] == 1)


def weighed(t: Tables, node: int, level: int, above: int, below: int, borrows_of_nothing: bool) -> ShareNumbers:
    """A share by the weight of its node, and rounded where the policy rounds."""
    weight, parts = t.node[node, c.WEIGHT], t.node[node, c.WEIGHT_PARTS]
    if t.state[c.ROUNDED]:
        if level == 0 and above > 0:
            digits, exponent = thousandths(above, below)
        else:
            digits, exponent = nearest_double(above, below)
        if weight == 0 and (above > 0 or borrows_of_nothing):
            return max(level, 1), digits, exponent
        if above == 0:
            return no_share(t)
        digits, more = nearest_double(digits * parts, weight)
        return level, digits, exponent + more
    if weight == 0 and (above > 0 or borrows_of_nothing):
        return max(level, 1), above, below
    if above == 0:
        return no_share(t)
    return level, above * parts, below * weight


def thousandths(above: int, below: int) -> tuple[int, int]:
    """1000 times above/below, as digits and exponent: each of the two is rounded, and what comes of each step. None of them is 0."""
    exponent = more = 0
    if above >= 1 << 53:
        above, exponent = nearest_double(above, 1)
    if below >= 1 << 53:
        below, more = nearest_double(below, 1)
    digits, of_product = nearest_double(above * 1000, 1)
    digits, of_quotient = nearest_double(digits, below)
    return digits, exponent - more + of_product + of_quotient


def share_without(t: Tables, node: int, row: int) -> ShareNumbers:
    """The share that a node would have without a running workload of a queue below it (or its own). It is kept as its share is: most who
    run in a queue use the same."""
    if not t.node[node, c.SHARE_IS_KNOWN]:
        share(t, node)  # forgets what is kept of others, too
    if t.node[node, c.AFTER_OF] != t.work[row, c.HOLDING]:
        found = work_out_without(t, node, row)
        t.node[node, c.AFTER_LEVEL], t.node[node, c.AFTER_ABOVE], t.node[node, c.AFTER_BELOW] = found
        t.node[node, c.AFTER_OF] = t.work[row, c.HOLDING]
    return t.node[node, c.AFTER_LEVEL], t.node[node, c.AFTER_ABOVE], t.node[node, c.AFTER_BELOW]


def share_with(t: Tables, node: int, queue: int, ask: int) -> ShareNumbers:
    """The share that a node would have with a request charged to a queue at or below it."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        slot, amount = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT]
        t.slot[slot, c.LESS] = -amount if t.state[c.FORMULA] == c.BY_USE else -would_carry(t, node, queue, slot, amount)
    found = work_out(t, node)
    for k in range(1, t.ask[ask, 0, 0] + 1):
        t.slot[t.ask[ask, k, c.SLOT], c.LESS] = 0
    return found


def share_at_most_after(t: Tables, node: int) -> ShareNumbers:
    """The share that a node has at most once somebody who runs below it is gone; none if nobody runs there."""
    for slot in range(t.state[c.SLOTS]):
        t.slot[slot, c.LESS] = t.watch[node, slot, c.LEAST_FREED]
    found = work_out(t, node)
    for slot in range(t.state[c.SLOTS]):
        t.slot[slot, c.LESS] = 0
    return found


def work_out_without(t: Tables, node: int, row: int) -> ShareNumbers:
    """The share of a node without a workload."""
    queue, by_use = t.work[row, c.QUEUE], t.state[c.FORMULA] == c.BY_USE
    cell = charges_of(t, row)
    while cell >= 0:
        slot, amount = t.cell[cell, c.SLOT], t.cell[cell, c.AMOUNT]
        t.slot[slot, c.LESS] = amount if by_use else carried_at(t, node, queue, slot, amount)
        cell = t.cell[cell, c.NEXT]
    found = work_out(t, node)
    cell = charges_of(t, row)
    while cell >= 0:
        t.slot[t.cell[cell, c.SLOT], c.LESS] = 0
        cell = t.cell[cell, c.NEXT]
    return found
