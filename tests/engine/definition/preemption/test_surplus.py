"""Surplus pods of victims, taken before whole workloads go: `shrink before evicting`."""

from collections.abc import Callable
from typing import Any

from at_once import Cluster
from gpol.engine.default_core import freeze
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.events import WorkloadAdmitted, WorkloadResized
from lost_places import AT_ONCE, add, ask, stands

SHRINKS = """policy "t" {
  use gpol.fair
  shrink before evicting
}
flavor f { gpu 8 }
queue x { owns 4 gpu }
queue y { owns 4 gpu }
queue z { owns nothing }
"""


def elastic(c: Any, name: str, queue: str, most: int, least: int, **said: object) -> list[str]:
    """A workload of one elastic pod set of one GPU a pod."""
    decided: list[str] = c.submit(name, queue, sets=[{"count": most, "minimum": least, "requests": {"gpu": "1"}}], **said)
    return decided


def pods(c: Any, *names: str) -> list[int]:
    """How many pods each workload runs with."""
    return [sum(each.count for each in c.workload(name).assignments) for name in names]


def test_surplus_goes_and_the_workload_runs_on(cluster: Callable[[str], Any]) -> None:
    """The owner gets just what it asks for; rule, values, limit and beneficiary are told."""
    c = cluster(SHRINKS)
    elastic(c, "a", "x", 8, 2)
    started = c.workload("a").admitted
    c.now = 1_000_000
    assert c.submit("b", "y", "3") == ["resize a", "run b"]
    assert (pods(c, "a"), c.workload("a").admitted, c.workload("a").evictions) == ([5], started, 0)
    resize, admission = c.decided
    assert isinstance(resize, WorkloadResized)
    assert (resize.reason, resize.beneficiary, resize.preemption, resize.why.rule.name) == ("Preempted", "b", "reclaim", "reclaim-owned")
    assert [(each.pod_set, each.taken) for each in resize.changes] == [("main", 3)]
    assert resize.why.limit.deficit == 3000
    assert isinstance(admission, WorkloadAdmitted)
    assert admission.reason == "FitsAfterEviction"


def test_without_the_word_whole_workloads_go(cluster: Callable[[str], Any]) -> None:
    """It starts again with what is left."""
    c = cluster(SHRINKS.replace("  shrink before evicting\n", ""))
    elastic(c, "a", "x", 8, 2)
    assert c.submit("b", "y", "3") == ["evict a", "run b", "run a"]


def test_the_surplus_of_all_goes_before_anybody(cluster: Callable[[str], Any]) -> None:
    """The best victim first, and only what is needed; what no rule allows stays."""
    c = cluster(SHRINKS)
    elastic(c, "a", "z", 4, 1)
    elastic(c, "b", "z", 4, 1, priority=5)
    assert c.submit("o", "y", "4") == ["resize a", "resize b", "run o"]
    assert pods(c, "a", "b") == [1, 3]


def test_where_surplus_is_not_enough_whole_workloads_go(cluster: Callable[[str], Any]) -> None:
    """And the surplus of others only as far as it is needed beside them."""
    c = cluster(SHRINKS)
    elastic(c, "a", "z", 2, 1)
    c.submit("r", "z", "5")
    elastic(c, "b", "z", 1, 1)
    decided = c.submit("o", "y", "4")
    assert decided[-1] == "run o"
    assert "evict r" in decided
    assert c.workload("a").admitted is not None, "its one pod of surplus was not needed once r was out"


def test_what_was_taken_comes_back(cluster: Callable[[str], Any]) -> None:
    """Once the owner is done, surplus is added again, and nobody takes turns."""
    c = cluster(SHRINKS)
    elastic(c, "a", "x", 8, 2)
    c.submit("b", "y", "3")
    assert (c.core.next_wake(), c.tick("1s")) == (None, [])
    assert c.finish("b") == ["resize a"]
    assert pods(c, "a") == [8]


def test_what_is_never_evicted_keeps_its_surplus(cluster: Callable[[str], Any]) -> None:
    """Protections hold for surplus as well."""
    c = cluster(SHRINKS + "protect all-of-x for x\n")
    elastic(c, "a", "x", 8, 2)
    assert c.submit("b", "y", "3") == []


def test_places_are_freed(cluster: Callable[[str], Any]) -> None:
    """Pods are taken until the others stand together; those whose places do not help are put back."""
    c = Cluster(AT_ONCE.replace("use test.bare", "use gpol.fair\n  shrink before evicting"))
    add(c, n1="b/r 2", n2="b/r 2")
    ask(c, "a", 4, minimum=1, anywhere=True)
    assert ask(c, "b", 2, priority=5, within="host") == ["resize a", "run b"]
    assert (len(stands(c, "a")), sum(stands(c, "a").values()), sum(stands(c, "b").values())) == (1, 2, 2)
    [change] = c.decided[0].changes  # type: ignore[union-attr]
    assert (change.taken, sum(place.pods for place in change.places)) == (2, 2)


def test_recorded_events_give_the_same_state(cluster: Callable[[str], Any]) -> None:
    """What was taken is applied as it was told."""
    c = cluster(SHRINKS)
    elastic(c, "a", "x", 8, 2)
    c.submit("b", "y", "3")
    follower = DefinitionCore()
    for event, graph in c.history:
        follower.apply(event, graph)
    assert freeze(follower) == freeze(c.core)
