"""What there is and what is used at the places of each flavor."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.definition.placement.places import PlaceBook, PodsHeld, held
from gpol.engine.event_parts import PlacedPods
from gpol.engine.nodes.conditions import Taint
from gpol.engine.nodes.kept_off import KeptOff
from gpol.engine.nodes.wishes import each_pod
from hypothesis import given
from hypothesis import strategies as st
from placing import FABRIC, RACKS, book, machine, pod_set


def flavors(*places: str) -> str:
    """A policy with a flavor in each of these topologies, called a, b, c and so on."""
    named = list(zip("abcd", places, strict=False))
    given = "".join(f"flavor {name} {{\n  gpu as owned\n  placed in {topology}\n}}\n" for name, topology in named)
    return FABRIC + RACKS + given + "queue q {\n" + "".join(f"  owns 9 gpu on {name}\n" for name, _ in named) + "}\n"


NODES = {"n1": machine("b/r", 4), "n2": machine("b/r", 3, pods=2), "n3": machine("b/s", 5)}
ON_N1 = PodsHeld(0, ("n1",), 2, {"gpu": 1, "pods": 1})


def used(places: PlaceBook) -> list[list[dict[str, int]]]:
    """What is used at each place of each flavor that has any, zeros left out."""
    return [
        [{key: amount for key, amount in places.used(flavor, tree.place(leaf)).items() if amount} for leaf in tree.lowest]
        for flavor, tree in enumerate(places.trees)
        if tree is not None
    ]


def test_what_there_is() -> None:
    """A node has what it says, a wider domain what its nodes have together; what is used there is not free."""
    places = book(NODES, flavors("fabric", "racks"))
    assert [places.capacity(0, leaf) for leaf in places.tree(0).lowest] == [NODES[name].capacity for name in ("n1", "n2", "n3")]
    assert [places.capacity(1, leaf) for leaf in places.tree(1).lowest] == [{"gpu": 7, "pods": 112}, {"gpu": 5, "pods": 110}]

    places.add([ON_N1, PodsHeld(1, ("b", "r"), 9, {"gpu": 1, "pods": 1})])
    assert places.free(0, places.tree(0).lowest[0]) == {"gpu": 2, "pods": 108}
    assert places.free(1, places.tree(1).lowest[0]) == {"gpu": -2, "pods": 103}, "more is used than there is"


def test_flavors_of_nodes_see_the_same() -> None:
    """What is used of a node is used of it under each of them; a flavor of racks counts its own, and so does one without places."""
    places = book(NODES, flavors("fabric", "fabric", "racks"))
    places.add([ON_N1])
    assert [places.used(flavor, ("n1",)) for flavor in range(3)] == [{"gpu": 2, "pods": 2}, {"gpu": 2, "pods": 2}, {}]
    assert [places.see_the_same(0, other) for other in range(3)] == [True, True, False]
    assert [places.see_the_same(2, other) for other in range(3)] == [False, False, True]


def test_tried_out_under_one_flavor_alone() -> None:
    """Where it is tried out as Kueue does it, another flavor sees its nodes as they were."""
    places = book(NODES, flavors("fabric", "fabric"))
    places.add([ON_N1], everywhere=False)
    assert [places.used(flavor, ("n1",)) for flavor in range(2)] == [{"gpu": 2, "pods": 2}, {}]


def test_only_nodes_keep_pods_off() -> None:
    """A taint keeps pods off a node, unless its flavor tolerates it; a rack of tainted nodes takes them."""
    spot = Taint("pool", "spot", "NoSchedule")
    text = flavors("fabric", "racks", "fabric").replace("flavor c {", "flavor c {\n  tolerates pool")
    places = book({"n1": machine("b/r", 4, taints=[spot])}, text)
    kept = [places.keeps_off(flavor, places.tree(flavor).lowest[0], pod_set()) for flavor in range(3)]
    assert kept == [KeptOff("taint", "pool=spot:NoSchedule"), None, None]


def test_each_pod_takes_a_place_of_a_pod() -> None:
    """Beside what it asks for."""
    assert each_pod(pod_set(3)) == {"gpu": 3, "pods": 1}
    assert list(held(0, pod_set(3), [PlacedPods(domain=("n1",), pods=2)])) == [PodsHeld(0, ("n1",), 2, {"gpu": 3, "pods": 1})]


@pytest.mark.parametrize(
    ("asked", "has_room"),
    [
        pytest.param([("n1", 4, 1)], True, id="all of a node"),
        pytest.param([("n1", 5, 1)], False, id="one more"),
        pytest.param([("n1", 2, 1), ("n1", 2, 1)], True, id="together all of it"),
        pytest.param([("n1", 2, 1), ("n1", 3, 1)], False, id="together one more"),
        pytest.param([("n1", 2, 2), ("n1", 1, 1)], False, id="nothing is left after the first"),
        pytest.param([("n1", 4, 1), ("n3", 5, 1)], True, id="two nodes"),
        pytest.param([("n2", 3, 1)], False, id="it takes two pods only"),
        pytest.param([("n9", 1, 1)], False, id="a node that is gone"),
    ],
)
def test_room_for_all_of_them_together(asked: list[tuple[str, int, int]], has_room: bool) -> None:
    """Pods find room just where they are to stand, those of one workload beside one another."""
    places = book(NODES)
    holdings = [PodsHeld(0, (name,), pods, {"gpu": gpu, "pods": 1}) for name, pods, gpu in asked]
    assert places.has_room(holdings) == has_room
    assert used(places) == used(book(NODES)), "asking takes nothing"


def test_room_under_several_flavors() -> None:
    """Pods of one workload on two flavors of the same node take room from one another there; those in racks do not."""
    places = book(NODES, flavors("fabric", "fabric", "racks"))
    each = {"gpu": 1, "pods": 1}
    assert places.has_room([PodsHeld(0, ("n1",), 2, each), PodsHeld(1, ("n1",), 2, each)])
    assert not places.has_room([PodsHeld(0, ("n1",), 2, each), PodsHeld(1, ("n1",), 3, each)])
    assert places.has_room([PodsHeld(0, ("n1",), 4, each), PodsHeld(2, ("b", "r"), 7, each)])


def test_a_full_node_seems_full() -> None:
    """As Kueue looks again: each pod set by itself, without the number of pods, and pods that ask for nothing fit nowhere."""
    places = book(NODES)
    half = PodsHeld(0, ("n1",), 3, {"gpu": 1, "pods": 1})
    assert places.seem_free([half, half]), "together they do not fit"
    assert places.seem_free([PodsHeld(0, ("n2",), 3, {"gpu": 1, "pods": 1})]), "it takes two pods only"
    assert not places.seem_free([PodsHeld(0, ("n1",), 1, {"pods": 1})])
    assert not places.seem_free([PodsHeld(0, ("n9",), 1, {"gpu": 1, "pods": 1})])
    places.add([ON_N1])
    assert not places.seem_free([half])


def test_what_a_workload_holds(cycles: Callable[[str], Any]) -> None:
    """The pods of each pod set where they stand; nothing of a flavor that gives no places, and nothing where it has none."""
    c = cycles(
        flavors("fabric").replace(
            "queue q {", "flavor plain { gpu as owned }\nqueue q {\n  owns 9 gpu on plain\n  serves gpu from a, plain"
        )
    )
    c.fact("NodeAdded", node="n1", labels={"block": "b", "rack": "r"}, capacity={"gpu": "4", "pods": 9})
    sets = [
        {"name": "x", "count": 2, "requests": {"gpu": "1"}, "anywhere": True},
        {"name": "y", "requests": {"gpu": "1"}, "flavors": ["plain"]},
    ]
    c.submit("w", "q", sets=sets)
    assert c.cycle() == ["run w"]
    places = c.state.active.places
    assert list(places.holdings(c.workload("w"))) == [PodsHeld(0, ("n1",), 2, {"gpu": 1000, "pods": 1})]
    assert places.used(0, ("n1",)) == {"gpu": 2000, "pods": 2}


def test_a_copy_goes_its_own_way() -> None:
    """It has the same use and, over other nodes, the same use of those."""
    places = book(NODES, flavors("fabric", "racks"))
    places.add([ON_N1])
    copy = places.copy()
    assert used(copy) == used(places)
    copy.add([ON_N1])
    assert places.used(0, ("n1",)) == {"gpu": 2, "pods": 2}
    larger = places.over(places.graph, {**NODES, "n1": machine("b/r", 9)})
    assert larger.free(0, larger.tree(0).lowest[0]) == {"gpu": 7, "pods": 108}


holdings = st.lists(
    st.builds(PodsHeld, st.sampled_from([0, 1]), st.sampled_from([("n1",), ("n3",)]), st.integers(1, 3), st.just({"gpu": 1, "pods": 1})),
    max_size=5,
)


@given(before=holdings, taken=holdings, everywhere=st.booleans())
def test_taken_out_and_put_back(before: list[PodsHeld], taken: list[PodsHeld], everywhere: bool) -> None:
    """Whatever is taken and given back, in whatever order, the same is used as before."""
    places = book(NODES, flavors("fabric", "fabric", "racks"))
    places.add(before)
    as_it_was = used(places)
    places.add(taken, everywhere)
    places.remove(reversed(taken), everywhere)
    assert used(places) == as_it_was


@given(pods=holdings)
def test_who_has_room_fills_nothing_beyond_its_size(pods: list[PodsHeld]) -> None:
    """Holdings that come one after the other, each where it has room, leave no node with less than nothing."""
    places = book(NODES, flavors("fabric", "fabric", "racks"))
    for each in pods:
        if places.has_room([each]):
            places.add([each])
    assert min(amount for flavor in (0, 1) for leaf in places.tree(flavor).lowest for amount in places.free(flavor, leaf).values()) >= 0
