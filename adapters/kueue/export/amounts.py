"""Amounts and numbers of a policy as Kubernetes quantities, in the form in which Kubernetes itself would write them."""

from fractions import Fraction

from ..read.quantity import UNLIMITED, text

_SUFFIXES = (("", 1), ("m", 10**3), ("u", 10**6), ("n", 10**9))
_WHOLE = 1000  # of the thousandths in which gpol counts gpu


def quota_text(smallest: int, resource: str) -> str | None:
    """An amount of a resource of the policy as a quantity; None for a part of a gpu, which Kueue cannot count.

    An amount without limit stays the greatest number that Kueue knows.
    """
    if resource == "gpu" and smallest != UNLIMITED:
        return None if smallest % _WHOLE else str(smallest // _WHOLE)
    return str(smallest) if resource == "gpu" else text(smallest, resource)


def decimal_text(number: Fraction) -> str | None:
    """A number that is not below 0 as a quantity such as `2` or `500m`; None where that takes more than nine decimals."""
    for suffix, parts in _SUFFIXES:
        scaled = number * parts
        if scaled.denominator == 1:
            return f"{scaled.numerator}{suffix}"
    return None


def duration_text(us: int) -> str:
    """A duration in microseconds as Go reads it, such as `168h` or `1m30s`."""
    rest, made = us, ""
    for unit, size in (("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1)):
        count, rest = divmod(rest, size)
        made += f"{count}{unit}" if count else ""
    return made or "0s"
