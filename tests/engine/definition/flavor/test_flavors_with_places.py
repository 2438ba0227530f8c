"""Deciding at once, a flavor with quota and without places serves no better than one without quota: the next one is tried."""

from collections.abc import Callable
from typing import Any

import pytest
from both_cores import decided_alike
from gpol.engine.events import WorkloadAdmitted

TWO_POOLS = """policy "p" {{
  use test.bare
  {more}
}}
topology fabric {{
  level rack from label "rack"
  level host from node
}}
flavor h100 {{
  gpu from nodes where pool = "h100"
  placed in fabric
}}
flavor a100 {{
  gpu from nodes where pool = "a100"
  {placed}
}}
priority high 100
priority low 0
queue q {{
  owns 64 gpu on h100
  owns 64 gpu on a100
  prefer h100, a100
  {queue}
}}
queue r {{
  owns nothing
}}
{rules}
"""
OWN = """preempt own {
  evict from the same queue
  where victim.priority < workload.priority
  order by victim.admitted desc
}
"""


def two_pools(more: str = "", placed: str = "placed in fabric", queue: str = "", rules: str = "") -> str:
    """A policy of two flavors, of which queue `q` prefers the first."""
    return TWO_POOLS.format(more=more, placed=placed, queue=queue, rules=rules)


def nodes(c: Any, **pools: dict[str, int]) -> None:
    """Nodes of 8 GPUs: of each pool so many in each rack."""
    for pool, racks in pools.items():
        for rack, count in racks.items():
            for number in range(count):
                labels = {"pool": pool, "rack": f"{pool}-{rack}"}
                c.fact("NodeAdded", node=f"{pool}-{rack}-{number}", labels=labels, capacity={"gpu": "8"})


def sets(*pods: tuple[int, str], **wish: object) -> list[dict[str, object]]:
    """Pod sets of so many pods of so many GPUs each, all with the same wish."""
    return [{"name": f"p{at}", "count": count, "requests": {"gpu": gpu}, **wish} for at, (count, gpu) in enumerate(pods)]


@pytest.fixture
def placed(cluster: Callable[[str], Any]) -> Any:
    """Clusters whose history the core over arrays decides in the same way, over tables."""
    made: list[Any] = []

    def make(text: str) -> Any:
        made.append(cluster(text))
        return made[-1]

    yield make
    for c in made:
        assert decided_alike(c) == []


def passed_over(c: Any) -> list[tuple[str, str, list[tuple[str, int, int]]]]:
    """The flavors that the last admission did not take, and what was in the way."""
    [admitted] = [each for each in c.decided if isinstance(each, WorkloadAdmitted)]
    told = admitted.passed_over
    return [(each.pod_set, each.flavor, [(why.kind, why.limit, why.asked) for why in each.obstacles]) for each in told]


# --- the next flavor -----------------------------------------------------------------------------------------------------


def test_the_next_flavor_has_the_places(placed: Callable[[str], Any]) -> None:
    """There is quota on both flavors, and room in no rack of the first: as things stand, or whoever runs."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 2, "r2": 1}, a100={"r1": 2})
    c.submit("one", "q", sets=sets((1, "5"), node_selector={"rack": "h100-r1"}))
    assert c.flavors("one") == {"gpu": "h100"}
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack")) == ["run w"]
    assert c.flavors("w") == {"gpu": "a100"}
    assert {place.domain for place in c.workload("w").assignments[0].places} == {("a100-r1-0",), ("a100-r1-1",)}
    assert passed_over(c) == [("p0", "h100", [("no-places", 1, 2)])]


def test_a_flavor_that_could_never_have_the_places(placed: Callable[[str], Any]) -> None:
    """The first flavor has no rack of that size, even on empty nodes, so the next one is taken."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 1, "r2": 1}, a100={"r1": 2})
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack")) == ["run w"]
    assert c.flavors("w") == {"gpu": "a100"}
    assert passed_over(c) == [("p0", "h100", [("no-places", 1, 2)])]


def test_the_next_flavor_gives_no_places(placed: Callable[[str], Any]) -> None:
    """Pods that ask for no places go on to a flavor that gives none, where the first one has too many small gaps."""
    c = placed(two_pools(placed=""))
    nodes(c, h100={"r1": 2}, a100={"r1": 1})
    c.submit("one", "q", sets=sets((2, "5")))
    assert c.submit("w", "q", sets=sets((1, "6"))) == ["run w"]
    assert c.flavors("w") == {"gpu": "a100"}
    assert passed_over(c) == [("p0", "h100", [("no-places", 0, 1)])]


def test_quota_on_one_and_places_on_the_other(placed: Callable[[str], Any]) -> None:
    """Where one flavor lacks quota and the other places, the workload waits, and is told both."""
    c = placed(two_pools(queue="borrows up to 0 gpu on a100").replace("owns 64 gpu on a100", "owns 8 gpu on a100"))
    nodes(c, h100={"r1": 1, "r2": 1}, a100={"r1": 2})
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack")) == []
    found = c.standing("w")
    assert found.reason == "TopologyPlacementFailed"
    assert (found.places.flavor, found.places.fit, found.places.of, found.places.if_empty) == ("h100", 1, 2, True)
    assert [(each.flavor, each.reason) for each in found.flavors] == [("h100", "TopologyPlacementFailed"), ("a100", "ExceedsMaxQuota")]
    assert [(each.kind, each.flavor) for each in found.never] == [("unplaced", "h100"), ("exceeds", "a100")]


def test_no_flavor_has_places(placed: Callable[[str], Any]) -> None:
    """Why there are none is told of each flavor; the first one's reason is the workload's."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 1, "r2": 1}, a100={"r1": 1, "r2": 1, "r3": 1})
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack")) == []
    found = c.standing("w")
    assert (found.reason, found.places.flavor, found.places.if_empty) == ("TopologyPlacementFailed", "h100", True)
    assert [(each.flavor, each.places.flavor, each.places.places) for each in found.never] == [("h100", "h100", 2), ("a100", "a100", 3)]
    assert [each.because for each in found.flavors] == [("there are places for 1 of 2",)] * 2
    labels = {"pool": "a100", "rack": "a100-r1"}
    assert c.fact("NodeAdded", node="more", labels=labels, capacity={"gpu": "8"}) == ["run w"]
    assert c.flavors("w") == {"gpu": "a100"}


def test_waits_for_the_first_that_is_free(placed: Callable[[str], Any]) -> None:
    """Where both are full now, it waits, and whichever has places first is taken."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 2}, a100={"r1": 2})
    c.submit("one", "q", sets=sets((1, "5"), within="rack"))
    c.submit("two", "q", sets=sets((2, "6"), within="rack"))
    assert [c.flavors(name)["gpu"] for name in ("one", "two")] == ["h100", "a100"]
    assert c.submit("w", "q", sets=sets((2, "5"), within="rack")) == []
    found = c.standing("w")
    assert (found.reason, found.places.flavor, found.places.if_empty) == ("TopologyPlacementFailed", "h100", False)
    assert c.finish("two") == ["run w"]
    assert c.flavors("w") == {"gpu": "a100"}


# --- several pod sets ----------------------------------------------------------------------------------------------------


def test_pod_sets_of_one_group_go_on_together(placed: Callable[[str], Any]) -> None:
    """A leader and its workers stand together, so both get the flavor that has places for both."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 2, "r2": 2}, a100={"r1": 3})
    assert c.submit("w", "q", sets=sets((1, "4"), (2, "8"), within="rack", group="g")) == ["run w"]
    assert [c.flavors("w", at) for at in (0, 1)] == [{"gpu": "a100"}] * 2


def test_each_pod_set_by_itself(placed: Callable[[str], Any]) -> None:
    """Of two pod sets by themselves the second finds no places beside the first, and goes on alone."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 2, "r2": 1}, a100={"r1": 2})
    assert c.submit("w", "q", sets=sets((2, "8"), (2, "8"), within="rack")) == ["run w"]
    assert [c.flavors("w", at) for at in (0, 1)] == [{"gpu": "h100"}, {"gpu": "a100"}]


def test_who_waits_on_one_flavor_stands_in_nobodys_way_on_another(placed: Callable[[str], Any]) -> None:
    """The first pod set finds places on no flavor now, and waits on its own; the second is judged by itself on the other one."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 2, "r2": 1}, a100={"r1": 2})
    c.submit("one", "q", sets=sets((1, "5"), node_selector={"rack": "h100-r1"}))
    pod_sets = [
        {"name": "p0", "count": 2, "requests": {"gpu": "8"}, "within": "rack", "flavors": ["h100"]},
        {"name": "p1", "count": 2, "requests": {"gpu": "8"}, "within": "rack", "flavors": ["a100"]},
    ]
    assert c.submit("w", "q", sets=pod_sets) == []
    assert c.standing("w").places.pod_sets == ("p0",)
    assert c.finish("one") == ["run w"]


# --- victims -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "decided", "flavor"),
    [("take flavor", ["evict low", "run w", "run low"], "h100"), ("try next flavor", ["run w"], "a100")],
)
def test_victims_or_the_next_flavor(placed: Callable[[str], Any], choice: str, decided: list[str], flavor: str) -> None:
    """Victims would make room for the pods on the first flavor, and the next one has places: as the policy prefers it for quota."""
    c = placed(two_pools(more=f"when evicting {choice}\n  preempt by own", rules=OWN))
    nodes(c, h100={"r1": 2}, a100={"r1": 2})
    c.submit("low", "q", sets=sets((1, "5")), priority="low")
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack"), priority="high") == decided
    assert c.flavors("w") == {"gpu": flavor}


def test_victims_that_make_no_places(placed: Callable[[str], Any]) -> None:
    """On the first flavor enough quota could be freed, but the places are held by somebody who stays; so the next one is evicted on."""
    c = placed(two_pools(more="preempt by own", rules=OWN))
    nodes(c, h100={"r1": 2}, a100={"r1": 2})
    c.submit("stays", "q", sets=sets((1, "5"), flavors=["h100"]), priority="high")
    c.submit("h", "q", sets=sets((1, "8"), flavors=["h100"]), priority="low")
    c.submit("a", "q", sets=sets((1, "5"), flavors=["a100"]), priority="low")
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack"), priority="high") == ["evict a", "run w"]
    assert c.flavors("w") == {"gpu": "a100"}


def test_fewer_pods_only_where_no_flavor_has_places_for_all(placed: Callable[[str], Any]) -> None:
    """All pods on the next flavor are better than fewer on the first."""
    c = placed(two_pools())
    nodes(c, h100={"r1": 1}, a100={"r1": 2})
    assert c.submit("w", "q", sets=sets((2, "8"), within="rack", min_count=1)) == ["run w"]
    assert (c.flavors("w"), c.workload("w").assignments[0].count) == ({"gpu": "a100"}, 2)
    assert c.submit("v", "q", sets=sets((2, "8"), within="rack", min_count=1)) == ["run v"]
    assert (c.flavors("v"), c.workload("v").assignments[0].count) == ({"gpu": "h100"}, 1)


def test_a_slice_that_asks_for_no_more_and_finds_no_places(placed: Callable[[str], Any]) -> None:
    """A new slice asks for as much quota as the old one, in a larger pod: where no node has room for it, it waits for places alone."""
    c = placed(two_pools(more="preempt by own", rules=OWN))
    nodes(c, h100={"r1": 1, "r2": 1})
    for rack in ("r1", "r2"):
        c.submit(f"in-{rack}", "q", sets=sets((1, "5"), node_selector={"rack": f"h100-{rack}"}))
    c.submit("old", "q", sets=sets((2, "3")))
    assert c.submit("new", "q", sets=sets((1, "6")), replaces="old") == []
    assert c.standing("new").reason == "TopologyPlacementFailed"
    assert c.finish("in-r1") == ["end old", "run new"]
