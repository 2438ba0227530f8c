"""Which limit is named where a request can never fit, and the smallest changes that are named beside it."""

from collections.abc import Callable
from typing import Any

BETWEEN = """policy "p" { preempt by nothing }
flavor a { gpu 20 }
queue x {
  owns 8 gpu
  guarantees 6 gpu
}
queue y {
  owns 8 gpu
  guarantees 6 gpu
}
queue z { owns 4 gpu }
queue w { owns nothing }
"""
"""x and y keep 6 of their 8 each to themselves, so what they stop using beyond that alone can be borrowed."""


def test_what_a_neighbour_keeps_is_no_limit_of_the_queue(cluster: Callable[[str], Any]) -> None:
    """owner may borrow anything; 5 of 6 are too many since keeper keeps 2, so the cluster has 4 for all others."""
    c = cluster('policy "p" { }\nflavor a { gpu 6 }\nqueue owner { owns 4 gpu }\nqueue keeper {\n  owns 2 gpu\n  guarantees 2 gpu\n}\n')
    c.submit("w", "owner", "5")

    limit = c.standing("w").limit
    assert (limit.node, limit.limit, limit.asked, limit.available, limit.deficit) == ("cluster", "owned", 5000, 4000, 1000)


def test_the_lowest_borrowing_limit_that_decides_is_named(cluster: Callable[[str], Any]) -> None:
    """The queue may borrow 4, its cohort only 2: what decides is the cohort's limit."""
    c = cluster(
        'policy "p" { }\nflavor a { gpu 12 }\nqueue other { owns 8 gpu }\n'
        "cohort team {\n  borrows up to 2 gpu\n  queue q {\n    owns 4 gpu\n    borrows up to 4 gpu\n  }\n}\n"
    )
    c.submit("w", "q", "7")

    limit = c.standing("w").limit
    assert (limit.node, limit.limit, limit.available) == ("team", "borrowing", 6000)


def test_one_end_is_named_where_one_will_do(cluster: Callable[[str], Any]) -> None:
    """w wants 4: z uses just the 4 that it lends, while x and y together would have to end for 4 of what they lend."""
    c = cluster(BETWEEN)
    for name, gpus in (("x", "8"), ("y", "8"), ("z", "4")):
        c.submit(name, name, gpus)
    c.submit("n", "w", "4")

    assert c.remedy("n", "ends").workloads == ("z",)


def test_a_flavor_says_who_has_to_accept_it(cluster: Callable[[str], Any]) -> None:
    """b is free: q's line says `only a`, one workload names a itself, and nothing of a resource is no demand for it."""
    c = cluster(
        'policy "p" { preempt by nothing }\nflavor a {\n  gpu 1\n  cpu 4\n}\nflavor b { gpu 1 }\n'
        "queue q { only a }\nqueue r { owns nothing }\n"
    )
    c.submit("runs", "q", "1")
    c.submit("of-queue", "q", sets=[{"requests": {"gpu": "1", "cpu": "0"}}])
    c.submit("of-workload", "r", "1", on=["a"])
    c.submit("of-both", "q", "1", on=["a"])

    found = [c.remedy(name, "flavor") for name in ("of-queue", "of-workload", "of-both")]
    assert [(remedy.flavor, remedy.by) for remedy in found] == [("b", ("queue",)), ("b", ("workload",)), ("b", ("queue", "workload"))]
