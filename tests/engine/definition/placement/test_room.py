"""How many pods fit into each domain: counted in the lowest ones, then summed up level by level."""

from collections.abc import Mapping

import pytest
from gpol.engine.definition.placement.room import MOST_PODS, Room, count_rooms, fitting, less
from gpol.engine.nodes.kept_off import KeptOff
from gpol.engine.nodes.wishes import Wish
from hypothesis import given
from hypothesis import strategies as st
from placing import book, machine

GPU = {"gpu": 1}


def rooms(
    nodes: Mapping[str, tuple[str, int]], wish: Wish, off: Mapping[str, KeptOff] | None = None, inside: tuple[str, ...] = ()
) -> dict[str, Room]:
    """What fits into each domain, by its path; `nodes` are `block/rack` and GPUs by name."""
    places = book({name: machine(path, gpu) for name, (path, gpu) in nodes.items()})
    tree = places.tree(0)
    found, _ = count_rooms(
        tree, wish, lambda leaf: places.free(0, leaf), lambda leaf: (off or {}).get(tree.domains[leaf].path[-1]), inside=inside
    )
    return {"/".join(domain.path): found[number] for number, domain in enumerate(tree.domains)}


@pytest.mark.parametrize(
    ("each", "free", "found"),
    [
        pytest.param({"gpu": 2, "cpu": 1}, {"gpu": 7, "cpu": 9}, (3, "gpu"), id="the scarcest"),
        pytest.param({"gpu": 2, "cpu": 3}, {"gpu": 6, "cpu": 9}, (3, "cpu"), id="the first by name"),
        pytest.param({"gpu": 2, "cpu": 0}, {"gpu": 6}, (3, "gpu"), id="of one nothing is asked"),
        pytest.param({"gpu": 2}, {"cpu": 6}, (0, "gpu"), id="there is none"),
        pytest.param({"gpu": 2}, {"gpu": -5}, (0, "gpu"), id="more is used than there is"),
        pytest.param({"gpu": 0}, {}, (MOST_PODS, ""), id="nothing limits them"),
        pytest.param({"gpu": 1}, {"gpu": 2**40}, (MOST_PODS, "gpu"), id="as many as Kueue counts"),
    ],
)
def test_fitting(each: dict[str, int], free: dict[str, int], found: tuple[int, str]) -> None:
    """How many pods fit, and the resource that limits them."""
    assert fitting(each, free) == found


def test_less() -> None:
    """What is taken is missing; a node that does not say how many pods it takes is not limited by those that are there."""
    assert less({"gpu": 4, "pods": 5}, {"gpu": 1, "pods": 1}, 3) == {"gpu": 1, "pods": 2}
    assert less({"gpu": 4}, {"gpu": 1, "pods": 1}, 6) == {"gpu": -2}
    assert less({"gpu": 4}, {"cpu": 1}) == {"gpu": 4, "cpu": -1}


def test_sums() -> None:
    """A domain has as much room as those in it have together; pods that are too large for each of them fit nowhere."""
    nodes = {"n1": ("b/r1", 5), "n2": ("b/r1", 3), "n3": ("b/r2", 1)}
    found = rooms(nodes, Wish(4, {"gpu": 2}, level=0, slice_level=2))
    assert {path: found[path].pods for path in found} == {"b": 3, "b/r1": 3, "b/r2": 0, "b/r1/n1": 2, "b/r1/n2": 1, "b/r2/n3": 0}


def test_slices_are_whole() -> None:
    """Slices of two within racks: three pods in a rack are one slice, and a block has as many as its racks, though more pods fit."""
    nodes = {"n1": ("b/r1", 2), "n2": ("b/r1", 1), "n3": ("b/r2", 3)}
    found = rooms(nodes, Wish(4, GPU, level=0, slice_level=1, slice_size=2))
    assert [(found[path].pods, found[path].slices) for path in ("b", "b/r1", "b/r2", "b/r1/n1")] == [(6, 2), (3, 1), (3, 1), (2, 0)]


def test_parts_of_slices_are_whole() -> None:
    """Slices of four within racks, in parts of two on nodes: nodes with three and one have room for one part, so the rack for no slice."""
    nodes = {"n1": ("b/r", 3), "n2": ("b/r", 1), "n3": ("b/s", 2), "n4": ("b/s", 3)}
    found = rooms(nodes, Wish(4, GPU, level=0, slice_level=1, slice_size=4, inner={2: 2}))
    assert [(found[path].pods, found[path].slices) for path in ("b/r", "b/s", "b")] == [(2, 0), (4, 1), (6, 1)]


def test_a_leader_stands_where_it_takes_the_least() -> None:
    """It needs two of the GPUs of which workers need three each: n2 has them to spare, n1 would lose a worker."""
    nodes = {"n1": ("b/r", 6), "n2": ("b/r", 8)}
    found = rooms(nodes, Wish(4, {"gpu": 3}, level=0, slice_level=2, leader={"gpu": 2}))
    assert (found["b/r/n1"].pods, found["b/r/n1"].pods_led) == (2, 1)
    assert (found["b/r/n2"].pods, found["b/r/n2"].pods_led) == (2, 2)
    assert (found["b"].pods, found["b"].pods_led, found["b"].leaders) == (4, 4, 1)


def test_no_room_for_a_leader() -> None:
    """Where it fits nowhere there is no room with it."""
    found = rooms({"n1": ("b/r", 3), "n2": ("b/r", 2)}, Wish(2, GPU, level=0, slice_level=2, leader={"gpu": 4}))
    assert (found["b"].pods, found["b"].pods_led, found["b"].slices_led, found["b"].leaders) == (5, 0, 0, 0)


def test_what_is_kept_off_is_counted_by_cause() -> None:
    """Nodes that take no pod are tallied by what keeps them: a taint, that they lie elsewhere, a resource of which they have too little."""
    places = book({"n1": machine("b/r", 8), "n2": machine("b/s", 8), "n3": machine("b/r", 1), "n4": machine("b/r", 4)})
    tree, spot = places.tree(0), KeptOff("taint", "spot")
    found, tally = count_rooms(
        tree,
        Wish(1, {"gpu": 2}, level=0, slice_level=2),
        lambda leaf: places.free(0, leaf),
        lambda leaf: spot if tree.domains[leaf].path[-1] == "n1" else None,
        inside=("b", "r"),
    )
    assert (tally.nodes, tally.kept_off) == (4, {spot: 1, KeptOff("outside"): 1, KeptOff("resource", "gpu"): 1})
    assert [found[leaf].pods for leaf in tree.lowest] == [0, 0, 2, 0]


node_sizes = st.lists(st.tuples(st.sampled_from(["a/r", "a/s", "b/r", "b/s"]), st.integers(0, 9)), min_size=1, max_size=6)


@given(sizes=node_sizes, each=st.integers(1, 4), size=st.integers(1, 3), slice_level=st.integers(0, 2), leader=st.integers(1, 6))
def test_the_best_place_of_a_leader(sizes: list[tuple[str, int]], each: int, size: int, slice_level: int, leader: int) -> None:
    """What fits beside a leader is the most that fits when it is tried on each node; without one, what fits on nodes is summed up."""
    nodes = {f"n{number}": sized for number, sized in enumerate(sizes)}
    wish = Wish(6, {"gpu": each}, level=0, slice_level=slice_level, slice_size=size, leader={"gpu": leader})
    found = rooms(nodes, wish)
    plain = _by_hand(nodes, each, size, slice_level)
    assert {path: (found[path].pods, found[path].slices) for path in found} == plain
    tried = [
        (f"{path}/{name}", _by_hand({**nodes, name: (path, gpu - leader)}, each, size, slice_level))
        for name, (path, gpu) in nodes.items()
        if gpu >= leader
    ]
    for domain, room in found.items():
        inside = [at[domain] for leaf, at in tried if leaf == domain or leaf.startswith(f"{domain}/")]
        assert room.leaders == int(bool(inside))
        if inside or len(domain.split("/")) < 3:
            assert room.pods_led == max((pods for pods, _ in inside), default=0)
            assert room.slices_led == max((slices for _, slices in inside), default=0)


def _by_hand(nodes: Mapping[str, tuple[str, int]], each: int, size: int, slice_level: int) -> dict[str, tuple[int, int]]:
    """Pods and slices that fit into each domain: slices into each domain of their level, and above it into all of those together."""
    pods: dict[str, int] = {}
    for name, (path, gpu) in nodes.items():
        block, rack = path.split("/")
        for domain in (block, f"{block}/{rack}", f"{block}/{rack}/{name}"):
            pods[domain] = pods.get(domain, 0) + gpu // each
    sliced = {domain: pods[domain] // size for domain in pods if domain.count("/") == slice_level}
    return {
        domain: (pods[domain], sum(sliced[other] for other in sliced if other == domain or other.startswith(f"{domain}/")))
        for domain in pods
    }
