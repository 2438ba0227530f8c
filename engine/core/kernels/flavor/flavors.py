"""Which flavors a workload gets, over tables: the search of `definition/flavor/assigner.py`, and the record of it on the tape.

The record is written at `PEN`, beyond what the tape holds for good: whoever wants to keep it moves `TAPE_END`. `outcomes.py` reads it.
"""

from ... import columns as c
from ...tables import Tables
from ..pen import put, put_five, put_obstacle
from ..placement.tried import HAS_PLACES, NEVER_HAS_PLACES, lacking, note_tried
from ..preemption.trial import give_back, take
from ..preemption.victims import verdict_of
from ..quota.tree import add_to, exceeds_owned, level_that_fits, most, room
from ..requests import need_of, request_of, usage_of, whole_of
from .pod_sets import asked_of, is_leader, is_with, pod_set_at, resource_at, slot_of
from .rank import better, good_enough
from .reasons import serves, worse_reason, worst_reason


def assign(t: Tables, row: int, nom: int) -> None:
    """Find flavors for so many pods of each pod set as `pods` says; what comes of it stands in a nomination."""
    spec = t.work[row, c.SPEC]
    for slot in range(t.state[c.SLOTS]):
        t.slot[slot, c.IN_USAGE] = t.slot[slot, c.IN_WHOLE] = t.slot[slot, c.TOUCHED] = t.slot[slot, c.NEEDED] = 0
    t.nom[nom, c.N_LEVEL], t.nom[nom, c.N_MODE], t.nom[nom, c.N_REASON], t.nom[nom, c.N_GRADE] = 0, c.FITS, 0, c.FIT
    t.nom[nom, c.N_SHORT], t.state[c.NOWHERE_FLAVOR] = 0, c.NONE
    t.state[c.PEN] = t.state[c.TAPE_END] + c.FLAVORS_AT
    start = put(t, 0)
    for pod_set in range(t.state[c.MOST_POD_SETS]):
        for j in range(t.state[c.MOST_RESOURCES]):
            t.choice[nom, pod_set, j, c.C_FLAVOR] = c.NONE
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        t.nom[nom, c.N_PODS + pod_set] = t.pods[pod_set]
    for leader in range(t.spec[spec + c.S_PODSETS]):
        if is_leader(t, spec, leader):
            t.tape[start] += 1
            serve(t, row, nom, spec, leader)
            if t.nom[nom, c.N_FAILED]:
                break
    if t.nom[nom, c.N_MODE] != c.NO_FIT:
        t.nom[nom, c.N_REASON] = 0
    else:
        t.nom[nom, c.N_GRADE] = c.NO_MATCH
    note_requests(t, nom)


def note_requests(t: Tables, nom: int) -> None:
    """Write what the flavors come to as requests by slot."""
    usage, request, whole, need = usage_of(nom), request_of(nom), whole_of(nom), need_of(nom)
    t.ask[usage, 0, 0] = t.ask[request, 0, 0] = t.ask[whole, 0, 0] = t.ask[need, 0, 0] = 0
    for slot in range(t.state[c.SLOTS]):
        if t.slot[slot, c.TOUCHED]:
            add_to(t, usage, slot, t.slot[slot, c.IN_USAGE])
            if t.slot[slot, c.IN_USAGE] > 0:
                add_to(t, request, slot, t.slot[slot, c.IN_USAGE])
            if t.slot[slot, c.IN_WHOLE] > 0:
                add_to(t, whole, slot, t.slot[slot, c.IN_WHOLE])
            if t.slot[slot, c.NEEDED]:
                add_to(t, need, slot, 0)


# --- pod sets that get their flavors together ---------------------------------------------------------------------------


def serve(t: Tables, row: int, nom: int, spec: int, leader: int) -> None:
    """Find flavors for a leader and those with it, one group of resources after the other, and charge the assignment."""
    sets, resources = t.spec[spec + c.S_PODSETS], t.spec[spec + c.S_RESOURCES]
    members = put(t, 0)
    for pod_set in range(leader, sets):
        if is_with(t, spec, leader, pod_set):
            t.tape[members] += 1
            put(t, pod_set)
    for j in range(resources):
        t.demand[j, c.D_TOTAL], t.demand[j, c.D_FOUND] = c.NONE, 0
        for pod_set in range(leader, sets):
            if is_with(t, spec, leader, pod_set) and asked_of(t, spec, pod_set, j) != c.NONE:
                t.demand[j, c.D_TOTAL] = max(0, t.demand[j, c.D_TOTAL]) + asked_of(t, spec, pod_set, j)
    ended, searches = put(t, c.NONE), put(t, 0)
    failed, obstacles, tried, unserved = False, 0, 0, False
    for j in range(resources):
        group = t.spec[resource_at(t, spec, j) + c.R_GROUP]
        if t.demand[j, c.D_TOTAL] == c.NONE or t.demand[j, c.D_FOUND] or (group == c.NONE and t.demand[j, c.D_TOTAL] == 0):
            continue
        if group == c.NONE:
            failed, unserved, t.tape[ended] = True, True, j
            break
        t.tape[searches] += 1
        found, why, attempts = search(t, row, nom, spec, leader, group)
        tried, obstacles = tried + attempts, obstacles + why
        if not found:
            failed = True
            break
    nothing_matches = tried == 0 or (unserved and t.state[c.TOGETHER] == 1)
    t.nom[nom, c.N_FAILED] = 0
    for pod_set in range(leader, sets):
        with_it = is_with(t, spec, leader, pod_set)
        mode = close_pod_set(t, nom, spec, pod_set, failed, obstacles > 0 or failed) if with_it else c.FITS
        if mode == c.NO_FIT:
            reason = c.NO_MATCHING_FLAVOR if nothing_matches else worst_reason(t, spec, pod_set, searches)
            t.nom[nom, c.N_REASON] = worse_reason(t.nom[nom, c.N_REASON], reason)


def close_pod_set(t: Tables, nom: int, spec: int, pod_set: int, failed: bool, obstacles: bool) -> int:
    """Note what one pod set gets, and what that makes of the whole; return the mode of the pod set."""
    put(t, t.pods[pod_set])
    chosen = put(t, 0)
    asks, mode = False, c.FITS
    for j in range(t.spec[spec + c.S_RESOURCES]):
        asked = asked_of(t, spec, pod_set, j)
        asks = asks or asked > 0
        if asked == c.NONE or failed or not t.demand[j, c.D_FOUND]:
            continue
        flavor, grade, level = t.demand[j, c.D_FLAVOR], t.demand[j, c.D_GRADE], t.demand[j, c.D_LEVEL]
        t.tape[chosen] += 1
        put_five(t, j, flavor, grade, level, t.demand[j, c.D_TRIED])
        t.choice[nom, pod_set, j, c.C_FLAVOR], t.choice[nom, pod_set, j, c.C_TRIED] = flavor, t.demand[j, c.D_TRIED]
        t.choice[nom, pod_set, j, c.C_GRADE] = grade
        t.nom[nom, c.N_SHORT] = max(t.nom[nom, c.N_SHORT], t.demand[j, c.D_SHORT])
        slot = slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID])
        t.slot[slot, c.TOUCHED] = 1
        t.slot[slot, c.IN_WHOLE] += asked
        t.slot[slot, c.IN_USAGE] += asked - (t.held[pod_set, j, c.H_AMOUNT] if t.held[pod_set, 0, c.H_ANY] else 0)
        t.nom[nom, c.N_LEVEL] = max(t.nom[nom, c.N_LEVEL], level)
        t.nom[nom, c.N_GRADE] = min(t.nom[nom, c.N_GRADE], grade)
        if grade != c.FIT:
            t.slot[slot, c.NEEDED] = 1
            mode = c.BY_EVICTION
    if failed or (t.tape[chosen] == 0 and asks):
        t.nom[nom, c.N_FAILED], mode = 1, c.NO_FIT
    elif not obstacles:
        mode = c.FITS
    elif t.tape[chosen] == 0:
        mode = c.NO_FIT
    t.nom[nom, c.N_MODE] = min(t.nom[nom, c.N_MODE], mode)
    return mode


# --- one flavor after the other -----------------------------------------------------------------------------------------


def search(t: Tables, row: int, nom: int, spec: int, leader: int, group: int) -> tuple[bool, int, int]:
    """The best flavor of a group, from where the last search stopped, for all that it names, also what another group has served already.

    Return whether there is one, how many obstacles count, and how many flavors were tried.
    """
    queue, flavors, wanted, first = t.work[row, c.QUEUE], t.pool[group], 0, c.NONE
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if t.demand[j, c.D_TOTAL] != c.NONE and serves(t, group, t.spec[resource_at(t, spec, j) + c.R_ID]):
            wanted |= 1 << j
            if first == c.NONE or t.spec[resource_at(t, spec, j) + c.R_TURN] < t.spec[resource_at(t, spec, first) + c.R_TURN]:
                first = j
    begin = goes_on_at(t, leader, first)
    t.state[c.NOWHERE_FLAVOR] = c.NONE
    put(t, wanted)
    counts, tries = put(t, 0), put(t, 0)
    best_grade, best_level, obstacles, tried, last = c.NO_MATCH, 0, 0, 0, c.NONE
    found = False
    for last in range(begin, flavors):
        flavor = t.pool[group + 1 + last]
        attempt = t.state[c.PEN]
        t.state[c.PEN] += c.ATTEMPT_WIDTH
        t.tape[tries] += 1
        t.tape[attempt + c.T_FLAVOR], t.tape[attempt + c.T_OBSTACLES], t.tape[attempt + c.T_LEVEL] = flavor, 0, 0
        if kept_off(t, spec, leader, wanted, flavor, attempt):
            t.tape[attempt + c.T_OBSTACLES] = 1
            obstacles += 1
            if t.tape[attempt + c.T_GRADE] == c.NO_MATCH:
                tried += 1
            continue
        grade, level, reason, why = judge(t, row, nom, spec, leader, wanted, flavor, attempt)
        t.tape[attempt + c.T_GRADE], t.tape[attempt + c.T_REASON], t.tape[attempt + c.T_OBSTACLES] = grade, reason, why
        obstacles, tried = obstacles + why, tried + 1
        enough = good_enough(t, queue, grade, level)
        if enough or better(t, queue, grade, level, best_grade, best_level):
            best_grade, best_level, found = grade, level, grade >= c.NO_VICTIMS
            if found:
                keep(t, spec, wanted, flavor)
        if enough:
            break
    stopped_at = c.NONE if last == flavors - 1 else last
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if found and wanted >> j & 1:
            t.demand[j, c.D_FOUND], t.demand[j, c.D_TRIED] = 1, stopped_at
    if best_grade == c.FIT:
        obstacles = 0
    else:
        t.tape[counts] = 1
    return found, obstacles, tried


def goes_on_at(t: Tables, leader: int, j: int) -> int:
    """The flavor at which a search begins: behind the last one that an earlier cycle tried."""
    cell = t.state[c.GOES_ON]
    while cell >= 0:
        if t.cell[cell, c.W_POD_SET] == leader and t.cell[cell, c.W_RESOURCE] == j:
            return t.cell[cell, c.W_INDEX] + 1
        cell = t.cell[cell, c.NEXT]
    return 0


def keep(t: Tables, spec: int, wanted: int, flavor: int) -> None:
    """Note a flavor as the best so far, with the verdict on each resource."""
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if wanted >> j & 1:
            t.demand[j, c.D_FLAVOR], t.demand[j, c.D_GRADE] = flavor, t.demand[j, c.D_NOW]
            t.demand[j, c.D_LEVEL], t.demand[j, c.D_SHORT] = t.demand[j, c.D_LEVEL_NOW], t.demand[j, c.D_SHORT_NOW]


def kept_off(t: Tables, spec: int, leader: int, wanted: int, flavor: int, attempt: int) -> bool:
    """Whether something keeps these pod sets off a flavor, whatever is free there; it is written."""
    sets, resources = t.spec[spec + c.S_PODSETS], t.spec[spec + c.S_RESOURCES]
    t.tape[attempt + c.T_GRADE], t.tape[attempt + c.T_REASON] = c.NO_MATCH, c.NO_MATCHING_FLAVOR
    if t.state[c.ONLY] != c.NONE:
        nominated = False
        for pod_set in range(leader, sets):
            for j in range(resources):
                if is_with(t, spec, leader, pod_set) and wanted >> j & 1 and t.choice[t.state[c.ONLY], pod_set, j, c.C_FLAVOR] == flavor:
                    nominated = True
        if not nominated:
            t.tape[attempt + c.T_GRADE] = c.NONE  # not even tried
            put_obstacle(t, c.NOT_NOMINATED, flavor, c.NONE, c.NONE, 0, 0, 0)
            return True
    for j in range(resources):
        if wanted >> j & 1 and slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID]) == c.NONE:
            put_obstacle(t, c.LACKS_RESOURCE, flavor, j, c.NONE, 0, 0, 0)
            return True
    for pod_set in range(leader, sets):
        if is_with(t, spec, leader, pod_set):
            barrier = t.spec[pod_set_at(t, spec, pod_set) + c.P_REQUESTS + resources + flavor]
            if barrier % 16 == c.TOO_LARGE:
                t.tape[attempt + c.T_REASON] = c.POD_TOO_LARGE
                put_too_large(t, spec, pod_set, flavor, barrier // 16 - 1)
                return True
            if barrier:
                put_obstacle(t, barrier % 16, flavor, c.NONE, barrier // 16 - 1, 0, 0, 0)
                return True
    return False


def put_too_large(t: Tables, spec: int, pod_set: int, flavor: int, j: int) -> None:
    """Write that one pod is larger than every node of a flavor: by the j-th resource, or (NONE) by several together."""
    asked, largest = 0, 0
    if j != c.NONE:
        asked = t.spec[pod_set_at(t, spec, pod_set) + c.P_REQUESTS + j]
        largest = t.slot[slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID]), c.LARGEST]
    put_obstacle(t, c.TOO_LARGE, flavor, j, c.NONE, 0, asked, largest)


def judge(t: Tables, row: int, nom: int, spec: int, leader: int, wanted: int, flavor: int, attempt: int) -> tuple[int, int, int, int]:
    """The worst verdict on the wanted resources; the highest level stands on the tape. Return grade and level, reason, obstacles."""
    queue, resources = t.work[row, c.QUEUE], t.spec[spec + c.S_RESOURCES]
    obstacles, reason = 0, 0
    for j in range(resources):
        if wanted >> j & 1:
            other = held_before(t, spec, leader, j, flavor)
            t.demand[j, c.D_NOW], t.demand[j, c.D_LEVEL_NOW] = (c.FIT if other == flavor else c.NO_MATCH), 0
            if other != flavor:
                put_obstacle(t, c.OTHER_FLAVOR, flavor, j, other, 0, 0, 0)
                obstacles, reason = obstacles + 1, c.NO_MATCHING_FLAVOR
    j = 0
    while j < resources:
        part = wanted if t.state[c.TOGETHER] else wanted & 1 << j
        if part:
            why, mild = judge_part(t, row, nom, spec, leader, flavor, part)
            obstacles, reason = obstacles + why, max(reason, mild)
        j = resources if t.state[c.TOGETHER] else j + 1
    grade, level, highest = c.FIT, 0, 0
    for k in range(resources):
        if wanted >> k & 1:
            if better(t, queue, grade, level, t.demand[k, c.D_NOW], t.demand[k, c.D_LEVEL_NOW]):
                grade, level = t.demand[k, c.D_NOW], t.demand[k, c.D_LEVEL_NOW]
            highest = max(highest, t.demand[k, c.D_LEVEL_NOW])
    t.tape[attempt + c.T_LEVEL] = highest
    return grade, level, reason, obstacles


def held_before(t: Tables, spec: int, leader: int, j: int, flavor: int) -> int:
    """The flavor, or another one that the first pod set holds that holds another; what they hold of it up to there is noted."""
    t.demand[j, c.D_BEFORE] = 0
    for pod_set in range(leader, t.spec[spec + c.S_PODSETS]):
        if is_with(t, spec, leader, pod_set) and t.held[pod_set, 0, c.H_ANY]:
            if t.held[pod_set, j, c.H_FLAVOR] != flavor:
                return t.held[pod_set, j, c.H_FLAVOR]
            t.demand[j, c.D_BEFORE] += t.held[pod_set, j, c.H_AMOUNT]
    return flavor


def judge_part(t: Tables, row: int, nom: int, spec: int, leader: int, flavor: int, part: int) -> tuple[int, int]:
    """Judge resources that are judged together; return how much is in the way, and the reason where the flavor is of no use."""
    queue, resources = t.work[row, c.QUEUE], t.spec[spec + c.S_RESOURCES]
    level, obstacles, exceeds, may_evict = 0, 0, False, True
    t.ask[c.ASK_PART, 0, 0] = 0
    for j in range(resources):
        if part >> j & 1 and t.demand[j, c.D_NOW] == c.NO_MATCH:
            may_evict = False  # other pods keep it off the flavor anyway
    to_place = False
    if may_evict and t.state[c.PLACES] and t.state[c.TOGETHER]:
        to_place = note_tried(t, spec, nom, leader, part, flavor)
    for j in range(resources):
        if not part >> j & 1:
            continue
        slot = slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID])
        assumed, asked = t.slot[slot, c.IN_USAGE], t.demand[j, c.D_TOTAL] - t.demand[j, c.D_BEFORE]
        amount, at_most, available = assumed + asked, most(t, queue, slot), max(0, room(t, queue, slot))
        if amount > 0:
            add_to(t, c.ASK_PART, slot, amount)
        limit = at_most if amount > at_most else available
        if amount > limit:
            put_obstacle(t, c.EXCEEDS if amount > at_most else c.SHORT, flavor, j, c.NONE, assumed, asked, limit)
            obstacles, exceeds = obstacles + 1, exceeds or amount > at_most
        from_level, more_above = int(exceeds_owned(t, queue, slot, amount)), True
        if t.state[c.COUNTS_LEVELS]:
            from_level, more_above = level_that_fits(t, queue, slot, amount)
        level = max(level, from_level)
        may_evict = may_evict and (more_above or may_evict_for(t, queue, slot, amount))
    grade, reason, short, places = c.FIT, 0, int(obstacles > 0), HAS_PLACES
    if to_place and not exceeds:
        places = judge_tried(t, row, nom, flavor, short == 1)
        obstacles += int(places != HAS_PLACES)
    if exceeds:
        grade, level, reason = c.EXCEEDING, 0, c.EXCEEDS_MAX_QUOTA
    elif places == NEVER_HAS_PLACES:
        grade, level, reason = c.NO_MATCH, 0, c.TOPOLOGY_PLACEMENT_FAILED
        if t.state[c.NOWHERE_FLAVOR] == c.NONE:
            t.state[c.NOWHERE_FLAVOR], t.state[c.NOWHERE_LEADER], t.state[c.NOWHERE_PART] = flavor, leader, part
    elif obstacles and not may_evict:
        grade, reason = c.MAY_NOT_EVICT, c.WAITING_FOR_QUOTA
    elif obstacles:
        sort_by_slot(t, c.ASK_PART)
        need = c.ASK_PART
        if to_place:
            need = slots_of_part(t, nom, spec, flavor, part)
        grade, after = verdict_of(t, row, c.ASK_PART, need, nom if to_place else c.NONE, leader)
        level = after if t.state[c.COUNTS_LEVELS] else level
    for j in range(resources):
        if part >> j & 1 and t.demand[j, c.D_NOW] != c.NO_MATCH:
            t.demand[j, c.D_NOW], t.demand[j, c.D_LEVEL_NOW], t.demand[j, c.D_SHORT_NOW] = grade, level, short
    return obstacles, reason


def slots_of_part(t: Tables, nom: int, spec: int, flavor: int, part: int) -> int:
    """Note where others have to go for places: on all slots of a part, also where a slice asks for no more; `need_of` is not yet in use."""
    need = need_of(nom)
    t.ask[need, 0, 0] = 0
    for j in range(t.spec[spec + c.S_RESOURCES]):
        if part >> j & 1:
            add_to(t, need, slot_of(t, flavor, t.spec[resource_at(t, spec, j) + c.R_ID]), 0)
    sort_by_slot(t, need)
    return need


def judge_tried(t: Tables, row: int, nom: int, flavor: int, short: bool) -> int:
    """Look for places on a flavor that is tried; whoever the nomination replaces makes room for it. What is in the way is written."""
    old = t.nom[nom, c.N_REPLACED]
    if old != c.NONE:
        take(t, old)
    places, of, fit = lacking(t, row, nom, short)
    if old != c.NONE:
        give_back(t, old)
    if places != HAS_PLACES:
        put_obstacle(t, c.NO_PLACES, flavor, c.NONE, c.NONE, 0, of, fit)
    return places


def sort_by_slot(t: Tables, ask: int) -> None:
    """Put a request in order of its slots; each stands in it once."""
    for k in range(2, t.ask[ask, 0, 0] + 1):
        slot, amount, i = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT], k
        while i > 1 and t.ask[ask, i - 1, c.SLOT] > slot:
            t.ask[ask, i, c.SLOT], t.ask[ask, i, c.AMOUNT] = t.ask[ask, i - 1, c.SLOT], t.ask[ask, i - 1, c.AMOUNT]
            i -= 1
        t.ask[ask, i, c.SLOT], t.ask[ask, i, c.AMOUNT] = slot, amount


def may_evict_for(t: Tables, queue: int, slot: int, amount: int) -> bool:
    """Whether somebody may be evicted for an amount: it lies within what the queue owns, or the queue evicts to borrow."""
    if t.quota[queue, slot, c.NOMINAL] >= amount or t.node[queue, c.TO_BORROW]:
        return True
    return t.state[c.FAIR] == 1 and t.node[queue, c.RECLAIMS] != c.POLICY_NOTHING
