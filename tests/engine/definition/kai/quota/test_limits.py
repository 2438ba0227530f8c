"""What a queue may hold at most: limits, and what is owned for workloads that may not be evicted."""

from gpol.engine.definition.kai.quota.limits import Excess, OverReason, over_capacity, over_limit, over_quota
from kai_standings import gpus, queue


def test_a_limit_of_any_queue_above_binds() -> None:
    """The queue has room, its parent has not."""
    tree = [queue(0, limit=4, held=3), queue(1, parent=0, limit=8, held=1)]
    assert over_limit(tree, 1, gpus(1)) is None
    assert over_limit(tree, 1, gpus(2)) == Excess(OverReason.OVER_LIMIT, 0, 2)


def test_the_nearest_queue_is_named() -> None:
    """Where several limits are exceeded, the lowest one is told."""
    tree = [queue(0, limit=0), queue(1, parent=0, limit=0)]
    assert over_capacity(tree, 1, gpus(1), preemptible=True) == Excess(OverReason.OVER_LIMIT, 1, 2)


def test_who_may_not_be_evicted_keeps_within_what_is_owned() -> None:
    """What counts is what such workloads hold, not what all hold."""
    tree = [queue(owned=4, held=9, for_good=3)]
    assert over_quota(tree, 0, gpus(1), preemptible=False) is None
    assert over_capacity(tree, 0, gpus(2), preemptible=False) == Excess(OverReason.OVER_QUOTA, 0, 2)
    assert over_capacity(tree, 0, gpus(2), preemptible=True) is None


def test_what_is_not_asked_for_exceeds_nothing() -> None:
    """A queue that is over its limit of GPUs may take pods without any."""
    assert over_limit([queue(limit=1, held=2)], 0, gpus(0)) is None
