"""Protections: who is safe how long, what is reserved meanwhile, and when time alone decides."""

from collections.abc import Callable
from typing import Any

import pytest

POLICY = """policy "protection" { use test.bare }
flavor a { gpu 4 }
queue owner { owns 4 gpu }
cohort guests {
  queue guest { owns nothing }
  queue visitor { owns nothing }
}
preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow
}
PROTECT
"""

WARM_UP = "protect warm-up { where victim.running < 10m }"
MINUTE = 60_000_000


@pytest.mark.parametrize(
    ("guard", "until"),
    [
        ("victim.running < 10m", 10 * MINUTE),
        ("victim.running <= 10m", 10 * MINUTE + 1),
        ("not victim.running >= 10m", 10 * MINUTE),
        ("victim.running < 10m or victim.running < 7m", 10 * MINUTE),
        ("victim.running < 10m and victim.running < 7m", 7 * MINUTE),
        ("workload.waiting < 2m", 7 * MINUTE),
        ('victim.running < 10m and victim.user = "ada"', 10 * MINUTE),
        ("victim.running < 1s or victim.running < 10m", 10 * MINUTE),
    ],
)
def test_a_protection_ends_to_the_microsecond(cluster: Callable[[str], Any], guard: str, until: int) -> None:
    """An owner's workload, there since 5m, waits; the core wakes when the protection ends, and decides not a microsecond before."""
    c = cluster(POLICY.replace("PROTECT", f"protect safe {{ where {guard} }}"))
    c.submit("g", "guest", "4", user="ada")
    c.at("5m")

    assert c.submit("o", "owner", "4") == []
    assert c.core.next_wake() == until
    c.now = until - 1
    assert c.fact("TimeAdvanced") == []
    assert c.core.next_wake() == until
    c.now = until
    assert c.fact("TimeAdvanced") == ["evict g", "run o"]
    assert c.core.next_wake() is None


def test_a_protection_that_is_over_changes_nothing(cluster: Callable[[str], Any]) -> None:
    """After ten minutes a workload goes at once."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    c.submit("g", "guest", "4")
    c.at("10m")

    assert c.submit("o", "owner", "4") == ["evict g", "run o"]


def test_any_fact_at_the_moment_will_do(cluster: Callable[[str], Any]) -> None:
    """When a protection has ended, whatever fact comes then finds the victim free to go."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    c.submit("g", "guest", "4")
    c.submit("o", "owner", "4")
    c.now = 10 * MINUTE

    assert c.submit("other", "visitor", "1") == ["evict g", "run o"]


def test_room_is_reserved_while_protections_run(cluster: Callable[[str], Any]) -> None:
    """Of 4 GPUs 1 is free; while the owner waits for the other 3, nobody borrows it, and once the owner gives up somebody does."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    c.submit("g", "guest", "3")
    c.submit("o", "owner", "4")

    assert c.submit("v", "visitor", "1") == []
    assert c.cancel("o") == ["run v"]
    assert c.core.next_wake() is None


def test_nothing_is_reserved_for_what_never_comes(cluster: Callable[[str], Any]) -> None:
    """A protection that time does not end is not waited for: others may borrow the room, and no wake is set."""
    c = cluster(POLICY.replace("PROTECT", 'protect exams { where victim.label "exam" = "yes" }'))
    c.submit("g", "guest", "3", labels={"exam": "yes"})

    assert c.submit("o", "owner", "4") == []
    assert c.core.next_wake() is None
    assert c.submit("v", "visitor", "1") == ["run v"]


def test_a_reservation_ends_with_its_need(cluster: Callable[[str], Any]) -> None:
    """When a protected workload ends by itself, the one that waited runs at once, and the wake is gone."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    c.submit("g", "guest", "3")
    c.submit("o", "owner", "4")

    assert c.finish("g") == ["run o"]
    assert c.core.next_wake() is None


def test_it_waits_for_as_many_as_it_needs(cluster: Callable[[str], Any]) -> None:
    """Three protected workloads end at 10m, 11m and 12m: one GPU comes back at 10m, three not before 12m, together."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    for minute, name in enumerate(("g0", "g1", "g2")):
        c.at(f"{minute}m")
        c.submit(name, "guest", "1")
    c.submit("o3", "owner", "4")

    assert c.core.next_wake() == 12 * MINUTE
    assert c.at("12m") == ["evict g2", "evict g1", "evict g0", "run o3"]


def test_the_earliest_of_several_wakes(cluster: Callable[[str], Any]) -> None:
    """Two owners' workloads wait for different victims: the core wakes for the first to come, then for the second."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    c.submit("g0", "guest", "2")
    c.at("3m")
    c.submit("g3", "guest", "2")
    c.submit("o1", "owner", "2")
    c.submit("o2", "owner", "2")

    assert c.core.next_wake() == 10 * MINUTE
    assert c.at("10m") == ["evict g0", "run o1"]
    assert c.core.next_wake() == 13 * MINUTE
    assert c.at("13m") == ["evict g3", "run o2"]


def test_a_free_victim_is_better_than_a_protected_one(cluster: Callable[[str], Any]) -> None:
    """A workload that may go is taken at once, though the rule ranks a protected one before it."""
    c = cluster(POLICY.replace("PROTECT", WARM_UP))
    c.submit("old", "guest", "2", priority=9)
    c.at("10m")
    c.submit("young", "guest", "2", priority=1)
    c.at("11m")

    assert c.submit("o", "owner", "2") == ["evict old", "run o"]


@pytest.mark.parametrize(
    ("rule", "victim"),
    [
        ("protect safe", ""),
        ("protect safe for guest", "v"),
        ("protect safe for visitor", "g"),
        ("protect safe for guests", ""),
        ("protect safe for guest, visitor", ""),
        ("protect safe for owner", "v"),
    ],
)
def test_whom_a_protection_covers(cluster: Callable[[str], Any], rule: str, victim: str) -> None:
    """Queues by name, a cohort with all below it, or everybody."""
    c = cluster(POLICY.replace("PROTECT", f'{rule} {{ where victim.user = "ada" }}'))
    c.submit("g", "guest", "2", user="ada")
    c.submit("v", "visitor", "2", user="ada")
    c.at("1s")

    c.submit("o", "owner", "2")

    assert c.victims("o") == [f"{name} by reclaim" for name in victim.split()]


def test_protections_hold_for_every_rule(cluster: Callable[[str], Any]) -> None:
    """One protection that holds is enough, whichever rule would take the workload."""
    c = cluster(
        """policy "every" {
  use test.bare
  preempt by one, two
}
flavor a { gpu 2 }
queue q { owns 2 gpu }
preempt one { evict from the same queue }
preempt two { evict from any queue }
protect ada { where victim.user = "ada" }
protect bob { where victim.user = "bob" }
"""
    )
    c.submit("a", "q", "1", user="ada")
    c.submit("b", "q", "1", user="bob")
    c.at("1s")

    assert c.submit("w", "q", "1") == []


def test_patience_of_a_rule(cluster: Callable[[str], Any]) -> None:
    """A rule for workloads that have waited 30 minutes wakes the core then; its workload's room is reserved until then."""
    c = cluster(
        """policy "patience" { use test.bare }
flavor a { gpu 4 }
queue owner { owns 4 gpu }
queue guest { owns nothing }
preempt after-a-while {
  evict from queues that borrow
  where workload.waiting >= 30m
}
"""
    )
    c.submit("g", "guest", "3")
    c.at("5m")

    assert c.submit("o", "owner", "4") == []
    assert c.core.next_wake() == 35 * MINUTE
    assert c.submit("g2", "guest", "1") == []
    assert c.at("35m") == ["evict g", "run o"]
