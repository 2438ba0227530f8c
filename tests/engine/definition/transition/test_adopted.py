"""What an outside system decided: workloads adopted as they run, told to stop, changed while they wait or run."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.errors import FactError

POLICY = """priority high 5
flavor a { gpu as owned }
cohort all {
  queue q {
    owns 4 gpu
    reclaims from anyone
    priority at most high
  }
  queue x { owns nothing }
}
"""


TWICE = {"pod_set": "main", "count": 1, "flavors": {"gpu": "a"}, "usage": {"gpu": "1"}}


def adopt(c: Any, name: str, queue: str = "x", gpu: str = "4", count: int = 1, **said: object) -> None:
    """A waiting workload runs already, on flavor a."""
    placement = {"pod_set": "main", "count": count, "flavors": {"gpu": "a"}, "usage": {"gpu": gpu}}
    c.fact("WorkloadAdopted", workload=name, queue=queue, **{"since": 0, "placements": [placement], **said})


def test_it_is_charged_whatever_the_policy_says(cycles: Callable[[str], Any]) -> None:
    """Six GPUs of a tree that owns four run: what is available is a debt of two, and nobody is admitted."""
    c = cycles(POLICY)
    c.at("5s")
    c.submit("v", "x", "6")
    adopt(c, "v", gpu="6", since=2_000_000)
    c.submit("w", "x", "1")

    assert c.core.probe.available(c.node("x"), 0) == -2000
    assert c.rest() == ["park w"]
    assert (c.workload("v").admitted, c.flavors("v")) == (2_000_000, {"gpu": "a"})


def test_it_stays_where_it_was_admitted(cycles: Callable[[str], Any]) -> None:
    """Its submission says q, the outside system admitted it in x: it is charged there, with the priority that counts there."""
    c = cycles(POLICY)
    c.submit("v", "q", "4", priority=9)
    assert c.workload("v").priority == 5
    adopt(c, "v", queue="x")

    assert (c.workload("v").queue, c.workload("v").priority) == (c.node("x"), 9)
    c.submit("w", "q", "4")
    assert c.cycle() == ["preempt w", "evict v for w"]


def test_one_that_is_told_to_stop_stops_at_last(cycles: Callable[[str], Any]) -> None:
    """It holds its room until `requeued` says that it stopped, and waits again from that moment."""
    c = cycles(POLICY)
    c.submit("v", "x", "4")
    adopt(c, "v", evicting=True)
    c.submit("w", "q", "4")
    assert c.rest() == ["preempt w"]
    c.at("30s")
    c.update("v", requeued=c.now)

    assert not c.workload("v").evicting
    assert c.workload("v").queued == 30_000_000
    assert c.cycle()[0] == "run w"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"placements": [TWICE, TWICE]}, "`v` is placed twice in pod set `main`"),
        ({"queue": "zed"}, "no queue `zed`"),
        ({"queue": "all"}, "no queue `all`"),
        ({"since": 9}, "cannot run since a later time"),
        ({"count": 2}, "has no 2 pods in a pod set `main`"),
        ({"placements": [{"pod_set": "zed", "count": 1, "flavors": {}, "usage": {}}]}, "pod set `zed`"),
        ({"placements": [{"pod_set": "main", "count": 1, "flavors": {}, "usage": {"gpu": "1"}}]}, "charged for gpu of no flavor"),
        ({"placements": [{"pod_set": "main", "count": 1, "flavors": {"gpu": "b"}, "usage": {"gpu": "1"}}]}, "no gpu on flavor `b`"),
    ],
)
def test_what_cannot_be_adopted(cycles: Callable[[str], Any], said: dict[str, Any], error: str) -> None:
    """Each mistake is named, and nothing is changed."""
    c = cycles(POLICY)
    c.submit("v", "x", "1")
    with pytest.raises(FactError, match=error):
        adopt(c, "v", **said)

    assert c.rest() == ["run v"]


def test_one_that_runs_is_not_adopted(cycles: Callable[[str], Any]) -> None:
    """It runs already; and in a policy that decides at once nobody stops later than told."""
    c = cycles(POLICY)
    c.submit("v", "x", "1")
    c.rest()
    with pytest.raises(FactError, match="runs already"):
        adopt(c, "v", gpu="1")
    at_once = cycles('policy "p" { use gpol.fair }\nflavor a { gpu 4 }\nqueue x { owns 4 gpu }\nqueue y { owns nothing }\n')
    at_once.submit("w", "x", "9")
    with pytest.raises(FactError, match="has nobody who stops later"):
        adopt(at_once, "w", evicting=True)


def test_a_boost_counts(cycles: Callable[[str], Any]) -> None:
    """It is added to the priority after the queue's ceiling, at submission and later."""
    c = cycles(POLICY)
    c.submit("w", "q", "4", priority=9, boost=3)
    c.submit("v", "q", "4", priority=9)
    assert (c.workload("w").priority, c.head("q")) == (8, "w")
    c.update("v", boost=4)

    assert (c.workload("v").priority, c.head("q")) == (9, "v")
    assert c.rest()[0] == "run v"


def test_checks_are_kept_one_by_one(cycles: Callable[[str], Any]) -> None:
    """An update changes the checks that it names and leaves the others."""
    c = cycles(POLICY)
    c.submit("w", "q")
    c.update("w", checks={"a": "Retry", "b": "Ready"})
    c.update("w", checks={"a": "Pending"})

    assert c.workload("w").checks == {"a": "Pending", "b": "Ready"}


def test_pods_that_are_done_free_their_room(cycles: Callable[[str], Any]) -> None:
    """Of four running pods one is done: what it held is free for the next, which had been parked."""
    c = cycles(POLICY)
    c.submit("v", "q", pods=4)
    c.submit("w", "x", "1")
    assert c.rest() == ["run v", "next w", "park w"]
    c.update("v", reclaimable={"main": 1})

    assert c.workload("v").usage == ((0, 3000),)
    assert c.rest() == ["run w"]


TWO_FLAVORS = """flavor a { gpu as owned }
flavor b { gpu as owned }
queue q {
  serves gpu from a, b
  owns 4 gpu on a
  owns N gpu on b
}
"""


def test_another_policy_begins_anew(cycles: Callable[[str], Any]) -> None:
    """A deferral is kept with the workload, and forgotten with the policy that caused it: nothing is parked under the new one."""
    c = cycles(TWO_FLAVORS.replace("N", "1"))
    c.submit("w", "q", "9")
    c.rest()
    assert c.workload("w").deferred.parked
    c.activate(TWO_FLAVORS.replace("N", "9"))

    assert c.workload("w").deferred is None
    assert c.rest() == ["run w"]


def test_pods_that_it_was_not_given_are_done_first(cycles: Callable[[str], Any]) -> None:
    """Two of four pods run. The first two that are done are the two it was not given, and free nothing; the third frees one."""
    c = cycles("flavor a { gpu as owned }\nqueue q { owns 2 gpu }\n")
    c.submit("w", "q", sets=[{"count": 4, "min_count": 1, "requests": {"gpu": "1"}}])
    c.rest()
    assert c.used("q") == [2000]
    for done, used in ((1, 2000), (2, 2000), (3, 1000), (4, 0)):
        c.update("w", reclaimable={"main": done})
        assert c.used("q") == [used]


@pytest.mark.parametrize("told", [False, True])
def test_what_is_adopted_into_a_drained_queue_has_to_go(cycles: Callable[[str], Any], told: bool) -> None:
    """A queue that is drained keeps nobody: what is found running there is evicted, unless it has been told to stop already."""
    c = cycles("flavor a { gpu as owned }\nqueue x {\n  owns 4 gpu\n  stopped and drained\n}\n")
    c.submit("v", "x", "4", hold=True)
    adopt(c, "v", evicting=told)

    assert [(event.kind, event.reason) for event in c.decided] == ([] if told else [("WorkloadEvicted", "Drained")])
    assert c.running() == (["v"] if told else [])


def test_what_a_policy_begins_to_drain_and_stops_already(cycles: Callable[[str], Any]) -> None:
    """Who has been told to stop when its queue is drained holds its room until it has stopped; it is not evicted again."""
    text = "flavor a { gpu as owned }\nqueue x {\n  owns 4 gpu\n}\n"
    c = cycles(text)
    c.submit("v", "x", "4", hold=True)
    adopt(c, "v", evicting=True)

    assert c.activate(text.replace("4 gpu\n", "4 gpu\n  stopped and drained\n")) == []
    assert (c.running(), c.used("x")) == (["v"], [4000])


def test_an_adopted_one_begins_anew_when_it_waits_again(cycles: Callable[[str], Any]) -> None:
    """How the last cycle ended before an outside system let it run is forgotten."""
    c = cycles(POLICY)
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w", "q", "4")
    assert c.cycle() == ["preempt w", "evict v for w"]
    adopt(c, "w", queue="q")
    c.operator("evict", "w")
    c.operator("release", "w")

    assert (c.standing("w").reason, c.standing("w").outcome, c.standing("w").victims) == ("PendingEvaluation", None, ())


def test_new_victims_are_told(cycles: Callable[[str], Any]) -> None:
    """Another one was adopted into the room that a first eviction made: the workload evicts that one, too, and names it."""
    c = cycles(POLICY)
    c.submit("v", "x", "4")
    c.rest()
    c.submit("w", "q", "4")
    assert c.cycle() == ["preempt w", "evict v for w"]
    c.submit("z", "x", "4", hold=True)
    adopt(c, "z")

    assert c.cycle() == ["park v", "preempt w", "evict z for w"]
    assert c.standing("w").victims == ("z",)


def test_nobody_waits_from_a_moment_to_come(cycles: Callable[[str], Any]) -> None:
    """A moment from which a workload counts as waiting that is later than the fact is refused."""
    c = cycles(POLICY)
    c.submit("w", "q", "4")

    with pytest.raises(FactError, match="cannot count as waiting from a later time"):
        c.update("w", requeued=1)
