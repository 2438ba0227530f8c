"""In which order a cycle goes through the heads."""

from collections.abc import Callable
from typing import Any

import pytest


def policy(profile: str, *choices: str, x: str = "", y: str = "") -> str:
    """Two queues that own two of eight GPUs each; the cohort has the rest."""
    return f"""policy "p" {{
  use {profile}
  {chr(10).join(choices)}
}}
flavor a {{ gpu as owned }}
cohort all {{
  owns 4 gpu
  queue x {{
    owns 2 gpu
    {x}
  }}
  queue y {{
    owns 2 gpu
    {y}
  }}
}}
"""


@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair"])
def test_who_does_not_borrow_goes_first(cycles: Callable[[str], Any], profile: str) -> None:
    """The later and less important one fits what its queue owns, so it is admitted first in the cycle."""
    c = cycles(policy(profile))
    c.submit("borrower", "x", "3", priority=9)
    c.submit("owner", "y", "2")

    assert c.cycle() == ["run owner", "run borrower"]


@pytest.mark.parametrize("profile", ["kueue.classical", "kueue.fair"])
def test_then_priority_then_time_then_identity(cycles: Callable[[str], Any], profile: str) -> None:
    """Both fit what they own: the higher priority first; with the same, the one created first; then by identity, then as submitted."""
    for first, second in (
        ({"priority": 0}, {"priority": 1}),
        ({"created": 2}, {"created": 1}),
        ({"uid": "b"}, {"uid": "a"}),
    ):
        c = cycles(policy(profile))
        c.at("1s")
        c.submit("w1", "x", **first)
        c.submit("w2", "y", **second)
        assert c.cycle() == ["run w2", "run w1"]

    c = cycles(policy(profile))
    c.submit("w2", "y")
    c.submit("w1", "x")
    assert c.cycle() == ["run w2", "run w1"]


def test_the_smaller_share_wins_the_tournament(cycles: Callable[[str], Any]) -> None:
    """Both borrow; x already does more, so y goes first under fair sharing, and the earlier of x without."""
    for profile, expected in (("kueue.fair", ["run y1", "run x2"]), ("kueue.classical", ["run x2", "run y1"])):
        c = cycles(policy(profile))
        c.submit("x1", "x", "4")
        c.submit("y0", "y", "2")
        c.rest()
        c.submit("x2", "x", "1")
        c.submit("y1", "y", "1")
        assert c.cycle() == expected


def test_weight_divides_the_share(cycles: Callable[[str], Any]) -> None:
    """x would borrow two and y one, but x has weight 4: its share is the smaller."""
    c = cycles(policy("kueue.fair", x="weight 4"))
    c.submit("y1", "y", "3")
    c.submit("x1", "x", "4")

    assert c.cycle() == ["run x1", "run y1"]


def test_the_tournament_is_played_anew_for_each_turn(cycles: Callable[[str], Any]) -> None:
    """Once x1 is admitted its cohort's share is greater than the other's, so the other cohort's goes before x2."""
    c = cycles(
        """policy "p" { use kueue.fair }
flavor a { gpu as owned }
cohort all {
  owns 8 gpu
  cohort left {
    queue l1 { owns nothing }
    queue l2 { owns nothing }
  }
  queue right { owns nothing }
}
"""
    )
    c.submit("l1", "l1", "2")
    c.submit("l2", "l2", "2")
    c.submit("r", "right", "3")

    assert c.cycle() == ["run l1", "run r", "run l2"]


def test_keys_may_run_the_other_way(cycles: Callable[[str], Any]) -> None:
    """A policy may serve those that borrow first, and the greater share, all at once or in the tournament."""
    for choice in ("order heads by borrowing desc, submitted asc", "order queues by borrowing desc, submitted asc"):
        c = cycles(policy("kueue.classical" if "heads" in choice else "kueue.fair", choice))
        c.submit("owner", "y", "2")
        c.submit("borrower", "x", "3")
        assert c.cycle() == ["run borrower", "run owner"]

    c = cycles(policy("kueue.fair", "order queues by share desc, submitted asc"))
    c.submit("small", "y", "3")
    c.submit("great", "x", "5")
    assert c.cycle() == ["run great", "run small"]
