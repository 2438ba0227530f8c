"""Usage that fades: what a local queue's workloads hold, halved every half-life, so that whoever used least lately goes first.

Kueue: admission fair sharing (pkg/util/admissionfairsharing, pkg/cache/queue/afs). An admission counts at once, by the share of it that
one sampling interval would add. Fading is worked out in integers, 64 binary digits after the point, so that it is the same everywhere.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt

from ..policy_graph import LocalQueue
from ..policy_settings import Usage
from ..units import scale_of

_BITS = 64
_ONE = 1 << _BITS

_ROOTS = [_ONE >> 1]
"""One half, its square root, the square root of that and so on, each times 2**64."""
for _ in range(_BITS):
    _ROOTS.append(isqrt(_ROOTS[-1] << _BITS))


def remaining(elapsed: int, half_life: int) -> int:
    """What is left of 2**64 after a time, halved every half-life (both in microseconds); all of it where there is no half-life."""
    if half_life == 0:
        return _ONE
    halvings, rest = divmod(elapsed, half_life)
    if halvings > _BITS:
        return 0
    left = _ONE
    fraction = (rest << _BITS) // half_life
    for bit in range(_BITS):
        if fraction >> (_BITS - 1 - bit) & 1:
            left = left * _ROOTS[bit + 1] >> _BITS
    return left >> halvings


@dataclass(slots=True)
class Consumed:
    """What a local queue has used, by resource in smallest units times 2**64, as of `updated` (microseconds)."""

    amounts: dict[str, int] = field(default_factory=dict)
    updated: int = 0

    def copy(self) -> "Consumed":
        """One that goes its own way from here."""
        return Consumed(dict(self.amounts), self.updated)

    def advance(self, now: int, holding: dict[str, int], usage: Usage) -> None:
        """Fade to a moment, with what was held since the last one."""
        if usage.half_life == 0:
            self.amounts = {}
        else:
            left = remaining(now - self.updated, usage.half_life)
            for resource in sorted({*self.amounts, *holding}):
                held = holding.get(resource, 0)
                self.amounts[resource] = (self.amounts.get(resource, 0) * left >> _BITS) + held * (_ONE - left)
        self.updated = now

    def charge(self, amounts: dict[str, int], usage: Usage) -> None:
        """Add what one sampling interval would add of these amounts."""
        share = _ONE - remaining(usage.sampling, usage.half_life)
        for resource in sorted(amounts):
            self.amounts[resource] = self.amounts.get(resource, 0) + amounts[resource] * share

    def report(self, amounts: dict[str, int], now: int) -> None:
        """Take over what an outside system has counted."""
        self.amounts = {resource: amounts[resource] << _BITS for resource in sorted(amounts)}
        self.updated = now


Rank = tuple[int, Fraction]
"""(0, usage), or (1, 0) for a local queue of weight 0, which comes after all others."""

NO_USAGE: Rank = (0, Fraction(0))
"""Where nobody goes by usage, all stand here."""


def rank(consumed: Consumed, local: LocalQueue, usage: Usage) -> Rank:
    """The usage of a local queue as a number to compare: the weighed sum over resources in whole units, by its weight."""
    weights = dict(usage.weights)
    total = Fraction(0)
    for resource in sorted(consumed.amounts):
        total += weights.get(resource, Fraction(1)) * Fraction(consumed.amounts[resource], scale_of(resource) << _BITS)
    return (1, Fraction(0)) if local.weight == 0 else (0, total / local.weight)  # exact
