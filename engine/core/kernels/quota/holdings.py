"""What running workloads hold: the amounts that are charged for them, and the flavors that their pod sets were given.

All of one demand that hold the same have the same holding, which is kept once, and as long as the demand is. So two who run in a queue are
charged the same where their holdings are the same.
"""

from ... import columns as c
from ...tables import Tables
from ..cells import cell_before, free_cells


def hold(t: Tables, row: int, charges: int, given: int) -> None:
    """Let a workload hold what two new lists of cells say: amounts by slot, and flavors given."""
    first = t.work[row, c.SPEC] + c.S_HOLDINGS
    holding = t.spec[first]
    while holding != c.NONE and not holds(t, holding, charges, given):
        holding = t.cell[holding, c.NEXT]
    if holding == c.NONE:
        holding = t.spec[first] = cell_before(t, t.spec[first])
        t.cell[holding, c.CHARGES], t.cell[holding, c.GIVEN] = charges, given
    else:
        free_cells(t, charges)
        free_cells(t, given)
    t.work[row, c.HOLDING] = holding


def holds(t: Tables, holding: int, charges: int, given: int) -> bool:
    """Whether a holding is what two lists say."""
    return are_equal(t, t.cell[holding, c.CHARGES], charges, c.AMOUNT) and are_equal(t, t.cell[holding, c.GIVEN], given, c.W_COUNT)


def are_equal(t: Tables, left: int, right: int, last: int) -> bool:
    """Whether two lists of cells say the same in the columns up to the last one that is theirs."""
    while left >= 0 and right >= 0:
        for column in range(c.NEXT + 1, last + 1):
            if t.cell[left, column] != t.cell[right, column]:
                return False
        left, right = t.cell[left, c.NEXT], t.cell[right, c.NEXT]
    return left == right


def charges_of(t: Tables, row: int) -> int:
    """The amounts that are charged for a running workload, as a list of cells."""
    return t.cell[t.work[row, c.HOLDING], c.CHARGES]


def given_to(t: Tables, row: int) -> int:
    """The flavors that the pod sets of a running workload were given, as a list of cells."""
    return t.cell[t.work[row, c.HOLDING], c.GIVEN]
