"""Deciding in cycles, over tables: each queue puts up a workload, then each in turn takes its place (`definition/admission/cycle.py`)."""

import numpy as np

from .. import columns as c
from ..tables import Ints, Tables
from .flavor.plain import fits_plainly, still_fits
from .heads import finish, goes_unsaid, record_head
from .nominate import nominate
from .order import line_up, next_in_turn
from .placement.standing import charge_stands, have_room, note_standing, note_who_stands, seem_free
from .places import anything_waits, first_unparked, is_parked, next_unparked
from .preemption.candidates import rank_of_local
from .preemption.trial import give_back, take
from .quota.tree import charge_all, copy_request, uncharge_all
from .requests import plain_of, request_of, usage_of, whole_of
from .watch.parked import move_to_parked, return_tree


def next_cycle(t: Tables) -> int:
    """When the next cycle is due: at once after a fact, then every period; NONE where it would have nothing to do."""
    if t.state[c.IDLE] >= t.state[c.MOST_IDLE] or not anything_waits(t):
        return c.NONE
    return t.state[c.TIME] + (0 if t.state[c.FRESH] else t.state[c.PERIOD])


def begin_cycle(t: Tables) -> None:
    """Count a cycle, and return who is parked where something became free; the cycle is idle until it decides something."""
    t.state[c.CYCLE] += 1
    t.state[c.IDLE] += 1
    t.state[c.FRESH] = 0
    top = t.state[c.FIRST_STIRRED]
    while top != c.NONE:
        t.node[top, c.STIRRED] = 0
        return_tree(t, top)
        top = t.node[top, c.NEXT_STIRRED]
    t.state[c.FIRST_STIRRED] = c.NONE


def head(t: Tables, node: int) -> int:
    """The workload that a queue puts up: the first in turn that is not parked; NONE where there is none.

    The usage of local queues comes first, then who waits for its victims' room (unless the queue is strict), then the policy's order.
    """
    first = c.NONE if t.node[node, c.STRICT] else t.node[node, c.PREEMPTOR]
    if first != c.NONE and is_parked(t, first):
        first = c.NONE
    row = first_unparked(t, node)
    if not t.node[node, c.BY_USAGE]:
        return row if first == c.NONE else first
    best, best_rank = c.NONE, 0
    while row != c.NONE:
        rank = rank_of_local(t, row)
        if best == c.NONE or rank < best_rank or (rank == best_rank and row == first):
            best, best_rank = row, rank
        row = next_unparked(t, node, row)
    return best


def goes_on_from(t: Tables, row: int) -> int:
    """Where a search for flavors goes on (cells); at the first one again if room became free since and it is not of the cycle before."""
    cell = t.wait[t.work[row, c.WAIT], c.TRIED]
    if cell == c.NONE:
        return c.NONE
    is_new = t.node[t.work[row, c.QUEUE], c.GENERATION] > t.cell[cell, c.SCAN_GENERATION]
    return c.NONE if is_new and t.state[c.CYCLE] - t.cell[cell, c.SCAN_CYCLE] > 1 else t.cell[cell, c.NEXT]


# --- one cycle ----------------------------------------------------------------------------------------------------------


def nominate_heads(t: Tables, nodes: Ints) -> tuple[int, int]:
    """Nominate the head of each queue, and list the queues; those whose heads are turned away stand at the end.

    Return how many are nominated, and how many turned away; NONE, with nothing decided, where the tables have to grow first. Where a plain
    request fits, its record is left for `finish`, as most of many heads that fit find their room taken when they have their turn.
    """
    t.state[c.TAKEN], t.state[c.SETS_FREE], t.state[c.STAND_END], count, away = 0, 0, 0, 0, 0
    node = t.state[c.FIRST_WAITING]
    while node != c.NONE:
        if not has_room_for_one(t):
            return c.NONE, 0
        queue, row = t.node[node, c.QUEUE_INDEX], c.NONE if t.node[node, c.INACTIVE] else head(t, node)
        following = t.node[node, c.WAITING_AFTER]  # before the node moves to another list
        if t.node[node, c.INACTIVE]:
            pass  # its line was not looked at, so it stays in its list
        elif row == c.NONE:
            move_to_parked(t, node)
        elif t.work[row, c.TURNED_AWAY]:
            t.nom[queue, c.N_ROW], t.nom[queue, c.N_QUEUE] = row, node
            t.nom[queue, c.N_ENDED] = c.ENDS_TURNED_AWAY
            away += 1
            nodes[len(nodes) - away] = node
        else:
            if t.wait[t.work[row, c.WAIT], c.TRIED] != c.NONE or not fits_plainly(t, row, queue):
                nominate(t, row, queue, goes_on_from(t, row), c.NONE)
                record_head(t, queue)
                t.state[c.STAND_END] += t.nom[queue, c.N_STANDS]
                if t.nom[queue, c.N_VICTIMS] > 0 or t.nom[queue, c.N_REPLACED] != c.NONE:
                    t.state[c.SETS_FREE] = 1
            t.nom[queue, c.N_ENDED], t.nom[queue, c.N_UNSAID] = c.NONE, int(goes_unsaid(t, queue))
            nodes[count] = node
            count += 1
        node = following
    return count, away


def has_room_for_one(t: Tables) -> bool:
    """Whether there is room for the record, the victims and the places of one more nomination."""
    if t.state[c.PLACES] and len(t.stand) - t.state[c.STAND_END] < t.state[c.STAND_NEED]:
        return False
    return len(t.tape) - t.state[c.TAPE_END] >= t.state[c.TAPE_NEED] and len(t.taken) - t.state[c.TAKEN] >= t.state[c.LIVE]


def run_cycle(t: Tables) -> int:
    """Run one cycle at the present moment; return MORE, with nothing decided, where the tables have to grow first.

    What is charged in its course is taken back at the end. Heads end in the order of their turns, which `ended` keeps.
    """
    start, nodes = t.state[c.TAPE_END], np.empty(t.state[c.NODES], np.int64)
    count, away = nominate_heads(t, nodes)
    if count == c.NONE or t.state[c.FREE_CELLS] < t.state[c.CELLS_NEED]:
        t.state[c.TAPE_END] = start
        return c.MORE
    ended, done, unrecorded = np.empty(count + away, np.int64), 0, 0
    gone, gone_count = np.empty(max(1, t.state[c.LIVE]), np.int64), 0
    nom, passed = line_up(t, nodes, count), 0
    note_who_stands(t)
    while nom != c.NONE and has_room_for_one(t):
        gone_count = process(t, nom, gone, gone_count)
        overtaken = t.nom[nom, c.N_ENDED] == c.ENDS_OVERTAKEN
        if not overtaken or not t.nom[nom, c.N_UNSAID]:
            ended[done] = nom
            done += 1
            unrecorded += t.nom[nom, c.N_IS_PLAIN]
        nom = next_in_turn(t, t.nom[nom, c.N_QUEUE])
        if overtaken and not t.state[c.SETS_FREE]:
            passed = first_that_counts(t, nodes, count, passed)
            nom = c.NONE if passed == count else nom
    for i in range(done):
        take_back(t, ended[i])
    for i in range(gone_count):
        t.work[gone[i], c.GONE] = 0
    if nom != c.NONE or len(t.tape) - t.state[c.TAPE_END] - t.state[c.TAPE_NEED] < unrecorded * t.state[c.RECORD_NEED]:
        t.state[c.TAPE_END] = start
        return c.MORE
    for i in range(away):
        ended[done + i] = t.node[nodes[len(nodes) - away + i], c.QUEUE_INDEX]
    finish(t, ended[: done + away], done)
    return c.DONE


def first_that_counts(t: Tables, nodes: Ints, count: int, begin: int) -> int:
    """The first of the queues from `begin` on whose head has its turn to come, and for which that may decide or tell something.

    The others are overtaken whatever the order: in a cycle in which nobody goes for a head, room only shrinks.
    """
    for at in range(begin, count):
        nom = t.node[nodes[at], c.QUEUE_INDEX]
        if t.nom[nom, c.N_ENDED] == c.NONE and not (t.nom[nom, c.N_UNSAID] and not still_fits(t, nom)):
            return at
    return count


def take_back(t: Tables, nom: int) -> None:
    """Take back what was charged for a nomination in the course of a cycle."""
    ended = t.nom[nom, c.N_ENDED]
    if ended != c.ENDS_OVERTAKEN and t.nom[nom, c.N_STANDS] > 0 and t.nom[nom, c.N_PLACED] == 2:
        charge_stands(t, nom, -1)
    if ended == c.ADMITTED_NOW or ended == c.ENDS_NO_CANDIDATES:
        uncharge_all(t, t.nom[nom, c.N_QUEUE], whole_of(nom))
    elif ended == c.ENDS_PREEMPTING or ended == c.ENDS_DEFERRED:
        uncharge_all(t, t.nom[nom, c.N_QUEUE], request_of(nom))
    if ended == c.ADMITTED_NOW and t.nom[nom, c.N_REPLACED] != c.NONE:
        give_back(t, t.nom[nom, c.N_REPLACED])


def process(t: Tables, nom: int, gone: Ints, gone_count: int) -> int:
    """Let a nomination have its turn; `gone` are those who go for others, or whose place was taken. Return how many there are now."""
    queue = t.nom[nom, c.N_QUEUE]
    if overlaps(t, nom):
        nominate_again(t, nom, gone, gone_count, True)
    elif t.nom[nom, c.N_STANDS] > 0 and lacks_places(t, nom, gone, gone_count):
        nominate_again(t, nom, gone, gone_count, False)
    if t.nom[nom, c.N_MODE] == c.NO_FIT:
        t.nom[nom, c.N_ENDED] = c.ENDS_NO_FIT
        return gone_count
    if t.nom[nom, c.N_MODE] == c.BY_EVICTION and t.nom[nom, c.N_VICTIMS] == 0:
        t.ask[whole_of(nom), 0, 0] = 0 if t.node[queue, c.RECLAIMS] == c.POLICY_ANY else t.ask[usage_of(nom), 0, 0]
        for k in range(1, t.ask[whole_of(nom), 0, 0] + 1):
            t.ask[whole_of(nom), k, c.SLOT] = t.ask[usage_of(nom), k, c.SLOT]
            t.ask[whole_of(nom), k, c.AMOUNT] = max(0, to_reserve(t, nom, k))
        charge_all(t, queue, whole_of(nom))
        if t.node[queue, c.RECLAIMS] != c.POLICY_ANY:
            charge_its_places(t, nom)
        t.nom[nom, c.N_ENDED] = c.ENDS_NO_CANDIDATES
        return gone_count
    if overlaps(t, nom):
        t.nom[nom, c.N_ENDED] = c.ENDS_OVERLAPPING
        return gone_count
    before = gone_count
    for i in range(t.nom[nom, c.N_VICTIMS]):
        gone[gone_count] = t.taken[t.nom[nom, c.N_FIRST_VICTIM] + i]
        gone_count += 1
    out = take_gone(t, gone, gone_count)
    fit = still_fits(t, nom) and has_its_places(t, nom)
    give_gone_back(t, out)
    if fit and t.nom[nom, c.N_MODE] == c.FITS and t.nom[nom, c.N_STANDS] > 0:
        fit = stands_for_good(t, nom)
    if not fit:
        t.nom[nom, c.N_ENDED] = c.ENDS_OVERTAKEN
        return before
    if t.nom[nom, c.N_MODE] == c.FITS:
        old = t.nom[nom, c.N_REPLACED]
        if old != c.NONE:
            take(t, old)
            t.work[old, c.GONE] = 1
            gone[gone_count] = old
            gone_count += 1
        if t.nom[nom, c.N_IS_PLAIN]:
            copy_request(t, plain_of(nom), whole_of(nom))
        charge_all(t, queue, whole_of(nom))
        charge_its_places(t, nom)
        t.nom[nom, c.N_ENDED] = c.ADMITTED_NOW
        return gone_count
    for i in range(before, gone_count):
        t.work[gone[i], c.GONE] = 1
    charge_all(t, queue, request_of(nom))
    charge_its_places(t, nom)
    t.nom[nom, c.N_ENDED] = c.ENDS_PREEMPTING if t.nom[nom, c.N_MODE] == c.BY_EVICTION else c.ENDS_DEFERRED
    return gone_count


def charge_its_places(t: Tables, nom: int) -> None:
    """Keep others from the places of a nomination for the rest of the cycle."""
    if t.nom[nom, c.N_STANDS] > 0:
        charge_stands(t, nom, 1)
        t.nom[nom, c.N_PLACED] = 2  # so that it is taken back


def has_its_places(t: Tables, nom: int) -> bool:
    """Whether the places of a nomination, if it has some, seem to be free; whoever it replaces makes room."""
    if t.nom[nom, c.N_STANDS] == 0:
        return True
    old = t.nom[nom, c.N_REPLACED]
    is_in = old != c.NONE and not t.work[old, c.OUT]
    if is_in:
        take(t, old)
    free = seem_free(t, nom)
    if is_in:
        give_back(t, old)
    return free


def lacks_places(t: Tables, nom: int, gone: Ints, gone_count: int) -> bool:
    """Whether a nomination fits by quota once its victims and those of others are gone, and its places were taken by others."""
    count = gone_count
    for i in range(t.nom[nom, c.N_VICTIMS]):
        gone[count] = t.taken[t.nom[nom, c.N_FIRST_VICTIM] + i]
        count += 1
    out = take_gone(t, gone, count)
    lacks = still_fits(t, nom) and not has_its_places(t, nom)
    give_gone_back(t, out)
    return lacks


def stands_for_good(t: Tables, nom: int) -> bool:
    """Whether an admission finds room where its pods are to stand, whatever the flavor of those who stand there; it is taken then."""
    old = t.nom[nom, c.N_REPLACED]
    if old != c.NONE:
        note_standing(t, old, -1)
    return have_room(t, nom)


def take_gone(t: Tables, gone: Ints, count: int) -> Ints:
    """Take those out who go for others and are still in; return who was."""
    out, taken = np.empty(max(1, count), np.int64), 0
    for i in range(count):
        if not t.work[gone[i], c.OUT]:
            take(t, gone[i])
            out[taken] = gone[i]
            taken += 1
    return out[:taken]


def give_gone_back(t: Tables, out: Ints) -> None:
    """Undo `take_gone`."""
    for row in out:
        give_back(t, row)


def overlaps(t: Tables, nom: int) -> bool:
    """Whether somebody whom it would evict, or whose place it would take, is gone already."""
    if t.nom[nom, c.N_REPLACED] != c.NONE and t.work[t.nom[nom, c.N_REPLACED], c.GONE]:
        return True
    for i in range(t.nom[nom, c.N_VICTIMS]):
        if t.work[t.taken[t.nom[nom, c.N_FIRST_VICTIM] + i], c.GONE]:
            return True
    return False


def nominate_again(t: Tables, nom: int, gone: Ints, gone_count: int, are_gone: bool) -> None:
    """Judge a workload again, on its flavors, as things stand, or as if those who go for others were gone; if it fits then, it waits for
    them."""
    again = t.state[c.QUEUES]
    for pod_set in range(t.state[c.MOST_POD_SETS]):
        for j in range(t.state[c.MOST_RESOURCES]):
            t.choice[again, pod_set, j, c.C_FLAVOR] = t.choice[nom, pod_set, j, c.C_FLAVOR]
    out = take_gone(t, gone, gone_count if are_gone else 0)
    nominate(t, t.nom[nom, c.N_ROW], nom, c.NONE, again)
    t.state[c.STAND_END] += t.nom[nom, c.N_STANDS]
    give_gone_back(t, out)
    if are_gone and t.nom[nom, c.N_MODE] == c.FITS:
        t.nom[nom, c.N_MODE] = c.DEFERRED_FIT
    record_head(t, nom)


def to_reserve(t: Tables, nom: int, k: int) -> int:
    """What a workload that needs victims and has none keeps others from taking of a slot (Kueue: quotaResourcesToReserve)."""
    queue, slot, amount = t.nom[nom, c.N_QUEUE], t.ask[usage_of(nom), k, c.SLOT], t.ask[usage_of(nom), k, c.AMOUNT]
    used, nominal, limit = t.quota[queue, slot, c.USED], t.quota[queue, slot, c.NOMINAL], t.quota[queue, slot, c.BORROWING]
    if t.nom[nom, c.N_LEVEL] == 0:
        return max(0, min(amount, nominal - used))
    return amount if limit == c.NONE else min(amount, nominal + limit - used)
