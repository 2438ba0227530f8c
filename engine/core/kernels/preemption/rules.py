"""Victims by preempt rules, over tables: the search of `definition/preemption/rules.py`, and where each rule may look."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..guards import may_hold, number_of, share_value
from ..quota.shares import ShareNumbers, order_of_shares
from ..quota.tree import borrows, is_below, sides
from .trial import add_victim, enough, fill_back, give_all_back, takes_place_of, uses

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


def in_range(t: Tables, rule: int, row: int, rests_on: int, node: int) -> bool:
    """Whether a rule may find victims in a queue, by where it stands in the tree and what it uses now."""
    queue, at = t.work[row, c.QUEUE], rule_at(t, rule)
    if t.pool[at + c.L_SCOPE] == c.SAME_QUEUE:
        return node == queue
    if node == queue or t.node[node, c.FIRST_RUNNING] == c.NONE:
        return False
    if t.pool[at + c.L_SAME_COHORT] and not is_below(t, node, t.node[queue, c.PARENT]):
        return False
    return (rests_on == queue or not is_below(t, node, rests_on)) and reaches(t, rule, row, node)


def places(t: Tables, rule: int, row: int, rests_on: int, found: Ints) -> int:
    """Write the queues where a rule may find victims; return how many."""
    count = 0
    if rests_on == c.NONE:
        return count
    if t.pool[rule_at(t, rule) + c.L_SCOPE] == c.SAME_QUEUE:
        found[0] = t.work[row, c.QUEUE]
        return 1
    for i in range(t.state[c.QUEUES]):
        node = t.pool[t.state[c.QUEUE_NODES] + i]
        if in_range(t, rule, row, rests_on, node):
            found[count] = node
            count += 1
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


def may_go(t: Tables, rule: int, row: int, each: int, now: int, cause: int) -> bool:
    """Whether a rule lets a workload go at a moment; whoever the fact `cause` admitted is passed over."""
    if is_kept(t, rule, row, each, now, 0):
        return False
    if t.name[t.work[each, c.NAME], c.MARK] == t.state[c.SUPERIORS] and t.pool[rule_at(t, rule) + c.L_TIMELESS]:
        return False
    if t.work[each, c.STARTED_BY] == cause:
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


def first_difference(t: Tables, keys: int, row: int, each: int, now: int, kept: Ints) -> tuple[int, int]:
    """The first key in which a workload differs from one whose keys are kept, and how (-1: it is better); the number of keys: in none."""
    for k in range(t.pool[keys]):
        at = keys + 1 + k * c.KEY_WIDTH
        order = order_of_keys(t, at, key_of(t, at, row, each, now), (kept[k, 0], kept[k, 1], kept[k, 2]))
        if order != 0:
            return k, order
    return t.pool[keys], 0


def is_better(t: Tables, keys: int, row: int, each: int, other: int, now: int, kept: Ints) -> bool:
    """Whether a workload is a better victim than another one, whose keys are kept; ties go to the later submitted one."""
    if other == c.NONE:
        return True
    _, order = first_difference(t, keys, row, each, now, kept)
    return order < 0 or (order == 0 and t.work[each, c.NUMBER] > t.work[other, c.NUMBER])


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
    """Take victims by one rule, best first, until the request fits; say whether it does."""
    keys = t.pool[rule_at(t, rule) + c.L_ORDER]
    best_keys, next_keys = np.empty((max(1, t.pool[keys]), 3), np.int64), np.empty((max(1, t.pool[keys]), 3), np.int64)
    while True:
        best = runner_up = c.NONE
        for i in range(count):
            if t.pool[rule_at(t, rule) + c.L_SCOPE] == c.BORROWING_QUEUES and not reaches(t, rule, row, nodes[i]):
                continue
            each = t.node[nodes[i], c.FIRST_RUNNING]
            while each != c.NONE:
                if could_help(t, row, each) and may_go(t, rule, row, each, now, cause):
                    if is_better(t, keys, row, each, best, now, best_keys):
                        runner_up = best
                        next_keys[:] = best_keys
                        best = each
                        note_keys(t, keys, row, each, now, best_keys)
                    elif is_better(t, keys, row, each, runner_up, now, next_keys):
                        runner_up = each
                        note_keys(t, keys, row, each, now, next_keys)
                each = t.work[each, c.NEXT_RUNNING]
        if best == c.NONE:
            return False
        note_victim(t, rule, row, best, runner_up, now, best_keys)
        if enough(t, row, ask, True, False):
            return True


def note_victim(t: Tables, rule: int, row: int, best: int, runner_up: int, now: int, best_keys: Ints) -> None:
    """Take a victim, with what was compared: the values of the rule's fields and, of the first one, who would have gone instead."""
    at, keys = t.state[c.VICTIMS], t.pool[rule_at(t, rule) + c.L_ORDER]
    compared = t.pool[rule_at(t, rule) + c.L_COMPARED]
    for k in range(t.pool[compared]):
        field = compared + 1 + k * c.FIELD_WIDTH
        value = value_of(t, field, row, best, now)
        t.victim[at, c.V_VALUES + 3 * k], t.victim[at, c.V_VALUES + 3 * k + 1], t.victim[at, c.V_VALUES + 3 * k + 2] = value
    next_key, next_value = c.NONE, (0, 0, 0)
    if runner_up != c.NONE:
        next_key, order = first_difference(t, keys, row, runner_up, now, best_keys)
        if order == 0:
            next_key = c.NONE
        else:
            next_value = key_of(t, keys + 1 + next_key * c.KEY_WIDTH, row, runner_up, now)
    kind = c.RECLAIM if t.pool[rule_at(t, rule) + c.L_TRIGGER] != c.NONE else c.OTHER
    add_victim(t, best, c.IN_QUEUE if t.work[best, c.QUEUE] == t.work[row, c.QUEUE] else kind, rule)
    t.victim[at, c.V_COMPARED] = t.pool[compared]
    if at == 0 and runner_up != c.NONE:
        t.victim[at, c.V_NEXT], t.victim[at, c.V_NEXT_KEY] = runner_up, next_key
        t.victim[at, c.V_NEXT_VALUE], t.victim[at, c.V_NEXT_VALUE + 1], t.victim[at, c.V_NEXT_VALUE + 2] = next_value


def value_of(t: Tables, at: int, row: int, victim: int, now: int) -> ShareNumbers:
    """The value of a field (subject, code, argument) for a workload and a victim, to be told."""
    subject, field = t.pool[at], t.pool[at + 1]
    if field == c.F_SHARE or field == c.F_SHARE_AFTER:
        return share_value(t, row, victim, subject, field)
    return number_of(t, victim if subject == c.VICTIM else row, field, t.pool[at + 2], now), 0, 0
