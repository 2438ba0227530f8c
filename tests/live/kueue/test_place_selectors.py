"""The node selector of a place: it admits the nodes in it that take pods, and there is none where that cannot be said."""

import pytest
from gpol.adapters.kubernetes.nodes import HOSTNAME, NodeFact
from gpol.adapters.kueue.live.place_selectors import asking_as_it_has_to, asks_as_it_has_to, place_again, read_place, selector_of
from gpol.engine.event_parts import Assignment, PlacedPods, PodSet
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.policy_graph import PolicyGraph
from workload_states import NOW, policy

TO_NODES = policy("""policy "live" { use gpol.fair }
topology fabric {
  level rack from label "rack"
  level host from node
}
flavor h100 {
  gpu from nodes where model = "h100"
  placed in fabric
}
""")
TO_RACKS = policy("""policy "live" { use kueue.classical }
topology fabric {
  level block from label "block"
  level rack from label "rack"
}
flavor h100 {
  gpu as owned
  placed in fabric
  label model = "h100"
}
""")
WITHOUT = policy('policy "live" { use gpol.fair }\nflavor h100 { gpu 8 }\n')


def node(**labels: str) -> NodeFact:
    """A node of the flavor."""
    return NodeFact({"model": "h100", "block": "b1", "rack": "r1", HOSTNAME: "host", **labels}, {"gpu": 8000})


def given(*domains: tuple[str, ...], count: int = 2) -> Assignment:
    """A pod set with one pod in each of these places."""
    places = tuple(PlacedPods(domain=domain, pods=1) for domain in domains)
    return Assignment(pod_set="main", count=count, flavors={"gpu": "h100"}, places=places)


@pytest.mark.parametrize(
    ("graph", "assignment", "known", "selector"),
    [
        (TO_NODES, given(("n1",)), {"n1": node()}, {HOSTNAME: "host"}),
        (TO_NODES, given(("n1",)), {"n2": node()}, None),
        (TO_NODES, given(("n1",)), {"n1": node()._replace(cordoned=True)}, None),
        (TO_NODES, given(("n1",)), {"n1": node(model="other")}, None),
        (TO_NODES, given(("n1",)), {"n1": NodeFact({"model": "h100", "rack": "r1"}, {})}, None),
        (TO_NODES, given(("n1",), ("n2",)), {"n1": node(), "n2": node()}, None),
        (TO_NODES, given(("b1", "r1")), {"b1": node(), "r1": node()}, None),
        (TO_NODES, given(), {"n1": node()}, None),
        (TO_NODES, given(count=0), {}, {}),
        (TO_RACKS, given(("b1", "r1")), {"n1": node(), "n2": node()}, {"block": "b1", "rack": "r1"}),
        (TO_RACKS, given(("b1", "r1")), {"n1": node(block="b2"), "n2": node(rack="r2")}, None),
        (TO_RACKS, given(("r1",)), {"n1": node()}, None),
        (WITHOUT, given(("n1",)), {}, {}),
    ],
)
def test_the_selector_of_a_place(
    graph: PolicyGraph, assignment: Assignment, known: dict[str, NodeFact], selector: dict[str, str] | None
) -> None:
    """By what the journal says of nodes: the hostname of a node, which is a label; the labels of all levels of a wider domain."""
    assert selector_of(assignment, graph, known) == selector


def test_what_a_workload_asks_for() -> None:
    """Each pod set that asks for something that the policy counts stands in one domain of the lowest level, also after it was another."""
    pod_sets = (PodSet(name="gpus", requests={"gpu": 1}), PodSet(name="none", requests={"gpu": 0, "memory": 5}))
    fact = WorkloadSubmitted(time=NOW, workload="a", pod_sets=pod_sets)
    for graph, level in ((TO_NODES, "host"), (TO_RACKS, "rack"), (WITHOUT, ""), (TO_RACKS, "rack")):
        fact = asking_as_it_has_to(graph, fact)
        assert [pods.within for pods in fact.pod_sets] == [level, ""]
        assert asks_as_it_has_to(graph, fact)
    assert not asks_as_it_has_to(TO_NODES, fact)


@pytest.mark.parametrize(
    ("annotation", "place"),
    [
        ('["n1"]', ("n1",)),
        ('["b1","r1"]', ("b1", "r1")),
        ("", ()),
        ("n1", ()),
        ('[""]', ()),
        ("[1]", ()),
        ('{"a":1}', ()),
        ("[" * 9999, ()),
    ],
)
def test_a_place_in_an_annotation(annotation: str, place: tuple[str, ...]) -> None:
    """Whatever somebody has written there."""
    assert read_place(annotation) == place


def test_a_place_counts_again_where_it_is_one() -> None:
    """A node for a topology that ends at nodes, else a value for each level; none for an amount."""
    assert place_again(("n1",), {"gpu": "h100"}, TO_NODES) == ("n1",)
    assert place_again(("b1", "r1"), {"gpu": "h100"}, TO_RACKS) == ("b1", "r1")
    assert place_again(("b1", "r1"), {"gpu": "h100"}, TO_NODES) == ()
    assert place_again(("n1",), {"gpu": "h100"}, TO_RACKS) == ()
    assert place_again(("n1",), {"gpu": "h100"}, WITHOUT) == ()
    assert place_again(("n1",), {"gpu": "a100"}, TO_NODES) == ()
