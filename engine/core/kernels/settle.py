"""Deciding at once, over tables: decide until nothing more can be decided (`definition/admission/settle.py`).

A pass can be left and gone on with: where the tape or the cells run out, the tables grow in between.
"""

from .. import columns as c
from ..tables import Tables
from .line import first_in_line, next_in_line
from .nominate import nominate, runs
from .order import next_entry
from .places import admit, close, evict, free_cells, new_cell
from .preemption.trial import give_all_back, take
from .quota.tree import charge_all, uncharge_list
from .record import begin_block, keep_block, link_block, put_limit, put_replaced, put_request, put_victims
from .requests import request_of


def settle(t: Tables, only_reserve: int) -> int:
    """Decide all there is to decide; return DONE, or MORE where the tables have to grow first.

    `WAKE` is then when time alone may decide something next (NONE: never). With `only_reserve` nothing is carried out.
    """
    while True:
        if not t.state[c.IN_PASS]:
            begin_pass(t)
        while True:
            if len(t.tape) - t.state[c.TAPE_END] < t.state[c.TAPE_NEED] or t.state[c.FREE_CELLS] < t.state[c.CELLS_NEED]:
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


def begin_pass(t: Tables) -> None:
    """Begin a pass over all waiting workloads; a queue in which nobody waits takes no part until the next pass."""
    t.state[c.IN_PASS], t.state[c.DECIDED], t.state[c.WAKE], t.state[c.FIRST_RESERVED] = 1, 0, c.NONE, c.NONE
    t.state[c.PASS] += 1
    for queue in range(t.state[c.QUEUES]):
        node = t.pool[t.state[c.QUEUE_NODES] + queue]
        if t.node[node, c.LINE] == c.NONE:
            t.node[node, c.CLOSED] = t.state[c.PASS]


def end_pass(t: Tables) -> None:
    """End a pass: nothing is reserved any more."""
    t.state[c.IN_PASS] = 0
    row = t.state[c.FIRST_RESERVED]
    while row != c.NONE:
        uncharge_list(t, t.work[row, c.QUEUE], t.work[row, c.RESERVATION])
        free_cells(t, t.work[row, c.RESERVATION])
        t.work[row, c.RESERVATION] = c.NONE
        row = t.work[row, c.NEXT_RESERVED]


def wake_at(t: Tables, moment: int) -> None:
    """Note a moment at which there may be room for a part of what somebody asks for."""
    if moment != c.NONE and (t.state[c.WAKE] == c.NONE or moment < t.state[c.WAKE]):
        t.state[c.WAKE] = moment


def reserve(t: Tables, nom: int) -> None:
    """Keep the room of a nomination that waits for nothing but time."""
    row, ask, last = t.nom[nom, c.N_ROW], request_of(nom), c.NONE
    charge_all(t, t.nom[nom, c.N_QUEUE], ask)
    for k in range(1, t.ask[ask, 0, 0] + 1):
        cell = new_cell(t)
        t.cell[cell, c.SLOT], t.cell[cell, c.AMOUNT] = t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT]
        if last == c.NONE:
            t.work[row, c.RESERVATION] = cell
        else:
            t.cell[last, c.NEXT] = cell
        last = cell
    t.work[row, c.RESERVED], t.work[row, c.NEXT_RESERVED] = t.state[c.PASS], t.state[c.FIRST_RESERVED]
    t.state[c.FIRST_RESERVED] = row
    t.node[t.nom[nom, c.N_QUEUE], c.RESERVES] = t.state[c.PASS]
    wake_at(t, t.nom[nom, c.N_LATER])


def best_nomination(t: Tables) -> int:
    """The best of what all queues put up; NONE where nobody puts up anything."""
    anything = False
    for queue in range(t.state[c.QUEUES]):
        node = t.pool[t.state[c.QUEUE_NODES] + queue]
        t.node[node, c.ENTRY] = 0
        if t.node[node, c.LINE] != c.NONE and t.node[node, c.CLOSED] != t.state[c.PASS]:
            if put_up(t, queue, node):
                t.node[node, c.ENTRY] = 1
                anything = True
            else:
                t.node[node, c.CLOSED] = t.state[c.PASS]
    return next_entry(t) if anything else c.NONE


def put_up(t: Tables, queue: int, node: int) -> bool:
    """Nominate the first workload of a queue for which something can be done; say whether there is one."""
    stamp = t.state[c.PASS]
    if t.node[node, c.STRICT] and t.node[node, c.RESERVES] == stamp:
        return False
    row = first_in_line(t, node)
    while row != c.NONE:
        skipped = t.work[row, c.PASSED_OVER] == stamp or t.work[row, c.RESERVED] == stamp
        if not skipped and t.shape[t.work[row, c.SHAPE], c.REFUSED] != stamp:
            nominate(t, row, queue, c.NONE, c.NONE)
            if runs(t, queue) or t.nom[queue, c.N_UNTIL] != c.NONE:
                return True
            wake_at(t, t.nom[queue, c.N_LATER])
            if t.state[c.HAS_SUPERIORS]:  # it may evict fewer than others that ask for the same
                t.work[row, c.PASSED_OVER] = stamp
            else:
                t.shape[t.work[row, c.SHAPE], c.REFUSED] = stamp
            if t.node[node, c.STRICT]:
                return False
        row = next_in_line(t, row)
    return False


def carry_out(t: Tables, nom: int) -> None:
    """Evict the victims in the order in which they were chosen, end whom it replaces, and admit it; all of it is recorded."""
    row = t.nom[nom, c.N_ROW]
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
    admit(t, nom)
