"""When a victim may be taken from another queue: KAI's two strategies, and the tests that they are made of.

KAI: pkg/scheduler/plugins/proportion/reclaimable/strategies/strategies.go. `left` is what the victim's side still holds before the victim
is taken: a queue that is over its share by a little may end below it.
"""

from collections.abc import Sequence

from .shares import QueueStanding, plus, within


def may_be_taken(asked: Sequence[int], taker: QueueStanding, victim: QueueStanding, left: Sequence[int]) -> bool:
    """Whether one of the strategies lets a victim go (KAI: FitsReclaimStrategy)."""
    return over_its_share(victim, left) or owed_what_is_owned(asked, taker, victim, left)


def owed_what_is_owned(asked: Sequence[int], taker: QueueStanding, victim: QueueStanding, left: Sequence[int]) -> bool:
    """The taker stays within what it owns of everything, and the victim's side has more than it owns of something.

    KAI: GuaranteeDeservedQuotaStrategy.
    """
    return within_owned(taker, asked) and over_owned(victim, left)


def over_its_share(victim: QueueStanding, left: Sequence[int]) -> bool:
    """The victim's side holds more of something than it may keep (KAI: MaintainFairShareStrategy, FitsMaintainFairShare)."""
    return not within(left, victim.allocatable)


def within_owned(taker: QueueStanding, asked: Sequence[int]) -> bool:
    """The taker would hold no more of anything than it owns (KAI: ReclaimerFitsDeservedQuota)."""
    return within(plus(taker.held, asked), taker.owned)


def over_owned(victim: QueueStanding, left: Sequence[int]) -> bool:
    """The victim's side holds more of something than it owns (KAI: ReclaimeeExceedsDeservedQuota)."""
    return not within(left, victim.owned)
