"""Amounts and numbers on the way out."""

from fractions import Fraction

import pytest
from gpol.adapters.kueue.export.amounts import decimal_text, duration_text, quota_text
from gpol.engine.units import INT64_MAX


@pytest.mark.parametrize(
    ("smallest", "resource", "text"),
    [
        (8000, "gpu", "8"),
        (0, "gpu", "0"),
        (500, "gpu", None),
        (8500, "gpu", None),
        (INT64_MAX, "gpu", str(INT64_MAX)),
        (8, "nvidia.com/gpu", "8"),
        (1500, "cpu", "1500m"),
        (2000, "cpu", "2"),
        (INT64_MAX, "cpu", f"{INT64_MAX}m"),
        (80 * 2**30, "memory", "80Gi"),
        (1000, "memory", "1000"),
    ],
)
def test_quotas(smallest: int, resource: str, text: str | None) -> None:
    """Amounts are written exactly, without limit as the greatest number; a part of a gpu is none."""
    assert quota_text(smallest, resource) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(2), "2"),
        (Fraction(1, 2), "500m"),
        (Fraction(1, 4000), "250u"),
        (Fraction(3, 10**9), "3n"),
        (Fraction(1, 3), None),
        (Fraction(1, 10**10), None),
    ],
)
def test_numbers(number: Fraction, text: str | None) -> None:
    """Numbers are whole ones of the biggest part that fits, as Kubernetes shows them; what has more than nine decimals is none."""
    assert decimal_text(number) == text


@pytest.mark.parametrize(
    ("us", "text"), [(0, "0s"), (300_000_000, "5m"), (604_800_000_000, "168h"), (90_500_000, "1m30s500ms"), (1, "1us")]
)
def test_durations(us: int, text: str) -> None:
    """Durations are written as Go reads them, which knows no days."""
    assert duration_text(us) == text
