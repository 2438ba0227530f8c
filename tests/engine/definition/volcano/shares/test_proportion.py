"""Division by weight: what queues deserve, checked by hand and by laws."""

from fractions import Fraction

from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.shares.proportion import Proportion
from hypothesis import given
from hypothesis import strategies as st
from volcano_cycles import GivenJob, GivenQueue, cycle_with

TOTAL = (12_000, 12_000, 8_000)


def _deserved(proportion: Proportion, queue: int) -> list[int | Fraction]:
    return [each or 0 for each in proportion.books.books[queue].deserved]


def test_what_one_queue_does_not_ask_for_goes_to_others() -> None:
    """Of 12 CPUs by weights 1 and 2, the second asks for 4 and gets them; the first one gets the other 8, as it asks for more."""
    jobs = [GivenJob("a", (1_000, 1_000, 0), waiting=10), GivenJob("b", (1_000, 1_000, 0), waiting=4)]
    proportion = Proportion(cycle_with(TOTAL, [GivenQueue("a"), GivenQueue("b", weight=2)], jobs))
    assert _deserved(proportion, 1)[:3] == [8_000, 8_000, 0]
    assert _deserved(proportion, 2)[:3] == [4_000, 4_000, 0]


def test_limits_and_guarantees_hold() -> None:
    """A queue deserves no more than its capability, no less than its guarantee, and what others are guaranteed is not for it."""
    queues = [GivenQueue("a", limit=(3_000, None, None)), GivenQueue("b", guarantee=(5_000, 0, 0)), GivenQueue("c")]
    jobs = [GivenJob(name, (1_000, 1_000, 0), waiting=12) for name in ("a", "b", "c")]
    proportion = Proportion(cycle_with(TOTAL, queues, jobs))
    assert _deserved(proportion, 1)[0] == 3_000
    assert _deserved(proportion, 2)[0] >= 5_000
    assert proportion.books.books[3].real[0] == 7_000


def test_a_queue_is_open_up_to_what_it_deserves() -> None:
    """Room is given up to what is deserved, without a tolerance; then the queue is overused, and others may take from it."""
    jobs = [GivenJob("a", (1_000, 1_000, 0), running=7, waiting=5), GivenJob("b", (1_000, 1_000, 0), running=5, waiting=5)]
    cycle = cycle_with(TOTAL, [GivenQueue("a"), GivenQueue("b")], jobs)
    proportion = Proportion(cycle)
    waiting = {queue: next(pod for pod in cycle.session.pods if pod.node < 0 and pod.workload == queue - 1) for queue in (1, 2)}
    assert [proportion.allocatable(queue, waiting[queue]) for queue in (1, 2)] == [False, True]
    assert [proportion.overused(queue) for queue in (1, 2)] == [False, False]
    running = cycle.session.pods_of(cycle.session.workloads[0])[:7]
    assert proportion.victims(waiting[2], running) == running[:1]
    assert proportion.queue_order(1, 2) == 1


def test_a_closed_queue_gets_nothing() -> None:
    """A queue that is not open has no room and lets nobody in."""
    cycle = cycle_with(TOTAL, [GivenQueue("a", open=False)], [GivenJob("a", (1_000, 1_000, 0), waiting=1)])
    proportion = Proportion(cycle)
    assert not proportion.allocatable(1, cycle.session.pods[0])
    assert proportion.enqueueable(cycle.session.workloads[0]) == -1


def test_pod_groups_are_let_in_up_to_what_the_queue_may_have() -> None:
    """What others were let in with counts, and what they have above their minimum does not."""
    jobs = [
        GivenJob("a", (1_000, 1_000, 0), running=6, least=(4_000, 4_000, 0)),
        GivenJob("a", (1_000, 1_000, 0), waiting=4, phase=GroupPhase.INQUEUE, least=(4_000, 4_000, 0)),
        GivenJob("a", (1_000, 1_000, 0), waiting=4, phase=GroupPhase.PENDING, least=(4_000, 4_000, 0)),
        GivenJob("a", (1_000, 1_000, 0), waiting=1, phase=GroupPhase.PENDING, least=(1_000, 1_000, 0)),
    ]
    cycle = cycle_with(TOTAL, [GivenQueue("a")], jobs)
    proportion, workloads = Proportion(cycle), cycle.session.workloads
    assert proportion.books.books[1].inqueue[:2] == [4_000, 4_000]
    assert proportion.books.books[1].elastic[:2] == [2_000, 2_000]
    assert proportion.enqueueable(workloads[2]) == 1
    proportion.enqueued(workloads[2])
    assert proportion.enqueueable(workloads[3]) == -1


_QUEUES = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 12), st.integers(0, 12), st.integers(0, 8)), min_size=1, max_size=5)


@given(_QUEUES)
def test_no_more_is_divided_than_there_is(given_queues: list[tuple[int, int, int, int]]) -> None:
    """Queues deserve no more than they ask for, and together no more than there is; what is left nobody asks for.

    Volcano ends its rounds once less than 0.1 thousandths of each resource are left (pkg/scheduler/api/resource_info.go, minResource).
    """
    queues = [GivenQueue(f"q{number}", weight=weight) for number, (weight, _, _, _) in enumerate(given_queues)]
    jobs = []
    for number, (_, cpu, both, gpu) in enumerate(given_queues):
        sizes = (((1_000, 0, 0), cpu), ((1_000, 1_000, 0), both), ((0, 0, 1_000), gpu))
        jobs += [GivenJob(f"q{number}", size, waiting=count) for size, count in sizes]
    proportion = Proportion(cycle_with(TOTAL, queues, jobs))
    books = [proportion.books.books[number + 1] for number in range(len(queues))]
    for index, there in enumerate(TOTAL):
        deserved = [book.deserved[index] or 0 for book in books]
        asked = [book.request[index] for book in books]
        assert all(one <= other for one, other in zip(deserved, asked, strict=True))
        assert sum(deserved) <= there + Fraction(1, 100)
        assert sum(deserved) + Fraction(1, 10) >= min(there, sum(asked))
