"""The tables of the core: 64-bit integers in rows, for a policy and for what runs and waits under it. `columns.py` names the columns."""

from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""An array of 64-bit integers."""

Narrow = NDArray[np.int32]
"""An array of 32-bit integers: numbers of rows and of what is in memory, and codes, but no amounts, priorities or moments."""

_CLEARED, _BY_PAGES = 2**20, 2**25 + 1
"""Bytes from which on memory is asked for in such a piece that the C library takes it from the system: a page of it is there once it is
written. Smaller pieces it may take from what was used before, and clears them by writing all of them."""

AnyInts = TypeVar("AnyInts", Ints, Narrow)


class BeyondBoundsError(ValueError):
    """Numbers for which the tables are not proven to be wide enough: the definition has to decide."""


class Tables(NamedTuple):
    """All that kernels read and write.

    Of the policy: `node` [node, column], `quota` and `watch` [node, slot, column], `slot` [slot, column], `pool` (lists and programs).
    Of workloads: `work` and `when` [row, column], of those that are pending `wait` [place, column], `wish` [place, slot, column], and
    `passed` [place] (the last pass in which it was refused as itself, or has its room reserved), `cell` (rows of lists), `spec` (what they
    ask for), `text` (identities outside), `name`, `shape` and `local`.
    Of the nodes that are compared: `asked` [place, column] (trees), `rival` (heaps), `key` [node, key, part]; in a search for victims
    `visited` (nodes) and `giver` (heaps of nodes that give). `plain` [queue, place, column] has what heads need from above their queues.
    The rest is for one nomination or one fact: `nom`, `choice`, `ask`, `pods`, `demand`, `held`, `found`, `victim`, `taken`; `tape` is what
    was decided. `job`, `past`, and `ends` or `given` are for facts that are played in a row. `state` is one row of what there is only once.
    Of places (`placed/place_tables.py`): `tree` [flavor, column], `domain`, `leaf`, `size` and `free` [leaf, resource], `size_kept` [size,
    resource]; in a cycle `there` and `standing` [place, resource], and in a search for places `lack` [leaf, resource], `filled`, `placed`
    [pod set], `stand` has the places of nominations. What fits into domains is kept: `room`
    [count, domain, column], `tally` [count, cause], `kept` [count, column]; `touched` lists the leaves where something has changed since.
    """

    state: Ints
    node: Ints
    quota: Ints
    watch: Ints
    asked: Ints
    slot: Ints
    pool: Ints
    work: Narrow
    when: Ints
    wait: Narrow
    passed: Ints
    wish: Ints
    cell: Ints
    spec: Ints
    text: Ints
    name: Narrow
    shape: Ints
    local: Ints
    rival: Ints
    visited: Ints
    giver: Ints
    key: Ints
    plain: Ints
    nom: Ints
    choice: Ints
    ask: Ints
    pods: Ints
    demand: Ints
    held: Ints
    found: Ints
    victim: Ints
    taken: Ints
    tape: Ints
    job: Ints
    ends: Ints
    given: Ints
    past: Ints
    tree: Ints
    domain: Ints
    room: Ints
    kept: Ints
    leaf: Ints
    size: Ints
    free: Ints
    there: Ints
    standing: Ints
    lack: Ints
    size_kept: Ints
    filled: Ints
    stand: Ints
    placed: Ints
    touched: Ints
    tally: Ints


def zeros(*sizes: int) -> Ints:
    """A new array."""
    return np.zeros(sizes, np.int64)


def longer(table: AnyInts, rows: int, used: int | None = None) -> AnyInts:
    """The same table with room for so many rows, at least twice as many as before. With `used` only so many of them are kept: what is never
    written takes no memory."""
    sizes = max(rows, 2 * len(table)), *table.shape[1:]
    asked, kept = prod(sizes), len(table) if used is None else used
    if table.itemsize * asked > _CLEARED:
        asked = max(asked, _BY_PAGES // table.itemsize)
    grown = np.zeros(asked, table.dtype)[: prod(sizes)].reshape(sizes)
    grown[:kept] = table[:kept]
    return grown


def used_rows(table: AnyInts) -> int:
    """How many rows there are up to the last one that is not all zeros."""
    written = np.flatnonzero(table.any(axis=1))
    return int(written[-1]) + 1 if len(written) else 0
