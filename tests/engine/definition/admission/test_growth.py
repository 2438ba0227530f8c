"""Elastic workloads: with how many pods they start, and who gets more of them when something is free."""

from collections.abc import Callable
from typing import Any

import pytest
from at_once import Cluster
from gpol.engine.default_core import freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.events import WorkloadAdmitted, WorkloadResized
from lost_places import AT_ONCE, add, ask, stands

TWO = """policy "t" { use test.bare }
flavor f { gpu 8 }
queue x { owns 4 gpu }
queue y { owns 4 gpu }
"""
RECLAIM = (
    TWO
    + """preempt reclaim {
  when workload fits what its queue owns
  evict from queues that borrow
}
"""
)


def elastic(c: Any, name: str, queue: str, most: int, least: int, gpu: str = "1", **said: object) -> list[str]:
    """A workload of one elastic pod set."""
    decided: list[str] = c.submit(name, queue, sets=[{"count": most, "minimum": least, "requests": {"gpu": gpu}}], **said)
    return decided


def pods(c: Any, *names: str) -> list[int]:
    """How many pods each workload runs with."""
    return [sum(each.count for each in c.workload(name).assignments) for name in names]


def test_it_starts_with_as_many_pods_as_fit(cluster: Callable[[str], Any]) -> None:
    """All of them where there is room, else as many as there is room for, and not at all below its minimum."""
    c = cluster(TWO)
    assert elastic(c, "a", "x", 5, 2) == ["run a"]
    assert elastic(c, "b", "y", 5, 2) == ["run b"]
    assert elastic(c, "c", "y", 5, 2) == []
    assert pods(c, "a", "b") == [5, 3]
    assert c.standing("c").state == "pending"
    limit = c.standing("c").limit
    assert limit is not None
    assert (limit.asked, limit.deficit) == (2000, 2000), "told for its minimum, in thousandths"


def test_several_pod_sets_give_up_their_part(cluster: Callable[[str], Any]) -> None:
    """Each has its minimum, and of the surplus its part, rounded; one without a minimum is whole."""
    c = cluster(TWO)
    sets = [{"name": name, "count": most, "minimum": least, "requests": {"gpu": "1"}} for name, most, least in (("a", 8, 2), ("b", 4, 1))]
    c.submit("w", "x", sets=[*sets, {"name": "c", "count": 1, "requests": {"gpu": "1"}}])
    assert [each.count for each in c.workload("w").assignments] == [5, 2, 1]


def test_it_grows_when_something_becomes_free(cluster: Callable[[str], Any]) -> None:
    """The pods that are missing come, as many as there is room for; what was compared is told."""
    c = cluster(TWO)
    c.submit("s", "y", "3")
    elastic(c, "a", "x", 10, 4)
    assert pods(c, "a") == [5]
    assert c.finish("s") == ["resize a"]
    assert (pods(c, "a"), c.workload("a").usage) == ([8], ((0, 8000),))
    [resize] = c.decided
    assert (resize.reason, [(each.pod_set, each.added) for each in resize.changes]) == ("RoomForMore", [("main", 3)])
    told = [(each.name, each.value) for each in resize.why.operands]
    assert told == [("asks", "3 gpu on f"), ("queue uses", "5 gpu on f"), ("queue owns", "4 gpu on f")]
    assert [charge.amount for charge in resize.borrowed] == [3000]


def test_who_waits_comes_first(cluster: Callable[[str], Any]) -> None:
    """Surplus gets only what nobody who waits can be admitted with."""
    c = cluster(TWO)
    c.submit("s", "y", "4")
    elastic(c, "a", "x", 8, 4)
    c.submit("b", "y", "3")
    assert c.finish("s") == ["run b", "resize a"]
    assert pods(c, "a") == [5]


def one_each(c: Any, first: str, second: str, most: int, priority: int = 0) -> None:
    """Two elastic workloads with one pod each, beside one of another queue whose end frees six GPUs."""
    c.submit("s", "x", "6")
    c.submit("t", "x", "1")
    elastic(c, "a", first, most, 1)
    elastic(c, "b", second, most, 1, priority=priority)
    c.finish("t")
    assert pods(c, "a", "b") == [1, 1]


def test_surplus_is_shared_by_the_order_of_queues(cluster: Callable[[str], Any]) -> None:
    """Pod by pod the queue is next whose turn it is: by shares no queue borrows while another one does not use what it owns."""
    c = cluster(TWO.replace("use test.bare", "use test.bare\n  order queues by share asc, submitted asc"))
    one_each(c, "x", "y", 8)
    assert c.finish("s") == ["resize a", "resize b"]
    assert pods(c, "a", "b") == [4, 4]
    c = cluster(TWO)
    one_each(c, "x", "y", 8)
    assert c.finish("s") == ["resize a"], "by submission the first comes first"
    assert pods(c, "a", "b") == [7, 1]


def test_within_a_queue_the_first_is_filled_first(cluster: Callable[[str], Any]) -> None:
    """The policy's order of workloads says whose surplus comes first."""
    c = cluster(TWO)
    one_each(c, "y", "y", 6, priority=5)
    assert c.finish("s") == ["resize b", "resize a"]
    assert pods(c, "a", "b") == [2, 6]


def test_nothing_grows_past_a_strict_head(cluster: Callable[[str], Any]) -> None:
    """In a strict queue what becomes free is for who waits there."""
    c = cluster(TWO.replace("queue x { owns 4 gpu }", "queue x { owns 4 gpu\n  queueing strict fifo }"))
    c.submit("s", "y", "4")
    elastic(c, "a", "x", 8, 4)
    assert c.submit("b", "x", "6") == []
    assert c.finish("s") == []
    assert c.cancel("b") == ["resize a"]


def test_nothing_grows_that_would_be_evicted_for_it(cluster: Callable[[str], Any]) -> None:
    """b owns what it asks for, and may evict who borrows. So a gets what x owns, and what it would borrow only when b is gone."""
    c = cluster(
        RECLAIM.replace("queues that borrow", "queues that borrow\n  where victim.priority < workload.priority")
        + "queue z { owns nothing }\n"
    )
    c.submit("s", "z", "3", priority=9)
    c.submit("u", "y", "2")
    elastic(c, "a", "x", 8, 3)
    assert (pods(c, "a"), c.submit("b", "y", "4", priority=5)) == ([3], [])
    assert c.finish("u") == ["resize a"]
    assert (pods(c, "a"), c.core.next_wake(), c.tick("1s")) == ([4], None, [])
    assert c.cancel("b") == ["resize a"]
    assert pods(c, "a") == [5]


def test_what_grew_is_evicted_whole_for_what_is_owned(cluster: Callable[[str], Any]) -> None:
    """Its surplus counts as use: its queue borrows, and the owner takes it back; it starts again with what is left."""
    c = cluster(RECLAIM)
    assert elastic(c, "a", "x", 8, 4) == ["run a"]
    assert c.submit("b", "y", "4") == ["evict a", "run b", "run a"]
    assert pods(c, "a") == [4]


def test_who_is_held_does_not_grow(cluster: Callable[[str], Any]) -> None:
    """A stopped queue admits nothing, and no surplus either."""
    c = cluster(TWO)
    c.submit("s", "y", "4")
    elastic(c, "a", "x", 8, 4)
    c.activate(TWO.replace("queue x { owns 4 gpu }", "queue x { owns 4 gpu\n  stopped }"))
    assert c.finish("s") == []
    assert c.activate(TWO) == ["resize a"]


def test_pods_that_are_done_are_not_grown_again(cluster: Callable[[str], Any]) -> None:
    """What is done is asked for no more."""
    c = cluster(TWO)
    c.submit("s", "y", "4")
    elastic(c, "a", "x", 8, 2)
    assert pods(c, "a") == [4]
    c.update("a", reclaimable={"main": 5})
    assert c.workload("a").usage == ((0, 3000),)
    assert c.finish("s") == []


# --- on nodes ---------------------------------------------------------------------------------------------------------


def grown_on_nodes(**wish: object) -> Cluster:
    """A workload of at least two pods that begins beside another one, which then ends."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 4", n2="b/s 4")
    ask(c, "s", 2, within="host")
    ask(c, "t", 3, within="host")
    ask(c, "a", 8, minimum=2, **wish)
    return c


def test_pods_that_come_stand_where_all_have_to() -> None:
    """Within a host it grows there alone, whatever is free elsewhere."""
    c = grown_on_nodes(within="host")
    [(node, count)] = stands(c, "a").items()
    c.finish("s")
    c.finish("t")
    assert (count, stands(c, "a")) == (2, {node: 4})
    grown = [event for event, _ in c.history if isinstance(event, WorkloadResized)]
    assert [place.domain for event in grown for each in event.changes for place in each.places] == [(node,)]


def test_pods_that_come_stand_near_the_others_if_they_can() -> None:
    """Near one another they fill their host first, and go elsewhere then."""
    c = grown_on_nodes(near="host")
    c.finish("s")
    c.finish("t")
    assert sum(stands(c, "a").values()) == 8


def test_who_lacks_a_node_does_not_grow() -> None:
    """First its pods have to stand somewhere again."""
    c = Cluster(AT_ONCE.replace("use test.bare", "use test.bare\n  when a node is lost wait"))
    add(c, n1="b/r 2", n2="b/r 2")
    ask(c, "a", 8, minimum=2)
    assert c.fact("NodeRemoved", node="n2") == []
    add(c, n3="b/r 4")
    assert pods(c, "a") == [4]


# --- the same again ---------------------------------------------------------------------------------------------------


def test_recorded_events_and_snapshots_give_the_same_state(cluster: Callable[[str], Any]) -> None:
    """What was decided is applied, and the state is the same; the bytes say so, too."""
    c = cluster(TWO)
    c.submit("s", "y", "3")
    elastic(c, "a", "x", 10, 4)
    c.finish("s")
    follower = DefinitionCore()
    for event, graph in c.history:
        follower.apply(event, graph)
    assert freeze(follower) == freeze(c.core)
    assert freeze(thaw(freeze(c.core), c.core.graph)) == freeze(c.core)
    admitted = [event.assignments[0].count for event, _ in c.history if isinstance(event, WorkloadAdmitted) and event.workload == "a"]
    assert admitted == [5]


def test_cycles_have_no_surplus() -> None:
    """A policy that decides in cycles refuses elastic workloads, and is refused while there are some."""
    c = Cluster(TWO)
    cycles = 'policy "t" { use kueue.fair }\nflavor f { gpu as owned }\nqueue x { owns 4 gpu on f }\nqueue y { owns 4 gpu on f }\n'
    elastic(c, "a", "x", 2, 1)
    with pytest.raises(FactError, match="`a` has pods beyond its minimum, and the policy decides in cycles"):
        c.activate(cycles)
    c.finish("a")
    c.activate(cycles)
    with pytest.raises(FactError, match="leave `minimum` out"):
        elastic(c, "b", "x", 2, 1)
    assert c.submit("c", "x", sets=[{"count": 2, "minimum": 2, "requests": {"gpu": "1"}}]) == [], "a minimum of all is a gang"
