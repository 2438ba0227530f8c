"""Why: every decision names its reason, the rule with its line, what was compared, and the limit that was in the way."""

from collections.abc import Callable
from typing import Any

import pytest

POLICY = """policy "why" {
  use test.bare
  share used
  preempt by reclaim, even-out, make-room
}
flavor a { gpu 8 }
priority high 10
cohort lab {
  borrows up to 2 gpu
  queue nlp { owns 4 gpu }
}
queue guest {
  for user "ada"
  borrows up to 7 gpu on a
}
queue plain { for user "a*" }
preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow
  where victim.gpu >= 1 gpu
  order by victim.priority asc, victim.gpu desc
}
preempt even-out {
  evict from queues that borrow
  where workload.queue.share <= victim.queue.share_after
}
preempt make-room {
  evict from the same queue
  where victim.priority < workload.priority or victim.user = workload.user
}
deny too-big for plain { where workload.gpu > 4 and workload.pods = 1 } because "at most 4 GPUs"
"""


def why_of(decision: Any) -> tuple[object, ...]:
    """Reason, rule and line."""
    rule = decision.why.rule
    return (decision.reason, None, None) if rule is None else (decision.reason, rule.name, rule.line)


def compared(decision: Any) -> dict[str, str]:
    """The operands by name."""
    return {operand.name: operand.value for operand in decision.why.operands}


def test_admitted_within_what_the_queue_owns(cluster: Callable[[str], Any]) -> None:
    """The line that says what the queue owns, and the sum: it asks for 3, uses 1 and owns 4."""
    c = cluster(POLICY)
    c.submit("n1", "nlp", "1")
    c.submit("n2", "nlp", "1", pods=3)
    [admitted] = c.decided

    assert why_of(admitted) == ("FitsOwned", "nlp", 10)
    assert compared(admitted) == {"asks": "3 gpu on a", "queue uses": "1 gpu on a", "queue owns": "4 gpu on a"}
    assert (admitted.queue, admitted.borrowed, admitted.why.limit) == ("nlp", (), None)
    assert [(charge.flavor, charge.resource, charge.amount) for charge in admitted.usage] == [("a", "gpu", 3000)]


def test_admitted_by_borrowing(cluster: Callable[[str], Any]) -> None:
    """The line that says how much it may borrow, and how much of its use that is: 2 more than the 4 it owns."""
    c = cluster(POLICY)
    c.submit("n1", "nlp", "3")
    c.submit("n2", "nlp", "3")
    [admitted] = c.decided

    assert why_of(admitted) == ("FitsBorrowing", "nlp", 10)
    assert [charge.amount for charge in admitted.borrowed] == [2000]
    c.submit("g", "guest", "1")
    assert why_of(c.decided[0]) == ("FitsBorrowing", "guest", 14)
    assert compared(c.decided[0]) == {"asks": "1 gpu on a", "queue uses": "0 gpu on a", "queue owns": "0 gpu on a"}


def test_reclaimed(cluster: Callable[[str], Any]) -> None:
    """The preempt rule, what its guard and order looked at, the runner-up with the first difference, and the limit in the way."""
    c = cluster(POLICY)
    c.submit("g1", "plain", "3", priority=2)
    c.submit("g2", "guest", "4", priority=1)
    c.at("1s")
    c.submit("n", "nlp", "4")
    evicted, admitted = c.decided

    assert (evicted.workload, evicted.beneficiary, evicted.preemption, evicted.queue) == ("g2", "n", "reclaim", "guest")
    assert why_of(evicted) == ("Preempted", "reclaim", 17)
    assert compared(evicted) == {"victim.gpu": "4 gpu", "victim.priority": "1", "next": "g1", "next.victim.priority": "2"}
    limit = evicted.why.limit
    assert (limit.node, limit.limit, limit.flavor, limit.resource) == ("cluster", "capacity", "a", "gpu")
    assert (limit.asked, limit.available, limit.deficit, limit.source.line) == (4000, 1000, 3000, 6)
    assert why_of(admitted) == ("FitsAfterEviction", "reclaim", 17)
    assert compared(admitted) == {"asks": "4 gpu on a", "queue uses": "0 gpu on a", "queue owns": "4 gpu on a"}


def test_evened_out(cluster: Callable[[str], Any]) -> None:
    """Shares as they were compared: the workload's with it running, 2 of 8, the victim's once it is gone, 7 - 2 of 8."""
    c = cluster(POLICY)
    c.submit("g1", "guest", "5")
    c.submit("g2", "guest", "2")
    c.at("1s")
    c.submit("p", "plain", "2")
    evicted = c.decided[0]

    assert (evicted.workload, evicted.preemption) == ("g2", "other")
    assert why_of(evicted)[1:] == ("even-out", 23)
    shown = compared(evicted)
    assert (shown["workload.queue.share"], shown["victim.queue.share_after"]) == ("1/4", "5/8")
    assert why_of(c.decided[1]) == ("FitsAfterEviction", "even-out", 23)


def test_made_room(cluster: Callable[[str], Any]) -> None:
    """Within a queue; each field of the guard once, in the order in which it stands there."""
    c = cluster(POLICY)
    c.submit("n1", "nlp", "6", user="ann")
    c.at("1s")
    c.submit("n2", "nlp", "6", priority="high", user="bob")
    evicted = c.decided[0]

    assert (evicted.workload, evicted.preemption) == ("n1", "in-queue")
    assert why_of(evicted)[1:] == ("make-room", 27)
    assert [operand.name for operand in evicted.why.operands][:4] == [
        "victim.priority",
        "workload.priority",
        "victim.user",
        "workload.user",
    ]
    assert compared(evicted)["victim.priority"] == "0"
    assert compared(evicted)["workload.user"] == "bob"
    assert (evicted.why.limit.node, evicted.why.limit.limit, evicted.why.limit.source.line) == ("lab", "borrowing", 9)


@pytest.mark.parametrize(
    ("gpu", "cpu", "binding"),
    [("2", "10", ("gpu", 1000)), ("2", "12", ("cpu", 6000)), ("4", "13", ("gpu", 3000))],
)
def test_the_binding_limit_leaves_the_greatest_part_unserved(
    cluster: Callable[[str], Any], gpu: str, cpu: str, binding: tuple[str, int]
) -> None:
    """1 GPU and 6 CPUs are left: of all that is short the greatest part of what is asked for counts, and of equal parts the deficit."""
    c = cluster('policy "p" { preempt by nothing }\nflavor a {\n  gpu 4\n  cpu 14\n}\nqueue q { owns nothing }\n')
    c.submit("most", "q", sets=[{"requests": {"gpu": "3", "cpu": "8"}}])
    c.submit("w", "q", sets=[{"requests": {"gpu": gpu, "cpu": cpu}}])

    limit = c.standing("w").limit
    assert (limit.resource, limit.deficit) == binding


def test_evicted_by_an_operator(cluster: Callable[[str], Any]) -> None:
    """Nobody benefits; the operator and the note are named."""
    c = cluster(POLICY)
    c.submit("g", "guest", "1")
    c.operator("evict", "g", note="moving racks")
    [evicted] = c.decided

    assert (evicted.beneficiary, evicted.preemption, evicted.why.rule, evicted.why.limit) == (None, "operator", None, None)
    assert (evicted.reason, evicted.by) == ("EvictedByOperator", "olga")
    assert compared(evicted) == {"note": "moving racks"}
    assert [(charge.flavor, charge.amount) for charge in evicted.usage] == [("a", 1000)]


@pytest.mark.parametrize(
    ("said", "why", "operands"),
    [
        ({"queue": "plain"}, ("Denied", "too-big", 31), {"workload.gpu": "5 gpu", "workload.pods": "1", "because": "at most 4 GPUs"}),
        ({"queue": "nowhere"}, ("NoMatchingQueue", None, None), {"workload.queue": "nowhere"}),
        ({"queue": "lab"}, ("NoMatchingQueue", None, None), {"workload.queue": "lab"}),
        ({"queue": None}, ("NoMatchingQueue", None, None), {}),
        ({"queue": "nlp", "priority": "low"}, ("UnknownPriority", None, None), {"workload.priority": "low"}),
    ],
)
def test_rejected(cluster: Callable[[str], Any], said: dict[str, Any], why: tuple[object, ...], operands: dict[str, str]) -> None:
    """The deny rule with what it saw and its reason; or that there is no such queue or priority."""
    c = cluster(POLICY)
    c.submit("w", gpu="5", **said)
    [rejected] = c.decided

    assert why_of(rejected) == why
    assert compared(rejected) == operands


def test_rejected_by_two_queues(cluster: Callable[[str], Any]) -> None:
    """A submission that two queues match is told both, by name."""
    c = cluster(POLICY)
    c.submit("w", None, user="ada")
    [rejected] = c.decided

    assert rejected.reason == "MatchesSeveralQueues"
    assert [operand.value for operand in rejected.why.operands] == ["guest", "plain"]


def test_the_first_deny_rule_by_name(cluster: Callable[[str], Any]) -> None:
    """Where several rules deny, the first by name is given, wherever it stands."""
    c = cluster(POLICY + 'deny none because "closed"\ndeny all because "closed, too"\n')
    c.submit("w", "nlp")

    assert why_of(c.decided[0])[1] == "all"


def test_rules_of_a_profile_are_cited_with_its_file(cluster: Callable[[str], Any]) -> None:
    """A rule that the policy takes from the default profile points into that file, not into the policy."""
    c = cluster('policy "p" { }\nflavor a { gpu 4 }\nqueue owner { owns 4 gpu }\nqueue guest { owns nothing }\n')
    c.submit("g", "guest", "4")
    c.at("1s")
    c.submit("o", "owner", "4")

    rule = c.decided[0].why.rule
    assert (rule.name, rule.file) == ("reclaim-owned", "gpol/fair.gpol")


def test_time_and_cause(cluster: Callable[[str], Any]) -> None:
    """Decisions have the time of their fact, and its number."""
    c = cluster(POLICY)
    c.submit("g", "guest", "7")
    c.at("1m")
    fact = c.core.seq + 1
    c.submit("n", "nlp", "4")

    assert {(decision.time, decision.cause) for decision in c.decided} == {(60_000_000, fact)}


def test_the_line_of_what_is_borrowed(cycles: Callable[[str], Any]) -> None:
    """The workload borrows GPUs, and its CPUs are owned: the line about borrowing CPUs is not the one that lets it run."""
    c = cycles("""flavor a { gpu, cpu as owned }
cohort all {
  queue q {
    serves cpu, gpu from a
    owns 4 cpu on a
    borrows up to 2 cpu on a
    owns 1 gpu on a
    borrows up to 2 gpu on a
  }
  queue r {
    serves cpu, gpu from a
    owns 4 gpu on a
  }
}
""")
    c.submit("x", "q", sets=[{"requests": {"gpu": "3", "cpu": "1"}}])

    assert c.rest() == ["run x"]
    assert c.last("x").why.rule.line == 9
