"""Guards: every field, comparison and connective, and shares of the two sides."""

from collections.abc import Callable
from typing import Any

import pytest

POLICY = """policy "guards" { use test.bare }
flavor x { gpu 5 }
priority high 50
queue old { owns nothing }
queue new { owns nothing }
preempt rule {
  evict from any queue
  where GUARD
  order by victim.submitted asc
}
"""


def ask(c: Any) -> list[str]:
    """Who yields to `w`: priority 3, 2 GPUs, of ada in group g2.

    a: priority 1, 2 pods of 1 GPU, of ada in group g1, namespace n-1, kind Job, label tier=gold; at 0s.
    b: priority 60, 1 pod of 3 GPUs, of bob in group g2, namespace m[1], kind RayJob, no label; at 1s, evicted, and back at 5s.
    """
    c.submit("a", "old", "1", pods=2, priority=1, user="ada", group="g1", namespace="n-1", workload_kind="Job", labels={"tier": "gold"})
    c.at("1s")
    c.submit("b", "old", "3", priority=60, user="bob", group="g2", namespace="m[1]", workload_kind="RayJob")
    c.operator("evict", "b")
    c.at("5s")
    c.operator("release", "b")
    c.at("12s")
    c.submit("w", "new", "2", priority=3, user="ada", group="g2")
    return [victim.split()[0] for victim in c.victims("w")]


@pytest.mark.parametrize(
    ("guard", "victim"),
    [
        ("victim.priority < workload.priority", "a"),
        ("victim.priority > workload.priority", "b"),
        ("victim.priority >= 60", "b"),
        ("victim.priority > 60", ""),
        ("victim.priority <= 1", "a"),
        ("victim.priority > high", "b"),
        ("victim.priority != 1", "b"),
        ("victim.priority = 1", "a"),
        ("victim.gpu > 2", "b"),
        ("victim.gpu > 2 gpu", "b"),
        ("victim.gpu <= workload.gpu", "a"),
        ("victim.gpu > 3", ""),
        ("victim.pods > 1", "a"),
        ("victim.pods = workload.pods", "b"),
        ("victim.evictions > 0", "b"),
        ("victim.evictions = 0", "a"),
        ("victim.running >= 12s", "a"),
        ("victim.running < 12s", "b"),
        ("victim.running <= 7s", "b"),
        ("victim.queue = old and victim.gpu = 3", "b"),
        ('victim.queue = "o*" and victim.gpu = 3', "b"),
        ("victim.queue != old", ""),
        ('victim.user = "bob"', "b"),
        ('victim.user = "?da"', "a"),
        ("victim.user = workload.user", "a"),
        ("victim.user != workload.user", "b"),
        ("victim.group = workload.group", "b"),
        ('victim.group != "g2"', "a"),
        ('victim.namespace = "n-*"', "a"),
        ('victim.namespace = "m[1]"', "b"),  # brackets are nothing special
        ('victim.kind = "*Job"', "a"),
        ('victim.kind = "Ray*"', "b"),
        ('victim.kind = "job"', ""),
        ('victim.label "tier" = "g?ld"', "a"),
        ('victim.label "tier" != "gold"', "b"),  # a label that is not there is empty
        ('victim.label "tier" = ""', "b"),
        ('workload.user = "ada"', "a"),
        ('workload.label "tier" = "gold"', ""),
        ("workload.waiting < 1s", "a"),
        ('not victim.user = "ada"', "b"),
        ('victim.user = "bob" and victim.gpu = 2', ""),
        ('victim.user = "bob" or victim.gpu = 2', "a"),
        ('victim.user = "zoe" and victim.gpu = 2 or victim.gpu = 3', "b"),  # `and` binds tighter than `or`
        ('victim.user = "bob" and (victim.gpu = 2 or victim.gpu = 3)', "b"),
        ('not (victim.user = "ada" or victim.gpu = 3)', ""),
    ],
)
def test_guards(cluster: Callable[[str], Any], guard: str, victim: str) -> None:
    """The first of two running workloads for which the guard holds yields; nobody does where it holds for neither."""
    assert ask(cluster(POLICY.replace("GUARD", guard))) == victim.split()


SHARES = """policy "shares" {
  use test.bare
  share used
}
flavor x { gpu 8 }
queue old { WEIGHT }
queue new { owns nothing }
preempt rule {
  evict from any queue
  where GUARD
}
"""


@pytest.mark.parametrize(
    ("guard", "evicted"),
    [
        # With w running, new uses 3 of 8; old uses 6 of 8, and 5 once one is gone.
        ("workload.queue.share <= 3/8", True),
        ("workload.queue.share < 3/8", False),
        ("victim.queue.share = 3/4", True),
        ("victim.queue.share < 3/4", False),
        ("victim.queue.share_after = 5/8", True),
        ("victim.queue.share_after < 5/8", False),
        ("workload.queue.share < victim.queue.share_after", True),
        ("workload.queue.share > victim.queue.share_after", False),
    ],
)
def test_shares(cluster: Callable[[str], Any], guard: str, evicted: bool) -> None:
    """The workload's share is the one with it running, the victim's before or after it is gone."""
    assert bool(victims_by_share(cluster(SHARES.replace("GUARD", guard).replace("WEIGHT", "owns nothing")))) == evicted


@pytest.mark.parametrize(("weight", "evicted"), [("1", True), ("5/3", True), ("2", False), ("0", True)])
def test_shares_count_by_weight(cluster: Callable[[str], Any], weight: str, evicted: bool) -> None:
    """What is left to old, 5/8 by its weight, has to be as much as the 3/8 of new: up to 5/3; at weight 0 it is infinite."""
    guard = "workload.queue.share <= victim.queue.share_after"

    assert bool(victims_by_share(cluster(SHARES.replace("GUARD", guard).replace("WEIGHT", f"weight {weight}")))) == evicted


def victims_by_share(c: Any) -> list[str]:
    """Who yields to one GPU more for `new`, which has 2 of 8, while `old` has 6."""
    for number in range(6):
        c.submit(f"old{number}", "old", "1")
    c.submit("new", "new", "2")
    c.at("1s")
    c.submit("w", "new", "1")
    found: list[str] = c.victims("w")
    return found


def test_shares_are_those_of_the_sides(cluster: Callable[[str], Any]) -> None:
    """Between cohorts the cohorts' shares and weights count, not those of the queues within."""
    c = cluster(
        """policy "sides" {
  use test.bare
  share used
}
flavor x { gpu 8 }
cohort left {
  weight 3
  queue l1 { weight 100 }
  queue l2 { owns nothing }
}
queue right { owns nothing }
preempt rule {
  evict from any queue
  where victim.queue.share = 5/24 and victim.queue.share_after = 1/6 and workload.queue.share = 1/2
}
"""
    )
    c.submit("a", "l1", "1")
    c.submit("b", "l2", "4")
    c.submit("c", "right", "3")
    c.at("1s")

    # left uses 5 of 8 at weight 3: 5/24, and without a 4/24; right would use 4 of 8
    c.submit("w", "right", "1")

    assert c.victims("w") == ["a by rule"]


def test_a_share_of_the_own_queue(cluster: Callable[[str], Any]) -> None:
    """Within a queue both sides are the queue itself, with the workload running: 8 + 1 of 8, and 8 of 8 once the victim is gone."""
    c = cluster(
        SHARES.replace("any queue", "the same queue")
        .replace("GUARD", "workload.queue.share = 9/8 and victim.queue.share = 9/8 and victim.queue.share_after = 1")
        .replace("WEIGHT", "owns nothing")
    )
    for number in range(8):
        c.submit(f"w{number}", "old", "1")
    c.at("1s")

    c.submit("w", "old", "1")

    assert c.victims("w") == ["w7 by rule"]


def test_fair_shares_do_not_take_turns(cluster: Callable[[str], Any]) -> None:
    """By `gpol.fair` borrowers even out to equal shares, and stop there: 3 and 1 become 2 and 2, and stay."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue x { owns nothing }\nqueue y { owns nothing }\n')
    for number in range(4):
        c.submit(f"x{number}", "x", "1")
    c.at("1s")

    assert c.submit("y0", "y", "1") == ["evict x3", "run y0"]
    assert c.submit("y1", "y", "1") == ["evict x2", "run y1"]
    assert c.submit("y2", "y", "1") == []
    assert c.at("1h") == []
