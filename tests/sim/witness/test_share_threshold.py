"""Tests of where shares part: what one queue holds so that two policies differ in whose share is the greater one."""

import pytest
from gpol.dsl.analysis.checker import compile_policy
from gpol.sim.witness.boundary_values import Side
from gpol.sim.witness.share_threshold import PolicyShares, parting

H100, A100 = ("h100", "gpu"), ("a100", "gpu")

PLAIN = """policy "p" { HEAD }
flavor h100 {
  gpu 8
  worth WORTH
}
flavor a100 { gpu 8 }
queue one { owns nothing }
queue two { owns nothing }
"""

DEEP = """policy "p" { HEAD }
flavor h100 {
  gpu 16
  worth WORTH
}
flavor a100 { gpu 16 }
cohort left {
  weight 2
  owns 1 gpu on a100
  queue one {
    owns 3 gpu on a100
    weight 3
  }
}
cohort right {
  queue two {
    owns 2 gpu on h100
    lends up to 1 gpu on h100
  }
}
"""

APART = """policy "p" { use kueue.fair }
flavor h100 {
  gpu as owned
  worth WORTH
}
flavor a100 { gpu as owned }
queue one {
  serves gpu from h100, a100
  owns 8 gpu on a100
}
queue two {
  serves gpu from h100, a100
  owns 8 gpu on h100
}
"""


def balances(text: str, old: str, new: str, head: str = "use gpol.fair") -> tuple[PolicyShares, PolicyShares]:
    """The balances of a policy with two worths of h100."""
    one, other = (compile_policy(text.replace("WORTH", worth).replace("HEAD", head), "p.gpol") for worth in (old, new))
    return PolicyShares.of(Side.of(one)), PolicyShares.of(Side.of(other))


@pytest.mark.parametrize(
    ("old", "new", "against", "amount"),
    [
        ("1", "3", 4_000, 6_000),  # above 4 GPUs its share is the greater one, or above 12, which is more than there are
        ("1", "5/4", 400, 450),  # no whole GPU lies between 400 and 500 thousandths
        ("1", "5/4", 4_000, 4_500),  # at 5 they would be equal under the new policy
        ("3", "1", 2_000, 4_000),
        ("2", "2", 4_000, None),
        ("3", "4", 4_000, None),  # 12 or 16 GPUs are more than there are
    ],
)
def test_the_amount_is_between_the_two_worths(old: str, new: str, against: int, amount: int | None) -> None:
    """Nobody owns anything, so the one holds as much as the other's worth; the middle, in whole GPUs where one is between."""
    assert parting(balances(PLAIN, old, new), "one", A100, {}, "two", {H100: against}) == amount


@pytest.mark.parametrize("head", ["use gpol.fair", "share used", "share borrowed rounded"])
@pytest.mark.parametrize("text", [PLAIN, DEEP])
@pytest.mark.parametrize(("old", "new"), [("1", "3"), ("2", "7/4")])
def test_it_is_found_where_there_is_one(text: str, head: str, old: str, new: str) -> None:
    """As if every tenth of a GPU were tried, whatever is owned, lent and weighed, and the two policies differ at what is found."""
    pair = balances(text, old, new, head)
    for against in (1_000, 3_000, 5_000):
        besides, held = {H100: 1_000}, {H100: against}
        tried = [
            [balance.is_heavier("one", {**besides, A100: amount}, "two", held) for balance in pair]
            for amount in range(100, pair[0].side.reach("one", A100) + 1, 100)
        ]
        found = parting(pair, "one", A100, besides, "two", held)
        if any(first != second for first, second in tried):
            assert found is not None
        if found is not None:
            first, second = (balance.is_heavier("one", {**besides, A100: found}, "two", held) for balance in pair)
            assert first != second


def test_what_is_never_compared_does_not_part() -> None:
    """Queues of two trees in cycles, and a queue that one policy lacks."""
    assert parting(balances(APART, "1", "3"), "one", H100, {}, "two", {A100: 4_000}) is None
    assert parting(balances(PLAIN, "1", "3"), "one", A100, {}, "three", {H100: 4_000}) is None


def test_nothing_is_held_in_the_end() -> None:
    """What was charged to compare is given back."""
    pair = balances(DEEP, "1", "3")
    before = [balance.side.probe.available(balance.side.queues["one"], 0) for balance in pair]
    first = parting(pair, "one", A100, {}, "two", {H100: 4_000})
    assert first is not None
    assert parting(pair, "one", A100, {}, "two", {H100: 4_000}) == first
    assert [balance.side.probe.available(balance.side.queues["one"], 0) for balance in pair] == before
