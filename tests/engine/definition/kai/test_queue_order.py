"""Which of two queues comes first: each test decides where those before it see no difference."""

import pytest
from gpol.engine.definition.kai.kai_cycle import KaiCycle
from gpol.engine.definition.kai.order.queues import QUEUE_KEYS, Contender, queue_sooner
from gpol.engine.definition.kai.order.workload_line import Line
from gpol.engine.definition.kai.settings import ALL_QUEUE_KEYS, QueueKey
from kai_clusters import WAITS, Job, Queue, cycle

_NOTHING: tuple[int, ...] = ()


def _two(left: Queue, right: Queue, held: tuple[int, int], wanted: tuple[int, int] = (1, 1)) -> KaiCycle:
    """Two queues that hold some GPUs each and want some more, on one node of 16."""
    jobs = [Job(f"held{at}", at, 1, (0,) * count) for at, count in enumerate(held) if count]
    jobs += [Job(f"wants{at}", at, 1, (WAITS,) * count) for at, count in enumerate(wanted) if count]
    return cycle([16], [left, right], jobs)


def _contenders(made: KaiCycle, asks: tuple[int, int] = (0, 0), gives: tuple[int, int] = (0, 0)) -> tuple[Contender, Contender]:
    left, right = (
        Contender(made.quotas, number, (0, 0, ask, 0), (0, 0, give, 0)) for number, ask, give in zip((2, 3), asks, gives, strict=True)
    )
    return left, right


@pytest.mark.parametrize(
    ("key", "left", "right", "held", "asks", "gives"),
    [
        (QueueKey.STARVED, Queue(4), Queue(4), (2, 4), (2, 2), (0, 0)),
        (QueueKey.PRIORITY, Queue(4, priority=2), Queue(4, priority=1), (4, 0), (0, 0), (0, 0)),
        (QueueKey.NO_SHARE, Queue(4), Queue(0, limit=0), (4, 0), (0, 1), (0, 0)),
        (QueueKey.SHARE_WITH, Queue(8), Queue(4), (2, 2), (4, 4), (0, 0)),
        (QueueKey.SHARE_WITH, Queue(8), Queue(8), (6, 4), (0, 0), (4, 0)),
        (QueueKey.SHARE, Queue(8), Queue(8), (2, 4), (4, 0), (0, 0)),
        (QueueKey.ALLOCATABLE, Queue(4), Queue(8), (0, 0), (0, 0), (0, 0)),
        (QueueKey.CREATED, Queue(4), Queue(4), (0, 0), (0, 0), (0, 0)),
    ],
)
def test_a_test_puts_the_left_queue_first(
    key: QueueKey, left: Queue, right: Queue, held: tuple[int, int], asks: tuple[int, int], gives: tuple[int, int]
) -> None:
    """And says the opposite when the sides are changed, and nothing of a queue and itself."""
    one, other = _contenders(_two(left, right, held), asks, gives)
    assert QUEUE_KEYS[key](one, other) < 0 < QUEUE_KEYS[key](other, one)
    assert QUEUE_KEYS[key](one, one) == 0
    assert queue_sooner((key,), one, other)
    assert not queue_sooner((key,), other, one)


def test_a_queue_is_over_its_share_only_in_all_resources() -> None:
    """With more GPUs than its share, but not more CPU and memory, it does not stand behind."""
    made = _two(Queue(0, weight=0), Queue(8), (4, 2))
    one, other = _contenders(made)
    assert made.quotas.shares[2][2] == 0
    assert QUEUE_KEYS[QueueKey.OVER_SHARE](one, other) == 0
    made.quotas.shares = tuple((0, 0, each[2], 0) if number == 2 else each for number, each in enumerate(made.quotas.shares))
    assert QUEUE_KEYS[QueueKey.OVER_SHARE](one, other) > 0


def test_keys_are_asked_in_their_order() -> None:
    """A queue of lower priority that is starved comes before one of high priority that is not; without that key after it."""
    one, other = _contenders(_two(Queue(4, priority=1), Queue(0, priority=2), (0, 0)), asks=(1, 1))
    assert queue_sooner(ALL_QUEUE_KEYS, one, other)
    without = tuple(key for key in ALL_QUEUE_KEYS if key is not QueueKey.STARVED)
    assert queue_sooner(without, other, one)


def _popped(made: KaiCycle, victims: bool) -> list[str]:
    line = Line(made, made.views, victims)
    names = []
    while line:
        names.append(line.pop().workload.name)
    return names


def test_workloads_take_turns_by_priority_and_age_and_victims_the_other_way() -> None:
    """Within a queue high priority first, then whoever lacks its minimum, then the older one; victims are popped from the other end."""
    jobs = [
        Job("full", 0, 1, (0,)),
        Job("old", 0, 1, (WAITS,)),
        Job("new", 0, 1, (WAITS,)),
        Job("high", 0, 1, (WAITS,), priority=75),
    ]
    made = cycle([8], [Queue(8)], jobs)
    assert _popped(made, victims=False) == ["high", "old", "new", "full"]
    assert _popped(made, victims=True) == ["full", "new", "old", "high"]


def test_victims_come_from_the_queue_that_has_most_left() -> None:
    """What was popped before counts as gone: of shares of 4 and 3 GPUs, 3/4 and 2/3 would be left, then 2/4 and 2/3, then 2/4 and 1/3."""
    jobs = [Job(f"a{at}", 0, 1, (0,)) for at in range(4)] + [Job(f"b{at}", 1, 1, (0,)) for at in range(3)]
    popped = _popped(cycle([8], [Queue(0, weight=1), Queue(0, weight=1)], jobs), victims=True)
    assert popped[:5] == ["a3", "b2", "a2", "b1", "a1"]
    assert sorted(popped) == sorted(job.name for job in jobs)
