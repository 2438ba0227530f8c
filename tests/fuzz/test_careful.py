"""Careful tables refuse what is no row, in the kernels and in the arrays that they make."""

import numpy as np
import pytest
from careful import Careful, careful_kernels
from gpol.dsl import compile_policy
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.core.store import TableStore
from policy_draws import PROFILES

POLICY = 'policy "p" { use gpol.fair }\nflavor f { gpu 4 }\nqueue q { owns 4 gpu }\n'


@pytest.mark.parametrize("index", [-1, 3, (0, -1), (2, 2), slice(-1, 2), slice(0, 4), (0, slice(1, 3))])
def test_an_index_of_no_row_is_refused(index: object) -> None:
    """Below 0 as well as beyond the end, when it is read and when it is written."""
    table = np.zeros((3, 2), np.int64).view(Careful)
    with pytest.raises(IndexError):
        table[index]
    with pytest.raises(IndexError):
        table[index] = 0


def test_a_row_stays_careful() -> None:
    """A part of a careful array is careful, and writes into the same memory."""
    table = np.zeros((3, 2), np.int64)
    row = table.view(Careful)[1]
    row[1] = 7
    assert table[1, 1] == 7
    with pytest.raises(IndexError):
        row[-1]


def test_kernels_on_careful_tables() -> None:
    """A kernel that is asked for the row NONE takes the last one as it stands, and is refused on careful tables."""
    store = TableStore(compile_policy(POLICY, "p.gpol", PROFILES), [4000], ((),), PLAIN)
    store._new_row()
    store.tables.work[:] = -1
    PLAIN.leave(store.tables, -1)
    with pytest.raises(IndexError, match="index -1 of 16 rows"):
        careful_kernels().leave(store.tables, -1)
