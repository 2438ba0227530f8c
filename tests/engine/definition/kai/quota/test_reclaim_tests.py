"""Who may reclaim, from whom, and which victims may go together."""

from fractions import Fraction

from gpol.engine.definition.kai.quota.reclaim_tests import Taker, can_reclaim, keeps_victim, leveled, may_owe, may_reclaim, saturated
from gpol.engine.definition.kai.quota.strategies import may_be_taken, over_owned
from kai_standings import gpus, queue

TWO = [queue(0, owned=2, due=4, held=1), queue(1, owned=2, due=4, held=5)]
"""Two queues side by side: the second is over its share."""


def test_nobody_reclaims_beyond_its_fair_share() -> None:
    """3 more make 4, which is due; 4 more are too many."""
    assert can_reclaim(TWO, Taker(0, gpus(3), preemptible=True))
    assert not can_reclaim(TWO, Taker(0, gpus(4), preemptible=True))


def test_who_may_not_be_evicted_reclaims_within_what_is_owned() -> None:
    """It owns 2."""
    assert can_reclaim(TWO, Taker(0, gpus(2), preemptible=False))
    assert not can_reclaim(TWO, Taker(0, gpus(3), preemptible=False))


def test_a_queue_that_is_over_its_share_may_end_below_it() -> None:
    """The share is compared before a victim goes: of 5 held and 4 due one victim of 3 may go, but no other after it."""
    taker = Taker(0, gpus(3), preemptible=True)
    assert may_reclaim(TWO, taker, {1: [gpus(3)]})
    assert not may_reclaim(TWO, taker, {1: [gpus(3), gpus(1)]})


def test_who_is_owed_what_it_owns_takes_what_others_do_not_own() -> None:
    """Within its share, a queue with more than it owns gives to one that would still be within what it owns."""
    tree = [queue(0, owned=2, due=2), queue(1, owned=2, due=4, held=4)]
    assert may_be_taken(gpus(2), tree[0], tree[1], gpus(4))
    assert not may_be_taken(gpus(3), tree[0], tree[1], gpus(4))
    assert not may_be_taken(gpus(2), tree[0], tree[1], gpus(2))
    assert over_owned(tree[1], gpus(3))


def test_victims_are_looked_at_only_where_a_strategy_could_let_them_go() -> None:
    """A taker beyond what it owns looks at queues over their share; one within it at those over what they own, or exactly at it."""
    tree = [queue(0, owned=1, due=4), queue(1, owned=2, due=4, held=3), queue(2, owned=4, due=4, held=3), queue(3, owned=2, due=2, held=3)]
    beyond, within = Taker(0, gpus(2), preemptible=True), Taker(0, gpus(1), preemptible=True)
    assert [keeps_victim(tree, beyond, number) for number in (1, 2, 3)] == [False, False, True]
    assert [keeps_victim(tree, within, number) for number in (1, 2, 3)] == [True, False, True]
    assert may_owe(queue(owned=3, held=3), gpus(1))
    assert may_owe(queue(owned=None, held=3), gpus(1))


def test_queues_are_compared_where_their_lines_part() -> None:
    """Of queues in two departments these are compared; below one department the queues themselves."""
    tree = [queue(0), queue(1), queue(2, parent=0), queue(3, parent=1), queue(4, parent=0)]
    assert [each.number for each in leveled(tree, 2, 3)] == [0, 1]
    assert [each.number for each in leveled(tree, 2, 4)] == [2, 4]
    assert [each.number for each in leveled(tree, 2, 2)] == [2, 2]


def test_the_taker_stays_less_saturated() -> None:
    """With 3 of 2 due the taker's side would be more saturated than the victim's with 5 of 4; the factor makes it stricter."""
    tree = [queue(0, owned=4, due=2, held=2), queue(1, owned=2, due=4, held=6)]
    taker = Taker(0, gpus(1), preemptible=True)
    assert not may_reclaim(tree, taker, {1: [gpus(1)]})
    less = [queue(0, owned=8, due=4, held=4), queue(1, owned=2, due=4, held=7)]
    assert may_reclaim(less, taker, {1: [gpus(1)]})
    assert not may_reclaim(less, taker, {1: [gpus(1)]}, saturation=Fraction(2))


def test_who_is_due_nothing_does_not_reclaim_from_who_is_due_something() -> None:
    """Something of nothing is more than any saturation; beside a queue that is due nothing, or anything, there is nothing to compare."""
    tree = [
        queue(0, owned=4, due=0),
        queue(1, owned=2, due=4, held=9),
        queue(2, owned=0, due=0, held=2),
        queue(3, owned=0, due=None, held=2),
    ]
    taker = Taker(0, gpus(1), preemptible=True)
    assert [may_reclaim(tree, taker, {number: [gpus(1)]}) for number in (1, 2, 3)] == [False, True, True]
    assert (saturated(1, 0), saturated(0, 0), saturated(5, None), saturated(1, 4)) == (None, 0, 0, Fraction(1, 4))


def test_departments_of_the_taker_are_tested_too() -> None:
    """Where its department would hold more for good than it owns, nothing goes."""
    tree = [
        queue(0, owned=1, due=4),
        queue(1, owned=2, due=4, held=6),
        queue(2, parent=0, owned=4, due=4),
        queue(3, parent=1, due=4, held=6),
    ]
    assert may_reclaim(tree, Taker(2, gpus(2), preemptible=True), {3: [gpus(2)]})
    assert not may_reclaim(tree, Taker(2, gpus(2), preemptible=False), {3: [gpus(2)]})


def test_a_limit_below_the_share_counts_as_the_share() -> None:
    """What a queue may keep is at most its limit, at least what it owns; what it owns without limit it keeps up to its limit."""
    assert queue(owned=2, limit=3, due=4).allocatable[2] == 3
    assert queue(owned=4, due=2).allocatable[2] == 4
    assert queue(owned=2, due=None).allocatable[2] == 2
    assert queue(owned=None, limit=5, due=2).allocatable[2] == 5
