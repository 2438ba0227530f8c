"""Armada's costs and shares: what an amount costs, and what of everything each queue should have, given what it wants.

Armada: internal/scheduler/scheduling/fairness/fairness.go, and `updateFairShares` in internal/scheduler/scheduling/context/scheduling.go.
Armada counts with floats; here everything is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

MOST_ROUNDS = 10
"""How often what is left over is divided again."""

LEFT_OVER = Fraction(1, 100)
"""So little of everything is not divided any more: no queue gets it."""


@dataclass(frozen=True, slots=True)
class ArmadaCost:
    """What amounts cost. `total` is what exists of each resource, `multipliers` how much it matters; both in one order of resources."""

    total: tuple[int, ...]
    multipliers: tuple[Fraction, ...]

    def of(self, amounts: Sequence[int]) -> Fraction:
        """The greatest part of any resource that amounts make up, and at least 0. What there is nothing of costs nothing."""
        parts = zip(amounts, self.total, self.multipliers, strict=True)
        return max([Fraction(0), *(Fraction(amount, total) * factor for amount, total, factor in parts if total)])

    def demand(self, amounts: Sequence[int]) -> Fraction:
        """The same of what a queue wants; where nothing exists, everything."""
        return self.of(amounts) if any(self.total) else Fraction(1)


@dataclass(frozen=True, slots=True)
class ArmadaShare:
    """What of everything a queue should have: `fair` by its weight alone; `capped` with its part of what others leave, and no more than it
    wants; `uncapped` what it would get if it wanted everything. All `uncapped` together may be above 1.
    """

    fair: Fraction
    capped: Fraction
    uncapped: Fraction


def divided(weights: Sequence[Fraction], demands: Sequence[Fraction]) -> list[ArmadaShare]:
    """The shares of queues, by their weights (above 0) and by what they want of everything.

    What is left by those who have all they want is divided again among the others, in at most `MOST_ROUNDS` rounds, and until no more
    than `LEFT_OVER` is left.
    """
    count = len(weights)
    capped, uncapped, spare = [Fraction(0)] * count, [Fraction(0)] * count, [Fraction(0)] * count
    content = [False] * count
    left = Fraction(1)
    for _ in range(MOST_ROUNDS):
        if left <= LEFT_OVER:
            break
        asking = sum((weights[queue] for queue in range(count) if not content[queue]), Fraction(0))
        for queue, weight in enumerate(weights):
            # What a queue leaves itself would not be there if it wanted everything.
            among = asking + weight if content[queue] else asking
            uncapped[queue] += weight / among * (left - spare[queue])  # exact
        if not asking:
            break
        for queue, weight in enumerate(weights):
            if not content[queue]:
                capped[queue] += weight / asking * left  # exact
        for queue, demand in enumerate(demands):
            spare[queue] = max(Fraction(0), capped[queue] - demand)
            capped[queue] -= spare[queue]
            content[queue] = content[queue] or spare[queue] > 0
        left = sum(spare, Fraction(0))
    total = sum(weights, Fraction(0))
    fair = [weight / total for weight in weights]  # exact
    return [ArmadaShare(*each) for each in zip(fair, capped, uncapped, strict=True)]


def newcomer_share(weights: Sequence[Fraction], demands: Sequence[Fraction], weight: Fraction) -> Fraction:
    """What a further queue of a weight would get if it wanted everything.

    Armada: `CalculateTheoreticalShare`.
    """
    return divided([*weights, weight], [*demands, Fraction(1)])[-1].capped
