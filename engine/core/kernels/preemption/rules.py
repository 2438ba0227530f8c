"""Victims by preempt rules, over tables: the search of `definition/preemption/rules.py`, and where each rule may look."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..guards import may_hold, number_of, share_value
from ..quota.shares import ShareNumbers, order_of_shares
from ..quota.tree import borrows, is_below, next_beside, next_node, sides
from .trial import add_victim, enough, fill_back, give_all_back, note_share, takes_place_of, uses

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
    if t.pool[rule_at(t, rule) + c.L_SCOPE] != c.BORROWING_QUEUES:
        return True
    _, theirs = sides(t, t.work[row, c.QUEUE], node)
    while True:
        if not borrows(t, node, c.ASK_SHORT):
            return False
        if node == theirs:
            return True
        node = t.node[node, c.PARENT]


def places(t: Tables, rule: int, row: int, rests_on: int, found: Ints) -> int:
    """Write the queues where a rule may find victims, by where they stand in the tree and what is used now; return how many."""
    queue, at, count = t.work[row, c.QUEUE], rule_at(t, rule), 0
    if rests_on == c.NONE:
        return count
    if t.pool[at + c.L_SCOPE] == c.SAME_QUEUE:
        found[0] = queue
        return 1
    seen, above = rests_on, t.node[rests_on, c.PARENT]
    while above >= 0 and (above == t.node[queue, c.PARENT] or not t.pool[at + c.L_SAME_COHORT]):
        node = t.node[above, c.FIRST_CHILD]
        while node != c.NONE:
            entered = node != seen and (t.pool[at + c.L_SCOPE] != c.BORROWING_QUEUES or borrows(t, node, c.ASK_SHORT))
            if entered and t.node[node, c.FIRST_RUNNING] != c.NONE:
                found[count] = node
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


def are_alike(t: Tables, left: int, right: int) -> bool:
    """Whether two who run in one queue ask for the same, at the same priority, and are charged the same."""
    return t.work[left, c.HOLDING] == t.work[right, c.HOLDING] and t.work[left, c.PRIORITY] == t.work[right, c.PRIORITY]


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
    if field == c.F_SHARE or field == c.F_SHARE_AFTER:
        return share_value(t, row, each, c.VICTIM, field)
    return number_of(t, each, field, t.pool[at + c.K_ARGUMENT], now), 0, 0


def order_of_keys(t: Tables, at: int, left: KeyNumbers, right: KeyNumbers) -> int:
    """-1, 0 or 1: which of two values of a key is better."""
    field = t.pool[at + c.K_FIELD]
    if field == c.F_SHARE or field == c.F_SHARE_AFTER:
        order = order_of_shares(t, left, right)
    else:
        order = 0 if left[0] == right[0] else -1 if left[0] < right[0] else 1
    return -order if t.pool[at + c.K_DESCENDING] else order


def note_keys(t: Tables, keys: int, row: int, each: int, now: int, kept: Ints) -> None:
    """Write the values of all keys of a victim."""
    for k in range(t.pool[keys]):
        kept[k, 0], kept[k, 1], kept[k, 2] = key_of(t, keys + 1 + k * c.KEY_WIDTH, row, each, now)


def first_difference(t: Tables, keys: int, mine: Ints, others: Ints) -> tuple[int, int]:
    """The first key in which the values of two victims differ, and how (-1: the first is better); the number of keys: in none."""
    for k in range(t.pool[keys]):
        left, right = (mine[k, 0], mine[k, 1], mine[k, 2]), (others[k, 0], others[k, 1], others[k, 2])
        order = order_of_keys(t, keys + 1 + k * c.KEY_WIDTH, left, right)
        if order != 0:
            return k, order
    return t.pool[keys], 0


def is_better(t: Tables, keys: int, each: int, mine: Ints, other: int, others: Ints) -> bool:
    """Whether a workload is a better victim than another one (NONE: there is none), by their keys; ties go to the later submitted one."""
    if other == c.NONE:
        return True
    _, order = first_difference(t, keys, mine, others)
    return order < 0 or (order == 0 and t.when[each, c.NUMBER] > t.when[other, c.NUMBER])


# --- the search ---------------------------------------------------------------------------------------------------------


def search_by_rules(t: Tables, row: int, ask: int, now: int, cause: int) -> bool:
    """Find victims without whom a request fits that is charged already; say whether there are enough. All are put back, and listed."""
    t.state[c.VICTIMS] = 0
    t.state[c.FRESH_PASSED_OVER] = 0
    nodes = np.empty(max(1, t.state[c.QUEUES]), np.int64)
    found = False
    for rule in range(t.pool[t.state[c.RULES]]):
        count = places(t, rule, row, owner(t, rule, row), nodes)
        if sweep(t, rule, row, ask, now, cause, nodes, count):
            fill_back(t, row, ask, True, False)
            found = True
            break
    give_all_back(t)
    if not found:
        t.state[c.VICTIMS] = 0
    return found


def sweep(t: Tables, rule: int, row: int, ask: int, now: int, cause: int, nodes: Ints, count: int) -> bool:
    """Take victims by one rule, best first, until the request fits; say whether it does.

    The best of each queue is kept, and found anew where the last victim changed what it is judged by.
    """
    keys = t.pool[rule_at(t, rule) + c.L_ORDER]
    heads, values = np.empty(count, np.int64), np.empty((count, max(1, t.pool[keys]), 3), np.int64)
    taken_from = c.NONE
    while True:
        best = c.NONE
        for i in range(count):
            if taken_from == c.NONE or is_touched(t, row, nodes[i], taken_from):
                heads[i] = best_of_queue(t, rule, row, nodes[i], now, cause, c.NONE, values[i])
            if heads[i] != c.NONE and (best == c.NONE or is_better(t, keys, heads[i], values[i], heads[best], values[best])):
                best = i
        if best == c.NONE:
            return False
        note_victim(t, rule, row, heads, values, best, nodes, now, cause)
        taken_from = nodes[best]
        if enough(t, row, ask, True, False):
            return True


def is_touched(t: Tables, row: int, queue: int, taken_from: int) -> bool:
    """Whether taking a victim of one queue may change how those of another one are judged: their share, or that of the workload's side."""
    if queue == taken_from or queue == t.work[row, c.QUEUE]:
        return True
    ours, theirs = sides(t, t.work[row, c.QUEUE], queue)
    return is_below(t, taken_from, theirs) or is_below(t, taken_from, ours)


def best_of_queue(t: Tables, rule: int, row: int, node: int, now: int, cause: int, besides: int, best_values: Ints) -> int:
    """The best victim of a queue, `besides` one, with the values of its keys; NONE where nobody may go.

    Whether somebody may go is asked only of who would be better than the best so far, and of whom the fact `cause` admitted; and, where
    the rule judges by kind, not of those who are like the last one that it keeps.
    """
    best, keys = c.NONE, t.pool[rule_at(t, rule) + c.L_ORDER]
    if t.pool[rule_at(t, rule) + c.L_SCOPE] == c.BORROWING_QUEUES and not reaches(t, rule, row, node):
        return best
    by_kind, kept = judges_by_kind(t, rule, node), c.NONE
    each = t.node[node, c.FIRST_RUNNING]
    while each != c.NONE:
        if each != besides and (kept == c.NONE or not are_alike(t, each, kept)) and could_help(t, row, each):
            better = best == c.NONE or is_better_beside(t, keys, row, each, best, now)
            if better or t.when[each, c.STARTED_BY] == cause:
                if is_kept(t, rule, row, each, now, 0):
                    kept = each if by_kind else c.NONE
                elif may_go_now(t, rule, each, cause) and better:
                    best = each
        each = t.work[each, c.NEXT_RUNNING]
    if best != c.NONE:
        note_keys(t, keys, row, best, now, best_values)
    return best


def is_better_beside(t: Tables, keys: int, row: int, each: int, other: int, now: int) -> bool:
    """Whether a workload is a better victim than another one of its queue, whose share is the same."""
    for at in range(keys + 1, keys + 1 + t.pool[keys] * c.KEY_WIDTH, c.KEY_WIDTH):
        if t.pool[at + c.K_FIELD] != c.F_SHARE:
            order = order_of_keys(t, at, key_of(t, at, row, each, now), key_of(t, at, row, other, now))
            if order != 0:
                return order < 0
    return t.when[each, c.NUMBER] > t.when[other, c.NUMBER]


def note_victim(t: Tables, rule: int, row: int, heads: Ints, values: Ints, best: int, nodes: Ints, now: int, cause: int) -> None:
    """Take the best of the heads, with what was compared: the values of the rule's fields and, of the first victim, who would have gone
    instead."""
    at, victim, compared = t.state[c.VICTIMS], heads[best], t.pool[rule_at(t, rule) + c.L_COMPARED]
    for k in range(t.pool[compared]):
        field = compared + 1 + k * c.FIELD_WIDTH
        note_share(t, at, c.V_VALUES + 3 * k, value_of(t, field, row, victim, now))
    runner_up, key, value = c.NONE, c.NONE, (0, 0, 0)
    if at == 0:
        runner_up, key, value = next_best(t, rule, row, heads, values, best, nodes, now, cause)
    kind = c.RECLAIM if t.pool[rule_at(t, rule) + c.L_TRIGGER] != c.NONE else c.OTHER
    add_victim(t, victim, c.IN_QUEUE if t.work[victim, c.QUEUE] == t.work[row, c.QUEUE] else kind, rule)
    t.victim[at, c.V_COMPARED], t.victim[at, c.V_NEXT], t.victim[at, c.V_NEXT_KEY] = t.pool[compared], runner_up, key
    note_share(t, at, c.V_NEXT_VALUE, value)


def next_best(
    t: Tables, rule: int, row: int, heads: Ints, values: Ints, best: int, nodes: Ints, now: int, cause: int
) -> tuple[int, int, KeyNumbers]:
    """Who would go instead of the best of the heads, the first key in which the two differ (NONE: in none), and its value."""
    keys = t.pool[rule_at(t, rule) + c.L_ORDER]
    found_values = np.empty((max(1, t.pool[keys]), 3), np.int64)
    found = best_of_queue(t, rule, row, nodes[best], now, cause, heads[best], found_values)
    for i in range(len(heads)):
        if i != best and heads[i] != c.NONE and is_better(t, keys, heads[i], values[i], found, found_values):
            found = heads[i]
            found_values[:] = values[i]
    if found == c.NONE:
        return c.NONE, c.NONE, (0, 0, 0)
    key, order = first_difference(t, keys, found_values, values[best])
    if order == 0:
        return found, c.NONE, (0, 0, 0)
    return found, key, (found_values[key, 0], found_values[key, 1], found_values[key, 2])


def value_of(t: Tables, at: int, row: int, victim: int, now: int) -> ShareNumbers:
    """The value of a field (subject, code, argument) for a workload and a victim, to be told."""
    subject, field = t.pool[at], t.pool[at + 1]
    if field == c.F_SHARE or field == c.F_SHARE_AFTER:
        return share_value(t, row, victim, subject, field)
    return number_of(t, victim if subject == c.VICTIM else row, field, t.pool[at + 2], now), 0, 0
