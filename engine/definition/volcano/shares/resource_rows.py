"""Amounts of resources as rows in the order of a session, compared as Volcano compares them.

A row has a number for each resource, or None where the original does not name the resource. Cpu and memory, the first two, always have a
number. Whether an amount is named decides only a few questions; otherwise what is not named is 0. Where the original rounds, `times` and
the others do: they give the double that is closest to the exact result.
Volcano: pkg/scheduler/api/resource_info.go, pkg/scheduler/api/helpers/helpers.go.
"""

from collections.abc import Sequence
from fractions import Fraction

from ....event_parts import POD_COUNT
from ...quota.fair_share import nearest_double

ResourceAmount = int | Fraction
ResourceRow = Sequence[ResourceAmount | None]

NATIVE = 2
"""The resources that every row names: cpu and memory."""

LEAST = Fraction(1, 10)
"""Amounts that differ by less are equal, where a comparison has this tolerance (`minResource`)."""

UNLIMITED = 1 << 200
"""More than there ever is of anything: no limit."""


def number(amount: ResourceAmount | None) -> ResourceAmount:
    """An amount; what is not named is 0."""
    return 0 if amount is None else amount


def add(row: list[int], more: Sequence[int | None], sign: int = 1) -> None:
    """Let amounts be added to a row, or taken from it (`sign` -1)."""
    for index, amount in enumerate(more):
        row[index] += sign * (amount or 0)


def exceeding(row: Sequence[int | None], less: Sequence[int | None]) -> list[int | None]:
    """How much of each resource is above another row; not named where nothing is (`ExceededPart`)."""
    found: list[int | None] = []
    for index, (amount, other) in enumerate(zip(row, less, strict=True)):
        left = (amount or 0) - (other or 0)
        found.append(max(left, 0) if index < NATIVE else left if left > 0 else None)
    return found


def with_more(row: Sequence[int | None], more: Sequence[int | None]) -> list[int | None]:
    """The sums of two rows; named where either one names it (`Add`)."""
    return [None if one is None and other is None else (one or 0) + (other or 0) for one, other in zip(row, more, strict=True)]


def at_most(row: Sequence[int | None], limit: Sequence[int | None]) -> list[int | None]:
    """A row cut to a limit, where the limit names the resource (`MinDimensionResource`, `Infinity`)."""
    return [one if one is None or other is None else min(one, other) for one, other in zip(row, limit, strict=True)]


def at_least(row: Sequence[int | None], floor: Sequence[int | None]) -> list[int | None]:
    """The greater of two rows; named where either one names it (`helpers.Max`)."""
    return [None if one is None and other is None else max(one or 0, other or 0) for one, other in zip(row, floor, strict=True)]


def named(row: ResourceRow) -> list[int]:
    """The resources of which there is something (`ResourceNames`)."""
    return [index for index, amount in enumerate(row) if amount is not None and amount >= LEAST]


def is_empty(row: ResourceRow, resources: Sequence[str]) -> bool:
    """Whether there is nothing of any resource; pods do not count (`IsEmpty`)."""
    return all(resources[index] == POD_COUNT for index in named(row))


def is_within(row: ResourceRow, limit: ResourceRow) -> bool:
    """Whether nothing is above a limit, with the tolerance (`LessEqual`, `Zero`)."""
    return all(number(one) < number(other) + LEAST for one, other in zip(row, limit, strict=True))


def is_within_where_asked(row: ResourceRow, limit: ResourceRow, asked: Sequence[int], resources: Sequence[str]) -> bool:
    """Whether nothing that is asked for is above a limit, without a tolerance; pods do not count (`LessEqualWithDimension`)."""
    return all(number(row[index]) <= number(limit[index]) for index in _asked(asked, resources))


def is_partly_within(row: ResourceRow, limit: ResourceRow, asked: Sequence[int], resources: Sequence[str]) -> bool:
    """Whether something that is asked for is within a limit; where both are 0, it does not count (`LessEqualPartly...ZeroFiltered`)."""
    for index in _asked(asked, resources):
        one, other = number(row[index]), number(limit[index])
        if (one >= LEAST or other >= LEAST) and one < other + LEAST:
            return True
    return False


def is_partly_above(row: ResourceRow, limit: ResourceRow, asked: Sequence[int], resources: Sequence[str]) -> bool:
    """Whether something that is asked for is above a limit that names it (`GreaterPartlyWithRelevantDimensions`)."""
    for index in _asked(asked, resources):
        other = limit[index]
        counts = other is not None and (index >= NATIVE or other >= LEAST)
        if counts and number(row[index]) > number(other):
            return True
    return False


def in_common(one: ResourceRow, other: ResourceRow) -> list[int]:
    """The resources of which there is something in both (`Intersection`)."""
    of_other = set(named(other))
    return [index for index in named(one) if index in of_other]


def share_of(amount: ResourceAmount, whole: ResourceAmount) -> Fraction:
    """Which part of a whole it is; of nothing, 1, or 0 where it is nothing itself (`Share`)."""
    if whole == 0:
        return Fraction(0 if amount == 0 else 1)
    return nearest_double(Fraction(amount) / Fraction(whole))  # exact


def dominant(row: ResourceRow, whole: ResourceRow) -> Fraction:
    """The greatest share of any resource of which the whole has something (`calculateShare`)."""
    return max((share_of(number(row[index]), number(whole[index])) for index in named(whole)), default=Fraction(0))


def plus(one: ResourceAmount, other: ResourceAmount) -> Fraction:
    """A sum, rounded to a double."""
    return nearest_double(Fraction(one) + Fraction(other))


def minus(one: ResourceAmount, other: ResourceAmount) -> Fraction:
    """A difference, not below 0, rounded to a double."""
    return nearest_double(Fraction(one) - Fraction(other))


def times(one: ResourceAmount, other: ResourceAmount) -> Fraction:
    """A product, rounded to a double."""
    return nearest_double(Fraction(one) * Fraction(other))


def over(one: ResourceAmount, other: ResourceAmount) -> Fraction:
    """A quotient, rounded to a double."""
    return nearest_double(Fraction(one) / Fraction(other))  # exact


def _asked(asked: Sequence[int], resources: Sequence[str]) -> list[int]:
    return [index for index, amount in enumerate(asked) if amount > 0 and resources[index] != POD_COUNT]
