"""Where a waiting workload stands: its token, its place, every flavor, every candidate, and what would help."""

from collections.abc import Callable
from typing import Any

from gpol.engine.facts import WorkloadCancelled

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


def said(c: Any, name: str) -> dict[str, str]:
    """What is told beside the reason."""
    return {operand.name: operand.value for operand in c.standing(name).operands}


def test_its_place(cycles: Callable[[str], Any]) -> None:
    """Those that were not looked at yet are told who is first; positions count all that wait, parked or not."""
    c = cycles(policy())
    c.submit("w1", "q", "9")
    c.submit("w2", "q", "1")
    assert c.cycle() == ["park w1"]
    c.submit("w3", "q", "2", priority=1)

    assert [(c.standing(name).position, c.standing(name).waiting) for name in ("w3", "w1", "w2")] == [(1, 3), (2, 3), (3, 3)]
    assert c.standing("w1").reason == "ExceedsMaxQuota"
    assert (c.standing("w2").reason, said(c, "w2")) == ("PendingEvaluation", {"first in line": "w3"})


def test_parked_unseen(cycles: Callable[[str], Any]) -> None:
    """One that was parked with another of its shape has the reason that it would get."""
    c = cycles(policy())
    c.submit("w1", "q", "9")
    c.submit("w2", "q", "9")
    c.rest()

    assert c.workload("w2").deferred is None
    assert (c.standing("w2").reason, c.standing("w2").parked, said(c, "w2")) == ("ExceedsMaxQuota", True, {"parked with": "w1"})
    assert (c.standing("w1").parked, said(c, "w1")) == (True, {})
    c.core.step(WorkloadCancelled(time=c.now, workload="w1"))
    assert (c.standing("w2").reason, said(c, "w2")) == ("ExceedsMaxQuota", {})


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


def test_the_limit_that_can_never_be_met_is_told_first(cycles: Callable[[str], Any]) -> None:
    """One pod set needs others to go, the other asks for more than there is: the reason is about the latter, and so is the limit."""
    c = cycles("flavor a { gpu as owned }\nflavor b { cpu as owned }\nqueue q {\n  owns 4 gpu\n  owns 2 cpu\n}\n")
    c.submit("runs", "q", "4")
    c.rest()
    c.submit("w", "q", sets=[{"name": "m", "requests": {"gpu": "4"}}, {"name": "n", "requests": {"cpu": "3"}}])
    c.cycle()
    standing = c.standing("w")

    assert (standing.reason, standing.limit.resource, standing.limit.available) == ("ExceedsMaxQuota", "cpu", 2000)


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


def test_the_limit_is_one_that_the_reason_is_about(cycles: Callable[[str], Any]) -> None:
    """It waits for three on a, which would do some day; that b will never have nine is told of b alone."""
    c = cycles(policy())
    c.submit("v", "x", "2", on=["a"])
    c.rest()
    c.submit("w", "q", sets=[{"requests": {"gpu": "8"}, "tolerations": [{"operator": "Exists"}]}])
    c.cycle()
    standing = c.standing("w")
    a, b = standing.flavors

    assert (standing.reason, a.reason, b.reason) == ("WaitingForQuota", "WaitingForQuota", "ExceedsMaxQuota")
    assert (standing.limit.flavor, standing.limit.deficit, b.limit.deficit) == ("a", 2000, 6000)


def test_what_quota_does_not_say(cycles: Callable[[str], Any]) -> None:
    """A taint, nodes that are not selected, and a flavor that would have to be borrowed, each in words."""
    c = cycles(policy())
    c.submit("v", "x", "4", on=["a"])
    c.rest()
    c.submit("w", "q", "5")
    a, b = c.standing("w").flavors

    assert a.because == ("it would have to borrow, and its queue evicts nobody for that",)
    assert b.because == ("taint pool=spot:NoSchedule is not tolerated",)


def test_a_resource_that_nobody_serves(cycles: Callable[[str], Any]) -> None:
    """The queue has no flavor at all for cpu: that is told in place of flavors, and nothing helps."""
    c = cycles(policy() + "flavor c { cpu as owned }\nqueue other { owns 1 cpu on c }\n")
    c.submit("w", "q", sets=[{"requests": {"gpu": "1", "cpu": "1"}}])
    c.rest()
    standing = c.standing("w")

    assert (standing.reason, standing.outcome, standing.remedies) == ("NoMatchingFlavor", "no fit", ())
    assert [(flavor.flavor, flavor.reason, flavor.because) for flavor in standing.flavors] == [
        ("", "NoMatchingFlavor", ("the queue serves no cpu",))
    ]


def test_a_flavor_that_is_not_needed(cycles: Callable[[str], Any]) -> None:
    """With a it may borrow, which is good enough, so b is not even tried."""
    c = cycles(policy())
    c.submit("first", "q", "1", priority=9)
    c.submit("w", "q", "5")
    a, b = c.standing("w").flavors

    assert (a.flavor, a.reason, a.borrows, a.limit) == ("a", "Fits", True, None)
    assert (b.flavor, b.reason, b.because) == ("b", "NotTried", ("a is good enough",))
    assert (c.standing("w").reason, c.standing("w").now, c.standing("w").remedies) == ("PendingEvaluation", "fits", ())


def test_each_resource_alone_is_not_enough(cycles: Callable[[str], Any]) -> None:
    """It owns the GPUs, so whoever has them would go, and borrows CPUs, for which the lower one would; for both together it borrows."""
    c = cycles(
        """flavor a {
  gpu as owned
  cpu as owned
}
cohort all {
  queue q {
    owns 2 gpu
    owns 2 cpu
    reclaims from anyone
    borrows by evicting lower priority
  }
  queue x { owns nothing }
  queue y {
    owns 2 gpu
    owns 2 cpu
  }
}
"""
    )
    c.submit("high", "x", sets=[{"requests": {"gpu": "4"}}], priority=9)
    c.submit("low", "x", sets=[{"requests": {"cpu": "4"}}])
    c.rest()
    c.submit("w", "q", sets=[{"requests": {"gpu": "2", "cpu": "3"}}], priority=5)
    [flavor] = c.standing("w").flavors

    assert (c.standing("w").now, flavor.reason) == ("waits", "Preempt")
    assert flavor.because == ("victims make room for each resource alone, but not for all it asks for",)
    assert [(limit.resource, limit.deficit) for limit in flavor.limits] == [("cpu", 3000), ("gpu", 2000)]
    assert (c.standing("w").limit.resource, flavor.limit.resource) == ("cpu", "cpu")
    for candidate in c.standing("w").candidates:
        assert (candidate.outcome, candidate.operands[-1].name, candidate.operands[-1].value) == ("taken", "enough", "no")


# --- what the last cycle came to ----------------------------------------------------------------------------------------


OWNERS = """flavor a { gpu as owned }
cohort all {
  queue q {
    owns 2 gpu
    reclaims from anyone
  }
  queue r {
    owns 2 gpu
    reclaims from anyone
  }
  queue x { owns nothing }
}
"""


def outcome(c: Any, name: str) -> tuple[str, str | None, str | None]:
    """The reason, what the last cycle came to, and what one could do now."""
    standing = c.standing(name)
    return standing.reason, standing.outcome, standing.now


def test_overtaken(cycles: Callable[[str], Any]) -> None:
    """Both fit, but only one of them: the other was overtaken in this cycle, and waits as things stand then."""
    c = cycles(OWNERS.replace("reclaims from anyone", "evicts its own of lower priority"))
    c.submit("w1", "q", "3")
    c.submit("w2", "r", "3")
    c.cycle()
    assert outcome(c, "w2") == ("WaitingForQuota", "overtaken", "waits")
    c.rest()
    assert outcome(c, "w2") == ("WaitingForQuota", "no fit", "waits")


def test_preempting_and_deferred(cycles: Callable[[str], Any]) -> None:
    """One evicts the borrower that both need to go; the other waits for that too. Then both fit."""
    c = cycles(OWNERS)
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w1", "q", "2")
    c.submit("w2", "r", "2")
    assert outcome(c, "w1") == ("PendingEvaluation", None, "evicts")
    c.cycle()

    assert outcome(c, "w1") == ("WaitingForPreemptedWorkloads", "preempting", "fits")
    assert c.standing("w1").victims == ("v",)
    assert outcome(c, "w2") == ("WaitingForPreemptedWorkloads", "deferred", "fits")
    assert c.standing("w2").victims == ()


def test_limits_in_the_middle_of_a_cycle(cycles: Callable[[str], Any]) -> None:
    """The first took GPUs of the victim that both need, and CPUs that were free when the cycle began: what was left then is told."""
    text = OWNERS.replace("{ gpu as owned }", "{\n  gpu as owned\n  cpu as owned\n}").replace("all {", "all {\n  owns 4 cpu")
    c = cycles(text.replace("anyone", "anyone\n    borrows by evicting lower priority"))
    c.submit("v", "x", "4")
    c.rest()
    for name, queue in (("w1", "q"), ("w2", "r")):
        c.submit(name, queue, sets=[{"requests": {"gpu": "2", "cpu": "3"}}], priority=1)
    c.cycle()
    limit = c.last("w2").why.limit

    assert [outcome(c, name)[1] for name in ("w1", "w2")] == ["preempting", "no candidates"]
    assert (limit.resource, limit.asked, limit.available, limit.deficit) == ("cpu", 3000, 1000, 2000)


def test_victims_that_take_their_time(cycles: Callable[[str], Any]) -> None:
    """Told to stop by an outside system its victim still runs: it is taken, and its end is what the workload waits for."""
    c = cycles(OWNERS)
    c.submit("v", "x", "4")
    c.fact("WorkloadAdopted", workload="v", queue="x", since=0, evicting=True, placements=[PLACED])
    c.submit("w", "q", "2")
    c.rest()
    standing = c.standing("w")

    assert (standing.outcome, standing.victims, standing.now) == ("preempting", ("v",), "evicts")
    assert [(each.workload, each.outcome, each.evicting) for each in standing.candidates] == [("v", "taken", True)]
    assert [remedy.workloads for remedy in standing.remedies if remedy.kind == "ends"] == [("v",)]


PLACED = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "4"}}


def test_nobody_to_evict(cycles: Callable[[str], Any]) -> None:
    """Those who run own what they use: no candidates, and each is told why not."""
    c = cycles(OWNERS)
    c.submit("v1", "q", "2")
    c.submit("v2", "r", "2")
    c.rest()
    c.submit("w", "q", "1")
    c.rest()

    assert outcome(c, "w") == ("WaitingForQuota", "no candidates", "waits")
    assert c.standing("w").flavors[0].because == ("nobody whom it may evict makes room for it",)
    assert outcomes(c, "w") == {"v1": "not allowed", "v2": "not borrowing"}


def test_behind_a_strict_head(cycles: Callable[[str], Any]) -> None:
    """The head never fits and nobody passes it: the line of the queue is named, and that the one behind would fit."""
    c = cycles(policy("queueing strict fifo"))
    c.submit("head", "q", "9", on=["a"])
    c.submit("w", "q", "1", on=["a"])
    c.rest()

    assert outcome(c, "head") == ("ExceedsMaxQuota", "no fit", "waits")
    assert outcome(c, "w") == ("PendingEvaluation", None, "fits")
    assert (c.standing("w").rule.name, said(c, "w")) == ("q", {"first in line": "head, whom nobody passes in this queue"})
    assert (c.standing("w").parked, c.standing("w").remedies) == (False, ())


def test_by_usage(cycles: Callable[[str], Any]) -> None:
    """In a queue that admits by usage both sides are told: its local queue's, and that of the first in line."""
    c = cycles(
        """policy "u" {
  use kueue.classical
  usage halves every 1h, sampled every 1h
}
flavor a { gpu as owned }
queue q {
  owns 2 gpu
  admits by usage
  local queue "ns/a" { weight 1 }
  local queue "ns/b" { weight 2 }
  local queue "ns/zero" { weight 0 }
}
"""
    )
    c.fact("UsageReported", local_queue="ns/a", consumed={"gpu": "3"})
    c.fact("UsageReported", local_queue="ns/b", consumed={"gpu": "1"})
    for name, local in (("wa", "a"), ("wb", "b"), ("last", "zero")):
        c.submit(name, None, "3", local_queue=f"ns/{local}", priority=5 if local == "a" else 0)

    assert said(c, "wb") == {"usage of ns/b": "0.500"}
    assert said(c, "wa") == {"first in line": "wb", "usage of ns/a": "3.000", "usage of ns/b": "0.500"}
    assert said(c, "last")["usage of ns/zero"] == "weight 0, comes last"
    assert [c.standing(name).position for name in ("wb", "wa", "last")] == [1, 2, 3]


# --- not looked at ------------------------------------------------------------------------------------------------------


def test_all_that_holds_it_is_told(cycles: Callable[[str], Any]) -> None:
    """On hold, of a stopped local queue, of a stopped queue, and of a wrong namespace: the first is the reason, the rest comes after it."""
    says = ("stopped", 'for namespaces where label "dep" in "eng"', 'local queue "ns/a" { stopped }')
    c = cycles(policy(*says))
    c.submit("w", None, local_queue="ns/a", namespace_labels={"dep": "sales"}, on=["a"])
    c.operator("hold", "w")
    standing = c.standing("w")

    assert (standing.reason, said(c, "w"), standing.position) == ("OnHold", {"operator": "olga"}, None)
    assert [(why.reason, why.rule.name) for why in standing.also] == [("Suspended", "ns/a"), ("Suspended", "q"), ("Misconfigured", "q")]
    assert [operand.value for operand in standing.also[2].operands] == ["namespace", "`sales`, has to be In eng"]
    assert [remedy.kind for remedy in standing.remedies] == ["release"]


def test_what_would_come_after_is_not_promised(cycles: Callable[[str], Any]) -> None:
    """One that is too big all the same is promised nothing, nor one whose flavor is missing: nobody knows what that will be."""
    c = cycles(policy("stopped"))
    c.submit("big", "q", "9", on=["a"])
    c.submit("small", "q", "1", on=["a"])
    assert [c.standing(name).remedies != () for name in ("big", "small")] == [False, True]
    assert (c.standing("small").position, c.standing("small").waiting) == (2, 2)

    c.activate(policy().replace('gpu as owned\n  taint pool = "spot" NoSchedule', "gpu as owned\n  missing"))
    assert (c.standing("small").reason, said(c, "small"), c.standing("small").remedies) == (
        "Suspended",
        {"queue": "flavor b is missing"},
        (),
    )


# --- candidates ---------------------------------------------------------------------------------------------------------


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
    before = c.charges()

    assert outcomes(c, "w") == {"own": "not allowed", "x1": "taken", "x2": "not reached", "x3": "not allowed"}
    assert c.charges() == before


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


def test_nobody_is_looked_for_where_it_would_borrow(cycles: Callable[[str], Any]) -> None:
    """More than the queue owns would have to be borrowed, for which it evicts nobody: by the line that does not let it."""
    c = cycles(policy("reclaims from anyone"))
    c.submit("v", "x", "4", on=["a"])
    c.submit("own", "q", "2", on=["a"])
    c.rest()
    c.submit("w", "q", "5", on=["a"])
    found = {candidate.workload: candidate for candidate in c.standing("w").candidates}

    assert {name: each.outcome for name, each in found.items()} == {"v": "not borrowing", "own": "not allowed"}
    assert [(operand.name, operand.value) for operand in found["own"].operands] == [("of its own it evicts", "nobody")]


def test_candidates_that_nobody_may_touch(cycles: Callable[[str], Any]) -> None:
    """One whose class is never evicted, and one of a queue that takes no part."""

    def owners(says: str) -> str:
        queue = f"queue y {{\n    owns nothing\n    {says}\n  }}"
        return "priority gold 9 { never evicted }\n" + OWNERS.replace("queue x { owns nothing }", f"queue x {{ owns nothing }}\n  {queue}")

    c = cycles(owners(""))
    c.submit("v1", "x", "2", priority="gold")
    c.submit("v2", "y", "2")
    c.rest()
    c.activate(owners("stopped"))
    c.submit("w", "q", "2")
    found = {candidate.workload: candidate for candidate in c.standing("w").candidates}

    assert {name: (each.outcome, each.rule.name) for name, each in found.items()} == {
        "v1": ("never evicted", "gold"),
        "v2": ("queue inactive", "y"),
    }


def test_what_was_compared_between_equals(cycles: Callable[[str], Any]) -> None:
    """Of two of one priority the newer would have to go; since when each is queued is told."""
    c = cycles("flavor a { gpu as owned }\nqueue q {\n  owns 2 gpu\n  evicts its own of lower priority or newer\n}\n")
    c.submit("old", "q", "2")
    c.rest()
    c.at("1h")
    c.submit("w", "q", "1")
    [old] = c.standing("w").candidates

    assert old.outcome == "not allowed"
    assert {operand.name: operand.value for operand in old.operands} == {
        "of its own it evicts": "lower priority or newer",
        "workload.priority": "0",
        "victim.priority": "0",
        "workload is queued since": "1970-01-01T01:00:00Z",
        "victim was queued": "1970-01-01T00:00:00Z",
    }


def test_a_queue_that_stops_borrowing(cycles: Callable[[str], Any]) -> None:
    """One borrower goes, then its queue borrows no more, so the other stays; with one who is never evicted that is not enough."""
    c = cycles(
        """policy "f" { use kueue.fair }
priority kept 9 { never evicted }
flavor a { gpu as owned }
cohort all {
  queue q {
    owns 3 gpu
    reclaims from anyone
  }
  queue x { owns 1 gpu }
  queue y { owns nothing }
}
"""
    )
    c.submit("stays", "x", "1")
    c.submit("kept", "y", "1", priority="kept")
    c.rest()
    c.at("1h")
    c.submit("goes", "x", "2")
    c.rest()
    c.submit("w", "q", "3")

    assert c.standing("w").now == "waits"
    assert outcomes(c, "w") == {"goes": "taken", "stays": "not borrowing", "kept": "never evicted"}


def test_shares_of_both_sides(cycles: Callable[[str], Any]) -> None:
    """Fair sharing compares what the workload's queue would have, and what the victim's has before and after: both are told."""
    c = cycles(
        """policy "f" {
  use kueue.fair
  preempt fairly by final share
}
flavor a { gpu as owned }
cohort all {
  owns 4 gpu
  queue q {
    owns nothing
    reclaims from anyone
  }
  queue x { owns nothing }
}
"""
    )
    c.submit("v1", "x", "2")
    c.submit("v2", "x", "2")
    c.rest()
    c.submit("w", "q", "3")
    first, second = c.standing("w").candidates
    shares = {operand.name: operand.value for operand in first.operands if "share" in operand.name}

    assert (first.outcome, second.outcome) == ("share", "share")
    assert shares == {
        "preemptor's share, with it running": "750 thousandths",
        "victim's share, before": "1000 thousandths",
        "victim's share, without it": "500 thousandths",
    }


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


def test_nominated_as_if_it_fitted(cycles: Callable[[str], Any]) -> None:
    """It would rather evict than borrow. For the CPU it borrows, which is there, so nobody is evicted for the GPUs; that is told."""
    c = cycles(
        """flavor a { gpu, cpu as owned }
cohort all {
  queue q {
    serves gpu, cpu from a
    owns 4 gpu on a
    reclaims from anyone
    rather evict than borrow
  }
  queue r {
    serves gpu, cpu from a
    owns 4 cpu on a
  }
}
"""
    )
    c.submit("v", "r", "4")
    c.rest()
    c.submit("w", "q", sets=[{"requests": {"gpu": "4", "cpu": "1"}}])
    c.rest()
    found = c.standing("w")

    assert (found.now, found.limit.resource, found.limit.deficit) == ("waits", "gpu", 4000)
    assert found.flavors[0].because == ("the resource for which it would borrow decides, and there is enough of that one",)
    assert [remedy.workloads for remedy in found.remedies if remedy.kind == "ends"] == [("v",)]
    assert c.finish("v") == []
    assert c.cycle() == ["run w"]
