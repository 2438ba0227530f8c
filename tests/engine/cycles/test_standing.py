"""Where a waiting workload stands: its token, its place, every flavor, every candidate, and what would help."""

from collections.abc import Callable
from typing import Any

import pytest

POLICY = """flavor a {{ gpu as owned }}
flavor b {{
  gpu as owned
  taint pool = "spot" NoSchedule
}}
cohort all {{
  queue q {{
    serves gpu from a, b
    owns 4 gpu on a
    borrows up to {limit} gpu on a
    {says}
  }}
  queue x {{
    serves gpu from a, b
    owns 4 gpu on a
    owns 2 gpu on b
  }}
}}
"""


def policy(*says: str, limit: int = 4) -> str:
    """A queue that owns half of a and may borrow, and one that owns the other half, and b."""
    return POLICY.format(limit=limit, says="\n    ".join(says))


def test_its_place(cycles: Callable[[str], Any]) -> None:
    """Those that were not looked at yet are told who is first; positions count all that wait, parked or not."""
    c = cycles(policy())
    c.submit("w1", "q", "9")
    c.submit("w2", "q", "1")
    assert c.cycle() == ["park w1"]
    c.submit("w3", "q", "2", priority=1)

    assert [(c.standing(name).position, c.standing(name).waiting) for name in ("w3", "w1", "w2")] == [(1, 3), (2, 3), (3, 3)]
    assert c.standing("w1").reason == "ExceedsMaxQuota"
    assert (c.standing("w2").reason, c.standing("w2").operands[0].value) == ("PendingEvaluation", "w3")


def test_parked_unseen(cycles: Callable[[str], Any]) -> None:
    """One that was parked with another of its shape has the reason that it would get."""
    c = cycles(policy())
    c.submit("w1", "q", "9")
    c.submit("w2", "q", "9")
    c.rest()

    assert c.workload("w2").deferral is None
    assert c.standing("w2").reason == "ExceedsMaxQuota"


def test_each_flavor_says_why_not(cycles: Callable[[str], Any]) -> None:
    """On a three more are needed than its queue may have now, at the node and line of the limit; b's taint is not tolerated."""
    c = cycles(policy(limit=1))
    c.submit("v", "x", "4", on=["a"])
    c.submit("own", "q", "2")
    c.rest()
    c.submit("w", "q", "3")
    c.cycle()
    first, second = c.standing("w").flavors

    assert (first.flavor, first.reason) == ("a", "WaitingForQuota")
    assert (first.limit.node, first.limit.limit, first.limit.available, first.limit.deficit) == ("all", "owned", 2000, 1000)
    assert (second.flavor, second.reason, second.limit) == ("b", "NoMatchingFlavor", None)


def test_the_limit_of_borrowing_is_named_with_its_line(cycles: Callable[[str], Any]) -> None:
    """Six are more than the queue's four and the one it may borrow."""
    c = cycles(policy(limit=1))
    c.submit("w", "q", "6", on=["a"])
    c.cycle()
    standing = c.standing("w")

    assert (standing.reason, standing.limit.node, standing.limit.limit) == ("ExceedsMaxQuota", "q", "borrowing")
    assert (standing.limit.asked, standing.limit.available, standing.limit.deficit) == (6000, 5000, 1000)
    lines = ("policy\n" + policy(limit=1)).splitlines()
    assert lines[standing.limit.source.line - 1].strip() == "borrows up to 1 gpu on a"


def outcomes(c: Any, name: str) -> dict[str, str]:
    """What came of each candidate."""
    return {candidate.workload: candidate.outcome for candidate in c.standing(name).candidates}


def test_every_candidate_has_its_outcome(cycles: Callable[[str], Any]) -> None:
    """x1 would go and is enough, x2 is not reached; of its own the queue says nothing, so they stay; who runs on b is no candidate."""
    c = cycles(policy("reclaims from lower priority"))
    c.submit("own", "q", "2", on=["a"])
    c.submit("on-b", "x", sets=[{"requests": {"gpu": "2"}, "flavors": ["b"], "tolerations": [{"operator": "Exists"}]}])
    c.rest()
    for name, priority in (("x1", 0), ("x2", 1), ("x3", 9)):
        c.submit(name, "x", "2", priority=priority, on=["a"])
    c.rest()
    c.submit("w", "q", "2", priority=5, on=["a"])
    before = [list(usage) for usage in c.policy.tree.usage]

    assert outcomes(c, "w") == {"own": "not allowed", "x1": "taken", "x2": "not reached", "x3": "not allowed"}
    assert c.policy.tree.usage == before


def test_who_is_spared_and_who_does_not_borrow(cycles: Callable[[str], Any]) -> None:
    """The small borrower was taken first and is not needed once the big one is out; one within what its queue owns is left alone."""
    c = cycles(
        """flavor a { gpu as owned }
cohort all {
  queue q {
    owns 6 gpu
    reclaims from anyone
  }
  queue x { owns nothing }
  queue y { owns 2 gpu }
}
"""
    )
    for name, gpu, priority in (("small", "2", 0), ("big", "4", 1)):
        c.submit(name, "x", gpu, priority=priority)
    c.submit("owner", "y", "2")
    c.rest()
    c.submit("w", "q", "4")

    assert outcomes(c, "w") == {"small": "spared", "big": "taken", "owner": "not borrowing"}


def test_taken_and_not_enough(cycles: Callable[[str], Any]) -> None:
    """One that may go does not make room enough: that is said beside it."""
    c = cycles(policy("reclaims from lower priority"))
    for name, gpu, priority in (("low", "2", 0), ("high", "6", 9)):
        c.submit(name, "x", gpu, priority=priority, on=["a"])
        c.rest()
    c.submit("w", "q", "4", priority=5, on=["a"])
    [high, low] = c.standing("w").candidates

    assert (low.outcome, high.outcome) == ("taken", "not allowed")
    assert [(operand.name, operand.value) for operand in low.operands][-1] == ("enough", "no")
    assert high.rule.name == "q"


@pytest.mark.parametrize("kind", ["ends", "limits"])
def test_remedies_help(cycles: Callable[[str], Any], kind: str) -> None:
    """Four are taken by others of the queue's own: the end of the smallest that is enough admits it, or so does owning two more."""
    c = cycles("flavor a { gpu as owned }\nqueue q { owns 4 gpu }\n")
    c.submit("one", "q", "1")
    c.submit("three", "q", "3")
    c.rest()
    c.submit("w", "q", "2")
    c.rest()
    remedies = {remedy.kind: remedy for remedy in c.standing("w").remedies}
    assert sorted(remedies) == ["ends", "limits"]
    if kind == "ends":
        assert remedies[kind].workloads == ("three",)
        c.finish("three")
    else:
        [limit] = remedies[kind].limits
        assert (limit.node, limit.deficit) == ("q", 2000)
        c.activate("flavor a { gpu as owned }\nqueue q { owns 6 gpu }\n")

    assert c.rest() == ["run w"]


def test_waiting_for_victims(cycles: Callable[[str], Any]) -> None:
    """While its victims stop it waits for preempted workloads; running it has flavors and what it is charged."""
    c = cycles(policy("reclaims from anyone"))
    c.submit("v", "x", "8", on=["a"])
    c.rest()
    c.submit("w", "q", "4")
    c.cycle()
    assert c.standing("w").reason == "WaitingForPreemptedWorkloads"
    c.rest()

    assert (c.standing("w").reason, c.standing("w").usage[0].amount) == ("Running", 4000)
