"""Exact quantities: text such as `8`, `500m` or `80Gi` to 64-bit integers in a resource's smallest unit, and back.

gpu and cpu count in thousandths, memory in bytes, every other resource in whole units. Times are microseconds since the
epoch (UTC), durations are microseconds. Nothing here rounds: what does not fit the smallest unit exactly is refused.
"""

import re
from datetime import datetime, timedelta
from fractions import Fraction

INT64_MAX = 2**63 - 1

LAST_MOMENT = 253_402_300_799_999_999
"""The last microsecond of the year 9999, in microseconds since the epoch: simulations end before calendars do."""

MILLI_RESOURCES = ("gpu", "cpu")
"""Resources counted in thousandths."""

_SUFFIXES: dict[str, Fraction] = {
    "": Fraction(1),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
}

_EPOCH = datetime(1970, 1, 1)  # UTC, like every moment here

_RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,40}))?"
    r"(?:([Zz])|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))?"
)
"""A time as in RFC 3339, section 5.6; the zone may be missing here, so that it can be asked for."""

MICROSECOND, MILLISECOND, SECOND = 1, 1_000, 1_000_000
MINUTE, HOUR, DAY, WEEK = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND, 604_800 * SECOND

_DURATION_UNITS: dict[str, int] = {"us": MICROSECOND, "ms": MILLISECOND, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}


class UnitError(ValueError):
    """A quantity that has no exact meaning; the message says why, in a form to show to a user."""


def split_quantity(text: str) -> tuple[Fraction, str]:
    """Split `80Gi` into the exact number 80 and the suffix `Gi`.

    Raises UnitError where the text does not start with a number.
    """
    end = len(text) - len(text.lstrip("0123456789./"))
    number, suffix = text[:end], text[end:]
    if len(number) > 40:
        raise UnitError("the number has more than 40 digits")
    try:
        return Fraction(number), suffix
    except (ValueError, ZeroDivisionError):
        raise UnitError(f"`{text}` is not a number") from None


def scale_of(resource: str) -> int:
    """How many smallest units make one whole unit of a resource: 1000 for gpu and cpu, 1 for all others."""
    return 1000 if resource in MILLI_RESOURCES else 1


def parse_amount(text: str, resource: str) -> int:
    """Parse a quantity of a resource into its smallest unit.

    Raises UnitError for an unknown suffix, an amount that is not a whole number of smallest units, or one beyond 64 bits.
    """
    number, suffix = split_quantity(text)
    if suffix not in _SUFFIXES:
        raise UnitError(f"unknown unit `{suffix}`; use one of m, k, M, G, T, P, Ki, Mi, Gi, Ti, Pi or none")
    exact = number * _SUFFIXES[suffix] * scale_of(resource)
    if exact.denominator != 1:
        unit = "thousandths of a" if resource in MILLI_RESOURCES else "whole units of"
        raise UnitError(f"`{text}` is not a whole number of {unit} {resource}")
    if exact > INT64_MAX:
        raise UnitError(f"`{text}` {resource} is beyond 64 bits")
    return int(exact)


def parse_duration(text: str) -> int:
    """Parse `10m`, `7d` or `1h30m` into microseconds.

    Raises UnitError for a missing or unknown unit, or a duration beyond 64 bits.
    """
    total, rest = Fraction(0), text
    if not rest:
        raise UnitError("a duration is missing")
    while rest:
        number, tail = split_quantity(rest)
        end = 0
        while end < len(tail) and tail[end].isalpha():
            end += 1
        unit, rest = tail[:end], tail[end:]
        if unit not in _DURATION_UNITS:
            shown = f"unknown unit `{unit}`" if unit else "the unit is missing"
            raise UnitError(f"{shown} in `{text}`; a duration ends in us, ms, s, m, h, d or w")
        total += number * _DURATION_UNITS[unit]
    if total.denominator != 1:
        raise UnitError(f"`{text}` is not a whole number of microseconds")
    if total > INT64_MAX:
        raise UnitError(f"`{text}` is beyond 64 bits")
    return int(total)


def parse_time(text: str) -> int:
    """Parse an RFC 3339 time such as `2026-01-02T03:04:05Z` into microseconds since the epoch, below 0 for what was before it.

    Raises UnitError for other forms, for a time without a zone, and for one that is finer than a microsecond.
    """
    shown = text if len(text) <= 60 else text[:60] + "…"
    found = _RFC_3339.fullmatch(text)
    if found is None:
        raise UnitError(f"`{shown}` is no time such as 2026-01-02T03:04:05Z")
    *calendar, decimals, utc, sign, hours, minutes = found.groups(default="")
    year, month, day, hour, minute, second = map(int, calendar)
    try:
        moment = datetime(year, month, day, hour, minute, second)  # not fromisoformat: what it accepts differs between versions of Python
    except ValueError:
        raise UnitError(f"`{shown}` is no time: there is no such day or hour") from None
    if not utc and not sign:
        raise UnitError(f"`{shown}` has no zone such as Z or +01:00")
    if decimals[6:].strip("0"):
        raise UnitError(f"`{shown}` is finer than a microsecond, six decimals")
    offset = int(sign + "1") * (int(hours) * HOUR + int(minutes) * MINUTE) if sign else 0
    return (moment - _EPOCH) // timedelta(microseconds=1) + int(decimals[:6].ljust(6, "0")) - offset


def format_amount(amount: int, resource: str) -> str:
    """Write an amount the way a person does: 8000 thousandths of a gpu as `8`, 500 as `500m`, 2**30 bytes as `1Gi`."""
    if resource in MILLI_RESOURCES:
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    if resource == "memory" and amount:
        for suffix in ("Pi", "Ti", "Gi", "Mi", "Ki"):
            size = int(_SUFFIXES[suffix])
            if amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)


def format_duration(us: int) -> str:
    """Write a duration exactly with the fewest units: 5400 seconds as `1h30m`, 0 as `0s`."""
    if us < 0:
        return "-" + format_duration(-us)
    parts, rest = [], us
    for unit in ("d", "h", "m", "s", "ms", "us"):
        count, rest = divmod(rest, _DURATION_UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def format_time(us: int) -> str:
    """A moment in microseconds since the epoch as ISO 8601 in UTC, such as `2017-10-03T07:12:30Z`."""
    try:
        moment = _EPOCH + timedelta(microseconds=us)
    except OverflowError:  # beyond the year 9999
        return f"{us} us"
    return moment.isoformat() + "Z"
