"""Victims: which rule may take whom, in which order, and who is spared.

Some rules here let workloads evict each other in turns, so what a victim does next is left out of account.
"""

from collections.abc import Callable
from typing import Any

import pytest
from policy_texts import TWO_STEPS

SCOPES = """policy "scopes" { use test.bare }
flavor a100 { gpu 12 }
cohort near {
  queue mine { owns 4 gpu }
  queue peer { owns 1 gpu }
  queue saver { owns 2 gpu }
}
cohort far {
  owns 2 gpu
  queue distant { owns nothing }
}
queue loner { owns 3 gpu }
preempt rule {
  evict from SCOPE
  where not victim.namespace = "bystander"
  order by victim.admitted desc
}
"""


@pytest.mark.parametrize(
    ("scope", "evicted", "gpus"),
    [
        ("the same queue", "m", 1),
        ("queues that borrow", "d p2", 4),
        ("queues that borrow, in the same cohort", "p2", 1),
        ("any queue", "d s p2 p1", 7),
        ("any queue, in the same cohort", "s p2 p1", 4),
    ],
)
def test_scopes(cluster: Callable[[str], Any], scope: str, evicted: str, gpus: int) -> None:
    """Each scope and range, by a workload that needs every GPU it could get, and one that would need one more.

    peer uses 2 and owns 1, distant uses 3 where its cohort owns 2, saver uses what it owns; loner borrows, but is a bystander.
    """
    c = cluster(SCOPES.replace("SCOPE", scope))
    for name, queue, gpu in (("m", "mine", "1"), ("p1", "peer", "1"), ("p2", "peer", "1"), ("s", "saver", "2"), ("d", "distant", "3")):
        c.submit(name, queue, gpu)
        c.at(f"{len(c.running())}s")
    c.submit("l", "loner", "4", namespace="bystander")
    c.at("1m")

    assert c.submit("too-much", "mine", str(gpus + 1)) == []
    c.submit("w", "mine", str(gpus))
    assert c.victims("w") == [f"{name} by rule" for name in evicted.split()]


def test_a_queue_is_spared_once_it_borrows_no_more(cluster: Callable[[str], Any]) -> None:
    """Two borrowers of two GPUs each give one workload each, though the youngest two are of the same queue."""
    c = cluster(
        """policy "even" { use test.bare }
flavor a { gpu 8 }
queue owner { owns 4 gpu }
queue x { owns 2 gpu }
queue y { owns 2 gpu }
preempt reclaim {
  evict from queues that borrow
  order by victim.admitted desc
}
"""
    )
    for second, (name, queue) in enumerate((("x1", "x"), ("x2", "x"), ("y1", "y"), ("y2", "y"))):
        c.at(f"{second}s")
        c.submit(name, queue, "2")
    c.at("9s")

    assert c.submit("w", "owner", "4") == ["evict y2", "evict x2", "run w"]


CHAIN = """policy "chain" { use test.bare }
flavor a { gpu 8 }
cohort outer {
  owns OUTER gpu
  cohort inner {
    owns INNER gpu
    queue guest { owns nothing }
  }
}
queue owner { owns 1 gpu }
queue third { owns nothing }
preempt reclaim {
  evict from queues that borrow
  where victim.queue != third
}
"""


@pytest.mark.parametrize(
    ("outer", "inner", "decided"),
    [
        ("0", "0", ["evict g", "run w"]),
        ("3", "3", ["evict g", "run w"]),  # inner uses 7 of 3, outer 7 of 6
        ("7", "0", []),  # the outer cohort uses what it owns
        ("0", "7", []),  # and here the inner one
    ],
)
def test_each_cohort_on_the_way_has_to_borrow(cluster: Callable[[str], Any], outer: str, inner: str, decided: list[str]) -> None:
    """A queue that owns nothing is no borrower while a cohort between it and the common ancestor owns what it uses."""
    c = cluster(CHAIN.replace("OUTER", outer).replace("INNER", inner))
    c.submit("g", "guest", "7")
    c.submit("t", "third", "1")
    c.at("1s")

    assert c.submit("w", "owner", "1") == decided


TRIGGERS = """policy "triggers" { use test.bare }
flavor a { gpu 8 }
cohort lab {
  owns 2 gpu
  queue mine { owns 2 gpu }
  queue peer { owns nothing }
}
queue guest { owns nothing }
preempt rule {
  TRIGGER
  evict from any queue
}
"""


@pytest.mark.parametrize(
    ("trigger", "asked", "evicted"),
    [
        ("when workload fits what its queue owns", "2", "p"),
        ("when workload fits what its queue owns", "3", ""),
        ("when workload fits what its cohort owns", "2", "g"),  # not p, of its own cohort
        ("when workload fits what its cohort owns", "3", ""),  # with p's 2 that makes 5 of 4
        ("", "2", "p"),
        ("", "3", "g"),  # p goes first, and is spared
        ("", "8", "p g"),
    ],
)
def test_triggers(cluster: Callable[[str], Any], trigger: str, asked: str, evicted: str) -> None:
    """A rule is used where the workload fits what its queue owns, or what its cohort owns (victims are then outside it), or always."""
    c = cluster(TRIGGERS.replace("  TRIGGER\n", f"  {trigger}\n" if trigger else ""))
    c.submit("g", "guest", "6")
    c.at("1s")
    c.submit("p", "peer", "2")
    c.at("2s")

    c.submit("w", "mine", asked)

    assert c.victims("w") == [f"{name} by rule" for name in evicted.split()]


def test_owning_counts_what_is_in_use(cluster: Callable[[str], Any]) -> None:
    """A queue that uses one of the two GPUs it owns triggers `fits what its queue owns` for one more, not for two."""
    c = cluster(TRIGGERS.replace("TRIGGER", "when workload fits what its queue owns"))
    c.submit("m", "mine", "1")
    c.submit("g", "guest", "7")
    c.at("1s")

    assert c.submit("two", "mine", "2") == []
    c.submit("one", "mine", "1")
    assert c.victims("one") == ["g by rule"]


ORDERS = """policy "orders" { use test.bare }
flavor a100 { gpu 6 }
queue old { owns nothing }
queue new { owns nothing }
preempt rule {
  evict from any queue
  ORDER
}
"""


@pytest.mark.parametrize(
    ("order", "victim"),
    [
        ("", "b"),
        ("order by victim.priority asc", "b"),
        ("order by victim.priority desc", "a"),
        ("order by victim.admitted desc", "a"),
        ("order by victim.admitted asc", "b"),
        ("order by victim.submitted desc", "c"),
        ("order by victim.submitted asc", "a"),
        ("order by victim.gpu asc", "c"),
        ("order by victim.gpu desc", "b"),
        ("order by victim.pods asc", "a"),
        ("order by victim.pods desc", "b"),
        ("order by victim.evictions desc", "a"),
        ("order by victim.evictions asc", "c"),  # b and c tie: the later submission
        ("order by victim.evictions asc, victim.priority asc", "b"),
        ("order by victim.queue.share desc", "c"),  # all of one queue
    ],
)
def test_orders_of_victims(cluster: Callable[[str], Any], order: str, victim: str) -> None:
    """The best victim by each key, where each of three would do; without an order: the least priority.

    a: priority 3, one pod of 2 GPUs, evicted once and back last; b: priority 1, 3 pods of 1; c: priority 2, 2 pods of 500m.
    """
    c = cluster(ORDERS.replace("ORDER", order))
    c.submit("a", "old", "2", priority=3)
    c.at("1s")
    c.submit("b", "old", "1", pods=3, priority=1)
    c.at("2s")
    c.submit("c", "old", "500m", pods=2, priority=2)
    c.operator("evict", "a")
    c.at("3s")
    c.operator("release", "a")
    c.at("4s")

    c.submit("w", "new", "1")

    assert c.decided[0].kind == "WorkloadEvicted"
    assert c.decided[0].workload == victim


def test_shares_are_looked_at_anew_after_each_victim(cluster: Callable[[str], Any]) -> None:
    """The queue with the greater share yields first; once both are level, the later submission."""
    c = cluster(
        """policy "shares" {
  share used
  use test.bare
}
flavor a { gpu 7 }
queue x { owns nothing }
queue y { owns nothing }
queue new { owns nothing }
preempt even {
  evict from any queue
  order by victim.queue.share desc
}
"""
    )
    for name, queue in (("x1", "x"), ("x2", "x"), ("x3", "x"), ("x4", "x"), ("y1", "y"), ("y2", "y"), ("y3", "y")):
        c.submit(name, queue, "1")
    c.at("1s")

    c.submit("w", "new", "4")

    # x 4, y 3: x4; level: y3 is the latest of all; then x has 3 against 2: x3; level: y2
    assert c.victims("w") == ["x4 by even", "y3 by even", "x3 by even", "y2 by even"]


@pytest.mark.parametrize("queues", [("old", "old", "old"), ("old", "older", "old"), ("older", "old", "older"), ("old", "old", "older")])
def test_equal_victims_go_by_later_submission(cluster: Callable[[str], Any], queues: tuple[str, ...]) -> None:
    """Between equals, of one queue or of two, the later submitted one yields, whatever its name and whenever it was admitted."""
    c = cluster(ORDERS.replace("ORDER", "order by victim.priority asc") + "queue older { owns nothing }\n")
    for name, queue in zip(("z", "a", "m"), queues, strict=True):
        c.submit(name, queue, "2")
    c.operator("evict", "z")
    c.at("1s")
    c.operator("release", "z")
    c.at("2s")

    c.submit("w", "new", "2")

    assert c.victims("w") == ["m by rule"]


def test_victims_that_turn_out_not_to_be_needed_are_spared(cluster: Callable[[str], Any]) -> None:
    """Of 1, 1 and 3 GPUs taken one by one for 4, the second 1 was not needed."""
    c = cluster(ORDERS.replace("ORDER", "order by victim.priority asc").replace("gpu 6", "gpu 5"))
    c.submit("a", "old", "1", priority=1)
    c.submit("b", "old", "1", priority=2)
    c.submit("big", "old", "3", priority=3)
    c.at("1s")

    assert c.submit("w", "new", "4") == ["evict a", "evict big", "run w"]


def test_all_that_are_not_needed_are_spared(cluster: Callable[[str], Any]) -> None:
    """Where the last victim alone makes room, all those taken before it stay."""
    c = cluster(ORDERS.replace("ORDER", "order by victim.priority asc").replace("gpu 6", "gpu 5"))
    c.submit("a", "old", "1", priority=1)
    c.submit("b", "old", "1", priority=2)
    c.submit("big", "old", "3", priority=3)
    c.at("1s")

    c.submit("w", "new", "3")

    assert c.victims("w") == ["big by rule"]


def test_nobody_goes_where_all_are_not_enough(cluster: Callable[[str], Any]) -> None:
    """A workload that could not start even without all victims evicts none."""
    c = cluster(SCOPES.replace("SCOPE", "the same queue"))
    c.submit("m", "mine", "2")
    c.submit("d", "distant", "8")
    c.at("1s")

    assert c.submit("w", "mine", "6") == []
    assert c.running() == ["m", "d"]


PINNED = """policy "pinned" { use test.bare }
flavor a { gpu 4 }
priority production 100 { never evicted }
priority batch 10
queue old { CEILING }
queue new { owns 4 gpu }
preempt rule { evict from any queue }
"""


def test_a_class_that_is_never_evicted(cluster: Callable[[str], Any]) -> None:
    """No rule takes a workload of such a class, not even for an owner."""
    c = cluster(PINNED.replace("CEILING", "owns nothing"))
    c.submit("p", "old", "2", priority="production")
    c.submit("b", "old", "2", priority="batch")
    c.at("1s")

    assert c.submit("w4", "new", "4") == []
    assert c.submit("w2", "new", "2") == ["evict b", "run w2"]


def test_a_ceiling_takes_the_privilege_away(cluster: Callable[[str], Any]) -> None:
    """A workload that counts as less than it asks for is not of the class that is never evicted."""
    c = cluster(PINNED.replace("CEILING", "priority at most batch"))
    c.submit("p", "old", "4", priority="production")
    c.at("1s")

    assert c.standing("p").priority == 10
    assert c.submit("w", "new", "2") == ["evict p", "run w"]


def test_only_what_holds_the_missing_resource_is_a_victim(cluster: Callable[[str], Any]) -> None:
    """Workloads on another flavor, or on CPUs only, would not help and stay."""
    c = cluster(
        """policy "lacking" { use test.bare }
flavor a {
  gpu 2
  cpu 8
}
flavor b { gpu 2 }
queue old { owns nothing }
queue new { only a }
preempt rule {
  evict from any queue
  order by victim.submitted desc
}
"""
    )
    c.submit("gpu-a", "old", "2", on=("a",))
    c.submit("gpu-b", "old", "2", on=("b",))
    c.submit("cpu", "old", sets=[{"requests": {"cpu": "4"}}])
    c.at("1s")

    assert c.submit("w", "new", "1") == ["evict gpu-a", "run w"]


TWO_RULES = """policy "two" {
  use test.bare
  preempt by ORDER
}
flavor a { gpu 4 }
queue mine { owns 3 gpu }
queue guest { owns nothing }
preempt first { evict from the same queue }
preempt second { evict from queues that borrow }
"""


@pytest.mark.parametrize(
    ("order", "gpus", "evicted"),
    [
        ("first, second", "1", ["m by first"]),
        ("second, first", "1", ["g by second"]),
        ("first, second", "3", ["g by second"]),  # m was taken first, and spared
        ("first, second", "4", ["m by first", "g by second"]),
        ("second, first", "4", ["g by second", "m by first"]),
    ],
)
def test_rules_are_tried_in_order(cluster: Callable[[str], Any], order: str, gpus: str, evicted: list[str]) -> None:
    """A later rule only adds victims where the earlier ones were not enough."""
    c = cluster(TWO_RULES.replace("ORDER", order))
    c.submit("m", "mine", "1")
    c.submit("g", "guest", "3")
    c.at("1s")

    c.submit("w", "mine", gpus)

    assert c.victims("w") == evicted


def test_an_earlier_rule_may_trigger_a_later_one(cluster: Callable[[str], Any]) -> None:
    """Once its queue's own small workload is gone, the great one fits what the queue owns, and the borrower has to go as well."""
    c = cluster(TWO_STEPS)
    c.submit("small", "owner", "1", priority="low")
    c.submit("g", "guest", "1")

    assert c.submit("great", "owner", "2", priority="high") == ["evict small", "evict g", "run great"]


def test_an_owner_yields_to_nobody_by_the_default_profile(cluster: Callable[[str], Any]) -> None:
    """By `gpol.fair` what runs within its queue's own quota stays, whatever the priority of others."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue owner { owns 4 gpu }\nqueue guest { owns nothing }\n')
    c.submit("o", "owner", "4", priority=-5)
    c.at("1s")

    assert c.submit("g", "guest", "1", priority=100) == []
