"""Quantities are exact: text to integers and back, and whatever does not fit is refused."""

import pytest
from gpol.engine.units import (
    INT64_MAX,
    MINUTE,
    SECOND,
    UnitError,
    format_amount,
    format_duration,
    format_time,
    parse_amount,
    parse_duration,
    parse_time,
    scale_of,
    split_quantity,
)


@pytest.mark.parametrize(
    ("text", "resource", "amount"),
    [
        ("8", "gpu", 8000),
        ("2.5", "gpu", 2500),
        ("500m", "cpu", 500),
        ("1/8", "gpu", 125),
        ("2k", "cpu", 2_000_000),
        ("80Gi", "memory", 85_899_345_920),
        ("1.5k", "license", 1500),
        ("0", "gpu", 0),
        (str(INT64_MAX), "memory", INT64_MAX),
    ],
)
def test_amounts_count_in_the_smallest_unit(text: str, resource: str, amount: int) -> None:
    """gpu and cpu count in thousandths, all else in whole units."""
    assert parse_amount(text, resource) == amount


@pytest.mark.parametrize(
    ("text", "resource", "problem"),
    [
        ("8x", "gpu", "unknown unit `x`"),
        ("1500m", "license", "not a whole number of whole units of license"),
        ("0.0001", "gpu", "not a whole number of thousandths of a gpu"),
        (str(INT64_MAX + 1), "memory", "beyond 64 bits"),
        ("gpu", "gpu", "not a number"),
        ("1/0", "gpu", "not a number"),
        ("1" * 41, "gpu", "more than 40 digits"),
        ("-1", "gpu", "not a number"),
    ],
)
def test_amounts_without_an_exact_meaning_are_refused(text: str, resource: str, problem: str) -> None:
    """Nothing is rounded, clipped or guessed."""
    with pytest.raises(UnitError, match=problem):
        parse_amount(text, resource)


def test_quantities_split_into_number_and_unit() -> None:
    """The number ends where the first letter starts."""
    assert split_quantity("80Gi") == (80, "Gi")


@pytest.mark.parametrize(("resource", "scale"), [("gpu", 1000), ("cpu", 1000), ("memory", 1), ("license", 1)])
def test_scale(resource: str, scale: int) -> None:
    """Only gpu and cpu come in parts."""
    assert scale_of(resource) == scale


@pytest.mark.parametrize(
    ("text", "us"), [("90s", 90 * SECOND), ("1h30m", 90 * MINUTE), ("1.5ms", 1500), ("7d", 604_800 * SECOND), ("1w", 604_800 * SECOND)]
)
def test_durations_are_microseconds(text: str, us: int) -> None:
    """Units add up."""
    assert parse_duration(text) == us


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a duration is missing"),
        ("10", "the unit is missing"),
        ("10y", "unknown unit `y`"),
        ("0.5us", "not a whole number of microseconds"),
        ("99999999999w", "beyond 64 bits"),
        ("h", "not a number"),
    ],
)
def test_durations_without_an_exact_meaning_are_refused(text: str, problem: str) -> None:
    """A duration needs a unit, and has to fit."""
    with pytest.raises(UnitError, match=problem):
        parse_duration(text)


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (8000, "gpu", "8"),
        (500, "gpu", "500m"),
        (2**30, "memory", "1Gi"),
        (3 * 2**20, "memory", "3Mi"),
        (1000, "memory", "1000"),
        (0, "memory", "0"),
        (7, "license", "7"),
    ],
)
def test_amounts_are_written_as_people_write_them(amount: int, resource: str, text: str) -> None:
    """The largest unit that is exact; and it reads back as the same amount."""
    assert format_amount(amount, resource) == text
    assert parse_amount(text, resource) == amount


@pytest.mark.parametrize(("us", "text"), [(0, "0s"), (90 * MINUTE, "1h30m"), (-1, "-1us"), (86_400 * SECOND + 2_000, "1d2ms")])
def test_durations_are_written_exactly(us: int, text: str) -> None:
    """The fewest units that say it all."""
    assert format_duration(us) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_000_001, "1970-01-01T00:00:01.000001Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00Z"),
        (2**63 - 1, "9223372036854775807 us"),
    ],
)
def test_moments_are_written_in_utc(us: int, text: str) -> None:
    """To the second where that is exact; a moment beyond the year 9999 has no date."""
    assert format_time(us) == text


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:01z", SECOND),
        ("1970-01-01 00:00:01.5+00:00", SECOND + SECOND // 2),
        ("1970-01-01T01:30:00+01:30", 0),
        ("1970-01-01T00:00:00-00:01", MINUTE),
        ("1970-01-02T00:00:00.000001Z", 86_400 * SECOND + 1),
        ("1970-01-01T00:00:00.1234560000Z", 123_456),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2000-02-29T00:00:00Z", 951_782_400 * SECOND),
    ],
)
def test_times_are_those_of_rfc_3339(text: str, us: int) -> None:
    """Every zone is taken into account, and zeros beyond the microseconds change nothing."""
    assert parse_time(text) == us


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2026-01-02T03:04:05.0000001Z", "finer than a microsecond"),
        ("2026-01-02T03:04:05", "has no zone"),
        ("2026-01-02T03:04Z", "is no time such as"),
        ("20260102T030405Z", "is no time such as"),
        ("2026-W01-1T00:00:00Z", "is no time such as"),
        ("2026-01-02T03:04:05,5Z", "is no time such as"),
        ("2026-01-02T03:04:05+01", "is no time such as"),
        ("2026-01-02T03:04:05+01:60", "is no time such as"),
        ("2026-01-02T03:04:05+24:00", "is no time such as"),
        ("٢٠٢٦-01-02T03:04:05Z", "is no time such as"),
        ("2026-01-02T03:04:05Z\n", "is no time such as"),
        ("", "is no time such as"),
        ("x" * 100_000, "…` is no time such as"),
        ("2026-02-29T00:00:00Z", "no such day or hour"),
        ("2026-01-02T24:00:00Z", "no such day or hour"),
        ("2026-01-02T23:59:60Z", "no such day or hour"),
        ("0000-01-01T00:00:00Z", "no such day or hour"),
    ],
)
def test_times_of_other_forms_are_refused(text: str, problem: str) -> None:
    """No version of Python decides what a time is, and nothing is cut off."""
    with pytest.raises(UnitError, match=problem):
        parse_time(text)
