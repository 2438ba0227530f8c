"""Searches for victims while a workload is nominated, over tables: in the way that the policy chose, and each request once.

`found` holds what came of each search: the grade, the level from which the quota would come then, the moment at which time will have made
room (NONE: it will not), and whether it was made for a part of what is asked for. The last search's victims stand in `victim`.
"""

from ... import columns as c
from ...tables import Tables
from ..placement.tried import sets_placed
from ..quota.tree import copy_request, exceeds_limit, level_that_fits
from .ahead import search_ahead
from .candidates import next_candidate
from .classical import search_classically
from .fair import search_fairly
from .trial import add_victim, give_all_back, take


def verdict_of(t: Tables, row: int, ask: int, need: int, placing: int, leader: int) -> tuple[int, int]:
    """What evicting could do for a part of what is asked for, and the level from which that would come then; `placing` as in `search_once`,
    the part is of a leader and those with it."""
    at = search_once(t, row, ask, need, leader, placing)
    return t.found[at, c.X_GRADE], t.found[at, c.X_LEVEL]


def search_once(t: Tables, row: int, ask: int, need: int, leader: int, placing: int) -> int:
    """Search for the victims of a request, unless that was done; return where it is noted. It is one for a part of a workload, of a leader,
    or (NONE) for all of it.

    `placing` is the nomination whose pods have to find places as well (NONE: none have to).
    """
    sets = sets_placed(t, t.work[row, c.SPEC]) if placing != c.NONE else 0
    for at in range(t.state[c.FOUND]):
        same = t.found[at, c.X_PLACED] == placing and same_request(t, c.ASKS_FOUND + at, ask)
        if same and (placing == c.NONE or same_places(t, at, leader, sets, t.nom[placing, c.N_REPLACED] == c.NONE)):
            return at
    at = t.state[c.FOUND]
    t.state[c.FOUND] = at + 1
    copy_request(t, ask, c.ASKS_FOUND + at)
    t.found[at, c.X_BY_PART], t.found[at, c.X_PLACED] = int(leader != c.NONE), placing
    t.found[at, c.X_ATTEMPT], t.found[at, c.X_FOR], t.found[at, c.X_SETS] = t.state[c.ATTEMPT], leader, sets
    search_for(t, row, at, need)
    return at


def same_places(t: Tables, at: int, leader: int, sets: int, in_nobodys_place: bool) -> bool:
    """Whether a search for the victims of the same request was for the same pod sets on the same flavors, `sets` of them that have to find
    places.

    In one attempt the flavor that is tried follows from the request, and which pod sets count beside it from the leader. So does all of it
    where the search for a part counted as many as there are: then it was for all of them. Its need is that of all of it, too, if it takes
    nobody's place.
    """
    if t.found[at, c.X_ATTEMPT] != t.state[c.ATTEMPT]:
        return False
    return t.found[at, c.X_FOR] == leader or (leader == c.NONE and in_nobodys_place and t.found[at, c.X_SETS] == sets)


def search_for(t: Tables, row: int, at: int, need: int) -> None:
    """Search for the victims of a request that is noted; they are listed.

    All charges are as before then. So what the workload's queue needs from above is, too, and need not be found anew.
    """
    ask, until, queue = c.ASKS_FOUND + at, c.NONE, t.work[row, c.QUEUE]
    t.state[c.PLACING] = t.found[at, c.X_PLACED]
    needs_of = t.node[queue, c.NEEDS_OF]
    if t.state[c.BY_RULES]:
        grade, until = search_ahead(t, row, ask, need)
    elif limit_stands(t, row, ask, need):
        grade = c.NO_VICTIMS
    elif t.state[c.FAIR]:
        grade = search_fairly(t, row, ask, need)
    else:
        grade = search_classically(t, row, ask, need)
    t.found[at, c.X_GRADE], t.found[at, c.X_UNTIL], t.found[at, c.X_EVICTS] = grade, until, int(t.state[c.VICTIMS] > 0)
    t.found[at, c.X_LEVEL] = 0
    t.state[c.VICTIMS_OF] = at
    if t.state[c.COUNTS_LEVELS]:
        for i in range(t.state[c.VICTIMS]):
            take(t, t.victim[i, c.V_ROW])
        for k in range(1, t.ask[ask, 0, 0] + 1):
            level, _ = level_that_fits(t, queue, t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT])
            t.found[at, c.X_LEVEL] = max(t.found[at, c.X_LEVEL], level)
        give_all_back(t)
    t.node[queue, c.NEEDS_OF] = needs_of
    t.state[c.PLACING] = c.NONE


def limit_stands(t: Tables, row: int, ask: int, need: int) -> bool:
    """Whether the borrowing limit of a workload's queue refuses a request whoever goes, so that no search is needed.

    Of all victims only candidates of the queue itself lower what the limit counts: those who use a slot in `need`. They are taken one by
    one until the limit allows the request, and put back; the list of victims is empty then.
    """
    queue = t.work[row, c.QUEUE]
    if not exceeds_limit(t, queue, ask):
        return False
    t.state[c.VICTIMS] = 0
    each, stands = next_candidate(t, row, need, queue, c.NONE), True
    while stands and each != c.NONE:
        add_victim(t, each, c.IN_QUEUE, c.NONE)
        stands = exceeds_limit(t, queue, ask)
        each = next_candidate(t, row, need, queue, each)
    give_all_back(t)
    t.state[c.VICTIMS] = 0
    return stands


def list_victims(t: Tables, row: int, at: int, need: int) -> None:
    """List the victims of a request that was searched for."""
    if t.found[at, c.X_EVICTS] == 0:
        t.state[c.VICTIMS] = 0
        t.state[c.VICTIMS_OF] = c.NONE
    elif t.state[c.VICTIMS_OF] != at:
        search_for(t, row, at, c.ASKS_FOUND + at if t.found[at, c.X_BY_PART] else need)


def same_request(t: Tables, left: int, right: int) -> bool:
    """Whether two requests are equal."""
    if t.ask[left, 0, 0] != t.ask[right, 0, 0]:
        return False
    for k in range(1, t.ask[left, 0, 0] + 1):
        if t.ask[left, k, c.SLOT] != t.ask[right, k, c.SLOT] or t.ask[left, k, c.AMOUNT] != t.ask[right, k, c.AMOUNT]:
            return False
    return True
