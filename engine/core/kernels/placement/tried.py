"""Places on a flavor that is tried, over tables, where everything is decided at once (`definition/flavor/tried_places.py`)."""

from ... import columns as c
from ...tables import Tables
from ..flavor.pod_sets import asked_of, is_with
from .standing import find_places

HAS_PLACES, LACKS_PLACES, NEVER_HAS_PLACES = range(3)


def note_tried(t: Tables, spec: int, nom: int, leader: int, part: int, flavor: int) -> bool:
    """Note in `placed` which pod sets have to find places where a flavor is to give a leader and those with it a part of their resources
    (bits); say whether some have to."""
    if t.tree[flavor, c.T_LEVELS] == 0:
        return False
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        t.placed[pod_set] = c.NONE
        if t.nom[nom, c.N_PODS + pod_set] > 0:
            if not is_with(t, spec, leader, pod_set):
                t.placed[pod_set] = placed_before(t, spec, nom, pod_set, flavor)
            elif asks_part(t, spec, pod_set, part):
                t.placed[pod_set] = flavor
    return True


def placed_before(t: Tables, spec: int, nom: int, pod_set: int, flavor: int) -> int:
    """The flavor that gives places to a pod set that was served before, if they count: on this flavor, or where it fits (else NONE)."""
    for j in range(t.spec[spec + c.S_RESOURCES]):
        chosen = t.choice[nom, pod_set, j, c.C_FLAVOR]
        if chosen != c.NONE and t.tree[chosen, c.T_LEVELS] > 0:
            return chosen if chosen == flavor or t.choice[nom, pod_set, j, c.C_GRADE] == c.FIT else c.NONE
    return c.NONE


def asks_part(t: Tables, spec: int, pod_set: int, part: int) -> bool:
    """Whether a pod set asks for one of some resources (bits)."""
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if part >> j & 1 and asked_of(t, spec, pod_set, j) != c.NONE:
            return True
    return False


def sets_placed(t: Tables, spec: int) -> int:
    """How many pod sets have to find places."""
    count = 0
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        if t.placed[pod_set] != c.NONE:
            count += 1
    return count


def lacking(t: Tables, row: int, nom: int, short: bool) -> tuple[int, int, int]:
    """Whether pods have places, and of how many for how many there are some; where quota is `short`, on empty nodes alone."""
    of, fit = 0, 0
    if not short:
        if find_places(t, row, nom, False):
            return HAS_PLACES, 0, 0
        of, fit = failed_of(t)
    if not find_places(t, row, nom, True):
        of, fit = failed_of(t)
        return NEVER_HAS_PLACES, of, fit
    return (HAS_PLACES if short else LACKS_PLACES), of, fit


def failed_of(t: Tables) -> tuple[int, int]:
    """How many slices a search for places that failed was for, and how many found some; nothing where it is no matter of room."""
    flavor, wish = t.state[c.FAILED_FLAVOR], t.state[c.FAILED_WISH]
    if t.spec[wish + c.I_REFUSED] or t.tree[flavor, c.T_FIRST] == t.tree[flavor, c.T_FIRST + 1]:
        return 0, 0
    if t.state[c.FAILED_PODS] % t.spec[wish + c.I_SLICE_SIZE]:
        return 0, 0
    return t.state[c.FAILED_PODS] // t.spec[wish + c.I_SLICE_SIZE], t.state[c.FIT_IN]


def find_nowhere(t: Tables, row: int, nom: int) -> bool:
    """Look again for places on empty nodes of the first flavor that was refused for them in the last search; say whether there was one."""
    if t.state[c.NOWHERE_FLAVOR] == c.NONE:
        return False
    note_tried(t, t.work[row, c.SPEC], nom, t.state[c.NOWHERE_LEADER], t.state[c.NOWHERE_PART], t.state[c.NOWHERE_FLAVOR])
    return not find_places(t, row, nom, True)
