"""Share thresholds: how much a queue has to hold so that two policies differ in which of two queues has the smaller share."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...engine.outcome.nomination import Request
from ...engine.units import scale_of
from .boundary_values import Side, SlotName

HeldAmounts = Mapping[SlotName, int]
"""What a queue holds, by slot, in the smallest unit."""


@dataclass(frozen=True, slots=True)
class PolicyShares:
    """The shares of two queues under one policy, in a cluster in which no other queue holds anything."""

    side: Side

    @classmethod
    def of(cls, side: Side) -> "PolicyShares":
        """The shares under the policy of a side."""
        return cls(side)

    def compares(self, one: str, other: str) -> bool:
        """Whether the shares of two queues are ever compared: both are there, and in one tree."""
        nodes = [self.side.queues.get(queue) for queue in (one, other)]
        return None not in nodes and len({self.side.graph.path(node)[-1] for node in nodes if node is not None}) == 1

    def is_heavier(self, one: str, held: HeldAmounts, other: str, against: HeldAmounts) -> bool:
        """Whether the side of the one queue has the greater share, below the lowest cohort above both."""
        charges = [(self.side.queues[queue], self._request(amounts)) for queue, amounts in ((one, held), (other, against))]
        probe = self.side.probe.suppose(charges=charges)
        left, right = self.side.graph.sides(charges[0][0], charges[1][0])
        return probe.share(left) > probe.share(right)

    def _request(self, held: HeldAmounts) -> Request:
        return tuple(sorted((self.side.slots[slot], amount) for slot, amount in held.items() if slot in self.side.slots and amount > 0))

    def first(self, one: str, slot: SlotName, besides: HeldAmounts, other: str, against: HeldAmounts) -> int:
        """The least amount of a slot, from 1 on, with which a queue's share is the greater one, or one more than it can hold.

        Found by halving: a share only grows with what is held.
        """
        low, high = 1, self.side.reach(one, slot) + 1
        while low < high:
            middle = (low + high) // 2
            if self.is_heavier(one, {**besides, slot: besides.get(slot, 0) + middle}, other, against):
                high = middle
            else:
                low = middle + 1
        return low


def parting(
    balances: tuple[PolicyShares, PolicyShares], one: str, slot: SlotName, besides: HeldAmounts, other: str, against: HeldAmounts
) -> int | None:
    """An amount of a slot with which a queue's share is greater than that of another queue under one of two policies alone.

    `besides` is what it holds besides, `against` what the other queue holds. In whole units if it can be; None: there is none.
    """
    if not all(balance.compares(one, other) for balance in balances):
        return None
    firsts = [balance.first(one, slot, besides, other, against) for balance in balances]
    low, high = min(firsts), max(firsts) - 1
    if low > high:
        return None
    unit = scale_of(slot[1])
    middle = (low + high) // 2
    whole = middle // unit * unit
    return next((amount for amount in (whole, whole + unit) if low <= amount < high), middle)  # at the highest they may be equal
