"""The quota tree over tables: charges, and what a queue may still use. The formulas are those of `definition/quota/tree.py`."""

from ... import columns as c
from ...tables import Tables
from .borrowers import begin_to_borrow, cease_to_borrow


def local_left(t: Tables, node: int, slot: int) -> int:
    """What is left of the quota that a node never lends."""
    return max(0, t.quota[node, slot, c.LOCAL] - t.quota[node, slot, c.USED])


def limit_left(t: Tables, node: int, slot: int) -> int:
    """How much more a node may use by its own borrowing limit; `BEYOND` where it has none."""
    limit = t.quota[node, slot, c.BORROWING]
    return c.BEYOND if limit == c.NONE else t.quota[node, slot, c.OWNED] + limit - t.quota[node, slot, c.USED]


def charge(t: Tables, queue: int, slot: int, amount: int) -> None:
    """Charge a queue; each ancestor carries what the one below cannot keep local.

    INVARIANT: no amount is negative, and only `charge` and `uncharge` change `USED`, so the list of who borrows is right (`borrowers.py`).
    """
    node, carried = queue, amount
    t.node[queue, c.NEEDS_OF] = c.NONE
    while node >= 0:
        kept = local_left(t, node, slot)
        t.quota[node, slot, c.TOTAL] += amount
        used, owned = t.quota[node, slot, c.USED], t.quota[node, slot, c.OWNED]
        t.quota[node, slot, c.USED] = used + carried
        if used <= owned < used + carried:
            begin_to_borrow(t, node)
        t.node[node, c.SHARE_IS_KNOWN], t.node[node, c.KEYS_OF] = 0, c.NONE
        carried = max(0, carried - kept)
        node = t.node[node, c.PARENT]


def uncharge(t: Tables, queue: int, slot: int, amount: int) -> None:
    """Take a charge back; what ancestors carried for it goes first. Undoes `charge` of the same amount in any order."""
    node, carried = queue, amount
    t.node[queue, c.NEEDS_OF] = c.NONE
    while node >= 0:
        beyond = max(0, t.quota[node, slot, c.USED] - t.quota[node, slot, c.LOCAL])
        t.quota[node, slot, c.TOTAL] -= amount
        used, owned = t.quota[node, slot, c.USED], t.quota[node, slot, c.OWNED]
        t.quota[node, slot, c.USED] = used - carried
        if used - carried <= owned < used:
            cease_to_borrow(t, node)
        t.node[node, c.SHARE_IS_KNOWN], t.node[node, c.KEYS_OF] = 0, c.NONE
        carried = min(carried, beyond)
        node = t.node[node, c.PARENT]


def add_to(t: Tables, ask: int, slot: int, amount: int) -> None:
    """Add a slot to a request."""
    t.ask[ask, 0, 0] += 1
    k = t.ask[ask, 0, 0]
    t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT] = slot, amount


def add_once(t: Tables, ask: int, slot: int) -> None:
    """Add a slot to a request, unless it is in it, with nothing asked of it."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        if t.ask[ask, k, c.SLOT] == slot:
            return
    add_to(t, ask, slot, 0)


def copy_request(t: Tables, source: int, target: int) -> None:
    """Copy a request in `ask`."""
    t.ask[target, 0, 0] = t.ask[source, 0, 0]
    for k in range(1, t.ask[source, 0, 0] + 1):
        t.ask[target, k, c.SLOT], t.ask[target, k, c.AMOUNT] = t.ask[source, k, c.SLOT], t.ask[source, k, c.AMOUNT]


def charge_all(t: Tables, queue: int, ask: int) -> None:
    """Charge a queue for a request."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        charge(t, queue, t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT])


def uncharge_all(t: Tables, queue: int, ask: int) -> None:
    """Take the charge for a request back."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        uncharge(t, queue, t.ask[ask, k, c.SLOT], t.ask[ask, k, c.AMOUNT])


def charge_list(t: Tables, queue: int, cell: int) -> None:
    """Charge a queue for a list of cells."""
    while cell >= 0:
        charge(t, queue, t.cell[cell, c.SLOT], t.cell[cell, c.AMOUNT])
        cell = t.cell[cell, c.NEXT]


def uncharge_list(t: Tables, queue: int, cell: int) -> None:
    """Take the charge for a list of cells back."""
    while cell >= 0:
        uncharge(t, queue, t.cell[cell, c.SLOT], t.cell[cell, c.AMOUNT])
        cell = t.cell[cell, c.NEXT]


def quota_left(t: Tables, queue: int, slot: int) -> tuple[int, int, int]:
    """What a queue may still use by quota, with the node and the kind of the limit that decides it; below 0 where there is a debt.

    On the way up every borrowing limit is one bound, and what the top owns is the last; of equal ones the lowest counts.
    """
    left, at, kind = 0, c.NONE, c.BY_OWNED
    kept, node = 0, queue
    while t.node[node, c.PARENT] >= 0:
        if t.quota[node, slot, c.BORROWING] != c.NONE:
            bound = kept + limit_left(t, node, slot)
            if at == c.NONE or bound < left:
                left, at, kind = bound, node, c.BY_BORROWING
        kept += local_left(t, node, slot)
        node = t.node[node, c.PARENT]
    bound = kept + t.quota[node, slot, c.OWNED] - t.quota[node, slot, c.USED]
    if at == c.NONE or bound < left:
        left, at, kind = bound, node, c.BY_OWNED
    return left, at, kind


def free(t: Tables, slot: int) -> int:
    """What exists and is not in use; negative while less exists than is used."""
    return t.slot[slot, c.CAPACITY] - t.quota[0, slot, c.TOTAL]


def room(t: Tables, queue: int, slot: int) -> int:
    """What a queue may still use, by quota and by what exists; may be negative."""
    left, _, _ = quota_left(t, queue, slot)
    return left if t.state[c.FOREST] else min(left, free(t, slot))


def most(t: Tables, queue: int, slot: int) -> int:
    """What a queue could use at most, were everything else idle."""
    reach = t.quota[queue, slot, c.POTENTIAL]
    return reach if t.state[c.FOREST] else min(reach, t.slot[slot, c.CAPACITY])


def fits(t: Tables, queue: int, ask: int) -> bool:
    """Whether a queue may take a request now."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        if t.ask[ask, k, c.AMOUNT] > room(t, queue, t.ask[ask, k, c.SLOT]):
            return False
    return True


def binding(t: Tables, queue: int, slot: int) -> tuple[int, int, int]:
    """The limit that decides how much of a slot a queue may still take: node, kind, and what it leaves (0 at least)."""
    left, node, kind = quota_left(t, queue, slot)
    if not t.state[c.FOREST] and free(t, slot) <= max(0, left):
        left, node, kind = free(t, slot), 0, c.BY_CAPACITY
    return node, kind, max(0, left)


def binding_at_most(t: Tables, queue: int, slot: int) -> tuple[int, int, int]:
    """The limit on what a queue could use of a slot were everything else idle: node, kind, and how much that is."""
    reach = max(0, most(t, queue, slot))
    if not t.state[c.FOREST] and t.slot[slot, c.CAPACITY] <= t.quota[queue, slot, c.POTENTIAL]:
        return 0, c.BY_CAPACITY, reach
    node = queue
    while t.node[node, c.PARENT] >= 0:
        limit = t.quota[node, slot, c.BORROWING]
        if limit != c.NONE and t.quota[node, slot, c.POTENTIAL] == t.quota[node, slot, c.OWNED] + limit:
            return node, c.BY_BORROWING, reach
        node = t.node[node, c.PARENT]
    return node, c.BY_OWNED, reach


def exceeds_owned(t: Tables, node: int, slot: int, amount: int) -> bool:
    """Whether a node would use more than its subtree owns, with this amount on top."""
    return t.quota[node, slot, c.USED] + amount > t.quota[node, slot, c.OWNED]


def exceeds_limit(t: Tables, node: int, ask: int) -> bool:
    """Whether the borrowing limit of a node does not allow a request there as use is now."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        if t.ask[ask, k, c.AMOUNT] > limit_left(t, node, t.ask[ask, k, c.SLOT]):
            return True
    return False


def borrows(t: Tables, node: int, ask: int) -> bool:
    """Whether a node uses more than its subtree owns of some slot of a request."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        if exceeds_owned(t, node, t.ask[ask, k, c.SLOT], 0):
            return True
    return False


def would_borrow(t: Tables, node: int, queue: int, ask: int) -> bool:
    """The same with the request charged to a queue at or below the node."""
    for k in range(1, t.ask[ask, 0, 0] + 1):
        slot = t.ask[ask, k, c.SLOT]
        if exceeds_owned(t, node, slot, would_carry(t, node, queue, slot, max(0, t.ask[ask, k, c.AMOUNT]))):
            return True
    return False


def level_that_fits(t: Tables, queue: int, slot: int, amount: int) -> tuple[int, bool]:
    """The height from which an amount could come (of the top where none has enough), and whether something above could still lend."""
    node = queue
    while exceeds_owned(t, node, slot, amount) and t.node[node, c.PARENT] >= 0:
        amount -= local_left(t, node, slot)
        node = t.node[node, c.PARENT]
    return t.node[node, c.HEIGHT], t.node[node, c.PARENT] >= 0


def carried_at(t: Tables, node: int, queue: int, slot: int, amount: int) -> int:
    """How much of a charge of a queue a node above it (or itself) carries: what would go there were the charge taken back."""
    below = queue
    while below != node:
        amount = min(amount, max(0, t.quota[below, slot, c.USED] - t.quota[below, slot, c.LOCAL]))
        below = t.node[below, c.PARENT]
    return amount


def would_carry(t: Tables, node: int, queue: int, slot: int, amount: int) -> int:
    """How much of a charge of a queue a node above it (or itself) would carry."""
    below = queue
    while below != node:
        amount = max(0, amount - local_left(t, below, slot))
        below = t.node[below, c.PARENT]
    return amount


def sides(t: Tables, left: int, right: int) -> tuple[int, int]:
    """The nodes just below where the paths of two queues of one tree meet."""
    while t.node[left, c.DEPTH] > t.node[right, c.DEPTH]:
        left = t.node[left, c.PARENT]
    while t.node[right, c.DEPTH] > t.node[left, c.DEPTH]:
        right = t.node[right, c.PARENT]
    while t.node[left, c.PARENT] != t.node[right, c.PARENT]:
        left, right = t.node[left, c.PARENT], t.node[right, c.PARENT]
    return left, right


def next_node(t: Tables, node: int, top: int, first: int = c.FIRST_CHILD, beside: int = c.NEXT_CHILD) -> int:
    """The node after another one, of all at or below `top`, each before those below it; NONE after the last one.

    `first` and `beside` are the columns to follow: of all children, or of those that borrow (`FIRST_BORROWER`, `BORROWER_AFTER`).
    """
    below = t.node[node, first]
    return below if below != c.NONE else next_beside(t, node, top, beside)


def next_beside(t: Tables, node: int, top: int, beside: int = c.NEXT_CHILD) -> int:
    """The same without those below the node."""
    while node != top and t.node[node, beside] == c.NONE:
        node = t.node[node, c.PARENT]
    return c.NONE if node == top else t.node[node, beside]


def is_below(t: Tables, node: int, top: int) -> bool:
    """Whether a node is another one or below it."""
    while node >= 0:
        if node == top:
            return True
        node = t.node[node, c.PARENT]
    return False


def all_borrow(t: Tables, queue: int, node: int, ask: int) -> bool:
    """Whether a node, and all above it below where its path meets that of a queue, use more than they own of some slot of a request."""
    _, theirs = sides(t, queue, node)
    while borrows(t, node, ask):
        if node == theirs:
            return True
        node = t.node[node, c.PARENT]
    return False
