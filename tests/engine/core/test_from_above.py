"""What a head needs from above its queue is kept as long as it holds, and says what a look at all quotas on the path would say."""

from collections import Counter

from fuzzing import queues_after
from gpol.engine.core import columns as c
from gpol.engine.core.kernels.flavor.plain import has_room_above, level_above, note_from_above
from gpol.engine.core.kernels.quota.tree import exceeds_owned, fits, level_that_fits
from gpol.engine.core.kernels.requests import plain_of
from gpol.engine.core.tables import Tables

HISTORIES = 14
FACTS = 80


def test_what_heads_need_from_above_is_kept_while_it_holds() -> None:
    """After every fact of some histories, in cycles and at once."""
    seen = Counter[str]()
    for tables, queue in queues_after("from above", HISTORIES, FACTS):
        if is_noted(tables, queue):
            seen.update(checked(tables, queue))
    assert min(seen["has room"], seen["has none"]) > 50, seen


def is_noted(t: Tables, queue: int) -> bool:
    """Whether it is noted of somebody who waits in a queue what it asks for, and what it needs from above. What it asks for is forgotten
    where the tables grow; and its row may have gone to another one since."""
    row = t.node[queue, c.NEEDS_OF]
    if row == c.NONE or t.nom[t.node[queue, c.QUEUE_INDEX], c.N_NOTED] != row + 1:
        return False
    return bool(t.work[row, c.QUEUE] == queue and t.when[row, c.NUMBER] > 0 and t.work[row, c.WAIT] != c.NONE)


def checked(t: Tables, queue: int) -> list[str]:
    """Whether the head of a queue has room, as things are and with more of all above it, where what is kept is as it would be found now."""
    row, nom, top = int(t.node[queue, c.NEEDS_OF]), int(t.node[queue, c.QUEUE_INDEX]), int(t.node[queue, c.TOP])
    asks = [(int(slot), int(asked)) for _, slot, asked in t.ask[plain_of(nom), 1 : int(t.ask[plain_of(nom), 0, 0]) + 1]]
    kept = t.plain[nom, : len(asks) + 1].copy()
    note_from_above(t, row, nom)
    assert kept[:-1].tolist() == t.plain[nom, : len(asks)].tolist()
    assert kept[-1, c.E_SLOT] == c.NONE
    found = [room_as_known(t, queue, nom, asks)]
    if top != queue:
        for slot, asked in asks:
            t.quota[top, slot, c.OWNED] += asked
            t.slot[slot, c.CAPACITY] += asked
        found.append(room_as_known(t, queue, nom, asks))
        for slot, asked in asks:
            t.quota[top, slot, c.OWNED] -= asked
            t.slot[slot, c.CAPACITY] -= asked
    return found


def room_as_known(t: Tables, queue: int, nom: int, asks: list[tuple[int, int]]) -> str:
    """Whether the head of a queue has room by what is kept, which is what all quotas on its path say."""
    looks_on = bool(t.node[queue, c.LOOKS_ON_BORROWING]) and any(exceeds_owned(t, queue, *ask) for ask in asks)
    found = has_room_above(t, queue, nom)
    assert found == (fits(t, queue, plain_of(nom)) and not looks_on)
    if found:
        assert level_above(t, queue, nom) == max(level_that_fits(t, queue, *ask)[0] for ask in asks)
    return "has room" if found else "has none"
