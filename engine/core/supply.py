"""What exists changes: the tables of the policy are made anew, and the rows of workloads, with all they hold in lists, stay."""

import numpy as np

from . import columns as c
from .policy.policy_tables import compile_policy
from .store import TableStore

_KEPT = [
    c.TIME, c.SEQ, c.CAUSE, c.SUBMISSIONS, c.CYCLE, c.IDLE, c.FRESH, c.LIVE, c.FIRST_GAVE, c.FIRST_SUPERIOR,
    c.ASKED_IN_ALL, c.FREE_ROW, c.FREE_WAIT, c.FREE_CELL, c.FREE_CELLS, c.PASS,
]  # fmt: skip
"""What stays of the state, as rows or names rest on it: all else follows from the policy and what exists, from places, or is for one
decision."""


def change_supply(store: TableStore, capacity: list[int]) -> None:
    """Let so much exist from now on, by slot, on nodes of the same sizes. Raises BeyondBoundsError, with nothing changed.

    Only for policies that decide at once: in cycles what exists is what is owned. So nobody is parked, and of passes nothing is to be kept.
    """
    old, fresh = store.tables, store.first_tables(compile_policy(store.graph, capacity, store.policy.sizes))
    fresh.state[_KEPT] = old.state[_KEPT]
    store.tables = fresh._replace(
        work=old.work, when=old.when, wait=old.wait, wish=old.wish, cell=old.cell, spec=old.spec, text=old.text, name=old.name,
        local=old.local, shape=np.zeros_like(old.shape), passed=np.zeros_like(old.passed),
    )  # fmt: skip
    store.capacity = capacity
    store.grow()
    store.kernels.enter_all(store.tables)
