"""Moments that an earlier way of looking ahead missed: each case is a counterexample that was met."""

from collections.abc import Callable
from typing import Any

from gpol.engine.default_core import new_core
from gpol.engine.units import parse_duration
from policy_texts import TWO_STEPS

MINUTE = 60_000_000

TWO_WINDOWS = """policy "p" { use test.bare }
flavor a { gpu 2 }
queue g { owns nothing }
queue o { owns 2 gpu }
preempt r {
  evict from queues that borrow
  where (victim.running < 5m or victim.running >= 1h or victim.user = "late")
}
protect late { where victim.user = "late" and victim.running < 30m }
"""
"""x may go in its first five minutes and from an hour on, late from half an hour on; both have to go."""


def two_windows(cluster: Callable[[str], Any]) -> Any:
    """One minute after both were admitted, their owner's workload waits."""
    c = cluster(TWO_WINDOWS)
    c.submit("x", "g", "1")
    c.submit("late", "g", "1", user="late")
    c.at("1m")
    assert c.submit("w", "o", "2") == []
    return c


def test_room_that_later_goes_again(cluster: Callable[[str], Any]) -> None:
    """At 10m big may go, which is enough; from 15m on small would go first, and then g borrows no more."""
    c = cluster("""policy "p" { use test.bare }
flavor a { gpu 6 }
priority serving 9 { never evicted }
queue o { owns 3 gpu }
queue g { owns 3 gpu }
queue z { owns nothing }
preempt r {
  when workload fits what its queue owns
  evict from queues that borrow
}
protect warm-up { where victim.running < 10m }
""")
    c.submit("z", "z", "2", priority="serving")
    c.submit("big", "g", "3", priority=5)
    c.at("5m")
    assert c.submit("small", "g", "1") == ["run small"]
    c.at("6m")

    assert c.submit("w", "o", "3") == []
    assert c.core.next_wake() == 10 * MINUTE
    assert c.at("10m") == ["evict big", "run w"]


def test_who_is_freed_later_may_rank_first(cluster: Callable[[str], Any]) -> None:
    """Once small may go as well it goes first, and what is left is too small a share for big to go."""
    c = cluster("""policy "p" {
  use test.bare
  share used
}
flavor a { gpu 8 }
queue z { owns nothing }
queue g { owns nothing }
queue o { owns nothing }
preempt r {
  evict from any queue
  where victim.queue = g and victim.queue.share_after >= 1/8
}
protect big { where victim.user = "big" and victim.running < 10m }
protect small { where victim.user = "small" and victim.running < 20m }
""")
    c.submit("z", "z", "4")
    c.submit("big", "g", "3", user="big", priority=5)
    c.submit("small", "g", "1", user="small")
    c.at("1m")

    assert c.submit("w", "o", "3") == []
    assert c.core.next_wake() == 10 * MINUTE


def test_a_second_window(cluster: Callable[[str], Any]) -> None:
    """Time frees x, keeps it, and frees it again: the second time both may go."""
    assert two_windows(cluster).core.next_wake() == 60 * MINUTE


def test_a_rebuilt_core_decides_alike(cluster: Callable[[str], Any]) -> None:
    """A core that remembers its refusal decides at 1h what one decides that was rebuilt from the recorded events."""
    c = two_windows(cluster)
    rebuilt = new_core()
    for event, graph in c.history:
        rebuilt.apply(event, graph)

    assert c.tick("1h") == ["evict late", "evict x", "run w"]
    fact = c.history[-1 - len(c.decided)][0]
    assert [decision.payload() for decision in rebuilt.step(fact)] == [decision.payload() for decision in c.decided]


PROTECTED = """policy "p" { use test.bare }
flavor a { gpu 4 }
flavor b { gpu 2 }
cohort all {
  queue q { owns 4 gpu on a }
  queue x { owns 2 gpu on b }
}
preempt higher {
  evict from any queue
  where victim.priority < workload.priority
}
protect warm-up { where victim.running < 10s }
"""


def test_time_wakes_for_whom_fewer_pods_will_do(cluster: Callable[[str], Any]) -> None:
    """Of eight pods there is never room for more than four, once a protection ends: the core wakes at that moment."""
    c = cluster(PROTECTED)
    c.submit("v", "x", "4", on=["a"])
    c.submit("w", "q", sets=[{"count": 8, "min_count": 2, "requests": {"gpu": "1"}, "flavors": ["a"]}], priority=10)

    assert c.core.next_wake() == parse_duration("10s")
    assert c.at("11s") == ["evict v", "run w"]


def test_time_wakes_for_a_part_that_changes_the_flavor_of_another(cluster: Callable[[str], Any]) -> None:
    """x takes b as whoever runs on a is protected, and y fits b alone: then x may have a, and both fit."""
    c = cluster(PROTECTED)
    c.submit("v", "x", "4", on=["a"])
    sets = [{"name": "x", "requests": {"gpu": "2"}}, {"name": "y", "requests": {"gpu": "2"}, "flavors": ["b"]}]
    assert c.submit("w", "q", sets=sets, priority=10) == []

    assert c.core.next_wake() == parse_duration("10s")
    assert c.at("11s") == ["evict v", "run w"]


def test_an_earlier_rule_may_trigger_a_later_one_in_time(cluster: Callable[[str], Any]) -> None:
    """At 10m the queue's own small workload may go; then the great one fits what the queue owns, and the borrower has to go as well."""
    c = cluster(TWO_STEPS + "protect warm-up for owner { where victim.running < 10m }\n")
    c.submit("small", "owner", "1", priority="low")
    c.submit("g", "guest", "1")
    assert c.submit("great", "owner", "2", priority="high") == []

    assert c.core.next_wake() == parse_duration("10m")
    assert c.at("10m") == ["evict small", "evict g", "run great"]
