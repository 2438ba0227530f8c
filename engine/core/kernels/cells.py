"""Lists of cells: a cell of `cell` says which one follows it. There is always a free one: `store.py` sees to that."""

from .. import columns as c
from ..tables import Tables


def cell_before(t: Tables, following: int) -> int:
    """A free cell put before a list (NONE: an empty one). A free cell says how far behind the one after it the next free one stands."""
    cell = t.state[c.FREE_CELL]
    t.state[c.FREE_CELL] = cell + 1 + t.cell[cell, c.NEXT]
    t.state[c.FREE_CELLS] -= 1
    t.cell[cell, c.NEXT] = following
    return cell


def free_cells(t: Tables, cell: int) -> None:
    """Give a list of cells back."""
    while cell >= 0:
        following = t.cell[cell, c.NEXT]
        t.cell[cell, c.NEXT] = t.state[c.FREE_CELL] - cell - 1
        t.state[c.FREE_CELL] = cell
        t.state[c.FREE_CELLS] += 1
        cell = following
