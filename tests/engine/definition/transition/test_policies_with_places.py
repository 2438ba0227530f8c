"""A policy gives places to a flavor on which workloads run without any, or gives none any more: they run on, places count where known."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from both_cores import decided_alike
from gpol.engine.events import WorkloadPlaced

PLACED = """policy "p" { use test.bare }
flavor a {
  gpu from nodes where pool = "a"
  placed on nodes
}
queue q {
  owns 32 gpu on a
}
"""
UNPLACED = PLACED.replace("  placed on nodes\n", "")
RACKS = (
    UNPLACED.replace("\nflavor a", '\ntopology fabric {\n  level rack from label "rack"\n  level host from node\n}\nflavor a')
).replace('pool = "a"\n', 'pool = "a"\n  placed in fabric\n')


@pytest.fixture
def made(cluster: Callable[[str], Any]) -> Iterator[Callable[..., Any]]:
    """Clusters of nodes with 8 GPUs each, whose history the core over arrays decides in the same way."""
    clusters: list[Any] = []

    def make(text: str, *nodes: str) -> Any:
        clusters.append(cluster(text))
        for name in nodes:
            node(clusters[-1], name)
        return clusters[-1]

    yield make
    for c in clusters:
        decided_alike(c)


def node(c: Any, name: str) -> list[str]:
    """A node comes."""
    return c.fact("NodeAdded", node=name, labels={"pool": "a", "rack": "r"}, capacity={"gpu": "8"})


def stands(c: Any, name: str) -> list[tuple[str, ...]]:
    """Where the pods of a running workload stand."""
    return [place.domain for given in c.workload(name).assignments for place in given.places]


def test_who_runs_without_places_runs_on_without(made: Callable[..., Any]) -> None:
    """Where its pods stand is not known, so they hold quota and no node: others are placed as if they were nowhere. It is told."""
    c = made(UNPLACED, "n1", "n2")
    c.submit("one", "q", "8")
    assert c.activate(PLACED) == []
    assert (c.running(), stands(c, "one")) == (["one"], [])
    operands = [(each.name, each.value) for each in c.standing("one").operands]
    assert operands == [("places", "not known of main, which holds quota and no node")]
    assert c.submit("two", "q", "8") == ["run two"]
    assert stands(c, "two") == [("n1",)]
    assert c.submit("three", "q", "8") == []  # by quota: there are 16 GPUs, wherever they are used
    assert c.standing("three").limit.limit == "capacity"
    assert c.fact("NodeRemoved", node="n2") == []  # nobody is known to stand there
    assert c.running() == ["one", "two"]


def test_who_waits_gets_places_under_the_new_policy(made: Callable[..., Any]) -> None:
    """Whoever is admitted under it stands somewhere, also one that had run before without places."""
    c = made(UNPLACED, "n1")
    c.submit("one", "q", "8")
    c.submit("two", "q", "8")
    c.activate(PLACED)
    assert c.operator("evict", "one") == ["evict one", "run two"]
    assert stands(c, "two") == [("n1",)]
    c.operator("release", "one")
    assert c.finish("two") == ["run one"]
    assert stands(c, "one") == [("n1",)]


def test_places_outlast_a_policy_that_gives_none(made: Callable[..., Any]) -> None:
    """Under it nobody new gets places; who has some keeps them, and they count again under the next one that gives some."""
    c = made(PLACED, "n1", "n2")
    c.submit("one", "q", "6")
    assert c.activate(UNPLACED) == []
    c.submit("two", "q", "2")
    assert (stands(c, "one"), stands(c, "two")) == ([("n1",)], [])
    assert c.activate(RACKS) == []
    assert c.submit("w", "q", "8") == ["run w"]
    assert stands(c, "w") == [("n2",)]
    assert c.submit("v", "q", "3") == []


def test_a_node_that_left_while_nobody_followed_it(made: Callable[..., Any]) -> None:
    """It is lost to those who have pods there as soon as a policy gives places again: they get other ones."""
    c = made(PLACED, "n1", "n2")
    c.submit("one", "q", "8")
    assert stands(c, "one") == [("n1",)]
    c.activate(UNPLACED)
    assert c.fact("NodeRemoved", node="n1") == []
    assert c.workload("one").lost_nodes == ()
    assert c.activate(PLACED) == ["place one"]
    assert stands(c, "one") == [("n2",)]
    [placed] = c.decided
    assert isinstance(placed, WorkloadPlaced)
    assert [(each.name, each.value) for each in placed.why.operands] == [("lost node", "n1")]


def test_a_node_that_left_and_came_back(made: Callable[..., Any]) -> None:
    """It is not lost: its pods stand there as before, as far as anybody knows."""
    c = made(PLACED, "n1", "n2")
    c.submit("one", "q", "8")
    c.activate(UNPLACED)
    c.fact("NodeRemoved", node="n1")
    node(c, "n1")
    assert c.activate(PLACED) == []
    assert stands(c, "one") == [("n1",)]


def test_with_no_other_places_it_goes(made: Callable[..., Any]) -> None:
    """Where there are none for the pods of a node that left meanwhile, the workload is evicted and waits, as always."""
    c = made(PLACED, "n1")
    c.submit("one", "q", "8")
    c.activate(UNPLACED)
    c.fact("NodeRemoved", node="n1")
    assert c.activate(PLACED) == ["evict one"]
    assert node(c, "n1") == ["run one"]


def test_domains_that_are_no_nodes_are_not_lost(cycles: Callable[[str], Any], cluster: Callable[[str], Any]) -> None:
    """Places in racks, given in cycles, are no nodes; under a policy that gives nodes it is not known where the pods stand."""
    in_cycles = """topology fabric {
  level rack from label "rack"
}
flavor a {
  gpu as owned
  label pool = "a"
  placed in fabric
}
queue q {
  owns 32 gpu on a
}
"""
    c = cycles(in_cycles)
    c.fact("NodeAdded", node="n1", labels={"pool": "a", "rack": "r"}, capacity={"gpu": "8"})
    c.submit("one", "q", "4")
    c.rest()
    assert stands(c, "one") == [("r",)]
    at_once = cluster(PLACED)
    graph = at_once.compiled(PLACED)
    c.play(at_once.history[0][0].model_copy(update={"time": c.now}), graph)
    assert (c.running(), c.workload("one").lost_nodes) == (["one"], ())
    decided_alike(c)
