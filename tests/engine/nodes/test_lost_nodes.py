"""Which nodes a workload has pods on, which it has lost, and when something is to be done about its places."""

from at_once import Cluster
from gpol.engine.nodes.lost_nodes import all_nodes_of, checks_of, is_ready, needs_places, nodes_of, waits_for_places
from in_cycles import Cycles
from lost_places import AT_ONCE, FOR_NODES, IN_CYCLES, add, ask, on_lost_nodes

WIDE = IN_CYCLES.replace("  level host from node\n", "")
"""A topology that ends at racks."""


def test_nodes_of_flavors_that_give_places() -> None:
    """Under a policy that gives none, a workload still has pods somewhere, and has lost nothing of that."""
    c = Cycles(IN_CYCLES)
    add(c, n1="b/r 2", n2="b/r 2")
    ask(c, "a", 3)
    c.rest()
    c.update("a", lost_nodes=["n2"])
    c.activate(IN_CYCLES.replace("  placed in fabric\n", ""))
    workload = c.workload("a")
    assert all_nodes_of(workload) == ("n1", "n2")
    assert nodes_of(c.graph, workload) == ()
    assert workload.lost_nodes == ()
    c.update("a", lost_nodes=["n1"])
    assert (c.workload("a").lost_nodes, c.rest()) == ((), [])


def test_a_wider_domain_is_no_node_that_leaves() -> None:
    """It can be lost by its last value, as in Kueue; a node of that name is something else."""
    c = Cycles(WIDE)
    add(c, n1="b/r 2")
    ask(c, "a", 2)
    c.rest()
    assert nodes_of(c.graph, c.workload("a")) == ("r",)
    assert nodes_of(c.graph, c.workload("a"), only_nodes=True) == ()
    add(c, n2="b/s 2")
    c.update("a", lost_nodes=["r"])
    c.rest()
    assert [place.domain for place in c.workload("a").assignments[0].places] == [("b", "s")]


def test_nothing_is_done_before_all_checks_are_ready() -> None:
    """Those that the queue demands on the flavors of the workload, and any other that says something of it."""
    c = Cycles(FOR_NODES)
    add(c, n1="b/r 2")
    ask(c, "a", 2)
    c.rest()
    workload = c.workload("a")
    assert (waits_for_places(workload), checks_of(c.graph, workload), is_ready(c.graph, workload)) == (True, ("prov",), False)
    c.update("a", checks={"prov": "Ready", "other": "Pending"})
    assert not needs_places(c.graph, c.workload("a"))
    c.update("a", checks={"other": "Ready"})
    assert needs_places(c.graph, c.workload("a"))
    c.rest()
    assert not needs_places(c.graph, c.workload("a"))


def test_who_is_told_to_stop_gets_no_places() -> None:
    """Its pods are on their way out."""
    c = Cycles(IN_CYCLES)
    add(c, n1="b/r 2", n2="b/r 2")
    c.submit("a", "q", sets=[{"count": 2, "requests": {"gpu": "1"}, "anywhere": True}], hold=True)
    placement = {
        "pod_set": "main", "count": 2, "flavors": {"gpu": "f"}, "usage": {"gpu": 2000}, "places": [{"domain": ["n1"], "pods": 2}]
    }  # fmt: skip
    c.fact("WorkloadAdopted", workload="a", queue="q", since=0, evicting=True, placements=[placement])
    c.update("a", lost_nodes=["n1"])
    assert not needs_places(c.graph, c.workload("a"))


def test_where_the_policy_waits_nothing_is_to_be_done() -> None:
    """The workload has lost its node all the same."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 2")
    ask(c, "a", 2)
    on_lost_nodes(c, "wait")
    c.fact("NodeRemoved", node="n1")
    graph = c.core.graph
    assert graph is not None
    assert (c.workload("a").lost_nodes, needs_places(graph, c.workload("a"))) == (("n1",), False)
