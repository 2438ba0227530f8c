"""What came of the heads of a cycle: the record of each, then carrying it out: admissions, what waits and how, evictions."""

from .. import columns as c
from ..tables import Ints, Tables
from .cells import cell_before
from .flavor.pod_sets import serving_order
from .nominate import nominate
from .places import admit, close, epoch_of, evict, forget_cycle, park
from .record import begin_block, keep_block, link_block, put_limit, put_replaced, put_request, put_victims


def record_head(t: Tables, nom: int) -> None:
    """Write what was found out about a head; who would have to go is kept until the end of the cycle."""
    begin_block(t, nom, c.NONE)
    put_victims(t)
    t.nom[nom, c.N_FIRST_VICTIM] = t.state[c.TAKEN]
    for at in range(t.state[c.VICTIMS]):
        t.taken[t.state[c.TAKEN]] = t.victim[at, c.V_ROW]
        t.state[c.TAKEN] += 1
    t.nom[nom, c.N_BLOCK] = keep_block(t)


def finish(t: Tables, ended: Ints, count: int) -> None:
    """Record what came of each head, then carry it out: admissions, what waits and how, evictions.

    The first `count` were nominated; the others are turned away, and told of in the order of their queues.
    """
    for i in range(count):
        if t.nom[ended[i], c.N_IS_PLAIN]:
            nominate(t, t.nom[ended[i], c.N_ROW], ended[i], c.NONE, c.NONE)
            record_head(t, ended[i])
        record_end(t, ended[i])
    ended[count:].sort()
    for nom in ended[count:]:
        record_turned_away(t, nom)
    count = len(ended)
    for i in range(count):
        if t.nom[ended[i], c.N_ENDED] == c.ADMITTED_NOW:
            if t.nom[ended[i], c.N_REPLACED] != c.NONE:
                close(t, t.nom[ended[i], c.N_REPLACED])
            admit(t, ended[i])
    for i in range(count):
        if t.nom[ended[i], c.N_ENDED] != c.ADMITTED_NOW and t.tape[t.nom[ended[i], c.N_BLOCK] + c.B_TOLD]:
            defer(t, ended[i])
    for i in range(count):
        if t.nom[ended[i], c.N_ENDED] == c.ENDS_PREEMPTING:
            for k in range(t.nom[ended[i], c.N_VICTIMS]):
                row = t.taken[t.nom[ended[i], c.N_FIRST_VICTIM] + k]
                if not t.work[row, c.EVICTING]:
                    evict(t, row, t.work[t.nom[ended[i], c.N_ROW], c.NAME])


def record_end(t: Tables, nom: int) -> None:
    """Record how a head ended: what it is charged, or where it waits and what binds it."""
    block, ended, row, queue = t.nom[nom, c.N_BLOCK], t.nom[nom, c.N_ENDED], t.nom[nom, c.N_ROW], t.nom[nom, c.N_QUEUE]
    t.tape[block + c.B_ENDED] = ended
    t.state[c.PEN] = t.state[c.TAPE_END]
    put_limit(t, nom, block)
    if ended == c.ADMITTED_NOW:
        put_request(t, nom, block)
        put_replaced(t, nom, block)
    else:
        for_victims = ended == c.ENDS_PREEMPTING or ended == c.ENDS_DEFERRED
        tried = not for_victims and stopped_early(t, nom)
        again = t.node[queue, c.STRICT] == 1 or tried or (ended != c.ENDS_NO_FIT and ended != c.ENDS_NO_CANDIDATES)
        t.tape[block + c.B_REASON] = c.FOR_VICTIMS if for_victims else max(c.WAITING_FOR_QUOTA, t.nom[nom, c.N_REASON])
        t.tape[block + c.B_PARKED] = t.tape[block + c.B_ALIKE] = int(not again)
        t.tape[block + c.B_PREEMPTING] = int(for_victims or (again and t.node[queue, c.PREEMPTOR] == row))
        t.tape[block + c.B_TRIED] = int(tried)
        t.tape[block + c.B_TOLD] = int(says_something(t, nom))
    t.state[c.TAPE_END] = t.state[c.PEN]
    link_block(t, block)


def record_turned_away(t: Tables, nom: int) -> None:
    """Record that a head may not run at all."""
    row, queue = t.nom[nom, c.N_ROW], t.nom[nom, c.N_QUEUE]
    t.nom[nom, c.N_MODE], t.nom[nom, c.N_VICTIMS], t.state[c.PEN] = c.NO_FIT, 0, t.state[c.TAPE_END] + c.FLAVORS_AT
    begin_block(t, nom, c.ENDS_TURNED_AWAY)
    block = keep_block(t)
    t.nom[nom, c.N_BLOCK] = block
    t.tape[block + c.B_LIMIT] = c.NONE
    by_check, by_namespace = t.work[row, c.TURNED_AWAY] == c.BY_CHECK, t.work[row, c.TURNED_AWAY] == c.BY_NAMESPACE
    t.tape[block + c.B_REASON] = c.PENDING_EVALUATION if by_check else c.MISCONFIGURED
    t.tape[block + c.B_PARKED] = int(by_namespace or not t.node[queue, c.STRICT])
    t.tape[block + c.B_ALIKE] = t.tape[block + c.B_PREEMPTING] = t.tape[block + c.B_TRIED] = 0
    t.tape[block + c.B_TOLD] = int(says_something(t, nom))
    link_block(t, block)


def stopped_early(t: Tables, nom: int) -> bool:
    """Whether the search for flavors stopped with others left to try."""
    for pod_set in range(t.state[c.MOST_POD_SETS]):
        for j in range(t.state[c.MOST_RESOURCES]):
            if t.choice[nom, pod_set, j, c.C_FLAVOR] != c.NONE and t.choice[nom, pod_set, j, c.C_TRIED] >= 0:
                return True
    return False


def says_something(t: Tables, nom: int) -> bool:
    """Whether a deferral changes the queues or tells something new; one that does neither is not decided again."""
    row, block = t.nom[nom, c.N_ROW], t.nom[nom, c.N_BLOCK]
    at = t.work[row, c.WAIT]
    if not t.wait[at, c.DEFERRED] or t.tape[block + c.B_PARKED] or t.tape[block + c.B_TRIED] or t.wait[at, c.TRIED] != c.NONE:
        return True
    if t.nom[nom, c.N_ENDED] == c.ENDS_PREEMPTING:
        for k in range(t.nom[nom, c.N_VICTIMS]):
            name, shown = t.work[t.taken[t.nom[nom, c.N_FIRST_VICTIM] + k], c.NAME], False
            cell = t.wait[at, c.SHOWN_VICTIMS]
            while cell >= 0:
                shown = shown or t.cell[cell, c.W_NAME] == name
                cell = t.cell[cell, c.NEXT]
            if not shown:
                return True
    before = t.node[t.nom[nom, c.N_QUEUE], c.PREEMPTOR] == row
    return t.wait[at, c.DEFERRED] != t.tape[block + c.B_REASON] or before != (t.tape[block + c.B_PREEMPTING] == 1)


def defer(t: Tables, nom: int) -> None:
    """Let a head wait as it was decided."""
    row, block = t.nom[nom, c.N_ROW], t.nom[nom, c.N_BLOCK]
    at, spec, tried, shown = t.work[row, c.WAIT], t.work[row, c.SPEC], c.NONE, c.NONE
    forget_cycle(t, row)
    if t.tape[block + c.B_TRIED]:
        for pod_set in serving_order(t, spec)[::-1]:
            for j in range(t.spec[spec + c.S_RESOURCES] - 1, -1, -1):
                if t.choice[nom, pod_set, j, c.C_FLAVOR] != c.NONE and t.choice[nom, pod_set, j, c.C_TRIED] >= 0:
                    tried = cell_before(t, tried)
                    t.cell[tried, c.W_POD_SET], t.cell[tried, c.W_RESOURCE] = pod_set, j
                    t.cell[tried, c.W_INDEX] = t.choice[nom, pod_set, j, c.C_TRIED]
        tried = cell_before(t, tried)
    if t.nom[nom, c.N_ENDED] == c.ENDS_PREEMPTING:
        for k in range(t.nom[nom, c.N_VICTIMS] - 1, -1, -1):
            shown = cell_before(t, shown)
            t.cell[shown, c.W_NAME] = t.work[t.taken[t.nom[nom, c.N_FIRST_VICTIM] + k], c.NAME]
    t.wait[at, c.TRIED], t.wait[at, c.SHOWN_VICTIMS] = tried, shown
    reason, parked = t.tape[block + c.B_REASON], t.tape[block + c.B_PARKED]
    defer_row(t, row, reason, t.nom[nom, c.N_ENDED], parked, t.tape[block + c.B_PREEMPTING], t.tape[block + c.B_ALIKE])


def defer_row(t: Tables, row: int, reason: int, ended: int, parked: int, preempting: int, alike: int) -> None:
    """Note how the last cycle ended for a workload, whose lists of flavors tried and victims stand already."""
    queue, at = t.work[row, c.QUEUE], t.work[row, c.WAIT]
    t.state[c.SEQ] += 1
    if parked:
        t.state[c.IDLE] = 0
    t.wait[at, c.DEFERRED], t.wait[at, c.DEFERRED_HOW] = reason, how_deferred(ended, parked, preempting, alike)
    scan = t.wait[at, c.TRIED]
    if scan != c.NONE:
        t.cell[scan, c.SCAN_CYCLE], t.cell[scan, c.SCAN_GENERATION] = t.state[c.CYCLE], t.node[queue, c.GENERATION]
    if preempting:
        t.node[queue, c.PREEMPTOR] = row
    elif t.node[queue, c.PREEMPTOR] == row:
        t.node[queue, c.PREEMPTOR] = c.NONE
    if parked:
        park(t, row)
        if alike:
            t.shape[t.work[row, c.SHAPE], c.HOPELESS] = epoch_of(t, queue)


def how_deferred(ended: int, parked: int, preempting: int, alike: int) -> int:
    """How a cycle ended for a workload, in one number: its end, and in the last three bits what is 0 or 1."""
    return ended << 3 | parked << 2 | preempting << 1 | alike


def goes_unsaid(t: Tables, nom: int) -> bool:
    """Whether nothing is to be told of a plain request that fits no more when it has its turn: it waited for the same reason before."""
    at = t.work[t.nom[nom, c.N_ROW], c.WAIT]
    as_before = t.wait[at, c.DEFERRED] == c.WAITING_FOR_QUOTA and t.wait[at, c.TRIED] == c.NONE
    return as_before and t.nom[nom, c.N_IS_PLAIN] == 1 and t.nom[nom, c.N_TRIED] == c.NONE
