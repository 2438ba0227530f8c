"""One cycle: heads in their turns take each other's room, and nobody goes twice."""

from collections.abc import Callable
from typing import Any

import pytest


def policy(q: str = "reclaims from anyone", owned: int = 2, shared: int = 0, profile: str = "kueue.classical", x: str = "") -> str:
    """Two queues that own the same, one that owns nothing, and what their cohort has."""
    return f"""policy "p" {{ use {profile} }}
flavor a {{ gpu as owned }}
cohort all {{
  owns {shared} gpu
  queue q {{
    owns {owned} gpu
    {q}
  }}
  queue r {{
    owns {owned} gpu
    {q}
  }}
  queue x {{
    owns nothing
    {x}
  }}
}}
"""


def test_overtaken(cycles: Callable[[str], Any]) -> None:
    """Both want the four that are free; the second finds them taken, and is looked at again in the next cycle, not parked."""
    c = cycles(policy("", owned=0, shared=4))
    c.submit("w1", "q", "3")
    c.submit("w2", "r", "3")

    assert c.cycle() == ["run w1", "next w2"]
    assert (c.why("w2"), c.decided[1].outcome) == ("WaitingForQuota", "overtaken")
    assert c.cycle() == ["park w2"]


def test_victims_are_shared(cycles: Callable[[str], Any]) -> None:
    """One borrower has all four: the first owner evicts it; the second would have, and finds room enough without, so it waits for it."""
    c = cycles(policy())
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w1", "q", "2")
    c.submit("w2", "r", "2")

    assert c.cycle() == ["preempt w1", "preempt w2", "evict v for w1"]
    assert (c.why("w2"), c.decided[1].outcome) == ("WaitingForPreemptedWorkloads", "deferred")
    assert c.cycle() == ["run w1", "run w2", "next v"]


def test_other_victims_are_found(cycles: Callable[[str], Any]) -> None:
    """Both would take the latest borrower; the second takes another one instead, in the same cycle."""
    c = cycles(policy())
    c.submit("v1", "x", "2")
    c.submit("v2", "x", "2")
    c.rest()
    c.submit("w1", "q", "2")
    c.submit("w2", "r", "2")

    assert c.cycle() == ["preempt w1", "preempt w2", "evict v1 for w2", "evict v2 for w1"]
    assert c.cycle()[:2] == ["run w1", "run w2"]


@pytest.mark.parametrize(
    ("says", "decided"),
    [("reclaims from lower priority", ["park w1", "next w2"]), ("reclaims from anyone", ["run w2", "park w1"])],
)
def test_room_is_kept_for_whom_nobody_can_go(cycles: Callable[[str], Any], says: str, decided: list[str]) -> None:
    """w1 needs two that it owns, one is free and nobody may go: the one is kept from w2, unless w1's queue may always reclaim."""
    c = cycles(
        f"""priority kept 5 {{ never evicted }}
flavor a {{ gpu as owned }}
cohort all {{
  owns 4 gpu
  queue q {{
    owns 2 gpu
    {says}
  }}
  queue x {{ owns nothing }}
}}
"""
    )
    c.submit("v", "x", "5", priority="kept")
    c.rest()
    c.submit("w1", "q", "2")
    c.submit("w2", "x", "1")

    assert c.cycle() == decided


def test_the_tree_is_as_before(cycles: Callable[[str], Any]) -> None:
    """What a cycle charges while it goes on is given back: after it only what runs is charged."""
    c = cycles(policy())
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w1", "q", "2")
    c.submit("w2", "r", "3")
    c.cycle()

    assert c.charges() == cycles(policy()).charges()


def test_those_told_to_stop_are_waited_for(cycles: Callable[[str], Any]) -> None:
    """Who was told to stop by an outside system counts as a victim that is going: no eviction is decided, and its end lets the owner in."""
    c = cycles(policy())
    c.submit("v", "x", "4")
    placements = [{"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "4"}}]
    c.fact("WorkloadAdopted", workload="v", queue="x", since=0, evicting=True, placements=placements)
    c.submit("w1", "q", "2")

    assert c.rest() == ["preempt w1"]
    assert c.running() == ["v"]
    c.update("v", requeued=c.now)
    assert c.rest() == ["run w1", "next v", "park v"]
