"""Policies compared: who ends in different states, whose waits and evictions differ most, and why under each of them."""

from collections.abc import Callable

import pytest
from gpol.engine.units import SECOND
from gpol.sim.compare.comparison import MOST_NAMED, MOST_TOLD, compare
from gpol.sim.compare.played_policy import FailedPolicy, PlayedPolicy
from gpol.sim.drive import player
from gpol.sim.drive.job import Job
from gpol.sim.measure.measure import NO_QUEUE
from gpol.sim.report.compare_wording import best_told, different_told, early_told, notes, under_told
from policy_texts import IN_CYCLES, PROTECTED, TURNS, TWO_QUEUES

MINUTE = 60 * SECOND

Play = Callable[..., PlayedPolicy | FailedPolicy]
MakeJob = Callable[..., Job]


def test_who_waits_longer_and_why(play: Play, job: MakeJob) -> None:
    """Protected for ten minutes, the guest makes the owner wait five: its wait differs most, and each policy says why it waited."""
    jobs = [job("g", "guest", "0s", "1h"), job("o", "owner", "5m", "1h")]
    found = compare([play("eager", TWO_QUEUES, jobs), play("slow", PROTECTED, jobs)], "restart", ["g", "o"])
    [different] = found.different

    assert (different.by, different.workloads, different.spread, different.queue) == ("wait", ("o",), 5 * MINUTE, "owner")
    eager, slow = (list(under_told(each)) for each in different.under)
    assert eager[0] == "ran to its end, in line for 0s in all"
    assert slow[:2] == [
        "ran to its end, in line for 5m in all",
        "waited 5m from 1970-01-01T00:05:00Z: WaitingForProtectedWorkloads by warm-up (two.gpol:8)",
    ]
    assert different_told(different) == "o of owner is in line for up to 5m longer"
    assert (found.states_differ, found.lacking, found.queues) == (0, {}, ("guest", "owner"))
    assert best_told(found) == (
        "least time in line: eager (30m); fewest evictions: eager and slow (1); least work lost: eager (0.7 GPU-hours)"
    )


def test_in_cycles_the_first_look_tells_why(play: Play, job: MakeJob) -> None:
    """Where cycles decide, nobody has looked at a workload that was just evicted: what is told is what the next cycle found."""
    jobs = [job("g", "guest", "0s", "1h"), job("o", "owner", "5m", "1h")]
    at_once = TWO_QUEUES.replace("gpu 8 }", "gpu 16 }")
    found = compare([play("at once", at_once, jobs), play("cycles", IN_CYCLES, jobs)], "restart", ["o", "g"])
    different = found.different[0]
    told = list(under_told(different.under[1]))

    assert (different.by, different.workloads) == ("wait", ("g",))
    assert told[1].startswith("waited 1h1s from 1970-01-01T00:05:00Z: WaitingForQuota")


def test_evictions_that_differ(play: Play, job: MakeJob) -> None:
    """Of a workload whose wait is among the widest the evictions are not told again; of another one they are."""
    text = TWO_QUEUES.replace("gpu 8 }", "gpu 16 }", 1)
    jobs = [job("g", "guest", "0s", "1h"), job("o", "owner", "5m", "1h"), *(job(f"w{n}", "guest", "6m", "1m") for n in range(MOST_TOLD))]
    names = [each.fact.workload for each in jobs]
    found = compare([play("small", TWO_QUEUES, jobs), play("wide", text, jobs)], "restart", names)

    waits = [each.workloads[0] for each in found.different if each.by == "wait"]
    assert waits == [f"w{number}" for number in range(MOST_TOLD)]  # 65 minutes each, and g 60
    assert [(each.by, each.workloads, each.spread) for each in found.different[MOST_TOLD:]] == [("evictions", ("g",), 1)]
    assert different_told(found.different[-1]) == "g of guest is evicted up to 1 time more"


def test_groups_by_state(play: Play, job: MakeJob) -> None:
    """Workloads that one policy rejects, and the other does not, are one group, with the first names, and no wait of theirs is compared."""
    denied = TWO_QUEUES + 'deny all for guest because "no guests"\n'
    jobs = [job(f"g{number}", "guest", f"{number}s", "1m", "1") for number in range(MOST_NAMED + 2)]
    names = [each.fact.workload for each in jobs]
    found = compare([play("open", TWO_QUEUES, jobs), play("shut", denied, jobs)], "restart", names)
    [group] = found.different

    assert (group.by, group.count, group.workloads) == ("state", MOST_NAMED + 2, tuple(names[:MOST_NAMED]))
    assert found.states_differ == MOST_NAMED + 2
    assert [each.outcome.state for each in group.under if each.outcome is not None] == ["finished", "rejected"]
    assert next(iter(under_told(group.under[1]))) == "rejected: Denied by all (two.gpol:8)"
    assert different_told(group) == "g0, g1, g2, g3, g4 and 2 more of guest end in different states"


def test_a_policy_without_rest_is_left_out(play: Play, job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told of, and what became of a workload up to then; who differs is found among the others, and what is best as well."""
    monkeypatch.setattr(player, "MOST_TURNS", 20)
    jobs = [job("a", "owner", "0s", "10h"), job("b", "owner", "10s", "10h"), job("late", "owner", "5h", "1h")]
    calm = 'policy "calm" { use gpol.fair }\nflavor a100 { gpu 8 }\nqueue owner { owns 8 gpu }\n'
    wide = calm.replace("gpu 8 }", "gpu 16 }", 1).replace("owns 8 gpu", "owns 16 gpu")
    played = [play("turns", TURNS, jobs), play("calm", calm, jobs), play("wide", wide, jobs)]
    found = compare(played, "restart", ["a", "b", "late"])

    assert [each.name for each in found.to_the_end] == ["calm", "wide"]
    assert "turns" not in best_told(found)
    [last, first] = found.different
    assert (last.workloads, first.workloads) == (("late",), ("b",))
    assert list(under_told(last.under[0])) == ["was not submitted before the history ends"]
    assert [each.name for each in first.under] == ["turns", "calm", "wide"]
    told = early_told(found.played[0])
    assert told[0] == "turns never comes to rest: from 1970-01-01T00:00:10Z on nothing happens but that workloads take turns"
    assert "a of owner is evicted" in told[1]
    assert "by turn (two.gpol:9)" in told[1]
    assert told[-1].startswith("to end it, ")
    assert not compare(played[:2], "restart", ["a", "b", "late"]).is_compared


def test_what_has_to_be_known(play: Play, job: MakeJob) -> None:
    """A queue that a policy lacks, other GPUs, a failure: each is a note; without a second policy nothing is compared."""
    other = TWO_QUEUES.replace("queue guest", "queue visitor").replace("gpu 8 }", "gpu 9 }", 1)
    jobs = [job("g", "guest", "0s", "1h", "1")]
    one, two = play("one", TWO_QUEUES, jobs), play("two", other, jobs)
    assert isinstance(one, PlayedPolicy)
    failed = FailedPolicy("three", one.policy, "AssertionError: no")
    found = compare([one, two, failed], "restart", ["g"])

    assert found.queues == ("guest", "owner", "visitor", NO_QUEUE)
    assert found.lacking == {"one": ("visitor",), "two": ("guest",)}
    assert found.different[0].queue == "guest"
    assert notes(found) == [
        "three has no figures: AssertionError: no",
        "one has no queue visitor: their workloads go to other queues there, or are rejected",
        "two has no queue guest: their workloads go to other queues there, or are rejected",
        "what exists is not the same: 8 GPUs under one, 9 GPUs under two",
    ]
    assert notes(compare([one, failed], "restart", ["g"]))[1:] == [
        "workloads are compared between policies that were played to the end, and there are no two of them"
    ]
    assert not any("compared" in note for note in notes(compare([one], "restart", ["g"])))
