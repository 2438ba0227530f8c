"""Guards over tables: values of fields, and a small machine for the programs that `guard_programs.py` makes of guards.

The machine keeps two bits for each operand: whether it may be true, and whether it may be false. Both are set where time, or shares, are
taken as unknown.
"""

from .. import columns as c
from ..tables import Tables
from .quota.shares import ShareNumbers, no_share, order_of_shares, share, share_without
from .quota.tree import sides


def number_of(t: Tables, row: int, field: int, argument: int, now: int) -> int:
    """The value of a field of a workload that is a number, or the identity of a text."""
    spec = t.work[row, c.SPEC]
    if field == c.F_PRIORITY:
        return t.when[row, c.PRIORITY]
    if field == c.F_PODS:
        return t.spec[spec + c.S_PODS]
    if field == c.F_EVICTIONS:
        return t.work[row, c.EVICTIONS]
    if field == c.F_SUBMITTED:
        return t.when[row, c.SUBMITTED]
    if field == c.F_QUEUED:
        return t.when[row, c.QUEUED]
    if field == c.F_ADMITTED:
        return max(0, t.when[row, c.ADMITTED])
    if field == c.F_WAITING:
        return now - t.when[row, c.ENTERED] if t.when[row, c.ADMITTED] == c.NONE else 0
    if field == c.F_RUNNING:
        return now - max(0, t.when[row, c.ADMITTED])
    if field == c.F_TOTAL:
        return t.spec[t.spec[spec + c.S_TOTALS] + argument]
    return t.spec[t.spec[spec + c.S_TEXTS] + argument]


def share_of_side(t: Tables, row: int, victim: int, of_victim: bool, without: bool) -> ShareNumbers:
    """The share of the side of a workload or its victim, below the cohort where their paths meet; or the victim's without it."""
    ours = theirs = t.work[row, c.QUEUE]
    if t.work[victim, c.QUEUE] != ours:
        ours, theirs = sides(t, ours, t.work[victim, c.QUEUE])
    if without:
        return share_without(t, theirs, victim)
    return share(t, theirs if of_victim else ours)


def share_value(t: Tables, row: int, victim: int, subject: int, field: int) -> ShareNumbers:
    """The value of a share field; where there is no victim, the workload stands for it."""
    if field == c.F_SHARE_AFTER:
        return no_share(t) if victim == c.NONE else share_of_side(t, row, victim, True, True)
    return share_of_side(t, row, row if victim == c.NONE else victim, subject == c.VICTIM, False)


def compares(operator: int, order: int, below_next: int) -> bool:
    """Whether an operator holds of two values that compare so (-1, 0, 1); `below_next`: equal here means a little less."""
    if order == 0 and below_next:
        order = -1
    if operator == c.LESS_THAN:
        return order < 0
    if operator == c.AT_MOST:
        return order <= 0
    if operator == c.EQUAL:
        return order == 0
    if operator == c.UNEQUAL:
        return order != 0
    if operator == c.MORE_THAN:
        return order > 0
    return order >= 0


def comparison(t: Tables, at: int, row: int, victim: int, now: int) -> bool:
    """Whether one comparison of a program holds."""
    operator, subject, field, argument = (
        t.pool[at + c.G_OPERATOR],
        t.pool[at + c.G_SUBJECT],
        t.pool[at + c.G_FIELD],
        t.pool[at + c.G_ARGUMENT],
    )
    left = victim if subject == c.VICTIM and victim != c.NONE else row
    form = t.pool[at + c.G_FORM]
    if form == c.WITH_PATTERN:
        bits = t.spec[t.spec[t.work[left, c.SPEC] + c.S_BITS] + argument // 62]
        return ((bits >> (argument % 62)) & 1 == 1) == (operator == c.EQUAL)
    if field == c.F_SHARE or field == c.F_SHARE_AFTER:
        mine = share_value(t, row, victim, subject, field)
        if form == c.WITH_FIELD:
            other = share_value(t, row, victim, t.pool[at + c.G_RIGHT], t.pool[at + c.G_RIGHT + 1])
            return compares(operator, order_of_shares(t, mine, other), 0)
        constant = (t.pool[at + c.G_RIGHT], t.pool[at + c.G_RIGHT + 1], t.pool[at + c.G_RIGHT + 2])
        return compares(operator, order_of_shares(t, mine, constant), t.pool[at + c.G_BELOW_NEXT])
    value, other_value = number_of(t, left, field, argument, now), t.pool[at + c.G_RIGHT]
    if form == c.WITH_FIELD:
        right = victim if t.pool[at + c.G_RIGHT] == c.VICTIM and victim != c.NONE else row
        other_value = number_of(t, right, t.pool[at + c.G_RIGHT + 1], t.pool[at + c.G_RIGHT + 2], now)
    return compares(operator, 0 if value == other_value else -1 if value < other_value else 1, 0)


def may_hold(t: Tables, program: int, wanted: bool, row: int, victim: int, now: int, unknown: int) -> bool:
    """Whether a guard is true or, not `wanted`, false; what `unknown` names (bits of kinds) is taken to be both. No guard is true."""
    if program == c.NONE:
        return wanted
    may_be_true, may_be_false = 0, 0
    at, end = program + 1, program + 1 + t.pool[program]
    while at < end:
        code = t.pool[at + c.G_CODE]
        if code == c.COMPARE:
            both = (t.pool[at + c.G_KIND] & unknown) != 0
            true = both or comparison(t, at, row, victim, now)
            may_be_true = may_be_true << 1 | int(true)
            may_be_false = may_be_false << 1 | int(both or not true)
        elif code == c.NEGATE:
            true, false = may_be_true & 1, may_be_false & 1
            may_be_true, may_be_false = may_be_true >> 1 << 1 | false, may_be_false >> 1 << 1 | true
        else:
            all_true, all_false = may_be_true & 3 == 3, may_be_false & 3 == 3
            some_true, some_false = may_be_true & 3 != 0, may_be_false & 3 != 0
            if code == c.BOTH:
                may_be_true, may_be_false = may_be_true >> 2 << 1 | int(all_true), may_be_false >> 2 << 1 | int(some_false)
            else:
                may_be_true, may_be_false = may_be_true >> 2 << 1 | int(some_true), may_be_false >> 2 << 1 | int(all_false)
        at += c.GUARD_WIDTH
    return (may_be_true if wanted else may_be_false) & 1 == 1


def next_turn(t: Tables, program: int, row: int, victim: int, now: int, after: int) -> int:
    """The first moment later than `after` at which a duration in a guard reaches a constant, as of `now`; NONE: never."""
    if program == c.NONE:
        return c.NONE
    found = c.NONE
    for at in range(program + 1, program + 1 + t.pool[program], c.GUARD_WIDTH):
        if t.pool[at + c.G_CODE] != c.COMPARE or t.pool[at + c.G_KIND] != c.OF_TIME or t.pool[at + c.G_FORM] != c.WITH_NUMBER:
            continue
        subject = victim if t.pool[at + c.G_SUBJECT] == c.VICTIM and victim != c.NONE else row
        since = number_of(t, subject, t.pool[at + c.G_FIELD], t.pool[at + c.G_ARGUMENT], now)
        reached, operator = now - since + t.pool[at + c.G_RIGHT], t.pool[at + c.G_OPERATOR]
        for moment in (reached, reached + 1):
            if (moment == reached and operator in (c.AT_MOST, c.MORE_THAN)) or (moment > reached and operator in (c.LESS_THAN, c.AT_LEAST)):
                continue
            if moment > after and (found == c.NONE or moment < found):
                found = moment
    return found
