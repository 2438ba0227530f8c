"""Who is next: the order of workloads within a queue, and of queues down the tree."""

from collections.abc import Callable
from typing import Any

import pytest

ONE_QUEUE = """policy "order" {
  order workloads by ORDER
  preempt by nothing
}
flavor a100 { gpu 8 }
queue q { owns 8 gpu }
"""

TWO_QUEUES = """policy "order" {
  share used
  order queues by ORDER
  preempt by nothing
}
flavor a100 { gpu 16 }
queue x { owns nothing }
queue y { owns 8 gpu }
"""


def line_up(c: Any) -> None:
    """Behind `all`, which fills the cluster, wait a (priority 5, 2 GPUs, 2 pods), b (9, 3, 1) and c (5, 1.5, 3), in this order."""
    c.submit("all", "q", "8")
    c.at("1s")
    c.submit("a", "q", "1", pods=2, priority=5)
    c.at("2s")
    c.submit("b", "q", "3", priority=9)
    c.at("3s")
    c.submit("c", "q", "500m", pods=3, priority=5)


@pytest.mark.parametrize(
    ("order", "served"),
    [
        ("priority desc", "b a c"),
        ("priority asc", "a c b"),
        ("submitted asc", "a b c"),
        ("submitted desc", "c b a"),
        ("pods asc", "b a c"),
        ("pods desc", "c a b"),
        ("gpu asc", "c a b"),
        ("gpu desc", "b a c"),
        ("priority desc, gpu asc", "b c a"),
        ("priority desc, pods asc, gpu asc", "b a c"),
    ],
)
def test_workloads_of_a_queue(cluster: Callable[[str], Any], order: str, served: str) -> None:
    """Keys count from left to right, each up or down; the amount of a resource is that of all pods."""
    c = cluster(ONE_QUEUE.replace("ORDER", order))
    line_up(c)

    assert c.finish("all") == [f"run {name}" for name in served.split()]


@pytest.mark.parametrize(("order", "served"), [("evictions desc", "b a c"), ("evictions asc", "a c b")])
def test_workloads_by_evictions(cluster: Callable[[str], Any], order: str, served: str) -> None:
    """A workload that lost its place once can be served first, or last."""
    c = cluster(ONE_QUEUE.replace("ORDER", order))
    line_up(c)
    c.finish("all")
    for name in "abc":
        c.operator("evict", name)
        if name == "b":
            c.operator("release", name)
            c.operator("evict", name)
    c.submit("all", "q", "8")
    for name in "abc":
        c.operator("release", name)

    assert c.finish("all") == [f"run {name}" for name in served.split()]


@pytest.mark.parametrize("order", ["priority desc", "priority asc", "pods desc", "gpu asc", "evictions desc"])
def test_ties_within_a_queue(cluster: Callable[[str], Any], order: str) -> None:
    """Among equals the earlier submission is served first, whichever way the order goes."""
    c = cluster(ONE_QUEUE.replace("ORDER", order))
    c.submit("all", "q", "8")
    for name in ("z", "a", "m"):
        c.submit(name, "q", "2")

    assert c.finish("all") == ["run z", "run a", "run m"]


@pytest.mark.parametrize(
    ("order", "served"),
    [
        ("borrowing asc", "y x"),  # y owns what it asks for
        ("borrowing desc", "x y"),
        ("share asc", "y x"),  # with them running: y (1 + 4) / 16, x (0 + 6) / 16
        ("share desc", "x y"),
        ("priority desc", "y x"),
        ("priority asc", "x y"),
        ("submitted asc", "x y"),
        ("submitted desc", "y x"),
        ("pods desc", "y x"),
        ("pods asc", "x y"),
        ("gpu asc", "y x"),
        ("gpu desc", "x y"),
        ("pods desc, gpu desc", "y x"),
    ],
)
def test_queues(cluster: Callable[[str], Any], order: str, served: str) -> None:
    """Each key up and down: x asks for 6 GPUs in 1 pod at priority 1, then y for 4 in 2 pods at priority 2; y runs 1 already."""
    c = cluster(TWO_QUEUES.replace("ORDER", order))
    c.submit("old", "y", "1")
    c.capacity("a100", gpu="1")
    c.submit("x", "x", "6", priority=1)
    c.at("1s")
    c.submit("y", "y", "2", pods=2, priority=2)

    assert c.capacity("a100", gpu="16") == [f"run {name}" for name in served.split()]


@pytest.mark.parametrize("order", ["borrowing desc", "share asc", "priority desc", "pods asc", "gpu desc"])
def test_ties_between_queues(cluster: Callable[[str], Any], order: str) -> None:
    """Queues that are equal in all keys are served by the earlier submission."""
    c = cluster(TWO_QUEUES.replace("ORDER", order).replace("owns 8 gpu", "owns nothing"))
    c.capacity("a100", gpu="0")
    c.submit("later-by-name", "y", "2")
    c.submit("earlier-by-name", "x", "2")

    assert c.capacity("a100", gpu="16") == ["run later-by-name", "run earlier-by-name"]


def test_a_weight_divides_the_share(cluster: Callable[[str], Any]) -> None:
    """At weight 3 a queue with 5 of 16 GPUs comes before one with 2: 5/48 against 2/16."""
    c = cluster(TWO_QUEUES.replace("ORDER", "share asc").replace("queue x { owns nothing }", "queue x { weight 3 }"))
    c.submit("x-runs", "x", "4")
    c.submit("y-runs", "y", "1")
    c.capacity("a100", gpu="5")
    c.submit("y-waits", "y", "1")
    c.submit("x-waits", "x", "1")

    assert c.capacity("a100", gpu="16") == ["run x-waits", "run y-waits"]


def test_level_by_level(cluster: Callable[[str], Any]) -> None:
    """First the children of the root are compared, then those of the cohort that won: an idle queue waits for its busy cohort."""
    c = cluster(
        """policy "levels" {
  share used
  order queues by share asc
  preempt by nothing
}
flavor a100 { gpu 12 }
cohort left {
  queue busy { owns nothing }
  queue idle { owns nothing }
}
queue right { owns nothing }
"""
    )
    c.submit("b1", "busy", "4")
    c.submit("r1", "right", "2")
    c.capacity("a100", gpu="6")
    c.submit("b2", "busy", "1")
    c.submit("i1", "idle", "1")
    c.submit("r2", "right", "1")
    c.submit("r3", "right", "2")

    # With it running, right has 3 against 5 of left; then 5 against 5, and r3 was submitted last; then right has 5 against 6.
    assert c.capacity("a100", gpu="12") == ["run r2", "run i1", "run r3", "run b2"]


def test_the_default_profile_serves_owners_first(cluster: Callable[[str], Any]) -> None:
    """By `gpol.fair` a workload within what its queue owns comes before borrowers, of any priority."""
    c = cluster('policy "p" { }\nflavor a100 { gpu 4 }\nqueue owner { owns 4 gpu }\nqueue guest { owns nothing }\n')
    c.capacity("a100", gpu="0")
    c.submit("guest", "guest", "2", priority=9)
    c.submit("owner", "owner", "4")

    assert c.capacity("a100", gpu="4") == ["run owner"]
