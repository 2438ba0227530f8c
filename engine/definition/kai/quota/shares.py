"""What one quota node holds, owns and is due, as KAI's plugin compares them: resource by resource, where None is without limit.

KAI: pkg/scheduler/plugins/proportion/resource_share (resource_share.go, queue_resource_share.go, resource_quantities.go).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

QuotaBound = int | None
"""An amount, or None: no limit."""

Bounds = tuple[QuotaBound, ...]
"""A bound of each counted resource."""

CountedAmounts = tuple[int, ...]
"""An amount of each counted resource."""

COUNTED = 3
"""The first resources of a session under KAI count for quota: CPU, memory, GPUs. What follows, the number of pods, only limits nodes."""


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """Where a quota node stands: amounts of each counted resource, in KAI's order CPU, memory, GPUs.

    `parent` is the number of the node above it (-1: none). `held` is what its workloads hold, `held_for_good` what of it those hold
    that may not be evicted; `due` is its fair share, worked out at the start of the cycle.
    """

    number: int
    parent: int
    owned: Bounds
    limit: Bounds
    due: Bounds
    held: CountedAmounts
    held_for_good: CountedAmounts

    @property
    def allocatable(self) -> Bounds:
        """What it may hold before others may take from it (KAI: GetAllocatableShare): its fair share, at least what it owns, at most
        its limit."""
        return tuple(_allocatable(*each) for each in zip(self.owned, self.due, self.limit, strict=True))


def _allocatable(owned: QuotaBound, due: QuotaBound, limit: QuotaBound) -> QuotaBound:
    if owned is None:
        return limit
    # A share without limit counts less than what is owned, as KAI compares it as the number -1 here.
    most = owned if due is None else max(owned, due)
    return most if limit is None else min(limit, most)


def plus(amounts: Sequence[int], more: Sequence[int]) -> CountedAmounts:
    """The sum by resource."""
    return tuple(amount + other for amount, other in zip(amounts, more, strict=True))


def minus(amounts: Sequence[int], less: Sequence[int]) -> CountedAmounts:
    """The difference by resource."""
    return tuple(amount - other for amount, other in zip(amounts, less, strict=True))


def within(amounts: Sequence[int], bounds: Bounds) -> bool:
    """Whether no amount exceeds its bound (KAI: LessEqual)."""
    return all(bound is None or amount <= bound for amount, bound in zip(amounts, bounds, strict=True))


def line(standings: Sequence[QueueStanding], number: int) -> Iterator[QueueStanding]:
    """A node and those above it, from below; `standings` by number. The root of a session, which KAI does not have, is left out."""
    while number >= 0:
        yield standings[number]
        number = standings[number].parent
