"""Whether a workload may reclaim at all, from whom, and whether a set of victims may go: KAI's tests, over standings by number.

KAI: pkg/scheduler/plugins/proportion/reclaimable (reclaimable.go, filter_victims.go).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .shares import COUNTED, CountedAmounts, QueueStanding, QuotaBound, line, minus, plus, within
from .strategies import may_be_taken, over_its_share, within_owned


@dataclass(frozen=True, slots=True)
class Taker:
    """A workload that wants to reclaim: its queue, what its pods that are to be placed ask for, and whether it may be evicted itself."""

    queue: int
    asked: CountedAmounts
    preemptible: bool


def can_reclaim(standings: Sequence[QueueStanding], taker: Taker) -> bool:
    """Whether its queue stays within its fair share, and within what it owns if the workload may not be evicted (CanReclaimResources)."""
    queue = standings[taker.queue]
    if not within(plus(queue.held, taker.asked), queue.due):
        return False
    return taker.preemptible or within(plus(queue.held_for_good, taker.asked), queue.owned)


def keeps_victim(standings: Sequence[QueueStanding], taker: Taker, victim_queue: int) -> bool:
    """Whether the workloads of a queue are looked at as victims at all (KAI: FilterVictim)."""
    mine, other = leveled(standings, taker.queue, victim_queue)
    if not within_owned(mine, taker.asked):
        return over_its_share(other, other.held)
    return may_owe(other, taker.asked)


def may_owe(victim: QueueStanding, asked: Sequence[int]) -> bool:
    """Whether a queue may have to give what another one owns: of what is asked for it holds more than it owns of something, or less of
    nothing (KAI: canBeDeservedQuotaReclaimCandidate)."""
    bounds = [
        (held, owned) for held, owned, amount in zip(victim.held, victim.owned, asked, strict=True) if amount > 0 and owned is not None
    ]
    return any(held > owned for held, owned in bounds) or not any(held < owned for held, owned in bounds)


def may_reclaim(
    standings: Sequence[QueueStanding], taker: Taker, victims: Mapping[int, Sequence[CountedAmounts]], saturation: Fraction = Fraction(1)
) -> bool:
    """Whether these victims may go: by queue, the amounts of each in order (KAI: Reclaimable).

    `saturation` is by how much the taker's side has to be less saturated than the victims' (KAI: reclaimer saturation multiplier).
    """
    taken = _Taken(standings, taker)
    return all(taken.take(queue, victims[queue]) for queue in victims) and taken.stays_within(saturation)


def leveled(standings: Sequence[QueueStanding], queue: int, other: int) -> tuple[QueueStanding, QueueStanding]:
    """Two queues where their lines part: those below what they have in common (KAI: getLeveledQueues)."""
    mine, others = ([*line(standings, each)][::-1] for each in (queue, other))
    pairs = list(zip(mine, others, strict=False))
    return next((pair for pair in pairs if pair[0].number != pair[1].number), pairs[-1])


def saturated(held: int, due: QuotaBound) -> Fraction | None:
    """What a queue holds of its fair share; None: something of nothing, which is more than any number (KAI: fairShareSaturationRatio)."""
    if due == 0:
        return None if held > 0 else Fraction(0)
    return Fraction(0) if due is None else Fraction(held, due)


class _Taken:
    """What is left to the victims' queues and those above them as victims are taken, and in which resources that counts."""

    def __init__(self, standings: Sequence[QueueStanding], taker: Taker) -> None:
        self.standings = standings
        self.taker = taker
        self.left: dict[int, CountedAmounts] = {}
        self.involved: dict[int, tuple[bool, ...]] = {}

    def take(self, queue: int, victims: Sequence[CountedAmounts]) -> bool:
        """Take the victims of a queue one by one; False where one may not go. A victim is judged by what is left before it goes."""
        mine, other = leveled(self.standings, self.taker.queue, queue)
        involved = tuple(any(amounts[resource] > 0 for amounts in victims) for resource in range(COUNTED))
        self.involved[queue] = involved
        self.left.setdefault(other.number, other.held)
        for amounts in victims:
            if not may_be_taken(self.taker.asked, mine, other, self.left[other.number]):
                return False
            for each in line(self.standings, queue):
                self.left[each.number] = minus(self.left.get(each.number, each.held), amounts)
                before = self.involved.get(each.number, (False,) * COUNTED)
                self.involved[each.number] = tuple(one or both for one, both in zip(before, involved, strict=True))
        return True

    def stays_within(self, saturation: Fraction) -> bool:
        """Whether the taker's queue and those above it stay less saturated than the queues beside them that lose something, and within
        what they own if the workload may not be evicted."""
        for each in line(self.standings, self.taker.queue):
            holds = plus(self.left.get(each.number, each.held), self.taker.asked)
            beside = [self.standings[number] for number in sorted(self.left)]
            for sibling in (other for other in beside if other.parent == each.parent and other.number != each.number):
                if not self._less_saturated(holds, each, sibling, saturation):
                    return False
            if not self.taker.preemptible and not within(plus(each.held_for_good, self.taker.asked), each.owned):
                return False
        return True

    def _less_saturated(self, holds: CountedAmounts, mine: QueueStanding, sibling: QueueStanding, saturation: Fraction) -> bool:
        """KAI: isFairShareSaturationLowerPerResource."""
        lost = self.involved.get(sibling.number, (False,) * COUNTED)
        for resource in range(COUNTED):
            due, theirs = mine.due[resource], sibling.due[resource]
            if not (lost[resource] or self.taker.asked[resource] > 0) or theirs is None or theirs <= 0:
                continue
            ratio = saturated(holds[resource], due)
            if ratio is None or (ratio > 1 and ratio * saturation >= Fraction(self.left[sibling.number][resource], theirs)):
                return False
        return True
