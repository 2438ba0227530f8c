"""Victims by preempt rules, over tables: the search of `definition/preemption/rules.py`, and where each rule may look."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..guards import may_hold, number_of, share_value
from ..line import next_in_tree
from ..quota.shares import ShareNumbers, order_of_shares
from ..quota.tree import all_borrow, borrows, next_beside, next_node
from .running import are_alike
from .trial import add_victim, enough, fill_back, give_all_back, note_share, only_needed, takes_place_of, uses

KeyNumbers = tuple[int, int, int]
"""A value to order by: a share, or a number with two zeros."""


def rule_at(t: Tables, rule: int) -> int:
    """Where a preempt rule begins."""
    return t.state[c.RULES] + 1 + rule * c.RULE_WIDTH


def owner(t: Tables, rule: int, row: int) -> int:
    """The node on whose ownership a rule rests: the queue, or the lowest cohort that owns enough; NONE: it may not be used."""
    trigger, node = t.pool[rule_at(t, rule) + c.L_TRIGGER], t.work[row, c.QUEUE]
    if trigger == c.NONE:
        return node
    if trigger == c.FITS_QUEUE:
        return c.NONE if borrows(t, node, c.ASK_SHORT) else node
    node = t.node[node, c.PARENT]
    while node >= 0 and t.node[node, c.PARENT] >= 0:
        if not borrows(t, node, c.ASK_SHORT):
            return node
        node = t.node[node, c.PARENT]
    return c.NONE


def reaches(t: Tables, rule: int, row: int, node: int) -> bool:
    """Whether a rule reaches a queue of its range, as use is now: it borrows, if the rule wants that."""
    return t.pool[rule_at(t, rule) + c.L_SCOPE] != c.BORROWING_QUEUES or all_borrow(t, t.work[row, c.QUEUE], node, c.ASK_SHORT)


def places(t: Tables, rule: int, row: int, rests_on: int, found: Ints) -> int:
    """Write the queues where a rule may find victims, by where they stand in the tree and what is used now; return how many."""
    queue, at, count = t.work[row, c.QUEUE], rule_at(t, rule), 0
    if rests_on == c.NONE:
        return count
    if t.pool[at + c.L_SCOPE] == c.SAME_QUEUE:
        found[0, c.Y_QUEUE] = found[0, c.Y_SIDE] = queue
        return 1
    seen, above = rests_on, t.node[rests_on, c.PARENT]
    while above >= 0 and (above == t.node[queue, c.PARENT] or not t.pool[at + c.L_SAME_COHORT]):
        node = side = t.node[above, c.FIRST_CHILD]
        while node != c.NONE:
            side = node if t.node[node, c.PARENT] == above else side
            entered = node != seen and (t.pool[at + c.L_SCOPE] != c.BORROWING_QUEUES or borrows(t, node, c.ASK_SHORT))
            if entered and t.node[node, c.FIRST_RUNNING] != c.NONE:
                found[count, c.Y_QUEUE], found[count, c.Y_SIDE] = node, side
                count += 1
            node = next_node(t, node, above) if entered else next_beside(t, node, above)
        seen, above = above, t.node[above, c.PARENT]
    return count


def could_help(t: Tables, row: int, each: int) -> bool:
    """Whether a running workload uses what is short, and nothing keeps it for good."""
    return not t.work[each, c.OUT] and not t.work[each, c.PINNED] and uses(t, each, c.ASK_SHORT) and not takes_place_of(t, row, each)


def is_kept(t: Tables, rule: int, row: int, each: int, now: int, unknown: int) -> bool:
    """Whether a rule's guard is false of a workload, or a protect rule keeps it, whatever is unknown."""
    if not may_hold(t, t.pool[rule_at(t, rule) + c.L_GUARD], True, row, each, now, unknown):
        return True
    at = t.node[t.work[each, c.QUEUE], c.PROTECTED_BY]
    for i in range(at + 1, at + 1 + t.pool[at]):
        if not may_hold(t, t.pool[i], False, row, each, now, unknown):
            return True
    return False


def judges_by_kind(t: Tables, rule: int, node: int) -> bool:
    """Whether a rule keeps either all or none of those who run in a queue and are alike (`are_alike`)."""
    return t.pool[rule_at(t, rule) + c.L_BY_KIND] == 1 and t.node[node, c.KEPT_BY_KIND] == 1


def may_go_now(t: Tables, rule: int, each: int, cause: int) -> bool:
    """Whether a workload that a rule does not keep may go by it; whoever the fact `cause` admitted is passed over."""
    if t.name[t.work[each, c.NAME], c.MARKED] != c.NONE and t.pool[rule_at(t, rule) + c.L_TIMELESS]:
        return False
    if t.when[each, c.STARTED_BY] == cause:
        t.state[c.FRESH_PASSED_OVER] = 1
        return False
    return True


# --- the order of victims -----------------------------------------------------------------------------------------------


def key_of(t: Tables, at: int, row: int, each: int, now: int) -> KeyNumbers:
    """The value of a field (code and argument) of a victim."""
    field = t.pool[at + c.K_FIELD]
    if field == c.F_SHARE:
        return share_value(t, row, each, c.VICTIM, field)
    return number_of(t, each, field, t.pool[at + c.K_ARGUMENT], now), 0, 0


def order_of_keys(t: Tables, at: int, left: KeyNumbers, right: KeyNumbers) -> int:
    """-1, 0 or 1: which of two values of a key is better."""
    by_share = t.pool[at + c.K_FIELD] == c.F_SHARE
    order = order_of_shares(t, left, right) if by_share else int(left[0] > right[0]) - int(left[0] < right[0])
    return -order if t.pool[at + c.K_DESCENDING] else order


def note_keys(t: Tables, keys: int, row: int, each: int, now: int, values: Ints, at: int) -> None:
    """Write the values of all keys of a victim in a row."""
    for k in range(t.pool[keys]):
        values[at, k, 0], values[at, k, 1], values[at, k, 2] = key_of(t, keys + 1 + k * c.KEY_WIDTH, row, each, now)


def first_difference(t: Tables, keys: int, values: Ints, mine: int, others: int) -> tuple[int, int]:
    """The first key in which two victims differ, whose values stand in these rows, and how (-1: the first is better); the number of keys:
    in none."""
    for k in range(t.pool[keys]):
        left = values[mine, k, 0], values[mine, k, 1], values[mine, k, 2]
        right = values[others, k, 0], values[others, k, 1], values[others, k, 2]
        order = order_of_keys(t, keys + 1 + k * c.KEY_WIDTH, left, right)
        if order != 0:
            return k, order
    return t.pool[keys], 0


def is_better(t: Tables, keys: int, each: int, other: int, values: Ints, mine: int, others: int) -> bool:
    """Whether a workload is a better victim than another one, by their keys, which stand in these rows; ties go to the later one."""
    _, order = first_difference(t, keys, values, mine, others)
    return order < 0 or (order == 0 and t.when[each, c.NUMBER] > t.when[other, c.NUMBER])


# --- the search ---------------------------------------------------------------------------------------------------------


def search_by_rules(t: Tables, row: int, ask: int, now: int, cause: int) -> bool:
    """Find victims without whom a request fits that is charged already; say whether there are enough. All are put back, and listed."""
    t.state[c.VICTIMS] = 0
    t.state[c.FRESH_PASSED_OVER] = 0
    yielding = np.empty((t.state[c.QUEUES], c.YIELDING_WIDTH), np.int64)
    found = False
    for rule in range(t.pool[t.state[c.RULES]]):
        count = places(t, rule, row, owner(t, rule, row), yielding)
        if count > 0 and sweep(t, rule, row, ask, now, cause, yielding[:count]):
            fill_back(t, row, ask, True, False)
            if t.state[c.PLACING] != c.NONE:
                only_needed(t, row, ask)
            found = True
            break
    give_all_back(t)
    if not found:
        t.state[c.VICTIMS] = 0
    return found


def sweep(t: Tables, rule: int, row: int, ask: int, now: int, cause: int, yielding: Ints) -> bool:
    """Take victims by one rule, best first, until the request fits; say whether it does.

    The best of each queue is kept, in a heap, and found anew where the last victim changed what it is judged by. `values` has a row of keys
    for the best of each queue, and a last one for `next_best`. Arrays are handed on whole, with the row: each part
    of an array would be made and released, by counting who refers to it.
    """
    keys, count = t.pool[rule_at(t, rule) + c.L_ORDER], len(yielding)
    heap, values = np.empty(count, np.int64), np.empty((count + 1, max(1, t.pool[keys]), 3), np.int64)
    for i in range(count):
        yielding[i, c.Y_FROM] = t.node[yielding[i, c.Y_QUEUE], c.FIRST_RUNNING]
        yielding[i, c.Y_BEST] = best_of_queue(t, rule, row, now, cause, c.NONE, yielding, i, values, i)
    left = heap_of_bests(t, keys, yielding, values, heap)
    while left > 0:
        best = heap[0]
        note_victim(t, rule, row, yielding, values, heap, left, now, cause)
        if enough(t, row, ask, True, False):
            return True
        if changes_alone(t, yielding, best):
            yielding[best, c.Y_BEST] = best_of_queue(t, rule, row, now, cause, c.NONE, yielding, best, values, best)
            if yielding[best, c.Y_BEST] == c.NONE:
                left -= 1
                heap[0] = heap[left]
            sink_best(t, keys, yielding, values, heap, left, 0)
        else:
            for i in range(count):
                if is_touched(t, yielding[i, c.Y_SIDE], yielding[best, c.Y_SIDE]):
                    yielding[i, c.Y_BEST] = best_of_queue(t, rule, row, now, cause, c.NONE, yielding, i, values, i)
            left = heap_of_bests(t, keys, yielding, values, heap)
    return False


def changes_alone(t: Tables, yielding: Ints, at: int) -> bool:
    """Whether taking a victim of a queue changes how no others are judged. Queues that meet the workload's path lower come first."""
    side, last = yielding[at, c.Y_SIDE], yielding[len(yielding) - 1, c.Y_SIDE]
    return side == yielding[at, c.Y_QUEUE] and t.node[side, c.DEPTH] == t.node[last, c.DEPTH]


def is_touched(t: Tables, side: int, taken_from: int) -> bool:
    """Whether taking a victim on one side may change how those on another one are judged: their share, or that of the workload's side."""
    return side == taken_from or t.node[side, c.DEPTH] < t.node[taken_from, c.DEPTH]


def heap_of_bests(t: Tables, keys: int, yielding: Ints, values: Ints, heap: Ints) -> int:
    """Bring the queues in which somebody may go into a heap, the best victim on top; return how many there are."""
    left = 0
    for i in range(len(yielding)):
        if yielding[i, c.Y_BEST] != c.NONE:
            heap[left] = i
            left += 1
    for at in range(left // 2 - 1, -1, -1):
        sink_best(t, keys, yielding, values, heap, left, at)
    return left


def sink_best(t: Tables, keys: int, yielding: Ints, values: Ints, heap: Ints, left: int, at: int) -> None:
    """Bring a queue to its place in a heap whose other queues are in theirs, as `sink_giver` does."""
    each, top = heap[at], at
    while 2 * at + 1 < left:
        child = 2 * at + 1
        if child + 1 < left and goes_sooner(t, keys, yielding, values, heap[child + 1], heap[child]):
            child += 1
        if at == top and goes_sooner(t, keys, yielding, values, each, heap[child]):
            return
        heap[at], at = heap[child], child
    while at > top and goes_sooner(t, keys, yielding, values, each, heap[(at - 1) // 2]):
        heap[at], at = heap[(at - 1) // 2], (at - 1) // 2
    heap[at] = each


def goes_sooner(t: Tables, keys: int, yielding: Ints, values: Ints, left: int, right: int) -> bool:
    """Whether the best victim of one queue is better than that of another one."""
    return is_better(t, keys, yielding[left, c.Y_BEST], yielding[right, c.Y_BEST], values, left, right)


def best_of_queue(
    t: Tables, rule: int, row: int, now: int, cause: int, besides: int, yielding: Ints, i: int, values: Ints, values_at: int
) -> int:
    """The best victim of the i-th queue, `besides` one, with the values of its keys in a row; NONE where nobody may go.

    Where those who run stand in the rule's order, that is the first one who may go. Else whether somebody may go is asked only of who would
    be better than the best so far. Of whom the fact `cause` admitted it is always asked; and, where the rule judges by kind, never of those
    who are like the last one that it keeps.
    """
    at, node, best = rule_at(t, rule), yielding[i, c.Y_QUEUE], c.NONE
    if yielding[i, c.Y_FROM] == c.NONE or not reaches(t, rule, row, node):
        return best
    keys, in_order, by_kind = t.pool[at + c.L_ORDER], t.pool[at + c.L_IN_ORDER] == 1, judges_by_kind(t, rule, node)
    by_shares = t.pool[at + c.L_BY_SHARES] == 1 or t.node[node, c.KEPT_BY_SHARES] == 1
    looks_on = not in_order or t.node[node, c.LAST_STARTED_BY] == cause
    each, kept, for_good = yielding[i, c.Y_FROM], c.NONE, True
    while each != c.NONE and (best == c.NONE or looks_on):
        if each == besides:
            for_good = False
        elif (kept == c.NONE or not are_alike(t, each, kept)) and could_help(t, row, each):
            better = best == c.NONE or (not in_order and is_better_beside(t, keys, row, each, best, now))
            if better or t.when[each, c.STARTED_BY] == cause:
                if is_kept(t, rule, row, each, now, 0):
                    kept = each if by_kind else c.NONE
                    for_good = for_good and (not by_shares or is_kept(t, rule, row, each, now, c.OF_SHARE))
                elif may_go_now(t, rule, each, cause):
                    for_good = False
                    best = each if better else best
        each = c.NONE if kept != c.NONE and t.node[node, c.UNLIKE] == 0 else next_in_tree(t, each)
        if for_good:
            yielding[i, c.Y_FROM] = each
    if best != c.NONE:
        note_keys(t, keys, row, best, now, values, values_at)
    return best


def is_better_beside(t: Tables, keys: int, row: int, each: int, other: int, now: int) -> bool:
    """Whether a workload is a better victim than another one of its queue, whose share is the same."""
    for at in range(keys + 1, keys + 1 + t.pool[keys] * c.KEY_WIDTH, c.KEY_WIDTH):
        if t.pool[at + c.K_FIELD] != c.F_SHARE:
            order = order_of_keys(t, at, key_of(t, at, row, each, now), key_of(t, at, row, other, now))
            if order != 0:
                return order < 0
    return t.when[each, c.NUMBER] > t.when[other, c.NUMBER]


def note_victim(t: Tables, rule: int, row: int, yielding: Ints, values: Ints, heap: Ints, left: int, now: int, cause: int) -> None:
    """Take the best of a heap, with what was compared: the values of the rule's fields and, of the first victim, who would have gone
    instead."""
    at, victim, compared = t.state[c.VICTIMS], yielding[heap[0], c.Y_BEST], t.pool[rule_at(t, rule) + c.L_COMPARED]
    for k in range(t.pool[compared]):
        field = compared + 1 + k * c.FIELD_WIDTH
        note_share(t, at, c.V_VALUES + 3 * k, value_of(t, field, row, victim, now))
    runner_up, key, value = c.NONE, c.NONE, (0, 0, 0)
    if at == 0:
        runner_up, key, value = next_best(t, rule, row, yielding, values, heap, left, now, cause)
    kind = c.RECLAIM if t.pool[rule_at(t, rule) + c.L_TRIGGER] != c.NONE else c.OTHER
    add_victim(t, victim, c.IN_QUEUE if t.work[victim, c.QUEUE] == t.work[row, c.QUEUE] else kind, rule)
    t.victim[at, c.V_COMPARED], t.victim[at, c.V_NEXT], t.victim[at, c.V_NEXT_KEY] = t.pool[compared], runner_up, key
    note_share(t, at, c.V_NEXT_VALUE, value)


def next_best(
    t: Tables, rule: int, row: int, yielding: Ints, values: Ints, heap: Ints, left: int, now: int, cause: int
) -> tuple[int, int, KeyNumbers]:
    """Who would go instead of the best of a heap, the first key in which the two differ (NONE: in none), and its value."""
    keys, best, at = t.pool[rule_at(t, rule) + c.L_ORDER], heap[0], len(yielding)
    found = best_of_queue(t, rule, row, now, cause, yielding[best, c.Y_BEST], yielding, best, values, at)
    for i in heap[1 : min(3, left)]:
        if found == c.NONE or is_better(t, keys, yielding[i, c.Y_BEST], found, values, i, at):
            found, at = yielding[i, c.Y_BEST], i
    if found == c.NONE:
        return c.NONE, c.NONE, (0, 0, 0)
    key, order = first_difference(t, keys, values, at, best)
    if order == 0:
        return found, c.NONE, (0, 0, 0)
    return found, key, (values[at, key, 0], values[at, key, 1], values[at, key, 2])


def value_of(t: Tables, at: int, row: int, victim: int, now: int) -> ShareNumbers:
    """The value of a field (subject, code, argument) for a workload and a victim, to be told."""
    subject, field = t.pool[at], t.pool[at + 1]
    if field == c.F_SHARE or field == c.F_SHARE_AFTER:
        return share_value(t, row, victim, subject, field)
    return number_of(t, victim if subject == c.VICTIM else row, field, t.pool[at + 2], now), 0, 0
