"""Where a workload stands: each reason with its rule and limit, its place in line, who keeps it waiting."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.explain.pending import standing

POLICY = """policy "standing" {
}
flavor a { gpu 6 }
flavor b { gpu 2 }
queue owner {
  owns 4 gpu on a
  only a
}
queue guest {
  owns nothing
  borrows up to 3 gpu on a
  only a
}
queue keeper {
  owns 2 gpu on a
  guarantees 2 gpu on a
  only a
}
protect warm-up { where victim.running < 10m }
hold frozen for keeper { where workload.user = "eve" } because "ask Olga"
"""


def limit_of(standing: Any) -> tuple[object, ...]:
    """The limit that binds: node, kind, flavor, resource, whole GPUs asked, available and short, and the line of the policy."""
    limit = standing.limit
    amounts = (amount // 1000 for amount in (limit.asked, limit.available, limit.deficit))
    return (limit.node, limit.limit, limit.flavor, limit.resource, *amounts, limit.source.line)


def test_a_running_workload(cluster: Callable[[str], Any]) -> None:
    """Since when it runs, where, and what its queue is charged."""
    c = cluster(POLICY)
    c.at("1s")
    c.submit("g", "guest", "1", pods=3, priority=7)
    c.at("5s")
    found = c.standing("g")

    assert (found.state, found.reason, found.queue, found.priority, found.asked_priority) == ("running", "Running", "guest", 7, 7)
    assert (found.submitted, found.admitted, found.time, found.evictions) == (1_000_000, 1_000_000, 5_000_000, 0)
    assert [(part.pod_set, part.count, part.flavors) for part in found.assignments] == [("main", 3, {"gpu": "a"})]
    assert [(charge.flavor, charge.resource, charge.amount) for charge in found.usage] == [("a", "gpu", 3000)]
    assert (found.position, found.remedies) == (None, ())


def test_nobody_by_that_name(cluster: Callable[[str], Any]) -> None:
    """A workload that was never there, or is there no more, stands nowhere."""
    c = cluster(POLICY)
    c.submit("g", "guest", "1")
    c.finish("g")

    assert standing(c.core, "g") is None
    assert standing(c.core, "ghost") is None


def test_waiting_for_quota_of_its_queue(cluster: Callable[[str], Any]) -> None:
    """With 2 of 3 borrowed, 1 is left of what it asks: the borrowing limit binds, on its line."""
    c = cluster(POLICY)
    c.submit("g", "guest", "2")
    c.submit("w", "guest", "2")
    found = c.standing("w")

    assert (found.state, found.reason, found.rule.name, found.rule.line) == ("pending", "WaitingForQuota", "guest", 11)
    assert limit_of(found) == ("guest", "borrowing", "a", "gpu", 2, 1, 1, 11)
    assert [(flavor.flavor, flavor.reason) for flavor in found.flavors] == [("a", "WaitingForQuota")]


def test_waiting_for_quota_that_others_keep(cluster: Callable[[str], Any]) -> None:
    """Two GPUs are idle, but keeper lends none of them: what the cluster owns binds, on the flavor's line."""
    c = cluster(POLICY)
    c.submit("o", "owner", "4")
    c.submit("w", "owner", "1")
    found = c.standing("w")

    assert found.reason == "WaitingForQuota"
    assert limit_of(found) == ("cluster", "owned", "a", "gpu", 1, 0, 1, 3)


def test_waiting_for_what_exists(cluster: Callable[[str], Any]) -> None:
    """Where quota and what exists are equally short, what exists is named."""
    c = cluster(POLICY)
    c.submit("k", "keeper", "2")
    c.submit("o", "owner", "3")
    c.submit("w", "owner", "2")
    found = c.standing("w")

    assert limit_of(found) == ("cluster", "capacity", "a", "gpu", 2, 1, 1, 3)


@pytest.mark.parametrize(
    ("queue", "gpus", "limit"),
    [
        ("guest", "4", ("guest", "borrowing", "a", "gpu", 4, 3, 1, 11)),
        ("keeper", "7", ("cluster", "capacity", "a", "gpu", 7, 6, 1, 3)),
    ],
)
def test_more_than_it_could_ever_have(cluster: Callable[[str], Any], queue: str, gpus: str, limit: tuple[object, ...]) -> None:
    """A request beyond what an idle cluster would give names the limit in the way."""
    c = cluster(POLICY)
    c.submit("w", queue, gpus)
    found = c.standing("w")

    assert found.reason == "ExceedsMaxQuota"
    assert limit_of(found) == limit


def test_no_flavor(cluster: Callable[[str], Any]) -> None:
    """A workload that accepts no flavor of its queue has no limit in its way, only a flavor that would do."""
    c = cluster(POLICY)
    c.submit("w", "guest", "1", on=("b",))
    found = c.standing("w")

    assert (found.reason, found.limit) == ("NoMatchingFlavor", None)
    assert [(flavor.flavor, flavor.reason) for flavor in found.flavors] == [("a", "NoMatchingFlavor")]


def test_waiting_for_protected_workloads(cluster: Callable[[str], Any]) -> None:
    """Who is protected, until when and by which rule; nobody else is named."""
    c = cluster(POLICY)
    c.at("1m")
    c.submit("g1", "guest", "1")
    c.at("2m")
    c.submit("g2", "guest", "1")
    c.submit("o", "owner", "3")
    found = c.standing("o")

    assert (found.reason, found.rule.name, found.rule.line) == ("WaitingForProtectedWorkloads", "warm-up", 19)
    assert [(keeper.workload, keeper.until, keeper.protect.name) for keeper in found.keepers] == [("g1", 660_000_000, "warm-up")]
    assert limit_of(found)[4:7] == (3, 2, 1)


def test_room_that_is_reserved(cluster: Callable[[str], Any]) -> None:
    """A workload that would fit, were the room not reserved, is told for whom."""
    c = cluster(POLICY)
    c.submit("g", "guest", "2")
    c.submit("o", "owner", "4")
    c.submit("w", "guest", "1")
    found = c.standing("w")

    assert found.reason == "WaitingForQuota"
    assert [(operand.name, operand.value) for operand in found.operands] == [("room is reserved for", "o")]


def test_what_a_smaller_slice_gives_up_is_not_free_while_it_waits(cluster: Callable[[str], Any]) -> None:
    """A workload that will take the place of one with more CPUs waits for GPUs: the CPUs are still in use, and another one is told so."""
    c = cluster(
        """policy "slices" {
}
flavor a {
  gpu 8
  cpu 8
}
queue owner {
  owns 8 gpu on a
  owns 8 cpu on a
  guarantees 8 cpu on a
}
queue guest { owns nothing }
protect warm-up { where victim.running < 10m }
"""
    )
    c.submit("old", "owner", sets=[{"count": 1, "requests": {"gpu": "2", "cpu": "6"}}])
    c.submit("g", "guest", "6")
    c.submit("new", "owner", sets=[{"count": 1, "requests": {"gpu": "4", "cpu": "2"}}], replaces="old")
    assert c.submit("w", "owner", sets=[{"count": 1, "requests": {"cpu": "6"}}]) == []
    found = c.standing("w")

    assert found.now == "waits"
    assert (found.reason, found.limit.resource, found.limit.deficit) == ("WaitingForQuota", "cpu", 4_000)
    assert ("room is reserved for", "new") in [(operand.name, operand.value) for operand in found.operands]


TWO_OWNERS = """policy "two owners" {
}
flavor a { gpu 4 }
queue o1 { owns 2 gpu on a }
queue o2 { owns 2 gpu on a }
queue guest { owns nothing }
protect warm-up { where victim.running < 10m }
"""


def test_room_that_is_reserved_behind_it_is_not_in_the_way(cluster: Callable[[str], Any]) -> None:
    """Two owners wait for two guests. The first one is told of what it needs itself; the second one of the first one's room, too."""
    c = cluster(TWO_OWNERS)
    c.submit("g1", "guest", "2")
    c.submit("g2", "guest", "2")
    c.at("1m")
    c.submit("x", "o1", "2")
    c.submit("y", "o2", "2")
    first, second = c.standing("x"), c.standing("y")

    assert (first.operands, first.limit.deficit, len(first.keepers)) == ((), 2_000, 1)
    assert [remedy.workloads for remedy in first.remedies if remedy.kind == "ends"] == [("g2",)]
    assert [(operand.name, operand.value) for operand in second.operands] == [("room is reserved for", "x")]
    assert c.finish("g2") == ["run x"]


TWO_FLAVORS = """policy "two flavors" {
}
flavor a { gpu 4 }
flavor b { gpu 4 }
queue owner {
  owns 4 gpu on a
  owns 4 gpu on b
}
queue guest { owns nothing }
protect warm-up { where victim.running < 10m }
"""


def test_who_keeps_it_waiting_is_told_for_the_flavor_that_is_free_first(cluster: Callable[[str], Any]) -> None:
    """The guest on b may go at 10m, the one on a only at 15m: it waits for the first of the two, and runs on b then."""
    c = cluster(TWO_FLAVORS)
    c.submit("gb", "guest", "4", on=["b"])
    c.at("5m")
    c.submit("ga", "guest", "4", on=["a"])
    c.at("6m")
    c.submit("o", "owner", "4")
    found = c.standing("o")

    assert (found.reason, found.rule.name) == ("WaitingForProtectedWorkloads", "warm-up")
    assert [(keeper.workload, keeper.until) for keeper in found.keepers] == [("gb", 600_000_000)]
    assert c.remedy("o", "time").until == 600_000_000
    assert c.at("10m") == ["evict gb", "run o"]


def test_a_slice_waits_for_its_own_flavor_alone(cluster: Callable[[str], Any]) -> None:
    """A workload that takes the place of one on a has to stay on a: that the guest on b may go earlier is nothing to it."""
    c = cluster(TWO_FLAVORS)
    c.submit("gb", "guest", "4", on=["b"])
    c.at("2m")
    c.submit("old", "owner", "2", on=["a"])
    c.at("5m")
    c.submit("ga", "guest", "2", on=["a"])
    c.at("6m")
    c.submit("new", "owner", "4", replaces="old")

    assert c.core.next_wake() == c.remedy("new", "time").until == 900_000_000
    assert [(keeper.workload, keeper.until) for keeper in c.standing("new").keepers] == [("ga", 900_000_000)]
    assert c.at("15m") == ["evict ga", "end old", "run new"]


def test_first_in_line(cluster: Callable[[str], Any]) -> None:
    """In a strict queue one that would fit is told who is before it."""
    c = cluster(POLICY.replace('"standing" {', '"standing" {\n  queueing strict fifo').replace("gpu 6", "gpu 6 "))
    c.submit("o", "owner", "3")
    c.submit("first", "owner", "2")
    c.submit("second", "owner", "1")
    found = c.standing("second")

    assert (found.reason, found.rule.name) == ("BehindFirstInLine", "owner")
    assert [(operand.name, operand.value) for operand in found.operands] == [("first in line", "first")]


def test_on_hold_by_a_rule(cluster: Callable[[str], Any]) -> None:
    """The rule, its line, what it looked at, and its reason in the policy's words; no place in line."""
    c = cluster(POLICY)
    c.submit("w", "keeper", "1", user="eve")
    found = c.standing("w")

    assert (found.reason, found.rule.name, found.rule.line) == ("OnHold", "frozen", 20)
    assert [(operand.name, operand.value) for operand in found.operands] == [("workload.user", "eve"), ("because", "ask Olga")]
    assert (found.position, found.limit) == (None, None)


def test_on_hold_by_a_person(cluster: Callable[[str], Any]) -> None:
    """Its owner, or an operator by name."""
    c = cluster(POLICY)
    c.submit("g", "guest", "3")
    c.submit("w", "guest", "1")
    c.update("w", hold=True)
    c.operator("evict", "g")

    assert [(operand.name, operand.value) for operand in c.standing("w").operands] == [("held by", "its owner")]
    assert [(operand.name, operand.value) for operand in c.standing("g").operands] == [("operator", "olga")]
    assert c.standing("g").evictions == 1


def test_positions(cluster: Callable[[str], Any]) -> None:
    """Places count from 1 in the queue's order, among those that are not on hold; each queue has its own line."""
    c = cluster(POLICY)
    c.capacity("a", gpu="0")
    c.submit("low", "owner", "1", priority=1)
    c.submit("high", "owner", "1", priority=2)
    c.submit("held", "owner", "1", priority=3)
    c.submit("other", "guest", "1")
    c.operator("hold", "held")

    places = {name: (c.standing(name).position, c.standing(name).waiting) for name in c.waiting()}
    assert places == {"low": (2, 2), "high": (1, 2), "held": (None, None), "other": (1, 1)}


def test_what_each_rule_could_do(cluster: Callable[[str], Any]) -> None:
    """A rule is not triggered, or its victims are not enough; by name and line, in the order in which they are tried."""
    c = cluster(POLICY)
    c.submit("g", "guest", "3")
    c.submit("w", "guest", "1")
    c.at("1h")

    rules = c.standing("w").rules
    assert [(rule.rule.name, rule.outcome) for rule in rules] == [
        ("reclaim-owned", "not triggered"),
        ("fair-share", "not enough"),
        ("make-room", "not enough"),
    ]


def test_each_flavor_has_its_reason(cluster: Callable[[str], Any]) -> None:
    """Why the first flavor does not do, and the second, in the order in which they are tried."""
    c = cluster(POLICY.replace("  only a\n}\nqueue guest", "}\nqueue guest"))
    c.submit("o", "owner", "4", on=("a",))
    c.submit("w", "owner", "3")

    found = c.standing("w").flavors
    assert [(flavor.flavor, flavor.reason, flavor.limit.deficit) for flavor in found] == [
        ("a", "WaitingForQuota", 3000),
        ("b", "ExceedsMaxQuota", 1000),
    ]


def test_asking_changes_nothing(cluster: Callable[[str], Any]) -> None:
    """Standings can be asked for at any time, again and again, and decisions stay what they would have been."""
    asked, silent = cluster(POLICY), cluster(POLICY)
    for c in (asked, silent):
        for number in range(8):
            c.at(f"{number}m")
            c.submit(f"w{number}", ("guest", "owner", "keeper")[number % 3], str(1 + number % 2))
            if c is asked:
                assert [c.standing(name) for name in c.core.view.names()] == [c.standing(name) for name in c.core.view.names()]
        c.at("1h")

    assert [event.payload() for event, _ in asked.history] == [event.payload() for event, _ in silent.history]
