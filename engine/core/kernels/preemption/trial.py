"""Running workloads taken out on trial, and put back; and the list of the victims that a search has taken."""

from ... import columns as c
from ...tables import Tables
from ..placement.standing import charge_places, have_places
from ..quota.holdings import charges_of
from ..quota.shares import ShareNumbers
from ..quota.tree import charge_list, exceeds_owned, room, uncharge_list


def take(t: Tables, row: int) -> None:
    """Take a running workload out."""
    uncharge_list(t, t.work[row, c.QUEUE], charges_of(t, row))
    if t.work[row, c.PLACES_OF] >= 0:
        charge_places(t, row, -1, t.state[c.TRIES_APART] == 0)
    t.work[row, c.OUT] = 1


def give_back(t: Tables, row: int) -> None:
    """Undo `take`."""
    charge_list(t, t.work[row, c.QUEUE], charges_of(t, row))
    if t.work[row, c.PLACES_OF] >= 0:
        charge_places(t, row, 1, t.state[c.TRIES_APART] == 0)
    t.work[row, c.OUT] = 0


def uses(t: Tables, row: int, ask: int) -> bool:
    """Whether a running workload uses some slot of a request."""
    cell = charges_of(t, row)
    while cell >= 0:
        for k in range(1, t.ask[ask, 0, 0] + 1):
            if t.ask[ask, k, c.SLOT] == t.cell[cell, c.SLOT]:
                return True
        cell = t.cell[cell, c.NEXT]
    return False


def takes_place_of(t: Tables, new: int, old: int) -> bool:
    """Whether a waiting workload takes the place of one that runs: it names it, and is of its queue and namespace."""
    if t.work[new, c.REPLACES] == c.NONE or t.work[new, c.REPLACES] != t.work[old, c.NAME]:
        return False
    same = t.spec[t.work[new, c.SPEC] + c.S_NAMESPACE] == t.spec[t.work[old, c.SPEC] + c.S_NAMESPACE]
    return same and t.work[new, c.QUEUE] == t.work[old, c.QUEUE]


# --- victims ------------------------------------------------------------------------------------------------------------


def add_victim(t: Tables, row: int, kind: int, rule: int) -> int:
    """Take a victim out and list it; return its place in the list."""
    at = t.state[c.VICTIMS]
    t.state[c.VICTIMS] = at + 1
    t.victim[at, c.V_ROW], t.victim[at, c.V_KIND], t.victim[at, c.V_RULE] = row, kind, rule
    t.victim[at, c.V_COMPARED], t.victim[at, c.V_NEXT] = 0, c.NONE
    take(t, row)
    return at


def note_share(t: Tables, at: int, column: int, value: ShareNumbers) -> None:
    """Note a share that was compared when a victim was picked."""
    t.victim[at, column], t.victim[at, column + 1], t.victim[at, column + 2] = value


def fill_back(t: Tables, row: int, ask: int, charged: bool, owned_only: bool) -> None:
    """Put back, last to first and never the last one, every victim without whom the request fits as well; all others stay out."""
    for at in range(t.state[c.VICTIMS] - 2, -1, -1):
        each = t.victim[at, c.V_ROW]
        give_back(t, each)
        if enough(t, row, ask, charged, owned_only):
            t.victim[at, c.V_ROW] = c.NONE
        else:
            take(t, each)
    kept = 0
    for at in range(t.state[c.VICTIMS]):
        if t.victim[at, c.V_ROW] != c.NONE:
            if kept < at:
                for column in range(t.state[c.VICTIM_WIDTH]):
                    t.victim[kept, column] = t.victim[at, column]
            kept += 1
    t.state[c.VICTIMS] = kept


def enough(t: Tables, row: int, ask: int, charged: bool, owned_only: bool) -> bool:
    """Whether a request fits, which may be `charged` already: then nothing may be owed; `owned_only`: within what its queue owns. In the
    search for the victims of a whole nomination (`PLACING`) its pods have to find places as well."""
    queue, more = t.work[row, c.QUEUE], 0 if charged else 1
    for k in range(1, t.ask[ask, 0, 0] + 1):
        slot, amount = t.ask[ask, k, c.SLOT], more * t.ask[ask, k, c.AMOUNT]
        if amount > room(t, queue, slot) or (owned_only and exceeds_owned(t, queue, slot, amount)):
            return False
    return t.state[c.PLACING] == c.NONE or have_places(t, row, t.state[c.PLACING], False)


def only_needed(t: Tables, row: int, ask: int) -> None:
    """Put back every victim without whom a charged request fits as well, until there is none.

    Where pods have to find places, that may be so of some who were needed while others were out.
    """
    at = t.state[c.VICTIMS] - 1
    while at >= 0:
        give_back(t, t.victim[at, c.V_ROW])
        if enough(t, row, ask, True, False):
            for later in range(at + 1, t.state[c.VICTIMS]):
                for column in range(t.state[c.VICTIM_WIDTH]):
                    t.victim[later - 1, column] = t.victim[later, column]
            t.state[c.VICTIMS] -= 1
            at = t.state[c.VICTIMS] - 1
        else:
            take(t, t.victim[at, c.V_ROW])
            at -= 1


def give_all_back(t: Tables) -> None:
    """Put all victims back; the list stays."""
    for at in range(t.state[c.VICTIMS]):
        give_back(t, t.victim[at, c.V_ROW])
