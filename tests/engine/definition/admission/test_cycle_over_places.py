"""One cycle over nodes: heads that were nominated to the same places."""

import pytest
from gpol.engine.definition.core import DefinitionCore
from in_cycles import Cycles
from placing import FABRIC, RACKS, ask, cluster_of, stands

HEADER = f'policy "p" {{ use kueue.classical }}\n{FABRIC}'
FLAVOR = "flavor {} {{\n  gpu as owned\n  placed in {}\n}}\n"
QUEUE = "  queue {0} {{\n    owns 20 gpu on {1}\n    only {1}\n    {2}\n  }}\n"

ONE = HEADER + FLAVOR.format("a", "fabric") + "cohort all {\n" + QUEUE.format("q", "a", "") + QUEUE.format("r", "a", "") + "}\n"
"""Two queues over one flavor of nodes."""

EVICTING = (
    HEADER
    + FLAVOR.format("a", "fabric")
    + "cohort all {{\n{}{}}}\n".format(
        QUEUE.format("q", "a", "evicts its own of lower priority"), QUEUE.format("r", "a", "evicts its own of lower priority")
    )
)
"""The same, where queues evict their own."""


def two(topology: str = "fabric") -> str:
    """Two queues, each with a flavor of its own over the same nodes."""
    flavors = FLAVOR.format("a", topology) + FLAVOR.format("b", topology)
    return HEADER + RACKS + flavors + "cohort all {\n" + QUEUE.format("q", "a", "") + QUEUE.format("r", "b", "") + "}\n"


def free(c: Cycles) -> dict[str, int]:
    """The GPUs that are free on each node, whatever the flavor."""
    places = c.state.active.places
    tree = places.tree(0)
    return {tree.domains[leaf].path[-1]: places.free(0, leaf)["gpu"] // 1000 for leaf in tree.lowest}


def test_both_on_one_node() -> None:
    """There is room for both of them where both were nominated."""
    c = cluster_of(ONE, n1="b/r 4")
    ask(c, "w1", 2)
    ask(c, "w2", 2, queue="r")
    assert c.cycle() == ["run w1", "run w2"]
    assert free(c) == {"n1": 0}


def test_placed_anew() -> None:
    """The first takes the node of the second, which finds another one in the same cycle."""
    c = cluster_of(ONE, n1="b/r 4", n2="b/s 5")
    ask(c, "w1", 3)
    ask(c, "w2", 3, queue="r")
    assert [c.core.probe.nominate(name).flavors.pod_sets[0].places[0].domain for name in ("w1", "w2")] == [("n1",), ("n1",)]
    assert c.cycle() == ["run w1", "run w2"]
    assert (stands(c, "w1"), stands(c, "w2")) == ({"n1": 3}, {"n2": 3})


def test_no_other_place() -> None:
    """It finds none, and nobody may go for it: it is set aside, until somebody leaves."""
    c = cluster_of(ONE, n1="b/r 4")
    ask(c, "w1", 3)
    ask(c, "w2", 3, queue="r")
    assert c.cycle() == ["run w1", "park w2"]
    c.finish("w1")
    assert c.rest() == ["run w2"]


def test_placed_anew_where_others_go() -> None:
    """It finds no other node that is free, and evicts somebody in the same cycle."""
    c = cluster_of(EVICTING, n1="b/r 4", n2="b/s 4")
    ask(c, "v", 4, queue="r")
    c.rest()
    assert stands(c, "v") == {"n1": 4}
    ask(c, "w1", 3, priority=9)
    ask(c, "w2", 3, queue="r", priority=5)
    assert c.cycle() == ["run w1", "preempt w2", "evict v for w2"]
    assert c.rest()[:1] == ["run w2"]
    assert (stands(c, "w1"), stands(c, "w2"), free(c)) == ({"n2": 3}, {"n1": 3}, {"n1": 1, "n2": 1})


def test_the_places_of_victims_are_kept() -> None:
    """Where w1 waits for its victim nobody else is placed, though its queue comes later and has quota."""
    c = cluster_of(EVICTING, n1="b/r 4")
    ask(c, "v", 3)
    c.rest()
    ask(c, "w1", 4, priority=9)
    ask(c, "w2", 1, queue="r")
    assert c.cycle() == ["preempt w1", "park w2", "evict v for w1"]
    assert c.rest()[0] == "run w1"


@pytest.mark.parametrize(("first", "second"), [(3, 2), (4, 1), (2, 3)])
def test_two_flavors_over_one_node(first: int, second: int) -> None:
    """Within a cycle another flavor sees the node as it was; all the same the second head is passed over: no node gets too much."""
    c = cluster_of(two(), n1="b/r 4")
    ask(c, "w1", first)
    ask(c, "w2", second, queue="r")
    assert c.cycle() == ["run w1", "next w2"]
    assert [decision.outcome for decision in c.decided if decision.workload == "w2"] == ["overtaken"]
    assert free(c) == {"n1": 4 - first}
    assert c.rest() == ["park w2"]
    c.finish("w1")
    assert c.rest() == ["run w2"]


def test_two_flavors_over_one_node_with_room() -> None:
    """Where there is room for both, both are admitted in one cycle."""
    c = cluster_of(two(), n1="b/r 4")
    ask(c, "w1", 3)
    ask(c, "w2", 1, queue="r")
    assert c.cycle() == ["run w1", "run w2"]
    assert free(c) == {"n1": 0}


def test_the_number_of_pods() -> None:
    """Kueue looks again without it, and may put more pods on a node than it takes; here the second head is passed over."""
    c = cluster_of(ONE, n1="b/r 9")
    c.fact("NodeChanged", node="n1", labels={"block": "b", "rack": "r"}, capacity={"gpu": "9", "pods": 3})
    ask(c, "w1", 2)
    ask(c, "w2", 2, queue="r")
    assert c.cycle() == ["run w1", "next w2"]
    assert c.state.active.places.used(0, ("n1",)) == {"gpu": 2000, "pods": 2}


def test_the_places_are_as_before() -> None:
    """What a cycle charges while it goes on is given back: w1 uses its place, v no longer, and w2, which waits for it, not yet."""
    c = cluster_of(EVICTING, n1="b/r 4", n2="b/s 4")
    ask(c, "v", 4, queue="r")
    c.rest()
    ask(c, "w1", 3, priority=9)
    ask(c, "w2", 3, queue="r", priority=5)
    c.cycle()
    again = DefinitionCore()
    for event, graph in c.history:
        again.apply(event, graph)
    places, rebuilt = c.state.active.places, again.state.active.places
    for name, gpu in (("n1", 0), ("n2", 3000)):
        assert places.used(0, (name,))["gpu"] == rebuilt.used(0, (name,))["gpu"] == gpu


def test_two_flavors_of_one_workload() -> None:
    """A workload with pods on both flavors is put onto no node beyond its size either, when another head was admitted there before it."""
    c = cluster_of(two(), n1="b/r 4")
    c.activate(two().replace("    only b\n", ""))
    ask(c, "w1", 2)
    sets = [
        {"name": name, "count": pods, "requests": {"gpu": "1"}, "flavors": [name], "anywhere": True} for name, pods in (("a", 1), ("b", 2))
    ]
    c.submit("w2", "r", sets=sets)
    assert c.cycle()[0] == "run w1"
    assert free(c) == {"n1": 2}
    assert c.running() == ["w1"]
