"""What pod sets may ask for and what checks may say counts in a policy that decides at once just as in one that decides in cycles."""

from collections.abc import Callable
from typing import Any

POLICY = """policy "p" { use test.bare }
flavor a { gpu 6 }
flavor b { gpu 4 }
cohort all {
  queue q {
    owns 6 gpu on a
    owns 4 gpu on b
  }
  queue x { owns nothing }
}
preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow
}
"""


def pods(count: int, fewest: int) -> list[dict[str, object]]:
    """One pod set of pods with one GPU each on flavor a."""
    return [{"count": count, "min_count": fewest, "requests": {"gpu": "1"}, "flavors": ["a"]}]


def test_fewer_pods_where_fewer_will_do(cluster: Callable[[str], Any]) -> None:
    """Of eight pods that may be four, six are admitted and charged; where seven are needed nothing is."""
    c = cluster(POLICY)
    assert c.submit("w", "q", sets=pods(8, 7)) == []
    c.cancel("w")

    assert c.submit("w", "q", sets=pods(8, 4)) == ["run w"]
    assert (c.decided[0].assignments[0].count, c.decided[0].usage[0].amount) == (6, 6000)


def test_more_pods_by_evictions(cluster: Callable[[str], Any]) -> None:
    """Two could run beside a borrower: all six that the queue owns are worth evicting it."""
    c = cluster(POLICY)
    c.submit("v", "x", "4", on=["a"])

    assert c.submit("w", "q", sets=pods(8, 2)) == ["evict v", "run w"]
    assert c.core.view.workload("w").assignments[0].count == 6


def test_pod_sets_of_a_group_get_one_flavor(cluster: Callable[[str], Any]) -> None:
    """Four and two GPUs fit a and b apart; as a group they need six on one flavor, which is there only while nobody else is."""
    sets = [{"name": name, "count": count, "requests": {"gpu": "1"}} for name, count in (("head", 2), ("tail", 4))]
    apart, together = cluster(POLICY), cluster(POLICY)
    for c in (apart, together):
        c.submit("other", "q", "3", on=["a"])

    assert apart.submit("w", "q", sets=sets) == ["run w"]
    assert (apart.flavors("w", 0), apart.flavors("w", 1)) == ({"gpu": "a"}, {"gpu": "b"})
    joined = [{**each, "group": "g"} for each in sets]
    assert together.submit("w", "q", sets=joined) == []
    assert together.finish("other") == ["run w"]
    assert (together.flavors("w", 0), together.flavors("w", 1)) == ({"gpu": "a"}, {"gpu": "a"})


def test_a_failed_check_holds(cluster: Callable[[str], Any]) -> None:
    """Who waits is not admitted while a check says Retry, and is once it says Ready."""
    c = cluster(POLICY)
    c.submit("other", "q", "6", on=["a"])
    c.submit("w", "q", "6", on=["a"])
    c.update("w", checks={"budget": "Retry"})

    assert c.finish("other") == []
    assert [hold.kind for hold in c.core.probe.holds("w")] == ["check"]
    assert c.update("w", checks={"budget": "Ready"}) == ["run w"]


def test_identities_break_ties(cluster: Callable[[str], Any]) -> None:
    """Of two that wait and that the order does not tell apart, the lesser identity goes first and not the earlier submission."""
    c = cluster(POLICY.replace("submitted asc", "pods asc"))
    c.submit("other", "q", "6", on=["a"])
    c.submit("first", "q", "6", on=["a"], uid="b")
    c.submit("second", "q", "6", on=["a"], uid="a")

    assert c.finish("other") == ["run second"]


def test_a_slice_of_another_namespace_is_another_shape(cluster: Callable[[str], Any]) -> None:
    """Who would take the place of a workload of another namespace cannot; that refuses nobody who can."""
    c = cluster(POLICY)
    c.submit("old", "q", "4", on=["a"], namespace="one")
    c.submit("rest", "q", "2", on=["a"])
    assert c.submit("stranger", "q", "6", on=["a"], namespace="two", replaces="old") == []

    c.finish("rest")
    assert c.submit("new", "q", "6", on=["a"], namespace="one", replaces="old")[-1] == "run new"
