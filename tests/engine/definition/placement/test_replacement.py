"""Which places pods of lost nodes get: the domain of the others, whole slices, and what stands in the way."""

import pytest
from at_once import Cluster
from gpol.engine.events import WorkloadEvicted
from gpol.engine.explain.unplaced import place_failure, unplaced_told
from gpol.engine.outcome.nomination import NoPlaces
from in_cycles import Cycles
from lost_places import AT_ONCE, IN_CYCLES, add, ask, stands

SLICED = [{"level": "rack", "size": 4}, {"level": "host", "size": 2}]
"""Slices of four in a rack, of which two stand on a node."""


def after(c: Cluster | Cycles, *lost: str) -> dict[str, int] | str:
    """Where the pods of `a` stand once it has lost nodes, or why it was evicted."""
    c.update("a", lost_nodes=lost)
    if isinstance(c, Cycles):
        c.rest()
    evicted = [event for event, _ in c.history if isinstance(event, WorkloadEvicted)]
    return evicted[-1].why.operands[-1].value if evicted else stands(c, "a")


def change(c: Cluster | Cycles, node: str, path: str | None, pool: str = "f", **said: object) -> None:
    """A node of two GPUs is in another rack now, or in none; or something else is new about it."""
    labels = {"pool": pool} if path is None else {"pool": pool, **dict(zip(("block", "rack"), path.split("/"), strict=True))}
    c.fact("NodeChanged", node=node, labels=labels, capacity={"gpu": "2", "pods": 110}, **said)


def run(c: Cluster | Cycles, pods: int, **asked: object) -> None:
    """Let `a` run."""
    ask(c, "a", pods, **asked)
    if isinstance(c, Cycles):
        c.rest()


@pytest.fixture(params=["at once", "in cycles"])
def c(request: pytest.FixtureRequest) -> Cluster | Cycles:
    """A cluster over nodes, in both ways of deciding."""
    return Cluster(AT_ONCE) if request.param == "at once" else Cycles(IN_CYCLES)


def test_near_one_another_is_no_law(c: Cluster | Cycles) -> None:
    """Where pods are only to be near, those of a lost node may go to another rack."""
    add(c, n1="b/r 2", n2="b/r 1")
    run(c, 3, near="rack")
    add(c, n3="b/s 2")
    assert after(c, "n1") == {"n2": 1, "n3": 2}


def test_the_only_node_may_be_left_for_any_domain(c: Cluster | Cycles) -> None:
    """Nothing stays behind that says where all have to stand; the new domain holds all of them."""
    add(c, n1="b/r 3")
    run(c, 3, within="rack")
    add(c, n2="b/r 2", n3="b/s 3")
    assert after(c, "n1") == {"n3": 3}


def test_places_are_merged_in_order(c: Cluster | Cycles) -> None:
    """A node on which pods stand already takes those that fit there, and stands once in the list."""
    add(c, n1="b/r 2", n2="b/r 2")
    run(c, 3, within="rack")
    c.fact("NodeChanged", node="n2", labels={"block": "b", "rack": "r", "pool": "f"}, capacity={"gpu": "3", "pods": 110})
    assert after(c, "n1") == {"n2": 3}
    assert len(c.workload("a").assignments[0].places) == 1


def test_a_slice_is_made_whole_where_the_rest_of_it_stands(c: Cluster | Cycles) -> None:
    """Two of four pods of a slice were on the node: the other two stand in a rack, and so do the new ones, though another has more room."""
    add(c, n1="b/r 2", n2="b/r 2", n3="b/s 4")
    run(c, 8, near="block", slices=SLICED)
    assert stands(c, "a") == {"n1": 2, "n2": 2, "n3": 4}
    add(c, n4="b/r 2", n5="b/t 8")
    assert after(c, "n2") == {"n1": 2, "n3": 4, "n4": 2}


def test_a_whole_slice_may_go_anywhere(c: Cluster | Cycles) -> None:
    """Nothing of it stays."""
    add(c, n1="b/r 2", n2="b/r 2", n3="b/s 4")
    run(c, 8, near="block", slices=SLICED)
    add(c, n5="b/t 8")
    assert after(c, "n3") == {"n1": 2, "n2": 2, "n5": 4}


def test_a_slice_that_finds_no_room_beside_its_rest(c: Cluster | Cycles) -> None:
    """Its rack is full: the workload goes."""
    add(c, n1="b/r 2", n2="b/r 2")
    run(c, 4, near="block", slices=SLICED[:1])
    c.fact("NodeChanged", node="n2", labels={"block": "b", "rack": "r", "pool": "f"}, capacity={"gpu": "2", "pods": 110}, cordoned=True)
    add(c, n3="b/s 2")
    assert after(c, "n2") == "f for main: room for 0 of 2 pods near one another by block; 2 of 2 places take none (another domain 1, gpu 1)"


def test_at_once_no_slice_is_broken_by_several_lost_nodes() -> None:
    """Each of two slices has lost a half; both halves together would be one whole slice elsewhere, and two broken ones."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 2", n2="b/r 2", n3="b/s 2", n4="b/s 2")
    run(c, 8, near="block", slices=SLICED[:1])
    add(c, n5="b/t 4")
    assert after(c, "n1", "n3") == "f for main: a slice would not stand in one rack"


def test_pods_stay_on_a_node_that_is_cordoned_or_of_another_flavor() -> None:
    """At once it is known all the same where it is: in its rack there is room for the others. In cycles the workload goes, as in Kueue."""
    gone = "f for main: other pods stand on n2, which takes no pods any more"
    for way, pool, cordoned in (("at once", "f", True), ("at once", "g", False), ("in cycles", "f", True)):
        c = Cluster(AT_ONCE) if way == "at once" else Cycles(IN_CYCLES)
        add(c, n1="b/r 2", n2="b/r 1")
        run(c, 3, within="rack")
        add(c, n0="b/q 9", n3="b/r 9")
        change(c, "n2", "b/r", pool, cordoned=cordoned)
        assert after(c, "n1") == ({"n2": 1, "n3": 2} if way == "at once" else gone)


def test_the_rack_of_a_node_is_where_its_label_says() -> None:
    """It was moved to another rack with the pods that stay on it: those of the lost node follow it there."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 2", n2="b/r 2")
    run(c, 4, within="rack")
    add(c, n3="b/r 2", n4="b/s 2")
    change(c, "n2", "b/s")
    assert after(c, "n1") == {"n2": 2, "n4": 2}


def test_a_node_in_no_rack_matters_only_where_its_rack_is_asked_for() -> None:
    """Its pods stay, and where the others have to stand is known by others that stay, or by nobody."""
    nowhere = "f for main: other pods stand on n2, which is in no rack any more"
    for within, stand in (("", {"n2": 1, "n4": 2}), ("rack", nowhere)):
        c = Cluster(AT_ONCE)
        add(c, n1="b/r 2", n2="b/r 1")
        run(c, 3, within=within)
        add(c, n4="b/s 2")
        change(c, "n2", None)
        assert after(c, "n1") == stand
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 1", n2="b/r 1", n3="b/r 1")
    run(c, 3, within="rack")
    add(c, n4="b/r 1", n5="b/s 1")
    change(c, "n2", None)
    assert after(c, "n1") == {"n2": 1, "n3": 1, "n4": 1}
    assert [place.domain for place in c.workload("a").assignments[0].places] == [("n3",), ("n4",), ("n2",)]


def test_a_part_of_a_slice_on_a_node_in_no_rack() -> None:
    """Nobody knows where the rest of it has to stand. Whole slices on that node are whole wherever it is."""
    for size, stand in ((4, "f for main: other pods stand on n3, which is in no rack any more"), (2, {"n2": 2, "n3": 2, "n4": 2, "n5": 2})):
        c = Cluster(AT_ONCE)
        add(c, n1="b/r 2", n2="b/r 2", n3="b/s 2", n4="b/s 2")
        run(c, 8, near="block", slices=[{"level": "rack", "size": size}])
        add(c, n5="b/r 2")
        change(c, "n3", None)
        assert after(c, "n1") == stand


def test_a_node_that_is_not_there_and_was_not_said_to_be_lost() -> None:
    """An outside system says that another one is all that the workload has lost, while a check keeps it waiting: it goes."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 2", n2="b/r 1")
    run(c, 3)
    add(c, n3="b/r 9")
    c.update("a", checks={"prov": "Pending"})
    c.fact("NodeRemoved", node="n2")
    c.update("a", lost_nodes=["n1"])
    assert stands(c, "a") == {"n1": 2, "n2": 1}
    c.update("a", checks={"prov": "Ready"})
    evicted = [event for event, _ in c.history if isinstance(event, WorkloadEvicted)]
    assert evicted[-1].why.operands[-1].value == "f for main: other pods stand on n2, which takes no pods any more"


def test_slices_alone_name_no_level_in_cycles() -> None:
    """As in Kueue: a set that asks for slices alone cannot be made whole by parts of one, and goes. At once it is."""
    for c in (Cluster(AT_ONCE), Cycles(IN_CYCLES)):
        add(c, n1="b/r 2", n2="b/r 2")
        run(c, 4, slices=SLICED[:1])
        add(c, n3="b/r 2")
        expected = {"n1": 2, "n3": 2} if isinstance(c, Cluster) else "f for main: without its slices it names no level"
        assert after(c, "n2") == expected


def test_both_of_a_group_that_stood_on_one_node_move_together_at_once() -> None:
    """A leader and its workers find one rack again."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 3")
    sets = [
        {"name": "leader", "requests": {"gpu": "1"}, "group": "g", "within": "rack"},
        {"name": "main", "count": 2, "requests": {"gpu": "1"}, "group": "g", "within": "rack"},
    ]
    c.submit("a", "q", sets=sets)
    add(c, n2="b/s 2", n3="b/t 3")
    after(c, "n1")
    assert (stands(c, "a", "leader"), stands(c, "a")) == ({"n3": 1}, {"n3": 2})


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (NoPlaces("no-level", ("main",), 0, "rack"), "its topology has no level rack"),
        (NoPlaces("no-level", ("main",), 0), "without its slices it names no level"),
        (NoPlaces("no-domains", ("main",), 0, "rack"), "no node of f that takes pods is in any rack"),
        (NoPlaces("slice-above", ("main",), 0, "rack", "host"), "slices within rack are not below host"),
        (NoPlaces("no-room", ("main",), 0, "", fit=1, of=2, size=4), "room for 1 of 2 slices of 4 pods"),
        (NoPlaces("no-room", ("main",), 0, "rack", "rack", fit=0, of=1), "room for 0 of 1 pod within one rack"),
        (NoPlaces("place-gone", ("main",), 0, asked="n1"), "other pods stand on n1, which takes no pods any more"),
        (NoPlaces("place-gone", ("main",), 0, "rack", "n1"), "other pods stand on n1, which is in no rack any more"),
        (NoPlaces("slices-broken", ("main",), 0, "rack"), "a slice would not stand in one rack"),
    ],
)
def test_why_there_are_no_places(failure: NoPlaces, told: str) -> None:
    """Each cause in a clause."""
    graph = Cycles(IN_CYCLES).graph
    assert unplaced_told(place_failure(graph, failure, if_empty=False)) == f"{graph.flavors[0].name} for main: {told}"
