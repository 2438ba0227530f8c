"""Where the pods of a nominated workload stand, over tables (`definition/placement/placer.py`, `definition/placement/places.py`).

What was found stands in `stand`, rows of pod set, lowest domain (as a row of `leaf`) and pods, from `N_STAND` of the nomination on.
"""

from ... import columns as c
from ...tables import Tables
from ..cells import cell_before
from ..flavor.pod_sets import pod_set_at
from .counted import TOO_LITTLE, fill_counted
from .kept_rooms import count_rooms, touch
from .own import fill_own, holds_all
from .rooms import part_of, wish_at

# --- who runs where -----------------------------------------------------------------------------------------------------


def charge_places(t: Tables, row: int, sign: int, everywhere: bool) -> None:
    """Charge the places of a running workload with its pods (`sign` 1) or take that back (-1); under all flavors of the same nodes, or
    under its own alone."""
    charge_cells(t, row, t.work[row, c.PLACES_OF], sign, everywhere)


def charge_cells(t: Tables, row: int, cell: int, sign: int, everywhere: bool) -> None:
    """The same of places of a workload that stand in a list of cells."""
    spec = t.work[row, c.SPEC]
    while cell >= 0:
        if everywhere or not t.cell[cell, c.W_STRAY]:
            charge_place(t, part_of(t, spec, t.cell[cell, c.W_POD_SET]), t.cell[cell, c.W_LEAF], sign * t.cell[cell, c.W_PODS], everywhere)
        cell = t.cell[cell, c.NEXT]


def charge_place(t: Tables, part: int, leaf: int, pods: int, everywhere: bool) -> None:
    """Charge one place with pods of a part."""
    touch(t, leaf)
    for k in range(t.state[c.PLACE_RESOURCES]):
        t.free[leaf, k] -= pods * t.spec[part + c.A_AMOUNTS + k]
    twin = t.leaf[leaf, c.L_TWIN]
    while everywhere and twin != leaf:
        touch(t, twin)
        for k in range(t.state[c.PLACE_RESOURCES]):
            t.free[twin, k] -= pods * t.spec[part + c.A_AMOUNTS + k]
        twin = t.leaf[twin, c.L_TWIN]


def note_who_stands(t: Tables) -> None:
    """Note in `standing` what those who run leave of each place, as no cycle tries anything out there."""
    for place in range(len(t.there)):
        for k in range(t.state[c.PLACE_RESOURCES]):
            t.standing[place, k] = t.there[place, k]
    for leaf in range(len(t.leaf)):
        shared = t.leaf[leaf, c.L_SHARED]
        for k in range(t.state[c.PLACE_RESOURCES]):
            t.standing[t.leaf[leaf, c.L_NODE], k] = t.free[leaf, k]
            if shared != c.NONE:
                t.standing[shared, k] -= t.size[leaf, k] - t.free[leaf, k]


def stand_there(t: Tables, part: int, leaf: int, pods: int) -> None:
    """Note in `standing` that pods of a part stand in a lowest domain."""
    node, shared = t.leaf[leaf, c.L_NODE], t.leaf[leaf, c.L_SHARED]
    for k in range(t.state[c.PLACE_RESOURCES]):
        t.standing[node, k] -= pods * t.spec[part + c.A_AMOUNTS + k]
        if shared != c.NONE:
            t.standing[shared, k] -= pods * t.spec[part + c.A_AMOUNTS + k]


def note_standing(t: Tables, row: int, sign: int) -> None:
    """Note in `standing` that a running workload has its places (`sign` 1), or has them no more (-1)."""
    cell = t.work[row, c.PLACES_OF]
    while cell >= 0:
        part = part_of(t, t.work[row, c.SPEC], t.cell[cell, c.W_POD_SET])
        stand_there(t, part, t.cell[cell, c.W_LEAF], sign * t.cell[cell, c.W_PODS])
        cell = t.cell[cell, c.NEXT]


def note_places(t: Tables, row: int, nom: int) -> None:
    """Note the places of a workload that is admitted."""
    t.work[row, c.PLACES_OF] = places_as_cells(t, nom)


def places_as_cells(t: Tables, nom: int) -> int:
    """The places of a nomination as a new list of cells."""
    first, cell = t.nom[nom, c.N_STAND], c.NONE
    for at in range(first + t.nom[nom, c.N_STANDS] - 1, first - 1, -1):
        cell = cell_before(t, cell)
        t.cell[cell, c.W_POD_SET], t.cell[cell, c.W_LEAF] = t.stand[at, c.P_SET], t.stand[at, c.P_LEAF]
        t.cell[cell, c.W_PODS], t.cell[cell, c.W_STRAY] = t.stand[at, c.P_PODS], 0
    return cell


def charge_stands(t: Tables, nom: int, sign: int) -> None:
    """Charge the places of a nomination, under its own flavor alone, or take that back."""
    spec = t.work[t.nom[nom, c.N_ROW], c.SPEC]
    for at in range(t.nom[nom, c.N_STAND], t.nom[nom, c.N_STAND] + t.nom[nom, c.N_STANDS]):
        charge_place(t, part_of(t, spec, t.stand[at, c.P_SET]), t.stand[at, c.P_LEAF], sign * t.stand[at, c.P_PODS], False)


def seem_free(t: Tables, nom: int) -> bool:
    """Whether the places of a nomination seem to have room, each pod set looked at by itself and `pods` not counted, as Kueue looks again;
    pods that ask for nothing fit nowhere by this look."""
    spec = t.work[t.nom[nom, c.N_ROW], c.SPEC]
    for at in range(t.nom[nom, c.N_STAND], t.nom[nom, c.N_STAND] + t.nom[nom, c.N_STANDS]):
        part, leaf = part_of(t, spec, t.stand[at, c.P_SET]), t.stand[at, c.P_LEAF]
        for k in range(t.state[c.PLACE_RESOURCES]):
            one = t.spec[part + c.A_AMOUNTS + k]
            if k != t.state[c.PODS_AT] and one > 0 and t.free[leaf, k] < one * t.stand[at, c.P_PODS]:
                return False
        if not t.spec[part + c.A_ASKS]:
            return False
    return True


def have_room(t: Tables, nom: int) -> bool:
    """Whether there is room for an admission where its pods are to stand, whatever the flavor of those who stand there; it is taken then.

    `standing` is what is free beside those who run and those whom the cycle has admitted.
    """
    spec, first, count = t.work[t.nom[nom, c.N_ROW], c.SPEC], t.nom[nom, c.N_STAND], t.nom[nom, c.N_STANDS]
    stand_all(t, nom, 1)
    fits = True
    for at in range(first, first + count):
        leaf, part = t.stand[at, c.P_LEAF], part_of(t, spec, t.stand[at, c.P_SET])
        for k in range(t.state[c.PLACE_RESOURCES]):
            if t.spec[part + c.A_AMOUNTS + k] > 0 and t.leaf[leaf, c.L_UNLIMITED + k] == 0:
                shared = t.leaf[leaf, c.L_SHARED]
                if t.standing[t.leaf[leaf, c.L_NODE], k] < 0 or (shared != c.NONE and t.standing[shared, k] < 0):
                    fits = False
    if not fits:
        stand_all(t, nom, -1)
    return fits


def stand_all(t: Tables, nom: int, sign: int) -> None:
    """Note in `standing` that the pods of a nomination have their places (`sign` 1), or have them no more (-1)."""
    spec, first = t.work[t.nom[nom, c.N_ROW], c.SPEC], t.nom[nom, c.N_STAND]
    for at in range(first, first + t.nom[nom, c.N_STANDS]):
        stand_there(t, part_of(t, spec, t.stand[at, c.P_SET]), t.stand[at, c.P_LEAF], sign * t.stand[at, c.P_PODS])


# --- places for a nomination --------------------------------------------------------------------------------------------


def note_placed(t: Tables, spec: int, nom: int) -> bool:
    """Note of each pod set of a nomination the flavor that gives it places (NONE: it needs none); say whether one needs some."""
    needed = False
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        t.placed[pod_set] = c.NONE
        for j in range(t.spec[spec + c.S_RESOURCES]):
            flavor = t.choice[nom, pod_set, j, c.C_FLAVOR]
            if flavor != c.NONE and t.tree[flavor, c.T_LEVELS] > 0 and t.placed[pod_set] == c.NONE:
                t.placed[pod_set] = flavor
        if t.nom[nom, c.N_PODS + pod_set] == 0:
            t.placed[pod_set] = c.NONE
        needed = needed or t.placed[pod_set] != c.NONE
    return needed


def find_places(t: Tables, row: int, nom: int, empty: bool) -> bool:
    """Find places for all pod sets that need some, as things stand or as if nobody used anything; say whether there are.

    Flavors come in the order of their names. Where there are none, `FAILED_*` and `tally` say for which pod sets first, and why.
    """
    spec = t.work[row, c.SPEC]
    sets = t.spec[spec + c.S_PODSETS]
    t.nom[nom, c.N_STAND], t.nom[nom, c.N_STANDS] = t.state[c.STAND_END], 0
    found = True
    at = t.state[c.PLACED_FLAVORS]
    for i in range(t.pool[at]):
        flavor = t.pool[at + 1 + i]
        for pod_set in range(sets):
            if found and t.placed[pod_set] == flavor and is_first_of_group(t, spec, pod_set, flavor):
                found = place_group(t, spec, nom, pod_set, flavor, empty)
    clear_lack(t, spec, nom)
    if not found:
        t.nom[nom, c.N_STANDS] = 0
    return found


def have_places(t: Tables, row: int, nom: int, empty: bool) -> bool:
    """Whether `find_places` finds places; where it does not, what it notes of that is noted.

    A search for victims asks this after each of them. In a policy's own way of placing, what is counted says so for pods that are placed
    together, all of them: no places have to be chosen, noted, and taken back. And where so many find places on empty nodes, fewer do.
    """
    spec, first, placed = t.work[row, c.SPEC], c.NONE, 0
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        if t.placed[pod_set] != c.NONE:
            first = pod_set if first == c.NONE else first
            placed += 1
    members, workers, leader = group_at(t, spec, nom, first, t.placed[first])
    if t.state[c.PLACING_WAY] == c.COUNTED or placed > members or (leader == c.NONE and members > 1):
        return find_places(t, row, nom, empty)
    flavor, pods = t.placed[first], t.nom[nom, c.N_PODS + workers]
    wish = wish_at(t, part_of(t, spec, workers), flavor)
    if empty and leader == c.NONE and pods <= t.spec[wish + c.I_FIT_EMPTY] and pods % t.spec[wish + c.I_SLICE_SIZE] == 0:
        return True
    if not count_for(t, spec, nom, flavor, workers, leader, empty) or not holds_all(t, flavor, wish, pods, int(leader != c.NONE)):
        return False
    if empty and leader == c.NONE:
        t.spec[wish + c.I_FIT_EMPTY] = pods
    return True


def clear_lack(t: Tables, spec: int, nom: int) -> None:
    """Forget what the pod sets of a workload take of places."""
    for at in range(t.nom[nom, c.N_STAND], t.nom[nom, c.N_STAND] + t.nom[nom, c.N_STANDS]):
        take_of_place(t, part_of(t, spec, t.stand[at, c.P_SET]), t.stand[at, c.P_LEAF], -t.stand[at, c.P_PODS])


def take_of_place(t: Tables, part: int, leaf: int, pods: int) -> None:
    """Note that pods of a part stand in a lowest domain, for the pod sets that are placed after them."""
    twin = leaf
    while True:
        touch(t, twin)
        for k in range(t.state[c.PLACE_RESOURCES]):
            t.lack[twin, k] += pods * t.spec[part + c.A_AMOUNTS + k]
        twin = t.leaf[twin, c.L_TWIN]
        if twin == leaf:
            return


def group_of(t: Tables, spec: int, pod_set: int) -> int:
    """What a pod set has in common with those that are placed with it."""
    return t.spec[pod_set_at(t, spec, pod_set) + c.P_GROUP]


def is_first_of_group(t: Tables, spec: int, pod_set: int, flavor: int) -> bool:
    """Whether no pod set of a flavor before this one is of its group."""
    for other in range(pod_set):
        if t.placed[other] == flavor and group_of(t, spec, other) == group_of(t, spec, pod_set):
            return False
    return True


def place_group(t: Tables, spec: int, nom: int, first: int, flavor: int, empty: bool) -> bool:
    """Place the pod sets of a group on a flavor: workers with their leader, or each by itself."""
    _, workers, leader = group_at(t, spec, nom, first, flavor)
    if leader != c.NONE:
        return place(t, spec, nom, flavor, workers, leader, empty)
    for pod_set in range(first, t.spec[spec + c.S_PODSETS]):
        of_it = t.placed[pod_set] == flavor and group_of(t, spec, pod_set) == group_of(t, spec, first)
        if of_it and not place(t, spec, nom, flavor, pod_set, c.NONE, empty):
            return False
    return True


def group_at(t: Tables, spec: int, nom: int, first: int, flavor: int) -> tuple[int, int, int]:
    """How many pod sets of a flavor are of the group of a first one, and who of them are workers and leader (NONE: nobody leads)."""
    members, second, least = 0, c.NONE, t.nom[nom, c.N_PODS + first]
    for pod_set in range(first, t.spec[spec + c.S_PODSETS]):
        if t.placed[pod_set] == flavor and group_of(t, spec, pod_set) == group_of(t, spec, first):
            members += 1
            second = pod_set
            least = min(least, t.nom[nom, c.N_PODS + pod_set])
    if members != 2 or least != 1:
        return members, first, c.NONE
    if t.nom[nom, c.N_PODS + second] > t.nom[nom, c.N_PODS + first]:
        return members, second, first
    return members, first, second


def place(t: Tables, spec: int, nom: int, flavor: int, workers: int, leader: int, empty: bool) -> bool:
    """Place a pod set, with its leader or without (NONE); say whether there is room."""
    part, pods = part_of(t, spec, workers), t.nom[nom, c.N_PODS + workers]
    wish = wish_at(t, part, flavor)
    if not count_for(t, spec, nom, flavor, workers, leader, empty):
        return False
    if t.state[c.PLACING_WAY] == c.COUNTED:
        rows = fill_counted(t, flavor, wish, pods, int(leader != c.NONE))
    else:
        rows = fill_own(t, flavor, part, wish, pods, int(leader != c.NONE), empty)
    if rows == TOO_LITTLE:
        return False
    for column, pod_set in ((c.Z_PODS, workers), (c.Z_LEADERS, leader)):
        for at in range(rows):
            if t.filled[at, column] > 0:
                stand(t, nom, spec, pod_set, t.domain[t.filled[at, c.Z_DOMAIN], c.D_LEAF], t.filled[at, column])
    return True


def count_for(t: Tables, spec: int, nom: int, flavor: int, workers: int, leader: int, empty: bool) -> bool:
    """Count what fits into each domain for a pod set and its leader (NONE: without); False where their wish cannot be on this flavor."""
    part = part_of(t, spec, workers)
    wish = wish_at(t, part, flavor)
    t.state[c.FAILED_FLAVOR], t.state[c.FAILED_SET], t.state[c.FAILED_WITH] = flavor, workers, leader
    t.state[c.FAILED_WISH], t.state[c.FAILED_PODS] = wish, t.nom[nom, c.N_PODS + workers]
    if t.spec[wish + c.I_REFUSED] or t.tree[flavor, c.T_FIRST] == t.tree[flavor, c.T_FIRST + 1]:
        return False
    count_rooms(t, flavor, part, part_of(t, spec, leader) if leader != c.NONE else c.NONE, wish, empty)
    return True


def stand(t: Tables, nom: int, spec: int, pod_set: int, leaf: int, pods: int) -> None:
    """Write that pods of a pod set stand in a lowest domain."""
    at = t.nom[nom, c.N_STAND] + t.nom[nom, c.N_STANDS]
    t.stand[at, c.P_SET], t.stand[at, c.P_LEAF], t.stand[at, c.P_PODS] = pod_set, leaf, pods
    t.nom[nom, c.N_STANDS] += 1
    take_of_place(t, part_of(t, spec, pod_set), leaf, pods)
