"""Which of two queues KAI turns to first (plugins/proportion/queue_order/queue_order.go)."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from ...session.pods import PodAmounts
from ..quota_state import MEASURED, KaiQuotas
from ..settings import QueueKey

NO_SHARE_FACTOR = 1000
"""What is held of something of which a queue has no share counts this many times (KAI: noFairShareDrfMultiplier)."""

_WITHOUT_LIMIT = -1


class Contender:
    """A queue in a comparison: with what its next workload asks for (`asks`), and without what its victims so far give back (`gives`)."""

    __slots__ = ("asks", "gives", "queue", "quotas")

    def __init__(self, quotas: KaiQuotas, queue: int, asks: PodAmounts, gives: PodAmounts) -> None:
        self.quotas = quotas
        self.queue = queue
        self.asks = asks
        self.gives = gives

    def held(self, resource: int) -> int:
        """What it holds now."""
        return self.quotas.held[self.queue][resource]

    def with_workload(self, resource: int) -> int:
        """What it would hold with its next workload."""
        return self.held(resource) + (self.asks[resource] if self.asks else 0)


def queue_sooner(keys: Sequence[QueueKey], left: Contender, right: Contender) -> bool:
    """Whether the left queue comes first. Queues that nothing tells apart keep their places: neither comes first."""
    for key in keys:
        found = QUEUE_KEYS[key](left, right)
        if found:
            return found < 0
    return False


def _compare(key: Callable[[Contender], int | Fraction]) -> Callable[[Contender, Contender], int]:
    """A test by a number: the one with less comes first."""

    def compare(left: Contender, right: Contender) -> int:
        one, other = key(left), key(right)
        return (one > other) - (one < other)

    return compare


def _over_share(queue: Contender) -> int:
    quotas = queue.quotas
    return all(quotas.shares[queue.queue][resource] < queue.held(resource) for resource in MEASURED)


def _not_starved(queue: Contender) -> int:
    owned = queue.quotas.nodes[queue.queue].owned
    for resource in MEASURED:
        due, amount = owned[resource], queue.with_workload(resource)
        # A queue that was overpaid can hold less than nothing. KAI takes -1 for "without limit", which is above any quota.
        if due is not None and (amount > due or amount == _WITHOUT_LIMIT):
            return 1
    return 0


def _without_share(queue: Contender) -> int:
    quotas = queue.quotas
    return any(quotas.allocatable[queue.queue][resource] == 0 and queue.with_workload(resource) > 0 for resource in MEASURED)


def _share_with(queue: Contender) -> Fraction:
    given = queue.gives
    return _dominant(queue, [queue.with_workload(resource) - (given[resource] if given else 0) for resource in MEASURED])


def _share(queue: Contender) -> Fraction:
    return _dominant(queue, queue.quotas.held[queue.queue])


def _dominant(queue: Contender, amounts: Sequence[int]) -> Fraction:
    """The largest of what is held of each resource by what may be held of it (KAI: GetDominantResourceShare)."""
    held, due_to_it = 0, 1  # as a quotient, compared without dividing
    for resource in MEASURED:
        due = queue.quotas.allocatable[queue.queue][resource]
        if due is None:
            due = queue.quotas.totals[resource]
        amount = amounts[resource] if due else amounts[resource] * NO_SHARE_FACTOR
        if amount * due_to_it > held * (due or 1):
            held, due_to_it = amount, due or 1
    return Fraction(held, due_to_it)


def _smaller_entitlement(left: Contender, right: Contender) -> int:
    """One that may hold less of something and no more of anything comes first."""
    one = [left.quotas.allocatable[left.queue][resource] for resource in MEASURED]
    other = [right.quotas.allocatable[right.queue][resource] for resource in MEASURED]
    if one == other:
        return 0
    if all(map(_at_most, one, other)):
        return -1
    return 1 if all(map(_at_most, other, one)) else 0


def _at_most(amount: int | None, bound: int | None) -> bool:
    return bound is None or (amount is not None and amount <= bound)


def _priority(queue: Contender) -> int:
    return -queue.quotas.nodes[queue.queue].priority


def _created(queue: Contender) -> int:
    return queue.quotas.nodes[queue.queue].created


QUEUE_KEYS: Mapping[QueueKey, Callable[[Contender, Contender], int]] = {
    QueueKey.OVER_SHARE: _compare(_over_share),
    QueueKey.STARVED: _compare(_not_starved),
    QueueKey.PRIORITY: _compare(_priority),
    QueueKey.NO_SHARE: _compare(_without_share),
    QueueKey.SHARE_WITH: _compare(_share_with),
    QueueKey.SHARE: _compare(_share),
    QueueKey.ALLOCATABLE: _smaller_entitlement,
    QueueKey.CREATED: _compare(_created),
}
"""What each key compares: below 0 where the left queue comes first."""
