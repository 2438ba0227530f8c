"""Kubernetes quantities, exactly, and amounts as Kueue counts them: cpu in thousandths, all else in whole units, rounded up.

An amount that reaches the greatest 64-bit integer is without limit, and stays that number. gpol counts a resource that is called
`gpu` in thousandths, so Kueue's whole units of such a one are a thousand each.
Sources: Kubernetes, apimachinery pkg/api/resource; Kueue, pkg/resources/amount.go.
"""

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil

from ....engine.units import INT64_MAX, MILLI_RESOURCES

UNLIMITED = INT64_MAX
"""The amount that stands for no limit."""

_QUANTITY = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2})|([KMGTPE]i|[numkMGTPE])?)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_LONGEST = 64


class QuantityError(ValueError):
    """A text that is no quantity; the message says why."""


def parse(value: object) -> Fraction:
    """The exact number that a quantity stands for; JSON numbers are quantities as well. Raises QuantityError."""
    if isinstance(value, str):
        return _parse(value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return _parse(str(value))
    raise QuantityError(f"{_shown(value)} is no quantity")


@lru_cache(maxsize=4096)
def _parse(text: str) -> Fraction:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(f"{_shown(text)} is no quantity")
    sign, digits, exponent, suffix = match.groups()
    number = Fraction(digits) * (-1 if sign == "-" else 1)
    if exponent is not None:
        return number * Fraction(10) ** int(exponent)
    if suffix in _BINARY:
        return number * (1 << _BINARY[suffix])
    return number * Fraction(10) ** _DECIMAL.get(suffix or "", 0)


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def amount(quantity: Fraction, resource: str) -> int:
    """A quantity of a resource in gpol's smallest unit, rounded up as Kueue does; at most 64 bits, below 0 as it is."""
    if resource == "cpu":
        return min(ceil(quantity * 1000), INT64_MAX)
    return min(ceil(quantity) * (1000 if resource in MILLI_RESOURCES else 1), INT64_MAX)


def kueue_amount(smallest: int, resource: str) -> int:
    """An amount in gpol's smallest unit as Kueue counts it: the way back for a resource called `gpu`, all others stay."""
    whole = resource in MILLI_RESOURCES and resource != "cpu"
    return -(-smallest // 1000) if whole and abs(smallest) < INT64_MAX else smallest


def text(smallest: int, resource: str) -> str:
    """An amount in gpol's smallest unit as a quantity, in the shortest form that is exact: `8`, `500m`, `80Gi`."""
    if resource in MILLI_RESOURCES:
        return str(smallest // 1000) if smallest % 1000 == 0 else f"{smallest}m"
    if resource == "memory" and smallest:
        for suffix in ("Pi", "Ti", "Gi", "Mi", "Ki"):  # the policy language has no Ei
            if smallest % 2 ** _BINARY[suffix] == 0:
                return f"{smallest >> _BINARY[suffix]}{suffix}"
    return str(smallest)


def number_text(number: Fraction) -> str:
    """An exact number in decimals where they end, else as a fraction: `2`, `0.5`, `1/3`."""
    if number.denominator == 1:
        return str(number.numerator)
    for places in range(1, 19):
        scaled = number * 10**places
        if scaled.denominator == 1:
            digits = str(scaled.numerator).rjust(places + 1, "0")
            return f"{digits[:-places]}.{digits[-places:]}"
    return f"{number.numerator}/{number.denominator}"
