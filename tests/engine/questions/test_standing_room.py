"""Where pods stand, and where more would find room."""

from collections.abc import Callable
from typing import Any

from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.kept_off import KeptOff
from gpol.engine.questions.standing_room import FlavorRoom, LevelRoom, places_of, room_for
from placing import add_nodes
from policy_texts import FABRIC

AT_ONCE = (
    'policy "p" { use test.bare }\n'
    + FABRIC
    + """flavor a {
  gpu from nodes where pool = "a"
  placed in fabric
}
flavor plain { gpu 8 }
queue q {
  owns 32 gpu on a
}
"""
)
ABOVE_NODES = """topology racks { level rack from label "rack" }
flavor a {
  gpu as owned
  label pool = "a"
  placed in racks
}
flavor b {
  gpu as owned
  label pool = "a"
  placed in racks
}
queue q {
  owns 32 gpu on a
}
"""


def places(c: Any) -> list[Any]:
    """The places, as things stand."""
    return places_of(c.core.graph, c.core.view.machines(), c.core.view.workloads())


def room(c: Any, gpu: int = 2000, **said: Any) -> list[FlavorRoom]:
    """Where pods of so many thousandths of a GPU find room."""
    return list(room_for(c.core.graph, c.core.view.machines(), c.core.view.workloads(), PodSet(requests={"gpu": gpu}, **said)))


def test_nodes_with_who_stands_there(cluster: Callable[[str], Any]) -> None:
    """All nodes of placed flavors by rack and name, with what is used by whom; who waits uses nothing."""
    c = cluster(AT_ONCE)
    add_nodes(c, r2=["n1"], r1=["n2"])
    c.submit("w", "q", sets=[{"name": "x", "requests": {"gpu": "2"}, "count": 2}, {"name": "y", "requests": {"gpu": "1"}}])
    c.submit("waits", "q", "16")
    first, second = places(c)
    assert [(each.place, each.path) for each in (first, second)] == [(("n2",), ("r1", "n2")), (("n1",), ("r2", "n1"))]
    assert (first.flavors, second.flavors) == ((0,), (0,))
    assert (first.used, first.pods, first.free("gpu")) == ({"gpu": 5000, "pods": 3}, [("w", 3)], 3000)
    assert (second.used, second.pods, second.free("gpu"), second.capacity) == ({}, [], 8000, {"gpu": 8000})


def test_a_node_in_no_domain(cluster: Callable[[str], Any]) -> None:
    """It is told with what it has and lacks, also where pods still stand on it: it is not gone."""
    c = cluster(AT_ONCE.replace("use test.bare", "use test.bare\n  when a node is lost wait\n"))
    add_nodes(c, r1=["n1", "n2"])
    c.submit("w", "q", "6")
    c.fact("NodeChanged", node="n1", labels={"pool": "a"}, capacity={"gpu": "8"})
    lacking, whole = places(c)
    assert (lacking.path, lacking.machines, lacking.capacity, lacking.pods) == (("n1",), ("n1",), {"gpu": 8000}, [("w", 1)])
    assert lacking.lacks is not None
    assert (lacking.lacks.level, lacking.lacks.label, whole.lacks) == ("rack", "rack", None)
    assert lacking.as_data(c.core.graph)["lacks"] == {"level": "rack", "label": "rack"}


def test_cordoned_and_tainted_nodes_and_those_that_are_gone(cluster: Callable[[str], Any]) -> None:
    """They are told all the same, as pods may stand there; of one that is gone nothing is there but what is used."""
    c = cluster(AT_ONCE.replace("use test.bare", "use test.bare\n  when a node is lost wait\n"))
    add_nodes(c, r1=["n1", "n2"])
    c.submit("w", "q", "6")
    labels, taints = {"pool": "a", "rack": "r1"}, [{"key": "spot", "effect": "NoSchedule"}]
    c.fact("NodeChanged", node="n1", labels=labels, capacity={"gpu": "8"}, cordoned=True, taints=taints)
    first, second = places(c)
    assert (first.cordoned, [taint.key for taint in first.taints], first.pods, second.cordoned) == (True, ["spot"], [("w", 1)], False)
    c.fact("NodeRemoved", node="n1")
    gone, second = places(c)
    assert (gone.place, gone.path, gone.machines, gone.capacity, gone.free("gpu")) == (("n1",), ("n1",), (), {}, -6000)


def test_domains_above_nodes(cycles: Callable[[str], Any]) -> None:
    """Each flavor sees its own use of a domain, and has what all nodes in it have."""
    c = cycles(ABOVE_NODES)
    add_nodes(c, r1=["n1", "n2"])
    c.submit("w", "q", "6", on=["a"])
    assert c.rest() == ["run w"]
    of_a, of_b = places(c)
    assert (of_a.place, of_a.machines, of_a.flavors, of_a.capacity) == (("r1",), ("n1", "n2"), (0,), {"gpu": 16_000})
    assert (of_a.used, of_b.used, of_b.flavors) == ({"gpu": 6000, "pods": 1}, {}, (1,))


def test_room_by_level(cluster: Callable[[str], Any]) -> None:
    """The best rack, the best node, and all together; a flavor without places is not told."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1", "n2"], r2=["n3"])
    c.submit("w", "q", "5")
    [found] = room(c)
    assert found == FlavorRoom(0, 9, (LevelRoom("rack", 5, ("r1",)), LevelRoom("host", 4, ("r1", "n2"))), 3, ())
    [none] = room(c, gpu=9000)
    assert (none.anywhere, none.kept_off) == (0, ((KeptOff("resource", "gpu"), 3),))
    [chosen] = room(c, node_selector={"rack": "r2"})
    assert (chosen.anywhere, chosen.kept_off) == (4, ((KeptOff("selector"), 2),))


def test_no_nodes_at_all(cluster: Callable[[str], Any]) -> None:
    """There is no domain of any level."""
    c = cluster(AT_ONCE)
    assert places(c) == []
    assert room(c) == [FlavorRoom(0, 0, (), 0, ())]


def test_a_place_as_data(cluster: Callable[..., Any]) -> None:
    """Flavors by name, amounts in smallest units, taints and pods as records."""
    c = cluster(AT_ONCE)
    taints = [{"key": "k", "effect": "NoSchedule"}]
    c.fact("NodeAdded", node="n1", labels={"pool": "a", "rack": "r1"}, capacity={"gpu": "8"}, taints=taints)
    add_nodes(c, r2=["n2"])
    c.submit("w", "q", sets=[{"count": 3, "requests": {"gpu": "2"}}])

    assert [each.as_data(c.core.graph) for each in places(c)] == [
        {
            "place": ("n1",),
            "path": ("r1", "n1"),
            "flavors": ["a"],
            "nodes": ("n1",),
            "exists": {"gpu": 8000},
            "used": {},
            "cordoned": False,
            "taints": [{"key": "k", "value": "", "effect": "NoSchedule"}],
            "pods": [],
            "lacks": None,
        },
        {
            "place": ("n2",),
            "path": ("r2", "n2"),
            "flavors": ["a"],
            "nodes": ("n2",),
            "exists": {"gpu": 8000},
            "used": {"gpu": 6000, "pods": 3},
            "cordoned": False,
            "taints": [],
            "pods": [{"workload": "w", "pods": 3}],
            "lacks": None,
        },
    ]
