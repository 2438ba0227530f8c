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


def test_a_deficit_counts_what_is_used_beyond_what_exists(cluster: Callable[[str], Any]) -> None:
    """8 run where only 2 are left: for 3 more there would have to be 11, so 9 more, said once."""
    c = cluster('policy "p" { preempt by nothing }\nflavor a { gpu 8 }\nqueue q { owns nothing }\n')
    c.submit("runs", "q", "8")
    c.fact("CapacityChanged", flavor="a", capacity={"gpu": "2"})
    c.submit("w", "q", "2")

    [limit] = c.remedy("w", "limits").limits
    assert (limit.limit, limit.deficit) == ("capacity", 8000)
    assert c.fact("CapacityChanged", flavor="a", capacity={"gpu": "10"}) == ["run w"]


def test_a_limit_is_named_where_nothing_more_is_asked(cluster: Callable[[str], Any]) -> None:
    """b takes a's place and asks for no more than a holds; o keeps 3 of the 1 that is left, so q can have 2 less than nothing."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue o {\n  owns 3 gpu\n  lends nothing\n}\nqueue q { owns nothing }\n')
    c.submit("a", "q", "1")
    c.fact("CapacityChanged", flavor="a", capacity={"gpu": "1"})
    c.submit("b", "q", "1", replaces="a")

    limit = c.standing("b").limit
    assert (limit.asked, limit.available, limit.deficit) == (0, -2000, 2000)


def test_behind_the_head_of_a_strict_queue_no_change_helps_but_its_own(cluster: Callable[[str], Any]) -> None:
    """The head of a strict queue needs 20; who stands behind it is told so, and nothing that would let it pass."""
    c = cluster('policy "p" { preempt by nothing }\nflavor a { gpu 30 }\nqueue q {\n  owns nothing\n  queueing strict fifo\n}\n')
    c.submit("runs", "q", "25")
    c.submit("head", "q", "20")
    c.submit("behind", "q", "8")

    standing = c.standing("behind")
    assert (standing.reason, standing.operands[0].value, standing.remedies) == ("BehindFirstInLine", "head", ())


def test_a_hold_is_the_remedy_only_where_nothing_else_is_in_the_way(cluster: Callable[[str], Any]) -> None:
    """Of two on hold, one would run if it were released; the other asks for more than there is."""
    c = cluster('policy "p" { }\nflavor a { gpu 8 }\nqueue q { owns nothing }\nhold all for q because "moving"\n')
    c.submit("small", "q", "8")
    c.submit("big", "q", "9")

    assert [len(c.standing(name).remedies) for name in ("small", "big")] == [1, 0]


def test_the_protection_that_keeps_a_victim_longest_is_named(cluster: Callable[[str], Any]) -> None:
    """Two protections hold now; the one of an hour is what the owner waits for."""
    c = cluster(
        'policy "p" { }\nflavor a { gpu 8 }\nqueue owner { owns 8 gpu }\nqueue guest { owns nothing }\n'
        "protect short { where victim.running < 10m }\nprotect long { where victim.running < 1h }\n"
    )
    c.submit("g", "guest", "8")
    c.tick("1m")
    c.submit("o", "owner", "8")

    standing = c.standing("o")
    [keeper] = standing.keepers
    assert (keeper.protect.name, keeper.until, standing.rule.name) == ("long", 3_600_000_000, "long")
    assert [rule.outcome for rule in standing.rules if rule.rule.name == "reclaim-owned"] == ["enough later"]
