"""Deciding at once, over tables: decide until nothing more can be decided (`definition/admission/settle.py`).

A pass can be left and gone on with: where the tape or the cells run out, the tables grow in between.
"""

import numpy as np

from .. import columns as c
from ..tables import Tables
from .cells import cell_before, free_cells
from .flavor.plain import fits_plainly
from .line import first_in_line, next_in_tree
from .nominate import mark_superiors, nominate, runs
from .order import line_up
from .placement.standing import charge_cells, places_as_cells
from .places import admit, close, evict
from .preemption.trial import give_all_back, take
from .quota.tree import charge_all, uncharge_list
from .record import begin_block, keep_block, link_block, put_limit, put_replaced, put_request, put_victims
from .requests import request_of
from .watch.needs import note_needs, open_queues
from .watch.reach import note_reach, waits_for_room
from .watch.wishes import first_reached, is_reached, next_reached, note_change


def settle(t: Tables, only_reserve: int) -> int:
    """Decide all there is to decide; return DONE, or MORE where the tables have to grow first.

    `WAKE` is then when time alone may decide something next (NONE: never). With `only_reserve` nothing is carried out.
    """
    while True:
        if not t.state[c.IN_PASS]:
            begin_pass(t)
        while True:
            if lacks_room_to_decide(t):
                return c.MORE
            best = best_nomination(t)
            if best == c.NONE:
                break
            if not runs(t, best):
                reserve(t, best)
            elif only_reserve:
                t.shape[t.work[t.nom[best, c.N_ROW], c.SHAPE], c.REFUSED] = t.state[c.PASS]
            else:
                carry_out(t, best)
                t.state[c.DECIDED] = 1
        end_pass(t)
        if not t.state[c.DECIDED]:
            return c.DONE


def lacks_room_to_decide(t: Tables) -> bool:
    """Whether the tables have to grow before one more nomination."""
    if t.state[c.PLACES] and len(t.stand) < (t.state[c.QUEUES] + 1) * t.state[c.STAND_NEED]:
        return True
    return len(t.tape) - t.state[c.TAPE_END] < t.state[c.TAPE_NEED] or t.state[c.FREE_CELLS] < t.state[c.CELLS_NEED]


def begin_pass(t: Tables) -> None:
    """Begin a pass over the queues of which somebody may be helped; the others take no part until the next pass."""
    t.state[c.IN_PASS], t.state[c.DECIDED], t.state[c.WAKE] = 1, 0, c.NONE
    t.state[c.PASS] += 1
    note_needs(t)
    open_queues(t, True)


def end_pass(t: Tables) -> None:
    """End a pass: nothing is reserved any more."""
    t.state[c.IN_PASS] = 0
    cell = t.state[c.FIRST_RESERVED]
    while cell != c.NONE:
        uncharge_list(t, t.cell[cell, c.RESERVED_IN], t.cell[cell, c.RESERVED])
        note_change(t, t.cell[cell, c.RESERVED_IN], c.BY_CHARGES)
        free_cells(t, t.cell[cell, c.RESERVED])
        charge_cells(t, t.cell[cell, c.RESERVED_BY], t.cell[cell, c.RESERVED_PLACES], -1, True)
        free_cells(t, t.cell[cell, c.RESERVED_PLACES])
        cell = t.cell[cell, c.NEXT]
    free_cells(t, t.state[c.FIRST_RESERVED])
    t.state[c.FIRST_RESERVED] = c.NONE


def wake_at(t: Tables, moment: int) -> None:
    """Note a moment at which there may be room for a part of what somebody asks for."""
    if moment != c.NONE and (t.state[c.WAKE] == c.NONE or moment < t.state[c.WAKE]):
        t.state[c.WAKE] = moment


def reserve(t: Tables, nom: int) -> None:
    """Keep the room of a nomination that waits for nothing but time."""
    queue, ask, cell = t.nom[nom, c.N_QUEUE], request_of(nom), c.NONE
    charge_all(t, queue, ask)
    note_change(t, queue, c.BY_CHARGES)
    for k in range(1, t.ask[ask, 0, 0] + 1):
        cell = cell_before(t, cell)
        t.cell[cell, c.SLOT], t.cell[cell, c.AMOUNT] = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT]
    first = cell_before(t, t.state[c.FIRST_RESERVED])
    t.cell[first, c.RESERVED], t.cell[first, c.RESERVED_IN] = cell, queue
    t.cell[first, c.RESERVED_BY] = t.nom[nom, c.N_ROW]
    t.cell[first, c.RESERVED_PLACES] = places_as_cells(t, nom) if t.state[c.PLACES] else c.NONE
    charge_cells(t, t.nom[nom, c.N_ROW], t.cell[first, c.RESERVED_PLACES], 1, True)
    t.state[c.FIRST_RESERVED] = first
    t.passed[t.work[t.nom[nom, c.N_ROW], c.WAIT]] = t.node[queue, c.RESERVES] = t.state[c.PASS]
    wake_at(t, t.nom[nom, c.N_LATER])


def best_nomination(t: Tables) -> int:
    """The best of what all open queues put up; NONE where nobody puts up anything. A queue that puts up nothing is closed."""
    if t.state[c.FIRST_CHANGED] != c.NONE:  # by what was decided last: it most often leaves nothing for the others
        note_needs(t)
        open_queues(t, False)
    t.state[c.NOMINATED], t.state[c.STAND_END] = c.NONE, 0
    last, node = c.NONE, t.state[c.FIRST_OPEN]
    nodes, count = np.empty(t.state[c.NODES], np.int64), 0
    while node != c.NONE:
        following = t.node[node, c.NEXT_OPEN]
        if put_up(t, t.node[node, c.QUEUE_INDEX], node):
            last = nodes[count] = node
            count += 1
        else:
            t.node[node, c.OPENED] = 0
            if last == c.NONE:
                t.state[c.FIRST_OPEN] = following
            else:
                t.node[last, c.NEXT_OPEN] = following
        node = following
    return line_up(t, nodes, count)


def put_up(t: Tables, queue: int, node: int) -> bool:
    """Nominate the first workload of a queue for which something can be done; say whether there is one.

    Whoever is refused is refused for the rest of the pass, so a queue is gone on with where it was left, and those whose wishes are not
    reached are passed by. Once more may be possible than before in a pass, all of a line is walked instead (`walk_from_now`).
    """
    stamp = t.state[c.PASS]
    if t.node[node, c.STRICT] and t.node[node, c.RESERVES] == stamp:
        return False
    left_at = first_in_line(t, node)  # most often, and then nothing has to be noted
    if t.node[node, c.LOOKED_AT] == stamp:
        left_at = c.NONE if t.node[node, c.WALKS] else t.node[node, c.GOES_ON_FROM]
    if left_at != c.NONE and not is_passed_by(t, left_at) and fits_plainly(t, left_at, queue):
        return True
    further = note_reach(t, node)
    if t.node[node, c.LOOKED_AT] != stamp:
        t.node[node, c.LOOKED_AT], t.node[node, c.WALKS] = stamp, t.node[node, c.STRICT]
        row = first_reached(t, node, t.node[node, c.LINE])
        if row == c.NONE:
            note_change(t, node, c.BY_CHARGES)  # it was listed by bounds that are out of date
    else:
        if further:
            walk_from_now(t, node)
        row = t.node[node, c.GOES_ON_FROM]
        if row != c.NONE and not is_reached(t, node, row, c.WISH):
            row = next_reached(t, node, row)
    if t.node[node, c.WALKS]:
        row = first_in_line(t, node)
    while row != c.NONE:
        if not is_passed_by(t, row):
            if t.node[node, c.WALKS] and not is_reached(t, node, row, c.WISH):
                refuse_as_before(t, row)
            elif fits_plainly(t, row, queue):
                t.node[node, c.GOES_ON_FROM] = row
                return True
            elif waits_for_room(t, row):
                if t.node[node, c.WALKS]:
                    refuse_as_before(t, row)
            else:
                nominate(t, row, queue, c.NONE, c.NONE)
                t.state[c.NOMINATED] = row
                if runs(t, queue) or t.nom[queue, c.N_UNTIL] != c.NONE:
                    t.state[c.STAND_END] += t.nom[queue, c.N_STANDS]
                    t.node[node, c.GOES_ON_FROM] = row
                    return True
                wake_at(t, t.nom[queue, c.N_LATER])
                refuse(t, row)
            if t.node[node, c.STRICT]:
                return False
        row = next_in_tree(t, row) if t.node[node, c.WALKS] else next_reached(t, node, row)
    return False


def is_passed_by(t: Tables, row: int) -> bool:
    """Whether a waiting workload was refused in this pass, as itself or by its shape, or has its room reserved."""
    stamp = t.state[c.PASS]
    return t.passed[t.work[row, c.WAIT]] == stamp or t.shape[t.work[row, c.SHAPE], c.REFUSED] == stamp


def refuse(t: Tables, row: int) -> None:
    """Refuse a workload that was just nominated for the rest of the pass, and all of its shape."""
    if t.state[c.FIRST_SUPERIOR] != c.NONE:  # it may evict fewer than others that ask for the same
        t.passed[t.work[row, c.WAIT]] = t.state[c.PASS]
    else:
        t.shape[t.work[row, c.SHAPE], c.REFUSED] = t.state[c.PASS]


def refuse_as_before(t: Tables, row: int) -> None:
    """The same where it need not be nominated."""
    mark_superiors(t, row)
    refuse(t, row)


def walk_from_now(t: Tables, node: int) -> None:
    """Note all in a line who were refused in this pass without being looked at: what they wish for may be reached from now."""
    if not t.node[node, c.WALKS]:
        t.node[node, c.WALKS] = 1
        row = first_in_line(t, node)
        while row != t.node[node, c.GOES_ON_FROM]:
            if not is_passed_by(t, row):
                refuse_as_before(t, row)
            row = next_in_tree(t, row)


def carry_out(t: Tables, nom: int) -> None:
    """Evict the victims in the order in which they were chosen, end whom it replaces, and admit it; all of it is recorded."""
    row = t.nom[nom, c.N_ROW]
    if t.nom[nom, c.N_VICTIMS] > 0 or t.nom[nom, c.N_REPLACED] != c.NONE:
        node = t.state[c.FIRST_OPEN]
        while node != c.NONE:
            if t.node[node, c.LOOKED_AT] == t.state[c.PASS]:
                walk_from_now(t, node)
            node = t.node[node, c.NEXT_OPEN]
    if t.state[c.NOMINATED] != row:
        nominate(t, row, nom, c.NONE, c.NONE)  # once more, for the record
    begin_block(t, nom, c.ADMITTED_NOW)
    put_limit(t, nom, t.state[c.TAPE_END])
    put_victims(t)
    for at in range(t.state[c.VICTIMS]):
        take(t, t.victim[at, c.V_ROW])
    put_request(t, nom, t.state[c.TAPE_END])
    give_all_back(t)
    put_replaced(t, nom, t.state[c.TAPE_END])
    link_block(t, keep_block(t))
    for at in range(t.state[c.VICTIMS]):
        evict(t, t.victim[at, c.V_ROW], t.work[row, c.NAME])
    if t.nom[nom, c.N_REPLACED] != c.NONE:
        close(t, t.nom[nom, c.N_REPLACED])
    t.node[t.nom[nom, c.N_QUEUE], c.GOES_ON_FROM] = next_in_tree(t, row)
    admit(t, nom)
