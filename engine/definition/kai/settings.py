"""What a profile may vary of KAI's cycle."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class KaiPass(StrEnum):
    """A pass of the cycle, by its name in a profile (KAI calls them actions; `BROKEN` is stalegangeviction)."""

    ALLOCATE = "allocate"
    CONSOLIDATE = "consolidate"
    RECLAIM = "reclaim"
    PREEMPT = "preempt"
    BROKEN = "end broken gangs"


class NodePick(StrEnum):
    """Which of the nodes that fit comes first: the fullest, or the emptiest (KAI: nodeplacement, binpack and spread)."""

    PACK = "pack"
    SPREAD = "spread"


class QueueKey(StrEnum):
    """A test that decides between two queues where those before it did not (KAI: queue_order.GetQueueOrderResult)."""

    OVER_SHARE = "over its share"
    STARVED = "starved"
    PRIORITY = "priority"
    NO_SHARE = "without a share"
    SHARE_WITH = "share with the workload"
    SHARE = "share"
    ALLOCATABLE = "smaller entitlement"
    CREATED = "created"


ALL_PASSES = tuple(KaiPass)
ALL_QUEUE_KEYS = tuple(QueueKey)


@dataclass(frozen=True, slots=True)
class KaiSettings:
    """The defaults are those of KAI v0.17.

    `saturation` is what the reclaiming side's saturation is multiplied by before it is compared. With `moves_victims` victims that find
    another place do not count as lost. `most_consolidated` is how many workloads may move for one: one more than it says, as
    KAI counts (-1: any number, 0: none at all). KAI's own default is 16.
    """

    passes: tuple[KaiPass, ...] = ALL_PASSES
    queue_keys: tuple[QueueKey, ...] = ALL_QUEUE_KEYS
    pick: NodePick = NodePick.PACK
    saturation: Fraction = Fraction(1)
    usage_weight: Fraction = Fraction(1)
    moves_victims: bool = True
    most_consolidated: int = -1
