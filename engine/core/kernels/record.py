"""What is written on the tape about a nomination that was decided: the limit that binds, its request, its victims (`outcomes.py` reads it).

The flavors that were tried stand there already (`flavors.py`); a block begins at `TAPE_END`, and is kept by `keep_block`.
"""

from .. import columns as c
from ..tables import Tables
from .flavor.pod_sets import slot_of
from .pen import put, put_five
from .quota.holdings import charges_of
from .quota.shares import order_of
from .quota.tree import binding, binding_at_most
from .requests import need_of, whole_of


def put_request(t: Tables, nom: int, begin: int) -> None:
    """Write what a nomination is charged: of each slot the amount, what its queue used before, what it owns, how much lies beyond that.

    What is used is without the victims, who must be taken out, and without the one whose place is taken.
    """
    ask, queue = whole_of(nom), t.nom[nom, c.N_QUEUE]
    t.tape[begin + c.B_REQUEST] = t.state[c.PEN]
    t.tape[begin + c.B_REQUESTED] = t.ask[ask, 0, 0]
    for k in range(1, t.ask[ask, 0, 0] + 1):
        slot, amount, held = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT], 0
        if t.nom[nom, c.N_REPLACED] != c.NONE:
            cell = charges_of(t, t.nom[nom, c.N_REPLACED])
            while cell >= 0:
                held += t.cell[cell, c.AMOUNT] if t.cell[cell, c.SLOT] == slot else 0
                cell = t.cell[cell, c.NEXT]
        used, owned = t.quota[queue, slot, c.USED] - held, t.quota[queue, slot, c.OWNED]
        put_five(t, slot, amount, used, owned, max(0, min(amount, used + amount - owned)))


def put_replaced(t: Tables, nom: int, begin: int) -> None:
    """Write whose place a nomination takes, and what that one holds."""
    old = t.nom[nom, c.N_REPLACED]
    t.tape[begin + c.B_REPLACED], t.tape[begin + c.B_HOLDS], t.tape[begin + c.B_HELD] = c.NONE, t.state[c.PEN], 0
    if old == c.NONE:
        return
    t.tape[begin + c.B_REPLACED], t.tape[begin + c.B_REPLACED_QUEUE] = t.work[old, c.NAME], t.work[old, c.QUEUE]
    put_usage(t, old, begin + c.B_HELD)


def put_usage(t: Tables, row: int, count: int) -> None:
    """Write what a running workload uses: slot and amount; how many, at `count`."""
    t.tape[count] = 0
    cell = charges_of(t, row)
    while cell >= 0:
        put(t, t.cell[cell, c.SLOT])
        put(t, t.cell[cell, c.AMOUNT])
        t.tape[count] += 1
        cell = t.cell[cell, c.NEXT]


def put_victims(t: Tables) -> None:
    """Write the victims of a nomination, with what was compared when each was picked."""
    begin = t.state[c.TAPE_END]
    t.tape[begin + c.B_VICTIMS], t.tape[begin + c.B_EVICTED] = t.state[c.PEN], t.state[c.VICTIMS]
    for at in range(t.state[c.VICTIMS]):
        row, compared = t.victim[at, c.V_ROW], t.victim[at, c.V_COMPARED]
        put_five(t, t.work[row, c.NAME], t.work[row, c.QUEUE], t.victim[at, c.V_KIND], t.when[row, c.PRIORITY], t.victim[at, c.V_RULE])
        put(t, t.work[row, c.EVICTING])
        put(t, compared)
        for k in range(3 * compared):
            put(t, t.victim[at, c.V_VALUES + k])
        following = t.victim[at, c.V_NEXT]
        put(t, c.NONE if following == c.NONE else t.work[following, c.NAME])
        for k in range(4):
            put(t, t.victim[at, c.V_NEXT_KEY + k])
        put_usage(t, row, put(t, 0))


def begin_block(t: Tables, nom: int, ended: int) -> None:
    """Write the head of a block about a nomination."""
    begin, row = t.state[c.TAPE_END], t.nom[nom, c.N_ROW]
    t.tape[begin + c.B_ENDED], t.tape[begin + c.B_NAME], t.tape[begin + c.B_QUEUE] = ended, t.work[row, c.NAME], t.work[row, c.QUEUE]
    t.tape[begin + c.B_PRIORITY], t.tape[begin + c.B_SPEC] = t.when[row, c.PRIORITY], t.work[row, c.SPEC]
    t.tape[begin + c.B_LEVEL], t.tape[begin + c.B_MODE] = t.nom[nom, c.N_LEVEL], t.nom[nom, c.N_MODE]
    t.tape[begin + c.B_REASON] = t.nom[nom, c.N_REASON]
    t.tape[begin + c.B_EVICTED] = t.tape[begin + c.B_REQUESTED] = 0
    t.tape[begin + c.B_REPLACED] = c.NONE


def keep_block(t: Tables) -> int:
    """Keep the block that was written; return where it begins."""
    begin = t.state[c.TAPE_END]
    t.state[c.TAPE_END] = t.state[c.PEN]
    return begin


def link_block(t: Tables, block: int) -> None:
    """Let a block be the next of those that tell what was decided."""
    t.tape[block + c.B_FOLLOWING] = c.NONE
    if t.state[c.LAST_BLOCK] == c.NONE:
        t.state[c.FIRST_BLOCK] = block
    else:
        t.tape[t.state[c.LAST_BLOCK] + c.B_FOLLOWING] = block
    t.state[c.LAST_BLOCK] = block


# --- the limit that binds -----------------------------------------------------------------------------------------------


def put_limit(t: Tables, nom: int, begin: int) -> None:
    """Find the limit that binds a nomination whose block begins here, from the obstacles in it (`definition/admission/binding_limit.py`).

    It is the tightest of what asks for more than could ever be; else of the slots on which others have to go; else of all.
    """
    t.tape[begin + c.B_LIMIT] = c.NONE
    for choice in (c.OF_EXCEEDING, c.OF_NEEDED, c.OF_SHORT, c.OF_ANY):
        if choice == c.OF_EXCEEDING and t.nom[nom, c.N_REASON] != c.EXCEEDS_MAX_QUOTA:
            continue
        at = begin + c.FLAVORS_AT
        groups, at = t.tape[at], at + 1
        for _ in range(groups):
            at = limits_of_group(t, nom, begin, at, choice)
        if t.tape[begin + c.B_LIMIT] != c.NONE:
            return


def limits_of_group(t: Tables, nom: int, begin: int, at: int, choice: int) -> int:
    """Look at the obstacles of pod sets that get their flavors together; return where the next group begins."""
    members = t.tape[at]
    at += 1 + members
    failed, searches, at = t.tape[at], t.tape[at + 1], at + 2
    found = True
    first = at
    for _ in range(searches):  # the last search may have failed: then only its obstacles count
        tries, useful = t.tape[first + c.Q_ATTEMPTS], 0
        first += c.SEARCH_WIDTH
        for _ in range(tries):
            useful += int(t.tape[first + c.T_GRADE] >= c.NO_VICTIMS)
            first += c.ATTEMPT_WIDTH + t.tape[first + c.T_OBSTACLES] * c.OBSTACLE_WIDTH
        found = useful > 0
    failed_search = failed == c.NONE and not found
    for i in range(searches):
        counts, tries = t.tape[at + c.Q_COUNTS], t.tape[at + c.Q_ATTEMPTS]
        at += c.SEARCH_WIDTH
        for _ in range(tries):
            flavor, why = t.tape[at + c.T_FLAVOR], t.tape[at + c.T_OBSTACLES]
            at += c.ATTEMPT_WIDTH
            for _ in range(why):
                if counts and failed == c.NONE and (not failed_search or i == searches - 1):
                    weigh_obstacle(t, nom, begin, at, flavor, choice)
                at += c.OBSTACLE_WIDTH
    for _ in range(members):
        at += 2 + 5 * t.tape[at + 1]
    return at


def weigh_obstacle(t: Tables, nom: int, begin: int, at: int, flavor: int, choice: int) -> None:
    """Let the limit that an obstacle of quota met be the one that binds if it is tighter than the one so far."""
    kind = t.tape[at + c.O_KIND]
    if kind != c.EXCEEDS and kind != c.SHORT:
        return
    spec = t.work[t.nom[nom, c.N_ROW], c.SPEC]
    slot = slot_of(t, flavor, t.spec[t.spec[spec + c.S_LIST] + t.tape[at + c.O_RESOURCE] * c.RESOURCE_WIDTH + c.R_ID])
    if (choice == c.OF_EXCEEDING and kind != c.EXCEEDS) or (choice == c.OF_SHORT and kind != c.SHORT):
        return
    if choice == c.OF_NEEDED and not is_needed(t, nom, slot):
        return
    queue, asked = t.nom[nom, c.N_QUEUE], t.tape[at + c.O_ASSUMED] + t.tape[at + c.O_ASKED]
    node, by, available = binding(t, queue, slot) if kind == c.SHORT else binding_at_most(t, queue, slot)
    available = min(available, t.tape[at + c.O_LIMIT])  # in the middle of a cycle there may have been less
    if t.tape[begin + c.B_LIMIT] != c.NONE:
        before, before_asked = t.tape[begin + c.B_LIMIT + 3] - t.tape[begin + c.B_LIMIT + 4], t.tape[begin + c.B_LIMIT + 3]
        order = order_of_parts(asked - available, asked, before, before_asked)
        if order < 0 or (order == 0 and asked - available <= before):
            return
    limit = begin + c.B_LIMIT
    t.tape[limit], t.tape[limit + 1], t.tape[limit + 2], t.tape[limit + 3], t.tape[limit + 4] = node, by, slot, asked, available


def order_of_parts(missing: int, asked: int, other: int, other_asked: int) -> int:
    """-1, 0 or 1: how two parts missing of what is asked compare; where nothing is asked, none is missing."""
    missing, asked = (missing, asked) if asked > 0 else (0, 1)
    other, other_asked = (other, other_asked) if other_asked > 0 else (0, 1)
    return order_of(missing, asked, other, other_asked)


def is_needed(t: Tables, nom: int, slot: int) -> bool:
    """Whether others have to go on a slot for a nomination."""
    ask = need_of(nom)
    for k in range(1, t.ask[ask, 0, 0] + 1):
        if t.ask[ask, k, c.SLOT] == slot:
            return True
    return False
