"""Queues that say what they deserve, side by side and as a tree."""

from collections.abc import Sequence

import pytest
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.model.volcano_settings import HIERARCHY, VolcanoPlugin
from gpol.engine.definition.volcano.shares.capacity import ANCESTORS, Capacity
from gpol.engine.definition.volcano.shares.resource_rows import UNLIMITED
from volcano_cycles import GivenJob, GivenQueue, cycle_with

TOTAL = (12_000, 12_000, 8_000)
FLAT = VolcanoPlugin("capacity", frozenset())
POD = (1_000, 1_000, 0)


def _tree(levels: int = 0) -> VolcanoPlugin:
    return VolcanoPlugin("capacity", frozenset({HIERARCHY}), {ANCESTORS: levels})


def _flat(queues: Sequence[GivenQueue], jobs: Sequence[GivenJob]) -> Capacity:
    return Capacity(cycle_with(TOTAL, queues, jobs), FLAT)


def test_figures_side_by_side() -> None:
    """A queue may have what others are not guaranteed, up to its capability; it deserves no more, and no less than its guarantee."""
    queues = [
        GivenQueue("a", deserved=(20_000, 2_000, None), limit=(9_000, 0, None)),
        GivenQueue("b", deserved=(1_000, None, None), guarantee=(2_000, 0, 1_000)),
    ]
    capacity = _flat(queues, [GivenJob("a", POD, running=3), GivenJob("b", POD, running=1)])
    a, b = capacity.books.books[1], capacity.books.books[2]
    assert list(a.real)[:3] == [9_000, 12_000, 7_000]
    assert list(a.deserved)[:3] == [9_000, 2_000, None]
    assert list(b.real)[:3] == [12_000, 12_000, 8_000]
    assert list(b.deserved)[:3] == [2_000, 0, 1_000]
    assert capacity.share(1) == capacity.share(2) * 3


def test_who_deserves_nothing_comes_last_among_equals() -> None:
    """A queue without anything deserved has share 1, and comes after one that has all it deserves."""
    queues = [GivenQueue("a"), GivenQueue("b", deserved=(1_000, 1_000, None))]
    capacity = _flat(queues, [GivenJob("a", POD, waiting=1), GivenJob("b", POD, running=1)])
    assert [capacity.share(1), capacity.share(2)] == [1, 1]
    assert capacity.queue_order(1, 2) == 1


def test_a_queue_borrows_up_to_its_capability_and_takes_back_what_it_deserves() -> None:
    """Room is given up to the capability; room of others only while something stays within what is deserved."""
    queues = [GivenQueue("a", deserved=(2_000, 2_000, None), limit=(3_000, None, None)), GivenQueue("b", deserved=(4_000, 4_000, None))]
    capacity = _flat(queues, [GivenJob("a", POD, running=2, waiting=1), GivenJob("b", POD, running=6, waiting=1)])
    waiting = [pod for pod in capacity.session.pods if pod.node < 0]
    assert [capacity.allocatable(queue, waiting[queue - 1]) for queue in (1, 2)] == [True, True]
    assert [capacity.preemptive(queue, waiting[queue - 1]) for queue in (1, 2)] == [False, False]
    victims = capacity.victims(waiting[0], [pod for pod in capacity.session.pods if pod.workload == 1 and pod.node == 0])
    assert len(victims) == 2


def test_no_one_takes_what_is_guaranteed() -> None:
    """A candidate stays if its queue would fall below its guarantee, even if the queue has too much of something else."""
    queues = [GivenQueue("a", deserved=(4_000, 4_000, None)), GivenQueue("b", deserved=(None, 1_000, None), guarantee=(2_000, 0, 0))]
    capacity = _flat(queues, [GivenJob("a", POD, waiting=4), GivenJob("b", POD, running=4)])
    victims = capacity.victims(capacity.session.pods[0], [pod for pod in capacity.session.pods if pod.node == 0])
    assert len(victims) == 2


TREE = [
    GivenQueue("root"),
    GivenQueue("a", deserved=(8_000, 8_000, 4_000), limit=(9_000, None, None), parent="root"),
    GivenQueue("b", deserved=(4_000, 4_000, None), guarantee=(2_000, 0, 0), parent="root"),
    GivenQueue("a1", deserved=(4_000, 4_000, None), guarantee=(1_000, 0, 0), parent="a"),
    GivenQueue("a2", deserved=(4_000, 4_000, None), parent="a"),
]
"""Two branches, one of which has two leaves; numbers 1 to 5."""


def test_figures_of_a_tree() -> None:
    """Capabilities are inherited, guarantees of brothers are left out, and the root deserves what those below it do."""
    capacity = Capacity(cycle_with(TOTAL, TREE, [GivenJob("a1", POD, running=1), GivenJob("b", POD, running=2)]), _tree())
    real = {queue: list(book.real)[:3] for queue, book in capacity.books.books.items()}
    assert real[1] == [UNLIMITED, UNLIMITED, 1 << 63]
    assert real[2][0] == 9_000
    assert real[4][0] == 9_000
    assert real[5][0] == 8_000
    assert list(capacity.books.books[1].deserved)[:3] == [12_000, 12_000, 4_000]
    assert capacity.books.allocated(1)[:2] == [3_000, 3_000]


def test_a_leaf_is_held_by_all_above_it() -> None:
    """Room is refused where a queue above would exceed what it may have, and PodGroups are let in by all above."""
    jobs = [GivenJob("a1", POD, running=5, waiting=1), GivenJob("a2", POD, running=4, waiting=1, phase=GroupPhase.PENDING, least=POD)]
    capacity = Capacity(cycle_with(TOTAL, TREE, jobs), _tree())
    waiting = [pod for pod in capacity.session.pods if pod.node < 0]
    assert not capacity.allocatable(4, waiting[0])
    assert capacity.enqueueable(capacity.session.workloads[1]) == 1
    less = [GivenJob("a1", POD, running=4, waiting=1), GivenJob("a2", POD, running=4)]
    capacity = Capacity(cycle_with(TOTAL, TREE, less), _tree())
    assert capacity.allocatable(4, next(pod for pod in capacity.session.pods if pod.node < 0))


def test_near_relatives_are_evicted_first() -> None:
    """Of victims of several queues, those of the deepest common queue go first."""
    capacity = Capacity(cycle_with(TOTAL, TREE, [GivenJob("a1", POD, waiting=1)]), _tree())
    assert capacity.victim_queue_order(5, 3, 4) == -1
    assert capacity.victim_queue_order(3, 5, 4) == 1
    assert capacity.victim_queue_order(3, 3, 4) == 0


@pytest.mark.parametrize("levels", [0, 1])
def test_queues_above_are_asked_where_the_argument_says_so(levels: int) -> None:
    """With `ancestorReclaimLevel` a queue above one that has all it deserves may still take, and one above a victim's may still refuse."""
    jobs = [GivenJob("a1", POD, running=4, waiting=1), GivenJob("b", POD, running=6, waiting=1)]
    capacity = Capacity(cycle_with(TOTAL, TREE, jobs), _tree(levels))
    waiting = [pod for pod in capacity.session.pods if pod.node < 0]
    assert capacity.preemptive(4, waiting[0]) == bool(levels)
    loser = [GivenJob("a2", POD, running=5), GivenJob("b", POD, running=1, waiting=1)]
    capacity = Capacity(cycle_with(TOTAL, TREE, loser), _tree(levels))
    candidates = [pod for pod in capacity.session.pods if pod.workload == 0]
    victims = capacity.victims(next(pod for pod in capacity.session.pods if pod.node < 0), candidates)
    assert len(victims) == (0 if levels else 1)


def test_what_is_no_tree_refuses_everything() -> None:
    """PodGroups of a queue that has others below it, or a queue that is not below the root, stop all."""
    for queues, name in ((TREE, "a"), ([*TREE, GivenQueue("lost")], "a1")):
        capacity = Capacity(cycle_with(TOTAL, queues, [GivenJob(name, POD, waiting=1)]), _tree())
        queue = capacity.session.workloads[0].queue
        assert not capacity.ready
        assert not capacity.allocatable(queue, capacity.session.pods[0])
        assert capacity.enqueueable(capacity.session.workloads[0]) == -1
