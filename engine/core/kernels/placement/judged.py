"""What it means for a nomination where its pods have places, or none, over tables (`definition/admission/place_pods.py`); and its record.

The record stands behind the flavors that were tried: why there are no places as things stand, why there are none on empty nodes (each
begins with 0 where that is not so), and the places. `outcomes.py` reads it.
"""

from ... import columns as c
from ...tables import Tables
from ..flavor.flavors import sort_by_slot
from ..flavor.pod_sets import resource_at, slot_of
from ..pen import put, put_five
from ..quota.tree import add_once
from ..requests import need_of
from .kept_rooms import room_in
from .rooms import domains_of
from .standing import find_places, have_places, note_placed
from .tried import find_nowhere


def judge_places(t: Tables, row: int, nom: int) -> None:
    """Find places for a nomination that fits by quota, and change it where there are none, now or ever; whoever it replaces is out."""
    spec = t.work[row, c.SPEC]
    t.nom[nom, c.N_STAND], t.nom[nom, c.N_STANDS] = t.state[c.STAND_END], 0
    t.nom[nom, c.N_PLACED] = int(t.nom[nom, c.N_MODE] != c.NO_FIT and note_placed(t, spec, nom))
    if not t.nom[nom, c.N_PLACED]:
        put(t, 0)
        by_places = t.nom[nom, c.N_MODE] == c.NO_FIT and t.nom[nom, c.N_REASON] == c.TOPOLOGY_PLACEMENT_FAILED
        if by_places and find_nowhere(t, row, nom):
            put_failure(t)
        else:
            put(t, 0)
        t.nom[nom, c.N_STANDS] = 0
        return
    if t.nom[nom, c.N_MODE] == c.FITS or (t.state[c.TOGETHER] and not t.nom[nom, c.N_SHORT]):
        if find_places(t, row, nom, False):
            t.nom[nom, c.N_MODE] = c.FITS
            put(t, 0)
            put(t, 0)
            return
        put_failure(t)
        t.nom[nom, c.N_MODE] = c.BY_EVICTION
    else:
        put(t, 0)
    if have_places(t, row, nom, True):
        put(t, 0)
        t.nom[nom, c.N_STANDS] = 0
        need_all(t, spec, nom)
        return
    put_failure(t)
    t.nom[nom, c.N_MODE], t.nom[nom, c.N_REASON], t.nom[nom, c.N_GRADE] = c.NO_FIT, c.TOPOLOGY_PLACEMENT_FAILED, c.NO_MATCH


def need_all(t: Tables, spec: int, nom: int) -> None:
    """Others have to go on all slots of the pod sets that need places."""
    if t.nom[nom, c.N_GRADE] == c.FIT:
        t.nom[nom, c.N_GRADE] = c.PREEMPT
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        for j in range(t.spec[spec + c.S_RESOURCES]):
            flavor = t.choice[nom, pod_set, j, c.C_FLAVOR]
            if t.placed[pod_set] != c.NONE and flavor != c.NONE:
                add_once(t, need_of(nom), slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID]))
    sort_by_slot(t, need_of(nom))


def put_places(t: Tables, nom: int) -> None:
    """Write the places of a nomination: how many rows, then pod set, lowest domain and pods of each."""
    put(t, t.nom[nom, c.N_STANDS])
    for at in range(t.nom[nom, c.N_STAND], t.nom[nom, c.N_STAND] + t.nom[nom, c.N_STANDS]):
        put(t, t.stand[at, c.P_SET])
        put(t, t.stand[at, c.P_LEAF])
        put(t, t.stand[at, c.P_PODS])


def put_failure(t: Tables) -> None:
    """Write why there are no places, as `find_places` left it.

    First why: 1 too little room, 2 no node is in a domain, from 3 on one of `PlaceParts.refusals`; then pod sets, flavor, pods, the level
    of the search, and whether it is the one that is asked for. Where there is too little room also whether it has to be, how much fits,
    the size of slices, the domain that comes closest with what fits there, the layers of slices, how many nodes there are, and how many of
    them are kept off for each cause.
    """
    flavor, wish, pods = t.state[c.FAILED_FLAVOR], t.state[c.FAILED_WISH], t.state[c.FAILED_PODS]
    refused = t.spec[wish + c.I_REFUSED]
    no_domains = t.tree[flavor, c.T_FIRST] == t.tree[flavor, c.T_FIRST + 1]
    put_five(t, 2 + refused if refused else 2 if no_domains else 1, t.state[c.FAILED_SET], t.state[c.FAILED_WITH], flavor, pods)
    put(t, t.spec[wish + c.I_LEVEL])
    put(t, t.spec[wish + c.I_SAID])
    if refused or no_domains:
        return
    put(t, t.spec[wish + c.I_REQUIRED])
    put(t, t.state[c.FIT_IN])
    put(t, t.spec[wish + c.I_SLICE_SIZE])
    put_closest(t, flavor, t.state[c.ENDED_AT], t.state[c.FAILED_WITH] != c.NONE)
    put_layers(t, flavor, wish, t.state[c.ENDED_AT])
    first, last = domains_of(t, flavor, t.tree[flavor, c.T_LEVELS] - 1)
    put(t, last - first)
    causes = put(t, 0)
    room = t.state[c.COUNT_READ]
    for code in range(t.state[c.CAUSES] + t.state[c.PLACE_RESOURCES]):
        if t.tally[room, code] > 0:
            t.tape[causes] += 1
            put(t, code)
            put(t, t.tally[room, code])


def put_closest(t: Tables, flavor: int, level: int, led: bool) -> None:
    """Write the domain of a level that takes the leader, most slices and most pods, and how many slices fit there."""
    first, last = domains_of(t, flavor, level)
    column, best = c.R_SLICES_LED if led else c.R_SLICES, first
    for domain in range(first, last):
        takes, took = led and room_in(t, domain, c.R_LEADERS) > 0, led and room_in(t, best, c.R_LEADERS) > 0
        more = room_in(t, domain, column) - room_in(t, best, column)
        if more == 0:
            more = room_in(t, domain, c.R_PODS) - room_in(t, best, c.R_PODS)
        if (takes and not took) or (takes == took and more > 0):
            best = domain
    put(t, best - t.tree[flavor, c.T_FIRST])
    put(t, room_in(t, best, column))


def put_layers(t: Tables, flavor: int, wish: int, level: int) -> None:
    """Write how many slices of each layer fit into the best domain of a level: how many layers, then level, size and slices of each."""
    layers = put(t, t.spec[wish + c.I_LAYERS])
    if t.tape[layers] == 0:
        return
    first, last = domains_of(t, flavor, level)
    best = first
    for domain in range(first, last):
        if room_in(t, domain, c.R_SLICES) > room_in(t, best, c.R_SLICES):
            best = domain
    for layer in range(t.tape[layers]):
        target, size = t.spec[wish + c.I_LAYERS + 1 + 2 * layer], t.spec[wish + c.I_LAYERS + 2 + 2 * layer]
        begin, end, at = best, best + 1, level
        while at < target:  # the domains below a domain stand in a row
            begin, end = t.domain[begin, c.D_FIRST_CHILD], t.domain[end - 1, c.D_FIRST_CHILD] + t.domain[end - 1, c.D_CHILDREN]
            at += 1
        fit = 0
        for domain in range(begin, end):
            fit += room_in(t, domain, c.R_PODS) // size
        put(t, target)
        put(t, size)
        put(t, fit)
