"""Fair victims: of whom has the greatest share, as long as a strategy says that it keeps its due."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from gpol.engine.definition.preemption.fair_sharing import passes
from gpol.engine.outcome.nomination import Share


def share(value: int) -> Share:
    """A finite share."""
    return (0, Fraction(value))


@pytest.mark.parametrize(
    ("strategy", "new", "old", "after", "passing"),
    [
        ("final-share", 2, 9, 2, True),
        ("final-share", 3, 9, 2, False),
        ("initial-share", 8, 9, 0, True),
        ("initial-share", 9, 9, 9, False),
    ],
)
def test_strategies(strategy: Any, new: int, old: int, after: int, passing: bool) -> None:
    """Final share: at most what the victim's side keeps. Initial share: less than what it has."""
    assert passes(strategy, share(new), share(old), share(after)) == passing


def policy(*strategies: str, owned: int = 0, weight: str = "1", says: str = "reclaims from anyone") -> str:
    """Three queues that share eight GPUs of their cohort; `q` owns some more and reclaims."""
    by = f"\n  preempt fairly by {', '.join(strategies)}" if strategies else ""
    return f"""policy "f" {{
  use kueue.fair{by}
}}
flavor a {{ gpu as owned }}
cohort all {{
  owns {8 - owned} gpu
  queue q {{
    owns {owned} gpu
    {says}
  }}
  queue x {{
    owns nothing
    weight {weight}
  }}
  queue y {{ owns nothing }}
}}
"""


def test_shares_even_out(cycles: Callable[[str], Any]) -> None:
    """x has six of eight, y two: for q's two one of x goes, since x keeps four, and none of y; then nothing more."""
    c = cycles(policy("final share"))
    for name, gpu in (("x1", "2"), ("x2", "2"), ("x3", "2"), ("y1", "2")):
        c.submit(name, name[0], gpu)
    c.rest()
    c.at("9s")
    c.submit("w", "q", "2")

    assert c.cycle() == ["preempt w", "evict x3 for w"]
    [evicted] = [event for event in c.decided if event.kind == "WorkloadEvicted"]
    assert evicted.preemption == "fair-sharing"
    compared = {operand.name: operand.value for operand in evicted.why.operands}
    assert compared["preemptor's share, with it running"] == "250 thousandths"
    assert compared["victim's share, before"] == "750 thousandths"
    assert compared["victim's share, without it"] == "500 thousandths"
    assert c.rest() == ["run w", "next x3", "park x3"]


@pytest.mark.parametrize(
    ("strategies", "decided"),
    [(("final share",), ["park w"]), (("final share", "initial share"), ["preempt w", "evict x1 for w"])],
)
def test_the_second_strategy_takes_one_of_each_queue(cycles: Callable[[str], Any], strategies: tuple[str, ...], decided: list[str]) -> None:
    """One of eight GPUs belongs to all: evicting it would leave x nothing and q four. By its share before, eight, it may go."""
    c = cycles(policy(*strategies))
    c.submit("x1", "x", "8")
    c.rest()
    c.submit("w", "q", "4")

    assert c.cycle() == decided
    if len(decided) == 1:
        [candidate] = c.standing("w").candidates
        assert candidate.outcome == "share"
        assert {operand.name: operand.value for operand in candidate.operands}["victim's share, without it"] == "0 thousandths"


def test_what_it_owns_is_taken_back_whatever_the_shares(cycles: Callable[[str], Any]) -> None:
    """Within what q owns the borrower goes, though nothing is left to it."""
    c = cycles(policy("final share", owned=4))
    c.submit("x1", "x", "8")
    c.rest()
    c.submit("w", "q", "4")

    assert c.cycle() == ["preempt w", "evict x1 for w"]
    assert c.decided[-1].preemption == "reclaim"


def test_weight_0_has_an_infinite_share(cycles: Callable[[str], Any]) -> None:
    """A queue of weight 0 gives first, though it has only two of eight and the other six."""
    c = cycles(policy("final share", weight="0"))
    c.submit("y1", "y", "6")
    c.submit("x1", "x", "1")
    c.submit("x2", "x", "1")
    c.rest()
    c.submit("w", "q", "1")

    assert c.cycle() == ["preempt w", "evict x2 for w"]
    compared = {operand.name: operand.value for operand in c.decided[-1].why.operands}
    assert compared["victim's share, without it"] == "infinite"


def test_its_own_go_by_priority(cycles: Callable[[str], Any]) -> None:
    """Where its own queue has the greatest share, its own lower ones go."""
    c = cycles(policy("final share", owned=8, says="evicts its own of lower priority"))
    c.submit("own", "q", "8")
    c.rest()
    c.submit("w", "q", "4", priority=1)

    assert c.cycle() == ["preempt w", "evict own for w"]
    assert c.decided[-1].preemption == "in-queue"


def test_each_victim_is_of_whoever_has_most_then(cycles: Callable[[str], Any]) -> None:
    """x and y have four each. Once one of x is out it is y that has most, so the two who go for q's two are of one queue each."""
    c = cycles(policy("final share"))
    for number in range(1, 5):
        c.submit(f"x{number}", "x")
        c.submit(f"y{number}", "y")
    c.rest()
    c.at("9s")
    c.submit("w", "q", "2")

    assert c.cycle() == ["preempt w", "evict x4 for w", "evict y4 for w"]


def test_cohorts_compare_as_sides(cycles: Callable[[str], Any]) -> None:
    """Two queues of one cohort hold three each and a queue beside it two: the cohort's side is the greater, so one of its goes."""
    c = cycles(
        """policy "f" {
  use kueue.fair
}
flavor a { gpu as owned }
cohort all {
  owns 8 gpu
  cohort left {
    queue l1 { owns nothing }
    queue l2 { owns nothing }
  }
  queue right { owns nothing }
  queue q {
    owns nothing
    reclaims from anyone
  }
}
"""
    )
    for name, queue in (
        ("l1", "l1"),
        ("l2", "l2"),
        ("l3", "l1"),
        ("l4", "l2"),
        ("l5", "l1"),
        ("l6", "l2"),
        ("r1", "right"),
        ("r2", "right"),
    ):
        c.submit(name, queue)
    c.rest()
    c.submit("w", "q", "1")

    assert c.cycle() == ["preempt w", "evict l5 for w"], "l5 and l6 were admitted in one cycle; the earlier submitted goes"
