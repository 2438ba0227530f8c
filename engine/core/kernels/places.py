"""How decisions change the tables: who runs, who waits, what is charged (`definition/transition/apply.py`)."""

from .. import columns as c
from ..tables import Tables
from .cells import cell_before, free_cells
from .flavor.pod_sets import resource_at, serving_order
from .line import leave_line, queue_up
from .placement.standing import charge_places, note_places
from .preemption.running import join_running, leave_running
from .quota.holdings import charges_of, hold
from .quota.tree import charge_list, uncharge_list
from .requests import whole_of
from .watch.parked import move_to_parked
from .watch.reach import note_joined
from .watch.wishes import first_reached, gather_wishes, next_reached, note_change, wish_for_anything


def take_row(t: Tables) -> int:
    """Take a free row for one more live workload, which waits. There has to be one; they are linked as cells are (`cells.py`)."""
    row = t.state[c.FREE_ROW]
    t.state[c.FREE_ROW] = row + 1 + t.work[row, c.ABOVE]
    t.state[c.LIVE] += 1
    for column in range(c.WORK_WIDTH):
        t.work[row, column] = 0
    for column in range(c.WHEN_WIDTH):
        t.when[row, column] = 0
    t.work[row, c.HOLDING] = t.when[row, c.ADMITTED] = t.work[row, c.PLACES_OF] = c.NONE
    begin_to_wait(t, row)
    return row


def give_row_back(t: Tables, row: int) -> None:
    """Undo `take_row`: the row has no places and no lists."""
    wait_no_longer(t, row)
    t.state[c.ASKED_IN_ALL] -= t.spec[t.work[row, c.SPEC] + c.S_MOST]
    t.when[row, c.NUMBER] = 0
    t.work[row, c.ABOVE] = t.state[c.FREE_ROW] - row - 1
    t.state[c.FREE_ROW] = row
    t.state[c.LIVE] -= 1


def begin_to_wait(t: Tables, row: int) -> None:
    """Give a workload a row of `wait`. There are as many as workloads, and the free ones are linked as cells are."""
    at = t.state[c.FREE_WAIT]
    t.state[c.FREE_WAIT] = at + 1 + t.wait[at, c.TRIED]
    t.wait[at, c.IN_LINE] = t.wait[at, c.DEFERRED] = t.passed[at] = 0
    t.wait[at, c.TRIED] = t.wait[at, c.SHOWN_VICTIMS] = c.NONE
    t.work[row, c.WAIT] = at
    wish_for_anything(t, row)


def wait_no_longer(t: Tables, row: int) -> None:
    """Take the row of `wait` from a workload that is pending no more, and what the last cycle noted in it."""
    forget_cycle(t, row)
    at = t.work[row, c.WAIT]
    t.wait[at, c.TRIED] = t.state[c.FREE_WAIT] - at - 1
    t.state[c.FREE_WAIT] = at
    t.work[row, c.WAIT] = c.NONE


def row_of(t: Tables, name: int) -> int:
    """The row of the live workload of a name; NONE where there is none."""
    row = t.name[name, c.ROW]
    return row if row != c.NONE and t.work[row, c.NAME] == name and t.when[row, c.NUMBER] > 0 else c.NONE


def count_fact(t: Tables, moment: int, outside: int) -> None:
    """Note that there was a fact at a moment; `outside`: something happened, other than that time has passed."""
    t.state[c.SEQ] += 1
    t.state[c.TIME], t.state[c.CAUSE] = moment, t.state[c.SEQ]
    if outside:
        t.state[c.IDLE], t.state[c.FRESH] = 0, 1


# --- places -------------------------------------------------------------------------------------------------------------


def epoch_of(t: Tables, queue: int) -> int:
    """The number of the present epoch of a queue's tree: what is parked there is so for one epoch, and returns with the next."""
    return t.node[t.node[queue, c.TOP], c.EPOCH]


def is_parked(t: Tables, row: int) -> bool:
    """Whether a waiting workload is looked at again only when capacity may have become free; asked in cycles only."""
    epoch = epoch_of(t, t.work[row, c.QUEUE])
    return t.wish[t.work[row, c.WAIT], 0, c.WISH] == epoch + 1 or t.shape[t.work[row, c.SHAPE], c.HOPELESS] == epoch


def park(t: Tables, row: int) -> None:
    """Park a workload for the present epoch of its tree: it wishes for the next one."""
    at = t.work[row, c.WAIT]
    t.wish[at, 0, c.WISH] = epoch_of(t, t.work[row, c.QUEUE]) + 1
    if t.wait[at, c.IN_LINE]:
        gather_wishes(t, row)


def enter(t: Tables, row: int) -> None:
    """Give a workload its places: in its queue's line if it waits and nothing holds it, in the charges if it runs."""
    queue = t.work[row, c.QUEUE]
    if queue == c.NONE:
        return
    note_change(t, queue, c.BY_CHARGES)
    if t.work[row, c.WAIT] == c.NONE:
        charge_list(t, queue, charges_of(t, row))
        if t.work[row, c.PLACES_OF] >= 0:
            charge_places(t, row, 1, True)
        if not t.state[c.IN_CYCLES]:
            note_joined(t, queue, row)
        join_running(t, row)
    elif not t.work[row, c.HELD]:
        queue_up(t, row)


def enter_all(t: Tables) -> None:
    """Give all workloads their places, where nobody has one as yet; policies decide at once."""
    for row in range(len(t.work)):
        if t.when[row, c.NUMBER] > 0:
            if t.work[row, c.WAIT] != c.NONE:
                t.wait[t.work[row, c.WAIT], c.IN_LINE] = 0
                wish_for_anything(t, row)
            enter(t, row)


def leave(t: Tables, row: int) -> None:
    """Undo `enter`, before anything about the workload changes."""
    queue = t.work[row, c.QUEUE]
    if queue == c.NONE:
        return
    note_change(t, queue, c.BY_CHARGES)
    if t.work[row, c.WAIT] == c.NONE:
        uncharge_list(t, queue, charges_of(t, row))
        if t.work[row, c.PLACES_OF] >= 0:
            charge_places(t, row, -1, True)
        leave_running(t, row)
    else:
        if t.wait[t.work[row, c.WAIT], c.IN_LINE]:
            leave_line(t, row)
        wish_for_anything(t, row)  # only now: in the line, the least wishes above it would have to follow
    if t.node[queue, c.PREEMPTOR] == row:
        t.node[queue, c.PREEMPTOR] = c.NONE


def stir(t: Tables, row: int) -> None:
    """Mark all that is parked in the tree of a workload's queue: what it held, or its place, became free."""
    queue = t.work[row, c.QUEUE]
    if queue != c.NONE:
        t.node[queue, c.GENERATION] += 1
        stir_tree(t, t.node[queue, c.TOP])


def stir_tree(t: Tables, top: int) -> None:
    """Mark all that is parked in a tree; marked trees are listed until the next cycle begins."""
    if t.node[top, c.STIRRED] == 0:
        t.node[top, c.STIRRED], t.node[top, c.NEXT_STIRRED] = 1, t.state[c.FIRST_STIRRED]
        t.state[c.FIRST_STIRRED] = top


def is_stirred(t: Tables, queue: int) -> bool:
    """Whether what is parked in a queue returns at the start of the next cycle."""
    return t.node[t.node[queue, c.TOP], c.STIRRED] == 1


def first_unparked(t: Tables, node: int) -> int:
    """The first in a queue's line who is not parked; NONE where there is none.

    Who is parked wishes for the epoch after this one. What is reached is the epoch of the tree, for all lines in it.
    """
    top = t.node[node, c.TOP]
    t.watch[top, 0, c.REACH] = t.node[top, c.EPOCH]
    return unparked_from(t, top, first_reached(t, top, t.node[node, c.LINE]))


def next_unparked(t: Tables, node: int, row: int) -> int:
    """The next one after a row; `first_unparked` was asked before, in the same epoch."""
    top = t.node[node, c.TOP]
    return unparked_from(t, top, next_reached(t, top, row))


def unparked_from(t: Tables, top: int, row: int) -> int:
    """The first from a row on who is not parked; whoever turns out to be parked by its shape is passed by until the epoch ends."""
    while row != c.NONE and is_parked(t, row):
        park(t, row)
        row = next_reached(t, top, row)
    return row


def anything_waits(t: Tables) -> bool:
    """Whether a cycle would have anything to look at. Queues in which all turn out to be parked leave the first list on the way.

    Where something became free in a tree, no line there is looked at: whoever is parked there returns when the cycle begins.
    """
    if t.state[c.WAITING] == 0:
        return False
    node = t.state[c.WAITS_AT]  # most likely there, or where somebody was found the last time
    if t.node[node, c.WAITS] > 0 and (is_stirred(t, node) or first_unparked(t, node) != c.NONE):
        return True
    node = t.state[c.FIRST_WAITING]
    while node != c.NONE:
        if is_stirred(t, node) or first_unparked(t, node) != c.NONE:
            t.state[c.WAITS_AT] = node
            return True
        following = t.node[node, c.WAITING_AFTER]
        move_to_parked(t, node)
        node = following
    top = t.state[c.FIRST_STIRRED]
    while top != c.NONE:
        if t.node[top, c.FIRST_PARKED] != c.NONE:
            t.state[c.WAITS_AT] = t.node[top, c.FIRST_PARKED]
            return True
        top = t.node[top, c.NEXT_STIRRED]
    return False


# --- what becomes of a workload -----------------------------------------------------------------------------------------


def forget_cycle(t: Tables, row: int) -> None:
    """Forget how the last cycle that looked at a workload ended."""
    at = t.work[row, c.WAIT]
    free_cells(t, t.wait[at, c.TRIED])
    free_cells(t, t.wait[at, c.SHOWN_VICTIMS])
    t.wait[at, c.TRIED] = t.wait[at, c.SHOWN_VICTIMS] = c.NONE
    t.wait[at, c.DEFERRED] = 0


def start(t: Tables, row: int, charges: int, given: int) -> None:
    """Let a pending workload run, with what two new lists of cells say that it holds."""
    wait_no_longer(t, row)
    hold(t, row, charges, given)


def stop(t: Tables, row: int) -> None:
    """Let a running workload be pending."""
    begin_to_wait(t, row)
    free_cells(t, t.work[row, c.PLACES_OF])
    t.work[row, c.HOLDING] = t.when[row, c.ADMITTED] = t.work[row, c.PLACES_OF] = c.NONE
    t.work[row, c.EVICTING] = 0


def admit(t: Tables, nom: int) -> None:
    """Let a nominated workload run from now."""
    row = t.nom[nom, c.N_ROW]
    t.state[c.SEQ] += 1
    t.state[c.IDLE] = 0
    leave(t, row)
    t.when[row, c.ADMITTED], t.when[row, c.STARTED_BY] = t.state[c.TIME], t.state[c.CAUSE]
    charges, ask = c.NONE, whole_of(nom)
    for k in range(t.ask[ask, 0, 0], 0, -1):
        charges = cell_before(t, charges)
        t.cell[charges, c.SLOT], t.cell[charges, c.AMOUNT] = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT]
    start(t, row, charges, flavors_given(t, t.work[row, c.SPEC], nom))
    if t.state[c.PLACES]:
        note_places(t, row, nom)
    enter(t, row)


def flavors_given(t: Tables, spec: int, nom: int) -> int:
    """Which flavors the pod sets of a nominated workload get, in the order in which they were served, as a new list of cells."""
    first = c.NONE
    for pod_set in range(t.spec[spec + c.S_PODSETS]):
        t.pods[pod_set] = t.nom[nom, c.N_PODS + pod_set]
    for pod_set in serving_order(t, spec)[::-1]:
        following = first
        for j in range(t.spec[spec + c.S_RESOURCES] - 1, -1, -1):
            flavor = t.choice[nom, pod_set, j, c.C_FLAVOR]
            if flavor != c.NONE:
                first = note_flavor(t, first, pod_set, t.spec[resource_at(t, spec, j) + c.R_ID], flavor)
        if first == following:
            first = note_flavor(t, first, pod_set, c.NONE, c.NONE)
    return first


def note_flavor(t: Tables, following: int, pod_set: int, resource: int, flavor: int) -> int:
    """Put before a list of cells which flavor a pod set gets for a resource, with the pods that it gets it for."""
    cell = cell_before(t, following)
    t.cell[cell, c.W_POD_SET], t.cell[cell, c.W_RESOURCE] = pod_set, resource
    t.cell[cell, c.W_FLAVOR], t.cell[cell, c.W_COUNT] = flavor, t.pods[pod_set]
    return cell


def evict(t: Tables, row: int, beneficiary: int) -> None:
    """Stop a running workload, which waits again; `beneficiary` is the name of the one for whom it has to go (NONE: for nobody)."""
    t.state[c.SEQ] += 1
    t.state[c.IDLE] = 0
    leave(t, row)
    stop(t, row)
    t.work[row, c.EVICTIONS] += 1
    t.when[row, c.ENTERED] = t.state[c.TIME]
    if beneficiary != c.NONE and t.state[c.BY_RULES]:
        note_who_gave_way(t, t.work[row, c.NAME], beneficiary)
    stir(t, row)
    enter(t, row)


def note_who_gave_way(t: Tables, name: int, beneficiary: int) -> None:
    """Note for whom a workload had to go, by their names."""
    if t.name[name, c.GAVE] == c.NONE:
        t.name[name, c.NEXT_GAVE] = t.state[c.FIRST_GAVE]
        t.state[c.FIRST_GAVE] = name
    t.name[name, c.GAVE] = cell_before(t, t.name[name, c.GAVE])
    t.cell[t.name[name, c.GAVE], c.W_NAME] = beneficiary


def forget_who_gave_way(t: Tables) -> None:
    """Forget for whom workloads had to go: something but time and submissions changed the cluster."""
    name = t.state[c.FIRST_GAVE]
    while name != c.NONE:
        free_cells(t, t.name[name, c.GAVE])
        t.name[name, c.GAVE] = c.NONE
        name = t.name[name, c.NEXT_GAVE]
    t.state[c.FIRST_GAVE] = c.NONE


def end(t: Tables, row: int) -> None:
    """Let a workload be over, and its row be free."""
    leave(t, row)
    if t.work[row, c.WAIT] == c.NONE:
        stop(t, row)
    stir(t, row)
    give_row_back(t, row)


def close(t: Tables, row: int) -> None:
    """Let a workload be over by a decision."""
    t.state[c.SEQ] += 1
    t.state[c.IDLE] = 0
    end(t, row)
