"""What keeps each candidate from being evicted by preempt rules, under the rule by which it comes closest to going."""

from collections.abc import Callable
from typing import Any

POLICY = """policy "kept" {
  use test.bare
  preempt by reclaim, within
}
flavor a { gpu 10 }
priority vip 9 { never evicted }
cohort near {
  queue owner { owns 10 gpu }
  queue guest { owns nothing }
}
queue far { owns nothing }
preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow, in the same cohort
  where victim.running >= 1m
}
preempt within {
  evict from the same queue
  where victim.priority < workload.priority
}
protect kept for guest { where victim.label "keep" = "yes" }
protect warm-up for guest { where victim.running < 5m }
"""


WITHIN = POLICY[POLICY.index("preempt within {") : POLICY.index("protect kept")]

FAR = POLICY.replace("preempt by reclaim, within", "preempt by reclaim").replace(WITHIN, "").replace("gpu 10", "gpu 20")


def kept(c: Any, name: str) -> list[tuple[str, str, str | None, int | None, int]]:
    """Each candidate: its name, what came of it, the rule, until when in seconds, and whole GPUs that would be free without it."""
    return [
        (
            each.workload,
            each.outcome,
            each.rule.name if each.rule is not None else None,
            None if each.until is None else each.until // 1_000_000,
            each.usage[0].amount // 1000,
        )
        for each in c.standing(name).candidates
    ]


def test_classes_protections_and_guards(cluster: Callable[[str], Any]) -> None:
    """The largest first: a class, a protection for good, one that ends, and a rule that does not look there."""
    c = cluster(POLICY)
    c.submit("v", "guest", "4", priority="vip")
    c.submit("l", "guest", "3", labels={"keep": "yes"})
    c.submit("f", "far", "1")
    c.at("8m")
    c.submit("g", "guest", "2")
    c.at("10m")
    c.submit("o", "owner", "10")
    assert kept(c, "o") == [
        ("v", "never evicted", "vip", None, 4),
        ("l", "protected", "kept", None, 3),
        ("g", "protected", "warm-up", 780, 2),
        ("f", "out of reach", "reclaim", None, 1),
    ]


def test_a_guard_that_time_makes_true(cluster: Callable[[str], Any]) -> None:
    """A guard on a duration is false until then; what was compared is there. One that may go already is not enough."""
    c = cluster(POLICY.replace("protect warm-up for guest { where victim.running < 5m }\n", ""))
    c.submit("v", "guest", "4", priority="vip")
    c.submit("a", "guest", "2")
    c.at("10m")
    c.submit("b", "guest", "4")
    c.submit("o", "owner", "10")
    assert kept(c, "o") == [
        ("v", "never evicted", "vip", None, 4),
        ("b", "guard", "reclaim", 660, 4),
        ("a", "not enough", "reclaim", None, 2),
    ]
    [guard] = [each for each in c.standing("o").candidates if each.outcome == "guard"]
    assert [(operand.name, operand.value) for operand in guard.operands] == [("victim.running", "0s")]


def test_rules_that_do_not_apply(cluster: Callable[[str], Any]) -> None:
    """A queue that borrows nothing is not reached, and where no rule is triggered that is said."""
    c = cluster(POLICY)
    c.submit("o", "owner", "10", priority=5)
    c.submit("g", "guest", "1")
    assert kept(c, "g") == [("o", "out of reach", "within", None, 10)]
    alone = cluster(POLICY.replace("preempt by reclaim, within", "preempt by reclaim").replace(WITHIN, ""))
    alone.submit("o", "owner", "10", priority=5)
    alone.submit("g", "guest", "1")
    assert kept(alone, "g") == [("o", "not triggered", "reclaim", None, 10)]


def test_a_queue_that_does_not_borrow(cluster: Callable[[str], Any]) -> None:
    """Whoever runs within what its queue owns is not taken by a rule for queues that borrow."""
    c = cluster(FAR.replace("queue guest { owns nothing }", "queue guest { owns 10 gpu }"))
    c.submit("g", "guest", "10")
    c.submit("v", "far", "10", priority="vip")
    c.submit("o", "owner", "10")
    assert ("g", "not borrowing", "reclaim", None, 10) in kept(c, "o")


def test_a_queue_out_of_range_that_does_not_borrow(cluster: Callable[[str], Any]) -> None:
    """Of a queue in another cohort it is said that the rule does not look there, whether that queue borrows or not."""
    c = cluster(FAR.replace("queue far { owns nothing }", "queue far { owns 10 gpu }"))
    c.submit("f", "far", "10")
    c.submit("v", "guest", "10", priority="vip")
    c.submit("o", "owner", "10")
    assert kept(c, "o") == [("f", "out of reach", "reclaim", None, 10), ("v", "never evicted", "vip", None, 10)]


def test_what_was_compared_is_worked_out_for_those_listed(cluster: Callable[[str], Any]) -> None:
    """Those who are only counted have an outcome, and nothing that takes long: who uses most is listed, whoever came first."""
    c = cluster(POLICY.replace("gpu 10", "gpu 60").replace("10 gpu", "60 gpu"))
    for number in range(30):
        c.submit(f"g{number}", "guest", "2" if number >= 10 else "1")
    c.at("2m")
    c.submit("o", "owner", "60")
    probe = c.core.probe
    found = probe.kept(probe.nominate("o"), 20)
    assert [each.workload for each in found] == [f"g{number}" for number in (*range(10, 30), *range(10))]
    assert [each.outcome for each in found] == ["protected"] * 30
    assert [bool(each.values) and each.until is not None for each in found] == [True] * 20 + [False] * 10


def test_many_are_counted(cluster: Callable[[str], Any]) -> None:
    """Twenty are listed, all others are counted with what they use."""
    c = cluster(POLICY.replace("gpu 10", "gpu 50").replace("10 gpu", "50 gpu"))
    for number in range(25):
        c.submit(f"v{number}", "guest", "2", priority="vip")
    c.submit("o", "owner", "50")
    found = c.standing("o")
    assert [each.workload for each in found.candidates] == [f"v{number}" for number in range(20)]
    assert [(left.outcome, left.count, left.usage[0].amount) for left in found.left_out] == [("never evicted", 5, 10_000)]


def test_nobody_where_it_runs_or_never_will(cluster: Callable[[str], Any]) -> None:
    """Of one that can never run no candidates are told."""
    c = cluster(POLICY)
    c.submit("v", "guest", "4", priority="vip")
    c.submit("o", "owner", "11")
    assert (c.standing("o").candidates, c.standing("o").left_out) == ((), ())
