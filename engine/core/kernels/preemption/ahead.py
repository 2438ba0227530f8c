"""Looking ahead, over tables: the first moment at which time alone will have made room (`definition/preemption/lookahead.py`)."""

import numpy as np

from ... import columns as c
from ...tables import Ints, Tables
from ..guards import next_turn
from ..line import next_in_tree
from ..placement.standing import have_places
from ..quota.tree import add_once, charge_all, room, uncharge_all
from .rules import could_help, is_kept, judges_by_kind, owner, places, rule_at, search_by_rules
from .running import are_alike
from .trial import enough, give_back, take

UNKNOWN_SHARES = c.OF_SHARE
UNKNOWN_BOTH = c.OF_SHARE | c.OF_TIME


def search_ahead(t: Tables, row: int, ask: int, need: int) -> tuple[int, int]:
    """Look for victims by the policy's rules; return the grade, and the first moment at which time will have freed enough (NONE: never).

    Where places are missing, others have to go on the slots of `need`.

    Where somebody was passed over only because this fact admitted it, that is the present moment, for the next fact.
    """
    queue, now = t.work[row, c.QUEUE], t.state[c.TIME]
    t.ask[c.ASK_SHORT, 0, 0] = 0
    for k in range(1, t.ask[ask, 0, 0] + 1):
        if t.ask[ask, k, c.AMOUNT] > room(t, queue, t.ask[ask, k, c.SLOT]):
            t.ask[c.ASK_SHORT, 0, 0] += 1
            t.ask[c.ASK_SHORT, t.ask[c.ASK_SHORT, 0, 0], c.SLOT] = t.ask[ask, k, c.SLOT]
    if t.state[c.PLACING] != c.NONE and not have_places(t, row, t.state[c.PLACING], False):
        for k in range(1, t.ask[need, 0, 0] + 1):
            add_once(t, c.ASK_SHORT, t.ask[need, k, c.SLOT])
    t.state[c.VICTIMS] = 0
    charge_all(t, queue, ask)
    grade, until = judge_ahead(t, row, ask, now)
    uncharge_all(t, queue, ask)
    return grade, until


def judge_ahead(t: Tables, row: int, ask: int, now: int) -> tuple[int, int]:
    """The same, with the request charged and what is short noted."""
    if search_by_rules(t, row, ask, now, t.state[c.CAUSE]):
        return c.PREEMPT, c.NONE
    fresh = t.state[c.FRESH_PASSED_OVER] == 1
    if not fresh and not t.state[c.TELLS_TIME]:  # nobody may go later who may not go now
        return c.NO_VICTIMS, c.NONE
    helpers, free = find_helpers(t, row, now)
    earliest = earliest_room(t, row, ask, helpers, free) if len(helpers) else c.NONE
    if earliest == c.NONE:
        return c.NO_VICTIMS, c.NONE
    if fresh and earliest <= now and search_by_rules(t, row, ask, now, c.NONE):
        t.state[c.VICTIMS] = 0
        return c.PROTECTED, now
    turns = np.empty(len(helpers), np.int64)
    for i in range(len(helpers)):
        turns[i] = turn_of(t, helpers[i, 1], row, helpers[i, 0], now, max(now, earliest - 1))
    while True:
        moment = next_moment(t, row, helpers, turns, now)
        if moment == c.NONE:
            return c.NO_VICTIMS, c.NONE
        if search_by_rules(t, row, ask, moment, c.NONE):
            t.state[c.VICTIMS] = 0
            return c.PROTECTED, moment


def find_helpers(t: Tables, row: int, now: int) -> tuple[Ints, Ints]:
    """Everybody who may go by some rule, now or later, with the rule and the first moment, as far as anything but shares says."""
    yielding = np.empty((t.state[c.QUEUES], c.YIELDING_WIDTH), np.int64)
    helpers, free = np.empty((16, 2), np.int64), np.empty(16, np.int64)
    found, something_goes = 0, False
    for rule in range(t.pool[t.state[c.RULES]]):
        rests_on = t.work[row, c.QUEUE] if something_goes else owner(t, rule, row)
        count = places(t, rule, row, rests_on, yielding)
        something_goes = something_goes or count > 0
        for i in range(count):
            node, kept = yielding[i, c.Y_QUEUE], c.NONE
            by_kind, each = judges_by_kind(t, rule, node), t.node[node, c.FIRST_RUNNING]
            while each != c.NONE:
                if (kept == c.NONE or not are_alike(t, each, kept)) and could_help(t, row, each):
                    moment = first_free(t, rule, row, each, now)
                    if moment == c.NONE:
                        kept = each if by_kind else c.NONE
                    else:
                        if found == len(free):
                            helpers, free = np.concatenate((helpers, helpers)), np.concatenate((free, free))
                        helpers[found, 0], helpers[found, 1], free[found] = each, rule, moment
                        found += 1
                each = c.NONE if kept != c.NONE and t.node[node, c.UNLIKE] == 0 else next_in_tree(t, each)
    return helpers[:found], free[:found]


def first_free(t: Tables, rule: int, row: int, each: int, now: int) -> int:
    """The first moment, now or later, at which a rule may let a workload go, as far as anything but shares says; NONE: never."""
    if is_kept(t, rule, row, each, now, UNKNOWN_BOTH):
        return c.NONE
    moment = now
    while moment != c.NONE and is_kept(t, rule, row, each, moment, UNKNOWN_SHARES):
        moment = turn_of(t, rule, row, each, now, moment)
    return moment


def turn_of(t: Tables, rule: int, row: int, each: int, now: int, after: int) -> int:
    """The next moment at which time may change whether a rule lets a workload go, as of now."""
    found = next_turn(t, t.pool[rule_at(t, rule) + c.L_GUARD], row, each, now, after)
    at = t.node[t.work[each, c.QUEUE], c.PROTECTED_BY]
    for i in range(at + 1, at + 1 + t.pool[at]):
        moment = next_turn(t, t.pool[i], row, each, now, after)
        if moment != c.NONE and (found == c.NONE or moment < found):
            found = moment
    return found


def earliest_room(t: Tables, row: int, ask: int, helpers: Ints, free: Ints) -> int:
    """The first moment by which enough may have become free, now or later; NONE: never."""
    order = np.argsort(free, kind="mergesort")
    gone, found, placing = 0, c.NONE, t.state[c.PLACING]
    t.state[c.PLACING] = c.NONE  # with more room pods may be placed otherwise, so places are no bound
    for gone in range(len(order)):
        each = helpers[order[gone], 0]
        if not t.work[each, c.OUT]:
            take(t, each)
        if enough(t, row, ask, True, False):
            found = free[order[gone]]
            break
    for i in range(gone + 1):
        if t.work[helpers[order[i], 0], c.OUT]:
            give_back(t, helpers[order[i], 0])
    t.state[c.PLACING] = placing
    return found


def next_moment(t: Tables, row: int, helpers: Ints, turns: Ints, now: int) -> int:
    """The first of the moments at which time may change who goes, and there is one of each helper; those for whom it is it go on to their
    next one."""
    found = c.NONE
    for moment in turns:
        if moment != c.NONE and (found == c.NONE or moment < found):
            found = moment
    for i in range(len(turns)):
        if turns[i] == found and found != c.NONE:
            turns[i] = turn_of(t, helpers[i, 1], row, helpers[i, 0], now, found)
    return found
