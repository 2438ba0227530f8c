"""Looking ahead: the first moment at which evictions will make room, should nothing else happen, and what waits for it."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.units import parse_duration

MINUTE = 60_000_000

RECLAIM = """policy "ahead" { use test.bare }
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
"""
WARM_UP = "protect warm-up { where victim.running < 10m }\n"


def resumed(c: Any) -> Core:
    """A core that was built again from all that was recorded so far."""
    core = new_core()
    for event, graph in c.history:
        core.apply(event, graph)
    return core


def wakes_exactly(c: Any, moment: int) -> None:
    """The core, and one built from its records, wake at a moment; nothing is decided before, asked one microsecond early."""
    assert c.core.next_wake() == resumed(c).next_wake() == moment
    c.now = moment - 1
    assert c.fact("TimeAdvanced") == []
    assert c.core.next_wake() == resumed(c).next_wake() == moment
    c.now = moment


# --- whom the very fact admitted ------------------------------------------------------------------------------------


def test_a_protection_that_the_fact_itself_begins(cluster: Callable[[str], Any]) -> None:
    """The fact that gives a guest room leaves the owner waiting: for the guest's protection, which begins with that fact."""
    c = cluster(RECLAIM + WARM_UP)
    c.capacity("a", gpu="0")
    c.submit("g", "guest", "4")
    c.submit("o", "owner", "4")
    c.at("3m")

    assert c.capacity("a", gpu="4") == ["run g"]
    wakes_exactly(c, 13 * MINUTE)
    assert c.fact("TimeAdvanced") == ["evict g", "run o"]
    assert c.core.next_wake() is None


def test_whom_only_the_fact_kept_goes_with_the_next_one(cluster: Callable[[str], Any]) -> None:
    """Without a protection nothing but the fact that admitted the guest keeps it: the core wakes at once, for another fact."""
    c = cluster(RECLAIM)
    c.capacity("a", gpu="0")
    c.submit("g", "guest", "4")
    c.submit("o", "owner", "4")
    c.at("3m")

    assert c.capacity("a", gpu="4") == ["run g"]
    assert c.core.next_wake() == resumed(c).next_wake() == 3 * MINUTE
    assert c.fact("TimeAdvanced") == ["evict g", "run o"]
    assert c.core.next_wake() is None


def test_any_next_fact_will_do(cluster: Callable[[str], Any]) -> None:
    """The next fact need not be about time, nor about anybody concerned."""
    c = cluster(RECLAIM)
    c.capacity("a", gpu="0")
    c.submit("g", "guest", "4")
    c.submit("o", "owner", "4")
    c.capacity("a", gpu="4")

    assert c.submit("other", "visitor", "1") == ["evict g", "run o"]


def test_the_last_of_all_who_are_needed_decides(cluster: Callable[[str], Any]) -> None:
    """One guest is kept by the present fact alone, another until 10m, and both are needed: no fact before 10m is of use."""
    c = cluster(RECLAIM + 'protect ada { where victim.user = "ada" and victim.running < 10m }\n')
    c.capacity("a", gpu="3")
    c.submit("ada", "guest", "3", user="ada")
    c.submit("bob", "guest", "1", user="bob")
    c.submit("o", "owner", "4")
    c.at("1m")

    assert c.capacity("a", gpu="4") == ["run bob"]
    wakes_exactly(c, 10 * MINUTE)
    assert c.fact("TimeAdvanced") == ["evict bob", "evict ada", "run o"]


def test_nobody_wakes_for_whom_the_next_fact_keeps_as_well(cluster: Callable[[str], Any]) -> None:
    """A guest that the fact admitted, and that no fact will ever make a victim, is not waited for."""
    c = cluster(RECLAIM + 'protect ada { where victim.user = "ada" }\n')
    c.capacity("a", gpu="0")
    c.submit("ada", "guest", "4", user="ada")
    c.submit("o", "owner", "4")

    assert c.capacity("a", gpu="4") == ["run ada"]
    assert c.core.next_wake() is None


# --- the first moment -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gpu", "victims"), [("1", 1), ("2", 2), ("3", 3), ("4", 4)])
def test_as_soon_as_enough_are_free_to_go(cluster: Callable[[str], Any], gpu: str, victims: int) -> None:
    """Guests of one GPU each, there since 0m, 1m, 2m and 3m, are free from 10m on, one a minute: room for n comes with the n-th."""
    c = cluster(RECLAIM + WARM_UP)
    for minute in range(4):
        c.at(f"{minute}m")
        c.submit(f"g{minute}", "guest", "1")

    assert c.submit("o", "owner", gpu) == []
    wakes_exactly(c, (9 + victims) * MINUTE)
    assert c.fact("TimeAdvanced") == [*(f"evict g{minute}" for minute in reversed(range(victims))), "run o"]


SHARES = """policy "by share" {
  use test.bare
  share used
}
flavor a { gpu 8 }
queue other { owns nothing }
queue guest { owns nothing }
queue asking { owns nothing }
preempt level {
  evict from any queue
  where victim.queue = guest and (victim.user != "ben" or victim.queue.share <= LIMIT)
}
protect ada { where victim.user = "ada" and victim.running < 10m }
protect cid { where victim.user = "cid" and victim.running < 20m }
"""


@pytest.mark.parametrize(
    ("gpu", "limit", "minute", "victims"),
    [
        ("2", "1/2", 10, "ada"),
        ("4", "1/2", 10, "ada ben"),
        ("4", "1/4", 20, "cid ada"),
        ("6", "1/2", 20, "cid ben ada"),
        ("6", "1/4", 20, "cid ada ben"),
    ],
)
def test_a_share_that_falls_frees_others(cluster: Callable[[str], Any], gpu: str, limit: str, minute: int, victims: str) -> None:
    """Ada may go at 10m and Cid at 20m; Ben, whom time does not keep, as soon as his queue's share of 6/8 has fallen far enough.

    Once Ada is gone the share is 4/8: where that is enough, Cid is not waited for.
    """
    c = cluster(SHARES.replace("LIMIT", limit))
    c.submit("o", "other", "2")
    for name in ("ada", "ben", "cid"):
        c.submit(name, "guest", "2", user=name)
    c.at("1m")

    assert c.submit("w", "asking", gpu) == []
    wakes_exactly(c, minute * MINUTE)
    assert c.fact("TimeAdvanced") == [*(f"evict {name}" for name in victims.split()), "run w"]


def test_a_core_built_again_decides_alike_when_time_has_come(cluster: Callable[[str], Any]) -> None:
    """What a core remembers of its refusals does not count: one built from the records finds the same victims at that moment."""
    c = cluster(SHARES.replace("LIMIT", "1/2"))
    c.submit("o", "other", "2")
    for name in ("ada", "ben", "cid"):
        c.submit(name, "guest", "2", user=name)
    c.submit("w", "asking", "4")
    again = resumed(c)
    c.now = 10 * MINUTE
    c.fact("TimeAdvanced")

    assert [decision.kind for decision in c.decided] == ["WorkloadEvicted", "WorkloadEvicted", "WorkloadAdmitted"]
    fact, _ = c.history[-1 - len(c.decided)]
    assert [decision.payload() for decision in again.step(fact)] == [decision.payload() for decision in c.decided]


# --- time that binds ------------------------------------------------------------------------------------------------

WINDOW = """policy "window" { use test.bare }
flavor a { gpu 4 }
queue owner { owns 4 gpu }
cohort guests {
  queue guest { owns nothing }
  queue visitor { owns nothing }
}
preempt young {
  evict from queues that borrow
  where victim.running >= 10m
}
protect nearly-done { where victim.running > 1h }
"""
"""A guest may go from its tenth minute on, and no more after its first hour."""


def test_room_while_all_may_go(cluster: Callable[[str], Any]) -> None:
    """The window of one guest is 10m to 60m, that of the other 16m to 66m: both are needed, so 16m it is."""
    c = cluster(WINDOW)
    c.submit("g0", "guest", "2")
    c.at("6m")
    c.submit("g6", "guest", "2")

    assert c.submit("o", "owner", "4") == []
    wakes_exactly(c, 16 * MINUTE)
    assert c.fact("TimeAdvanced") == ["evict g6", "evict g0", "run o"]


@pytest.mark.parametrize(("moment", "decided"), [(60 * MINUTE, ["evict g", "run o"]), (60 * MINUTE + 1, [])])
def test_too_late_is_too_late(cluster: Callable[[str], Any], moment: int, decided: list[str]) -> None:
    """Whoever comes within the hour still finds the guest free to go; a microsecond later nobody does, and nobody is woken."""
    c = cluster(WINDOW)
    c.submit("g", "guest", "4")
    c.now = moment

    assert c.submit("o", "owner", "4") == decided
    assert c.core.next_wake() is None


def test_a_moment_that_was_slept_through(cluster: Callable[[str], Any]) -> None:
    """Who waits for 10m and is not asked before the hour is over waits for nothing: no wake, and its room is anybody's."""
    c = cluster(WINDOW)
    c.submit("g", "guest", "3")
    c.at("1m")
    c.submit("o", "owner", "4")
    assert c.core.next_wake() == 10 * MINUTE
    assert c.submit("early", "visitor", "1") == []

    assert c.tick("61m") == ["run early"]
    assert c.core.next_wake() is None


def test_nobody_waits_for_what_time_never_brings(cluster: Callable[[str], Any]) -> None:
    """Two guests who are never free to go at the same moment make no room for one who needs both."""
    c = cluster(WINDOW + 'protect late { where victim.user = "late" and victim.running < 2h }\n')
    c.submit("g", "guest", "2")
    c.submit("late", "guest", "1", user="late")

    assert c.submit("o", "owner", "4") == []
    assert c.core.next_wake() is None
    assert c.submit("v", "visitor", "1") == ["run v"]


def test_later_is_not_better_where_time_binds(cluster: Callable[[str], Any]) -> None:
    """When the last guest becomes free to go, the first no longer is: the moment between the two is found nevertheless."""
    c = cluster(
        RECLAIM
        + """protect first { where victim.user = "first" and (victim.running < 10m or victim.running > 1h) }
protect last { where victim.user = "last" and victim.running < 2h }
"""
    )
    c.submit("first", "guest", "3", user="first")
    c.submit("last", "guest", "1", user="last")
    c.at("1m")

    assert c.submit("o", "owner", "3") == []
    wakes_exactly(c, 10 * MINUTE)
    assert c.fact("TimeAdvanced") == ["evict first", "run o"]


# --- strict queues --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queueing", "at_once", "at_10m"),
    [
        ("strict fifo", [], ["evict g", "run head", "run small"]),
        ("best effort", ["run small"], ["evict g", "run head"]),
    ],
)
def test_whether_others_pass_a_head_that_waits_for_a_protection(
    cluster: Callable[[str], Any], queueing: str, at_once: list[str], at_10m: list[str]
) -> None:
    """There is room on another flavor: in a strict queue it is not taken before the head runs."""
    c = cluster(
        RECLAIM.replace("flavor a", "flavor b { gpu 1 }\nflavor a").replace(
            "queue owner { owns 4 gpu }", f"queue owner {{\n  owns 4 gpu on a\n  queueing {queueing}\n}}"
        )
        + WARM_UP
    )
    c.submit("g", "guest", "4", on=("a",))
    c.submit("head", "owner", "4", on=("a",))

    assert c.submit("small", "owner", "1", on=("b",)) == at_once
    wakes_exactly(c, 10 * MINUTE)
    assert c.fact("TimeAdvanced") == at_10m


def test_a_strict_queue_holds_up_nobody_else(cluster: Callable[[str], Any]) -> None:
    """Other queues take what the head of a strict queue, which waits for a protection, cannot use."""
    c = cluster(
        RECLAIM.replace("flavor a", "flavor b { gpu 1 }\nflavor a").replace(
            "queue owner { owns 4 gpu }", "queue owner {\n  owns 4 gpu on a\n  queueing strict fifo\n}"
        )
        + WARM_UP
    )
    c.submit("g", "guest", "4", on=("a",))
    c.submit("head", "owner", "4", on=("a",))

    assert c.submit("v", "visitor", "1", on=("b",)) == ["run v"]


@pytest.mark.parametrize(("needs", "at"), [(6, "10m5s"), (8, "10m7s")])
def test_far_ahead_the_first_moment_is_found(cluster: Callable[[str], Any], needs: int, at: str) -> None:
    """x could make room at once but never may, so eight moments are searched, a second apart, each of which frees one more GPU."""
    c = cluster("""policy "p" {
  use test.bare
  share used
}
flavor a { gpu 24 }
queue guest { owns nothing }
queue owner { owns nothing }
preempt r {
  evict from any queue
  where (victim.user = "y" or victim.queue.share > 100)
}
protect warm-up { where victim.running < 10m }
""")
    c.submit("x", "guest", "16", user="x")
    for second in range(8):
        c.at(f"{second}s")
        c.submit(f"y{second}", "guest", "1", user="y")
    c.at("1m")

    assert c.submit("w", "owner", str(needs)) == []
    assert c.core.next_wake() == parse_duration(at)
    assert len(c.at(at)) == needs + 1
