"""Quantities: exactly what Kubernetes and Kueue make of them."""

from decimal import Decimal
from fractions import Fraction

import pytest
from gpol.adapters.kueue.read.quantity import UNLIMITED, QuantityError, amount, kueue_amount, number_text, parse, text
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("0", 0),
        ("8", 8),
        ("500m", Fraction(1, 2)),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("2.", 2),
        ("+3", 3),
        ("-1", -1),
        ("1k", 1000),
        ("1Ki", 1024),
        ("1.5Gi", 3 * 2**29),
        ("2E", 2 * 10**18),
        ("1Ei", 2**60),
        ("2e3", 2000),
        ("2E3", 2000),
        ("12E-1", Fraction(6, 5)),
        ("100n", Fraction(1, 10**7)),
        ("5u", Fraction(5, 10**6)),
        (7, 7),
        (Decimal("0.1"), Fraction(1, 10)),
    ],
)
def test_what_a_quantity_stands_for(written: object, number: Fraction) -> None:
    """Every suffix, exponent and form of number has its exact value; JSON numbers are quantities, too."""
    assert parse(written) == number


@pytest.mark.parametrize("written", ["", "x", "1x", "1 Gi", "Gi", "1ki", "1e", "1e400", "--1", "1.2.3", "٣", "1" * 65, None, True, [], {}])
def test_what_is_no_quantity(written: object) -> None:
    """Anything else is refused, in words that show it."""
    with pytest.raises(QuantityError, match="is no quantity"):
        parse(written)


@pytest.mark.parametrize(
    ("written", "resource", "smallest"),
    [
        ("2", "cpu", 2000),
        ("100u", "cpu", 1),
        ("1500m", "cpu", 1500),
        ("1500m", "memory", 2),
        ("1Ki", "memory", 1024),
        ("1m", "nvidia.com/gpu", 1),
        ("3", "gpu", 3000),
        ("2500m", "gpu", 3000),
        ("9223372036854775807", "memory", UNLIMITED),
        ("1e30", "memory", UNLIMITED),
        ("9223372036854775807", "cpu", UNLIMITED),
        ("9223372036854776", "cpu", UNLIMITED),
        ("9223372036854775", "cpu", 9_223_372_036_854_775_000),
    ],
)
def test_amounts_are_rounded_up_and_end_at_64_bits(written: str, resource: str, smallest: int) -> None:
    """cpu counts in thousandths, all else in whole units, of which a `gpu` has a thousand parts; beyond 64 bits there is no limit."""
    assert amount(parse(written), resource) == smallest


@pytest.mark.parametrize(
    ("smallest", "resource", "written"),
    [
        (2000, "cpu", "2"),
        (500, "cpu", "500m"),
        (3000, "gpu", "3"),
        (80 * 2**30, "memory", "80Gi"),
        (2**60, "memory", "1024Pi"),  # the policy language has no Ei
        (1500, "memory", "1500"),
        (0, "memory", "0"),
    ],
)
def test_amounts_are_written_in_their_shortest_form(smallest: int, resource: str, written: str) -> None:
    """Whole units where there are such, binary suffixes for memory alone."""
    assert text(smallest, resource) == written


@given(st.integers(0, UNLIMITED), st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]))
def test_an_amount_survives_the_way_out_and_back(smallest: int, resource: str) -> None:
    """What is written for an amount is read as that amount."""
    assert amount(parse(text(smallest, resource)), resource) == smallest


@pytest.mark.parametrize(("smallest", "resource", "counted"), [(3000, "gpu", 3), (2500, "gpu", 3), (2500, "cpu", 2500), (7, "memory", 7)])
def test_kueues_own_count(smallest: int, resource: str, counted: int) -> None:
    """A resource called `gpu` is whole units in Kueue; what is no whole unit takes one more."""
    assert kueue_amount(smallest, resource) == counted


@pytest.mark.parametrize(
    ("number", "written"), [(Fraction(2), "2"), (Fraction(1, 2), "0.5"), (Fraction(1, 10**9), "0.000000001"), (Fraction(1, 3), "1/3")]
)
def test_numbers_are_written_exactly(number: Fraction, written: str) -> None:
    """In decimals where they end, as a fraction where they don't."""
    assert number_text(number) == written
