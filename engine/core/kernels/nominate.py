"""Nominating a workload, over tables: flavors for all of it, victims where it needs them, fewer pods where fewer will do.

A nomination is a row of `nom`, with requests in `ask`, flavors in `choice`, its record on the tape at `PEN`, and victims in `victim`.
"""

from .. import columns as c
from ..tables import Tables
from .flavor.flavors import assign
from .flavor.pod_sets import pod_set_at, resource_at, slot_of
from .placement.judged import judge_places, put_places
from .placement.standing import find_places
from .places import row_of
from .preemption.trial import give_all_back, give_back, take, takes_place_of
from .preemption.victims import list_victims, search_once
from .quota.holdings import charges_of, given_to
from .requests import need_of, request_of


def runs(t: Tables, nom: int) -> bool:
    """Whether a nomination leads to an admission: it fits, or there are victims."""
    return t.nom[nom, c.N_MODE] == c.FITS or t.nom[nom, c.N_VICTIMS] > 0


def nominate(t: Tables, row: int, nom: int, goes_on: int, only: int) -> None:
    """Nominate a waiting workload; the search for flavors goes on at `goes_on` (cells), or considers `only` those of another nomination."""
    spec = t.work[row, c.SPEC]
    sets = t.spec[spec + c.S_PODSETS]
    t.state[c.FOUND], t.state[c.VICTIMS_OF] = 0, c.NONE
    t.state[c.GOES_ON], t.state[c.ONLY] = goes_on, only
    t.nom[nom, c.N_ROW], t.nom[nom, c.N_QUEUE], t.nom[nom, c.N_IS_PLAIN] = row, t.work[row, c.QUEUE], 0
    t.nom[nom, c.N_REPLACED] = replaced_by(t, row)
    note_held(t, row, t.nom[nom, c.N_REPLACED])
    mark_superiors(t, row)
    for pod_set in range(sets):
        t.pods[pod_set] = t.spec[pod_set_at(t, spec, pod_set) + c.P_LEFT]
    attempt(t, row, nom)
    if not runs(t, nom) and t.spec[spec + c.S_SPARE] > 0:
        missing = fewest_missing(t, row, nom)
        if missing == c.NONE:
            for pod_set in range(sets):
                t.pods[pod_set] = t.spec[pod_set_at(t, spec, pod_set) + c.P_LEFT]
        else:
            leave_out(t, spec, missing)
        attempt(t, row, nom)
    look_ahead(t, nom)


def attempt(t: Tables, row: int, nom: int) -> None:
    """Flavors and victims for so many pods of each pod set as `pods` says."""
    t.state[c.ATTEMPT] += 1
    assign(t, row, nom)
    if t.state[c.PLACES]:
        judge_with_room(t, row, nom)
    t.nom[nom, c.N_UNTIL], t.nom[nom, c.N_VICTIMS] = c.NONE, 0
    hopeless = t.state[c.TOGETHER] == 1 and t.nom[nom, c.N_GRADE] == c.NO_VICTIMS
    if t.nom[nom, c.N_MODE] == c.BY_EVICTION and not hopeless:
        at = search_once(t, row, request_of(nom), need_of(nom), c.NONE, nom if t.nom[nom, c.N_PLACED] else c.NONE)
        list_victims(t, row, at, need_of(nom))
        t.nom[nom, c.N_UNTIL], t.nom[nom, c.N_VICTIMS] = t.found[at, c.X_UNTIL], t.state[c.VICTIMS]
    else:
        t.state[c.VICTIMS], t.state[c.VICTIMS_OF] = 0, c.NONE
    if t.state[c.PLACES]:
        find_places_then(t, row, nom)
        put_places(t, nom)


def judge_with_room(t: Tables, row: int, nom: int) -> None:
    """Find places for a nomination; whoever it replaces makes room for it."""
    old = t.nom[nom, c.N_REPLACED]
    if old != c.NONE:
        take(t, old)
    judge_places(t, row, nom)
    if old != c.NONE:
        give_back(t, old)


def find_places_then(t: Tables, row: int, nom: int) -> None:
    """Find the places of a nomination that needs victims: with them gone, or where nobody can go, those it would keep on empty nodes.

    Deciding at once, it keeps none where time will not make room either.
    """
    if t.nom[nom, c.N_MODE] != c.BY_EVICTION or not t.nom[nom, c.N_PLACED]:
        return
    if t.state[c.BY_RULES] and t.state[c.VICTIMS] == 0 and t.nom[nom, c.N_UNTIL] == c.NONE:
        return
    for at in range(t.state[c.VICTIMS]):
        take(t, t.victim[at, c.V_ROW])
    find_places(t, row, nom, t.state[c.VICTIMS] == 0)
    give_all_back(t)


def look_ahead(t: Tables, nom: int) -> None:
    """Note when time alone may change something: `N_LATER` for a part of it, `N_UNTIL` for all of it, on whatever flavors."""
    later, all_of_it = c.NONE, c.NONE
    for at in range(t.state[c.FOUND]):
        until = t.found[at, c.X_UNTIL]
        if until == c.NONE:
            continue
        if later == c.NONE or until < later:
            later = until
        if same_by_resource(t, c.ASKS_FOUND + at, request_of(nom)) and (all_of_it == c.NONE or until < all_of_it):
            all_of_it = until
    t.nom[nom, c.N_LATER] = later
    if t.nom[nom, c.N_UNTIL] != c.NONE:
        t.nom[nom, c.N_UNTIL] = all_of_it


def same_by_resource(t: Tables, left: int, right: int) -> bool:
    """Whether two requests ask for the same, whatever the flavors."""
    for resource in range(t.state[c.RESOURCES]):
        difference, named = 0, 0
        for k in range(1, t.ask[left, 0, 0] + 1):
            if t.slot[t.ask[left, k, c.SLOT], c.RESOURCE] == resource:
                difference, named = difference + t.ask[left, k, c.AMOUNT], named | 1
        for k in range(1, t.ask[right, 0, 0] + 1):
            if t.slot[t.ask[right, k, c.SLOT], c.RESOURCE] == resource:
                difference, named = difference - t.ask[right, k, c.AMOUNT], named | 2
        if difference != 0 or named in (1, 2):
            return False
    return True


# --- fewer pods ---------------------------------------------------------------------------------------------------------


def leave_out(t: Tables, spec: int, missing: int) -> None:
    """Leave out so many pods, each pod set its part in proportion, rounded down."""
    total = t.spec[spec + c.S_SPARE]
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        count, least = t.spec[pod_set_at(t, spec, pod_set) + c.P_COUNT], t.spec[pod_set_at(t, spec, pod_set) + c.P_LEAST]
        t.pods[pod_set] = count - (count - least) * missing // total


def fewest_missing(t: Tables, row: int, nom: int) -> int:
    """The fewest pods that may be missing for something to be done, found by bisection as Kueue does; NONE: nothing can be."""
    spec = t.work[row, c.SPEC]
    low, high, found = 0, t.spec[spec + c.S_SPARE] + 1, c.NONE
    while low < high:
        middle = (low + high) // 2
        leave_out(t, spec, middle)
        attempt(t, row, nom)
        if runs(t, nom):
            found, high = middle, middle
        else:
            low = middle + 1
    return found if found == low else c.NONE


# --- workload slices and those for whom a workload had to go ------------------------------------------------------------


def replaced_by(t: Tables, row: int) -> int:
    """The running workload whose place another one takes; NONE where there is none."""
    if t.work[row, c.REPLACES] == c.NONE:
        return c.NONE
    old = row_of(t, t.work[row, c.REPLACES])
    if old == c.NONE or t.when[old, c.ADMITTED] == c.NONE or t.work[old, c.OUT] or not takes_place_of(t, row, old):
        return c.NONE
    return old


def note_held(t: Tables, row: int, old: int) -> None:
    """Note what the pod sets of a running workload hold, by those of the one that takes its place: flavor and amount by resource."""
    spec = t.work[row, c.SPEC]
    sets = t.spec[spec + c.S_PODSETS]
    for pod_set in range(sets):
        t.held[pod_set, 0, c.H_ANY] = 0
    if old == c.NONE:
        return
    for slot in range(t.state[c.SLOTS]):
        t.slot[slot, c.LEFT], t.slot[slot, c.LAST_SET], t.slot[slot, c.LAST_J] = 0, c.NONE, c.NONE
    cell = charges_of(t, old)
    while cell >= 0:
        t.slot[t.cell[cell, c.SLOT], c.LEFT] = t.cell[cell, c.AMOUNT]
        cell = t.cell[cell, c.NEXT]
    cell = given_to(t, old)
    while cell >= 0:
        note_given(t, spec, t.work[old, c.SPEC], cell)
        cell = t.cell[cell, c.NEXT]
    for slot in range(t.state[c.SLOTS]):  # an outside system may charge more than the pods ask for
        if t.slot[slot, c.LAST_J] != c.NONE:
            t.held[t.slot[slot, c.LAST_SET], t.slot[slot, c.LAST_J], c.H_AMOUNT] += t.slot[slot, c.LEFT]


def note_given(t: Tables, spec: int, old_spec: int, cell: int) -> None:
    """Note one flavor that a pod set of a running workload was given, for the pod set of that name and the resource that want it now."""
    old_set = pod_set_at(t, old_spec, t.cell[cell, c.W_POD_SET])
    pod_set = place_of_name(t, spec, t.spec[old_set + c.P_NAME])
    if pod_set != c.NONE and t.held[pod_set, 0, c.H_ANY] == 0:
        for j in range(t.spec[spec + c.S_RESOURCES]):
            t.held[pod_set, j, c.H_FLAVOR], t.held[pod_set, j, c.H_AMOUNT] = c.NONE, 0
        t.held[pod_set, 0, c.H_ANY] = 1
    resource, flavor = t.cell[cell, c.W_RESOURCE], t.cell[cell, c.W_FLAVOR]
    if resource < 0:
        return
    slot, amount = slot_of(t, flavor, resource) if flavor >= 0 else c.NONE, 0
    if slot != c.NONE:
        count = min(t.spec[old_set + c.P_LEFT], t.cell[cell, c.W_COUNT])
        amount = min(t.slot[slot, c.LEFT], asked_by_one(t, old_spec, old_set, resource) * count)
        t.slot[slot, c.LEFT] -= amount
        t.slot[slot, c.LAST_SET] = t.slot[slot, c.LAST_J] = c.NONE
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if pod_set != c.NONE and t.spec[resource_at(t, spec, j) + c.R_ID] == resource:
            t.held[pod_set, j, c.H_FLAVOR], t.held[pod_set, j, c.H_AMOUNT] = flavor, amount
            if slot != c.NONE:
                t.slot[slot, c.LAST_SET], t.slot[slot, c.LAST_J] = pod_set, j


def place_of_name(t: Tables, spec: int, name: int) -> int:
    """The pod set of a name; NONE where there is none."""
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        if t.spec[pod_set_at(t, spec, pod_set) + c.P_NAME] == name:
            return pod_set
    return c.NONE


def asked_by_one(t: Tables, spec: int, pod_set_begins: int, resource: int) -> int:
    """What one pod of a pod set asks for."""
    if resource == t.state[c.POD_COUNT]:
        return 1
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if t.spec[resource_at(t, spec, j) + c.R_ID] == resource:
            return max(0, t.spec[pod_set_begins + c.P_REQUESTS + j])
    return 0


def mark_superiors(t: Tables, row: int) -> None:
    """Mark all for whom a workload had to go, and those for whom they had to go in turn."""
    name = t.state[c.FIRST_SUPERIOR]
    while name != c.NONE:
        following = next_superior(t, name)
        t.name[name, c.MARKED] = c.NONE
        name = following
    t.state[c.FIRST_SUPERIOR] = c.NONE
    if t.state[c.FIRST_GAVE] == c.NONE:
        return
    last = mark_those(t, t.work[row, c.NAME], c.NONE)
    name = t.state[c.FIRST_SUPERIOR]
    while name != c.NONE:
        last = mark_those(t, name, last)
        name = next_superior(t, name)


def mark_those(t: Tables, name: int, last: int) -> int:
    """Mark those for whom a workload had to go, behind the last of those who are marked (NONE: nobody is); return who is the last then."""
    cell = t.name[name, c.GAVE]
    while cell >= 0:
        other = t.cell[cell, c.W_NAME]
        if t.name[other, c.MARKED] == c.NONE:
            t.name[other, c.MARKED] = other
            if last == c.NONE:
                t.state[c.FIRST_SUPERIOR] = other
            else:
                t.name[last, c.MARKED] = other
            last = other
        cell = t.cell[cell, c.NEXT]
    return last


def next_superior(t: Tables, name: int) -> int:
    """Who is marked behind another one; NONE: that is the last."""
    return c.NONE if t.name[name, c.MARKED] == name else t.name[name, c.MARKED]
