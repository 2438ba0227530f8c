"""Borrowing and lending of one flavor: by hand, and for whatever is owned, used and there."""

import pytest
from gpol.sim.measure.lending import FlavorLending
from hypothesis import given
from hypothesis import strategies as st

AMOUNTS = st.integers(0, 2**40)
QUEUES = st.dictionaries(st.sampled_from("abcdef"), st.tuples(AMOUNTS, AMOUNTS), max_size=6)


def _pool(exists: int, **queues: tuple[int, int]) -> FlavorLending:
    pool = FlavorLending(exists=exists)
    for queue, (owned, used) in queues.items():
        pool.put(queue, owned, used)
    pool.share_out()
    return pool


def test_what_is_borrowed_comes_from_idle_owners_in_proportion() -> None:
    """Of 16 that are owned a guest uses 8: three quarters come from the owner of 12, a quarter from the owner of 4."""
    pool = _pool(16, big=(12, 0), small=(4, 0), guest=(0, 8))

    assert (pool.borrowed, pool.lent, pool.lends) == (8, 8, {"big": 6, "small": 2, "guest": 0})
    assert [pool.borrows(queue) for queue in ("big", "small", "guest", "nobody")] == [0, 0, 8, 0]


def test_what_nobody_owns_is_used_first() -> None:
    """With 6 of 16 that no queue owns, 4 are borrowed from nobody, and of 8 the owner lends 2."""
    assert _pool(16, owner=(10, 0), guest=(0, 4)).lent == 0
    assert _pool(16, owner=(10, 0), guest=(0, 8)).lends == {"owner": 2, "guest": 0}


def test_parts_add_up_where_they_do_not_divide() -> None:
    """Three owners lend 100 in thirds: rounded, but exactly 100."""
    pool = _pool(300, a=(100, 0), b=(100, 0), c=(100, 0), guest=(0, 100))

    assert (list(pool.lends.values()), sum(pool.lends.values())) == ([33, 33, 34, 0], 100)


def test_use_beyond_what_exists_is_lent_by_nobody() -> None:
    """When machines break under a guest that uses 8, an owner with 4 idle lends those."""
    assert _pool(4, owner=(4, 0), guest=(0, 8)).lends == {"owner": 4, "guest": 0}


def test_changes_are_told() -> None:
    """Sharing out says by how much each queue's part changed, so that sums over flavors can follow."""
    pool = FlavorLending(exists=8)
    pool.put("owner", 8, 0)
    assert pool.share_out() == {}
    pool.put("guest", 0, 8)
    assert pool.share_out() == {"owner": 8, "guest": 0}
    pool.put("guest", 0, 2)
    assert pool.share_out() == {"owner": -6, "guest": 0}
    pool.put("guest", 0, 0)
    assert pool.share_out() == {"owner": -2, "guest": 0}


@given(exists=AMOUNTS, before=QUEUES, after=QUEUES)
def test_the_books_balance(exists: int, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> None:
    """Whatever was before: what is borrowed, less what is used of the unowned or beyond what exists, is lent, and only what is idle."""
    pool = FlavorLending(exists=exists)
    told: dict[str, int] = {}
    for queues in (before, after):
        for queue, (owned, used) in queues.items():
            pool.put(queue, owned, used)
        for queue, change in pool.share_out().items():
            told[queue] = told.get(queue, 0) + change
    queues = before | after

    owned, used = (sum(amounts) for amounts in zip(*queues.values(), strict=True)) if queues else (0, 0)
    borrowed = sum(max(0, used - owned) for owned, used in queues.values())
    of_the_unowned = min(borrowed, max(0, exists - owned))
    beyond = max(0, used - max(exists, owned))
    assert sum(pool.borrows(queue) for queue in queues) == pool.borrowed == borrowed
    assert pool.lent == sum(pool.lends.values()) == sum(told.values()) == borrowed - of_the_unowned - beyond
    assert all(0 <= lent <= max(0, queues[queue][0] - queues[queue][1]) for queue, lent in told.items())


@pytest.mark.parametrize("factor", [1, 7, 1000])
def test_scaling_scales(factor: int) -> None:
    """All amounts times a number: what is borrowed and lent is that number of times as much."""
    pool = _pool(16 * factor, big=(12 * factor, 0), small=(4 * factor, 0), guest=(0, 8 * factor))

    assert pool.lends == {"big": 6 * factor, "small": 2 * factor, "guest": 0}
