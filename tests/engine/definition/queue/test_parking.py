"""What waits where: the queue proper, what is parked, what is set aside, and who is the head."""

from collections.abc import Callable
from typing import Any

import pytest

ONE = """flavor a {{ gpu as owned }}
cohort all {{
  queue q {{
    owns 4 gpu
    {says}
  }}
  queue x {{ owns 1 gpu }}
}}
"""


def policy(says: str = "") -> str:
    """Two queues of one tree."""
    return ONE.format(says=says)


@pytest.mark.parametrize(("says", "decided"), [("", ["park big", "run small"]), ("queueing strict fifo", ["next big"])])
def test_a_strict_queue_waits_for_its_head(cycles: Callable[[str], Any], says: str, decided: list[str]) -> None:
    """What does not fit is parked, and others pass; in a strict queue it stays the head and nobody does."""
    c = cycles(policy(says))
    c.submit("big", "q", "9")
    c.submit("small", "q", "1")

    assert c.rest() == decided


def test_likes_are_parked_unseen(cycles: Callable[[str], Any]) -> None:
    """Of three that ask for the same one is looked at; the others, and one that comes later, are parked with it. Priority tells apart."""
    c = cycles(policy())
    for name in ("a1", "a2"):
        c.submit(name, "q", "9")
    assert c.rest() == ["park a1"]
    c.submit("a3", "q", "9")
    assert c.core.next_wake() is None
    c.submit("b", "q", "9", priority=1)

    assert c.rest() == ["park b"]
    assert c.line("q") == ["b", "a1", "a2", "a3"]


def test_what_is_parked_returns_when_room_may_be_free(cycles: Callable[[str], Any]) -> None:
    """An end anywhere in the tree lets it be looked at again; one in another tree does not."""
    c = cycles(policy() + "queue alone { owns 1 gpu }\n")
    c.submit("v", "x", "3")
    c.submit("other", "alone", "1")
    c.submit("w", "q", "4")
    assert c.rest() == ["run other", "run w", "next v", "park v"]
    c.submit("late", "q", "4")
    assert c.rest() == ["park late"]

    c.finish("other")
    assert c.core.next_wake() is None
    c.finish("w")
    assert c.rest() == ["run late", "park v"], "that v was overtaken again is nothing new"


def test_who_has_evicted_stays_the_head(cycles: Callable[[str], Any]) -> None:
    """A more important one that comes while it waits for its victims does not pass it; in a strict queue it does."""
    for says, expected in (("", "run w"), ("queueing strict fifo", "run late")):
        c = cycles(policy(f"reclaims from anyone\n    {says}"))
        c.submit("v", "x", "5")
        c.rest()
        c.submit("w", "q", "4")
        assert c.cycle() == ["preempt w", "evict v for w"]
        c.submit("late", "q", "4", priority=9)
        assert c.cycle()[0] == expected


def test_an_update_leaves_it_the_head(cycles: Callable[[str], Any]) -> None:
    """What an admission check says of a workload that waits for its victims does not let others pass it; a hold does."""
    for name, said, expected in (("checks", {"prov": "Pending"}, "run w"), ("hold", True, "run late")):
        c = cycles(policy("reclaims from anyone"))
        c.submit("v", "x", "5")
        c.rest()
        c.submit("w", "q", "4")
        assert c.cycle() == ["preempt w", "evict v for w"]
        c.update("w", **{name: said})
        c.submit("late", "q", "4", priority=9)
        assert c.cycle()[0] == expected


def test_the_head_is_the_most_important_then_the_oldest(cycles: Callable[[str], Any]) -> None:
    """Priority, the moment it counts as waiting, identity, the number of its submission."""
    c = cycles(policy())
    c.at("9s")
    c.submit("fifth", "q", uid="b")
    c.submit("fourth", "q", uid="a", created=8)
    c.submit("third", "q", uid="b", created=3)
    c.submit("second", "q", uid="a", created=3)
    c.submit("first", "q", priority=1)
    line = c.line("q")
    assert line == ["first", "second", "third", "fourth", "fifth"]
    assert c.head("q") == "first"

    c.update("second", requeued=9_000_000)
    assert c.line("q")[:3] == ["first", "third", "fourth"]


def test_who_is_on_hold_is_set_aside(cycles: Callable[[str], Any]) -> None:
    """It is in no queue until it is released; then it is looked at like any other."""
    c = cycles(policy())
    c.submit("w", "q")
    c.operator("hold", "w")
    assert c.core.next_wake() is None
    assert (c.workload("w").in_line, c.line("q")) == (False, [])

    c.operator("release", "w")
    assert c.rest() == ["run w"]


def test_taking_out_what_is_parked(cycles: Callable[[str], Any]) -> None:
    """A parked workload that is cancelled, or changes its priority, leaves its place; changed, it waits anew."""
    c = cycles(policy())
    c.submit("a", "q", "9")
    c.submit("b", "q", "8")
    c.rest()
    c.fact("WorkloadCancelled", workload="a")
    c.update("b", priority=3)

    assert c.line("q") == ["b"]
    assert c.rest() == ["park b"]


def test_the_evicted_wait_by_their_creation(cycles: Callable[[str], Any]) -> None:
    """The victim is back in its queue before one that came later."""
    c = cycles(policy("reclaims from anyone"))
    c.submit("v", "x", "5")
    c.rest()
    c.at("5s")
    c.submit("later", "x", "5")
    c.submit("w", "q", "4")
    c.rest()

    assert c.line("x") == ["v", "later"]
    assert c.workload("v").evictions == 1
