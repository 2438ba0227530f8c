"""Durations as Go writes them: `1h30m`, `2.5s`.

Source: Go, time.ParseDuration.
"""

import re
from fractions import Fraction

from .scenario_problems import refused

_SECOND = 1_000_000
_UNITS: dict[str, int | Fraction] = {
    "ns": Fraction(1, 1_000),
    "us": 1,
    "\u00b5s": 1,
    "\u03bcs": 1,
    "ms": 1_000,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3_600 * _SECOND,
}
"""Microseconds in each unit; the micro sign and the Greek letter both stand for micro."""

_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")


def go_duration(said: object, place: str) -> int:
    """A duration above 0, in microseconds, rounded down. Raises ImportRefused."""
    text = said if isinstance(said, str) else ""
    parts = _PART.findall(text[:200])
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise refused(place, f"is `{str(said)[:60]}`, no duration", "write one such as 1h30m")
    total = int(sum(Fraction(number if number[0] != "." else f"0{number}") * _UNITS[unit] for number, unit in parts))
    if total <= 0:
        raise refused(place, "is no time at all", "write a duration such as 1h30m")
    return total
