"""The division of fair shares: what is owned first, then the rest by weight, in whole units and by priority."""

from dataclasses import replace
from fractions import Fraction

import pytest
from gpol.engine.definition.kai.quota.division import ShareClaim, divide, fair_shares
from gpol.engine.definition.session.pods import PodStatus
from hypothesis import given
from hypothesis import strategies as st
from kai_clusters import WAITS, Job, Queue, cycle


def claim(name: str = "q", owned: int | None = 0, asked: int = 10, weight: int = 1, **more: int) -> ShareClaim:
    """A claim without limit; the names tell which is older."""
    limit = more.pop("limit", None)
    return ShareClaim(name, owned, limit, Fraction(weight), asked, created=ord(name[0]), **more)


@st.composite
def claims(draw: st.DrawFn) -> list[ShareClaim]:
    """Some claims, the later ones younger."""
    amount = st.integers(0, 12)
    drawn = draw(st.lists(st.tuples(st.none() | amount, st.none() | amount, st.integers(0, 4), amount, st.integers(0, 2)), max_size=6))
    return [
        ShareClaim(f"q{index}", owned, limit, Fraction(weight), asked, priority, index)
        for index, (owned, limit, weight, asked, priority) in enumerate(drawn)
    ]


def test_what_is_owned_comes_first() -> None:
    """Who owns 6 of 8 gets 6, and the rest goes by weight: of 2 more one each."""
    assert divide(8, [claim("a", owned=6), claim("b")]) == ([7, 1], 0)


def test_what_is_owned_is_not_scaled_down() -> None:
    """Two who own 8 each of 10 are due 8 each."""
    assert divide(10, [claim("a", owned=8), claim("b", owned=8)]) == ([8, 8], 0)


def test_what_is_left_of_rounding_goes_to_the_oldest_of_equals() -> None:
    """Of 10 for three equal claims the oldest gets the fourth that is left."""
    assert divide(10, [claim("b"), claim("a"), claim("c")]) == ([3, 4, 3], 0)


def test_the_largest_remainder_comes_first() -> None:
    """7 by weights 1 and 3 is 1.75 and 5.25: the unit that is left goes to the first."""
    assert divide(7, [claim("b", weight=3), claim("a", weight=1)]) == ([5, 2], 0)


def test_what_one_does_not_want_others_get() -> None:
    """Who asks for 1 of its 4 leaves 3 to the other, at most what that asks for."""
    assert divide(8, [claim("a", asked=1), claim("b", asked=6)]) == ([1, 6], 1)


def test_high_priority_takes_all_it_wants() -> None:
    """The lower priority gets what is left."""
    assert divide(8, [claim("a", priority=1, asked=9), claim("b", priority=2, asked=6)]) == ([2, 6], 0)


def test_without_weight_nobody_gets_more_than_it_owns() -> None:
    """A weight of 0 is no claim on what nobody owns."""
    assert divide(10, [claim("a", owned=2, weight=0)]) == ([2], 8)
    assert divide(10, [claim("a", owned=2, weight=0), claim("b", asked=4)]) == ([2, 4], 4)


def test_a_limit_bounds_also_what_is_owned() -> None:
    """A queue that owns 6 with a limit of 3 is due 3."""
    assert divide(8, [claim("a", owned=6, limit=3)]) == ([3], 5)


def test_without_limit_owned_is_all_there_is() -> None:
    """Who owns without limit is due what it asks for, up to all there is, whatever others own."""
    assert divide(8, [claim("a", owned=None, asked=20), claim("b", owned=3)]) == ([8, 3], 0)


@pytest.mark.parametrize(("weight", "shares"), [(Fraction(1), [6, 10]), (Fraction(1, 2), [7, 9]), (Fraction(0), [8, 8])])
def test_past_usage_counts_as_it_is_weighed(weight: Fraction, shares: list[int]) -> None:
    """16 for two equal claims that used 0.4 and 0.1 of the cluster: 6 and 10, with half the weight 7 and 9, without it 8 and 8."""
    used = [replace(claim("a", asked=20), usage=Fraction(2, 5)), replace(claim("b", asked=20), usage=Fraction(1, 10))]
    assert divide(16, used, weight)[0] == shares


def test_units_are_given_whole() -> None:
    """In units of 1000 two equal claims on 3000 get 2000 and 1000; a claim on half a unit is met."""
    assert divide(3000, [claim("a", asked=5000), claim("b", asked=5000)], unit=1000)[0] == [2000, 1000]
    assert divide(1000, [claim("a", asked=500), claim("b", asked=700)], unit=1000)[0] == [500, 500]


def test_shares_are_divided_level_by_level() -> None:
    """The department is due what is there, its queues divide that; who waits and who runs asks for a share, who stops does not."""
    jobs = [Job("runs", 0, 2, (0,)), Job("waits", 0, 4, (WAITS,)), Job("other", 1, 2, (WAITS,)), Job("stops", 1, 2, (0,))]
    made = cycle([8], [Queue(owned=1), Queue(owned=1)], jobs)
    made.session.move(made.session.pods[3], PodStatus.STOPPING, 0)
    root, department, first, second = (shares[2] for shares in fair_shares(made.session))
    assert (root, department, first, second) == (8, 8, 6, 2)
    assert [each[2] for each in fair_shares(made.session, units=(1, 1, 3, 1))] == [8, 8, 6, 2]


@given(claims(), st.integers(0, 40))
def test_nobody_gets_more_than_it_may_and_nothing_is_lost(given_claims: list[ShareClaim], total: int) -> None:
    """A share is at most what is asked for and the limit, at least what is owned of it; what is not given is left over; and something is
    left over only where nobody with a weight wants more."""
    shares, left = divide(total, given_claims)
    firsts = [min(total if each.owned is None else each.owned, each.grantable) for each in given_claims]
    assert all(first <= share <= each.grantable for first, share, each in zip(firsts, shares, given_claims, strict=True))
    assert sum(shares) + left == max(total, sum(firsts))
    assert left == 0 or all(share == each.grantable for share, each in zip(shares, given_claims, strict=True) if each.weight)


@given(claims(), st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_order_in_which_claims_are_given_does_not_matter(given_claims: list[ShareClaim], total: int, random: object) -> None:
    """Each claim gets the same share wherever it stands."""
    order = list(range(len(given_claims)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shares, left = divide(total, given_claims)
    shuffled, other = divide(total, [given_claims[index] for index in order])
    assert ([shares[index] for index in order], left) == (shuffled, other)


@given(claims(), st.integers(0, 40), st.integers(2, 1000))
def test_a_unit_may_be_written_in_any_scale(given_claims: list[ShareClaim], total: int, unit: int) -> None:
    """Amounts in thousandths of a unit give shares in thousandths."""
    scaled = [
        replace(
            each,
            owned=None if each.owned is None else each.owned * unit,
            limit=None if each.limit is None else each.limit * unit,
            asked=each.asked * unit,
        )
        for each in given_claims
    ]
    shares, left = divide(total, given_claims)
    assert divide(total * unit, scaled, unit=unit) == ([share * unit for share in shares], left * unit)
