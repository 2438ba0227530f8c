"""What amounts cost, and how everything is divided; Armada's own tables are compared in tests/conformance/armada."""

from fractions import Fraction

import pytest
from gpol.engine.definition.armada.armada_shares import LEFT_OVER, ArmadaCost, divided, newcomer_share
from hypothesis import given
from hypothesis import strategies as st

_WEIGHTS = st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3)])
_QUEUES = st.lists(st.tuples(_WEIGHTS, st.fractions(0, 2, max_denominator=20)), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("amounts", "cost"),
    [
        ((0, 0, 0), Fraction(0)),
        ((4, 0, 0), Fraction(1, 2)),
        ((4, 6, 0), Fraction(3, 4)),
        ((1, 0, 9), Fraction(1, 8)),
        ((-1, 0, 0), Fraction(0)),
    ],
)
def test_the_dearest_resource_is_the_cost(amounts: tuple[int, ...], cost: Fraction) -> None:
    """The greatest part of a resource counts, times its multiplier; one that does not exist costs nothing."""
    assert ArmadaCost((8, 16, 0), (Fraction(1), Fraction(2), Fraction(1))).of(amounts) == cost


def test_where_nothing_exists_everything_is_wanted() -> None:
    """A queue wants everything of a cluster that has nothing."""
    assert ArmadaCost((0,), (Fraction(1),)).demand((3,)) == 1
    assert ArmadaCost((4,), (Fraction(1),)).demand((3,)) == Fraction(3, 4)


@given(_QUEUES)
def test_everything_is_divided(queues: list[tuple[Fraction, Fraction]]) -> None:
    """Nobody gets more than it wants; together they get all there is, or all but what is left over, or all that they want."""
    weights, demands = [weight for weight, _ in queues], [demand for _, demand in queues]
    shares = divided(weights, demands)
    assert sum(share.fair for share in shares) == 1
    assert all(share.capped <= demand for share, demand in zip(shares, demands, strict=True))
    together = sum(share.capped for share in shares)
    assert together <= 1
    assert together >= min(1 - LEFT_OVER, sum(demands)) or len(queues) > 10


@given(_QUEUES, _WEIGHTS)
def test_who_wants_everything_gets_its_uncapped_share(queues: list[tuple[Fraction, Fraction]], weight: Fraction) -> None:
    """A new queue that wants everything gets the same share capped and uncapped, and what it is told before it comes."""
    weights, demands = [weight for weight, _ in queues], [demand for _, demand in queues]
    new = divided([*weights, weight], [*demands, Fraction(2)])[-1]
    assert new.capped == new.uncapped == newcomer_share(weights, demands, weight)


def test_no_queues_share_nothing() -> None:
    """Without queues there are no shares."""
    assert divided([], []) == []
