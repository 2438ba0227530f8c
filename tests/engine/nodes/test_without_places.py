"""Nodes that count for a flavor and stand in none of its domains."""

from dataclasses import replace

from gpol.engine.nodes.inventory import Machine
from gpol.engine.nodes.without_places import WithoutPlace, nodes_without_place
from placing import graph_of

POLICY = """policy "p" { use gpol.fair }
topology fabric {
  level rack from label "rack"
  level host from node
}
flavor a {
  gpu from nodes where pool = "a"
  label zone = "z"
  placed in fabric
}
queue q {
  owns 8 gpu on a
}
"""
CYCLES = """policy "p" { use kueue.classical }
topology racks { level rack from label "rack" }
topology rows { level row from label "row" }
flavor a {
  gpu as owned
  label pool = "a"
  placed in racks
}
flavor b {
  gpu as owned
  label pool = "a"
  placed in rows
}
queue q {
  owns 8 gpu on a
  owns 8 gpu on b
}
"""
WHOLE = {"pool": "a", "zone": "z", "rack": "r"}


def node(**labels: str) -> Machine:
    """A node of 8 GPUs."""
    return Machine(labels, {"gpu": 8000}, -1)


def without(**lost: str | None) -> Machine:
    """A node with all labels but those that are changed here."""
    return node(**{key: value for key, value in {**WHOLE, **lost}.items() if value is not None})


def test_what_lacks_is_named() -> None:
    """The label of a level, or one of the flavor beside those by which its nodes count; whoever is of another flavor lacks nothing."""
    nodes = {"whole": node(**WHOLE), "norack": without(rack=None), "zoned": without(zone="y"), "other": without(pool="b")}
    nodes["cordoned"] = replace(without(rack=None), cordoned=True)
    found = list(nodes_without_place(graph_of(POLICY), nodes))
    assert found == [
        WithoutPlace("cordoned", (0,), "rack", "rack"),
        WithoutPlace("norack", (0,), "rack", "rack"),
        WithoutPlace("zoned", (0,), "", "zone"),
    ]


def test_a_place_on_one_flavor_is_enough() -> None:
    """Where flavors share nodes, one that has a place in the topology of one of them is of use."""
    nodes = {"both": node(pool="a", rack="r", row="w"), "one": node(pool="a", row="w"), "none": node(pool="a")}
    assert list(nodes_without_place(graph_of(CYCLES), nodes)) == [WithoutPlace("none", (0, 1), "rack", "rack")]


def test_without_places_nothing_lacks() -> None:
    """A flavor that is an amount needs no label of a level."""
    assert list(nodes_without_place(graph_of(POLICY.replace("  placed in fabric\n", "")), {"n": node(pool="a")})) == []
