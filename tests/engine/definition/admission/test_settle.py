"""Settling: what follows from one fact, until nothing more does."""

from collections.abc import Callable
from typing import Any

TURNS = """policy "turns" { use test.bare }
flavor a { gpu 2 }
queue x { owns nothing }
queue y { owns nothing }
queue z { owns nothing }
preempt anyone { evict from any queue }
"""
"""Everybody may evict everybody of another queue."""


def test_what_a_fact_admits_is_not_evicted_for_its_sake(cluster: Callable[[str], Any]) -> None:
    """The victim of a newcomer does not take its place back at once, though its rule would allow that."""
    c = cluster(TURNS)
    c.submit("x", "x", "2")
    c.tick("1s")

    assert c.submit("y", "y", "2") == ["evict x", "run y"]
    assert c.running() == ["y"]
    assert c.core.next_wake() is None, "nor later, by time alone"


def test_nobody_takes_the_place_back(cluster: Callable[[str], Any]) -> None:
    """Whoever had to go for another does not evict it, by time alone or when others come; once something ends or changes it may."""
    c = cluster(TURNS)
    c.submit("x", "x", "2")
    c.tick("1s")
    c.submit("y", "y", "2")

    assert c.tick("2s") == []
    assert c.submit("w", "z", "9") == []
    assert [(operand.name, operand.value) for operand in c.standing("x").operands] == [("gave way to", "y")]
    assert c.cancel("w") == ["evict y", "run x"]


def test_nobody_takes_it_back_through_others(cluster: Callable[[str], Any]) -> None:
    """x went for y and y for z: x evicts neither, and one of its shape that had to go for nobody does."""
    c = cluster(TURNS)
    for second, name in enumerate("xyz"):
        c.tick(f"{second}s")
        c.submit(name, name, "2")
    assert c.running() == ["z"]
    assert c.tick("5s") == []

    assert c.submit("x2", "x", "2") == ["evict z", "run x2"]


def test_each_is_admitted_and_evicted_once_at_most(cluster: Callable[[str], Any]) -> None:
    """Six workloads that could all evict each other come to rest after one fact, each moved at most once in and once out."""
    c = cluster(TURNS)
    for second, name in enumerate(("x1", "y1", "z1", "x2", "y2", "z2")):
        c.tick(f"{second}s")
        c.submit(name, name[0], "1")
    decided = c.tick("10s")

    assert len(decided) == len(set(decided))
    assert len(c.running()) == 2


def test_a_victim_moves_on(cluster: Callable[[str], Any]) -> None:
    """Because of one fact, a victim takes room elsewhere, where it in turn evicts somebody."""
    c = cluster(
        """policy "chain" { use test.bare }
flavor a { gpu 2 }
flavor b { gpu 2 }
queue owner { owns 2 gpu on a }
queue middle { owns 2 gpu on b }
queue guest { only b }
preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow
}
"""
    )
    c.submit("m", "middle", "2")
    c.submit("g", "guest", "2")
    c.at("1s")

    assert c.flavors("m") == {"gpu": "a"}
    assert c.submit("o", "owner", "2", on=("a",)) == ["evict m", "run o", "evict g", "run m"]
    assert c.flavors("m") == {"gpu": "b"}
    assert len({decision.cause for decision in c.decided}) == 1


def test_evictions_come_before_their_admission(cluster: Callable[[str], Any]) -> None:
    """All victims of one workload, then it; decisions carry the number of their fact."""
    c = cluster(TURNS)
    c.submit("x1", "x", "1")
    c.submit("x2", "x", "1")
    c.at("1s")
    fact = c.core.seq + 1

    assert c.submit("y", "y", "2") == ["evict x2", "evict x1", "run y"]
    assert [decision.cause for decision in c.decided] == [fact] * 3
    assert c.core.seq == fact + 3


def test_the_best_of_all_queues_goes_first(cluster: Callable[[str], Any]) -> None:
    """When room comes up, queues compete for every single GPU of it: by share they take turns."""
    c = cluster('policy "p" { preempt by nothing }\nflavor a { gpu 4 }\nqueue x { owns nothing }\nqueue y { owns nothing }\n')
    c.capacity("a", gpu="0")
    for name in ("x1", "x2", "x3", "y1", "y2"):
        c.submit(name, name[0], "1")

    assert c.capacity("a", gpu="4") == ["run x1", "run y1", "run x2", "run y2"]


def test_nothing_follows_from_nothing(cluster: Callable[[str], Any]) -> None:
    """Once settled, time alone decides nothing where no rule speaks of time."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue x { owns 4 gpu }\nqueue y { owns nothing }\n')
    for number in range(6):
        c.submit(f"w{number}", "xy"[number % 2], "1")

    assert c.core.next_wake() is None
    assert c.at("365d") == []
