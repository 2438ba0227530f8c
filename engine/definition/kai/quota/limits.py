"""What a queue may hold at most: its limit, and for workloads that may not be evicted what it owns, at every level.

KAI: pkg/scheduler/plugins/proportion/capacity_policy (capacity_policy.go, max_allowed_check.go, quota_check.go).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .shares import Bounds, QueueStanding, line


class OverReason(StrEnum):
    """Why a workload may not have more, in KAI's words."""

    OVER_LIMIT = "OverLimit"
    OVER_QUOTA = "NonPreemptibleOverQuota"


@dataclass(frozen=True, slots=True)
class Excess:
    """The quota node and the resource (by its index) in which a request goes too far."""

    reason: OverReason
    number: int
    resource: int


def over_capacity(standings: Sequence[QueueStanding], queue: int, asked: Sequence[int], preemptible: bool) -> Excess | None:
    """What a request in a queue exceeds first: the limit of any node from the queue upwards, then any quota.

    The same holds for all pods of a workload together, and for one pod that is about to be placed (KAI: IsJobOverQueueCapacity,
    IsTaskAllocationOnNodeOverCapacity).
    """
    return over_limit(standings, queue, asked) or over_quota(standings, queue, asked, preemptible)


def over_limit(standings: Sequence[QueueStanding], queue: int, asked: Sequence[int]) -> Excess | None:
    """The first node from a queue upwards whose limit a request exceeds."""
    for each in line(standings, queue):
        resource = exceeded(each.limit, each.held, asked)
        if resource is not None:
            return Excess(OverReason.OVER_LIMIT, each.number, resource)
    return None


def over_quota(standings: Sequence[QueueStanding], queue: int, asked: Sequence[int], preemptible: bool) -> Excess | None:
    """The first node from a queue upwards that would give more than it owns to workloads that may not be evicted.

    KAI: IsNonPreemptibleJobOverQuota; nobody asks this of a workload that may be evicted.
    """
    if preemptible:
        return None
    for each in line(standings, queue):
        resource = exceeded(each.owned, each.held_for_good, asked)
        if resource is not None:
            return Excess(OverReason.OVER_QUOTA, each.number, resource)
    return None


def exceeded(bounds: Bounds, held: Sequence[int], asked: Sequence[int]) -> int | None:
    """The first resource in which what is held and asked for is above its bound; one that is not asked for does not count."""
    for resource, bound in enumerate(bounds):
        if bound is not None and asked[resource] and held[resource] + asked[resource] > bound:
            return resource
    return None
