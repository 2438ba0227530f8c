"""Shares rounded as Kueue rounds them: equal to what floating-point arithmetic gives. The test uses floats, the engine has none."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from gpol.engine.definition.quota.fair_share import nearest_double


def test_like_division_of_doubles() -> None:
    """Ten thousand random quotients of whole numbers, small and great, round as IEEE 754 division does."""
    generator = random.Random(7)
    for _ in range(10_000):
        above, below = generator.randrange(1, 2 ** generator.randrange(1, 53)), generator.randrange(1, 2 ** generator.randrange(1, 53))
        assert nearest_double(Fraction(above, below)) == Fraction(above / below)


def test_like_conversion_of_whole_numbers() -> None:
    """Whole numbers of up to 64 bits round as their conversion does; halfway the even one is taken."""
    generator = random.Random(8)
    numbers = [2**53 + 1, 2**53 + 3, 2**63 - 1, 2**54 + 2, 2**54 + 6, *(generator.randrange(1, 2**63) for _ in range(5_000))]
    for number in numbers:
        assert nearest_double(Fraction(number)) == Fraction(float(number))


@pytest.mark.parametrize("value", [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(3, 4), Fraction(2**53), Fraction(5, 1024)])
def test_what_a_double_holds_stays(value: Fraction) -> None:
    """Numbers of few binary digits are their own nearest."""
    assert nearest_double(value) == value


def test_rounding_goes_both_ways() -> None:
    """A third is rounded down, a tenth up, each by less than one part in two to the 53rd."""
    assert nearest_double(Fraction(1, 3)) < Fraction(1, 3)
    assert nearest_double(Fraction(1, 10)) > Fraction(1, 10)
    assert all(abs(nearest_double(each) - each) < each / 2**53 for each in (Fraction(1, 3), Fraction(1, 10)))


def test_a_weight_of_nothing_is_told_apart_where_nothing_can_be_lent(cycles: Callable[[str], Any]) -> None:
    """Both queues have more than there is to lend, which is nothing: no share counts, but the one of weight 0 ranks above all."""
    c = cycles(
        """policy "p" { use kueue.fair }
flavor a { gpu as owned }
cohort all {
  queue none {
    owns 0 gpu
    weight 0
  }
  queue one { owns 0 gpu }
}
"""
    )
    for name in ("none", "one"):
        assert c.core.probe.share(c.node(name)) == (0, 0)
        c.submit(f"in-{name}", name, "2")
        placement = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "2"}}
        c.fact("WorkloadAdopted", workload=f"in-{name}", queue=name, since=0, placements=[placement])

    assert c.core.probe.share(c.node("none")) == (1, 0)
    assert c.core.probe.share(c.node("one")) == (0, 0)
