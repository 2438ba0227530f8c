"""Which domains pods fill: the domain of all of them, then down level by level with as few domains as will do."""

import pytest
from gpol.engine.definition.placement.placer import FoundPlaces
from gpol.engine.event_parts import PodSet
from gpol.engine.nodes.inventory import Machine
from placing import book, machine, place, pod_set, told


def nodes(**sizes: str) -> dict[str, Machine]:
    """Nodes with GPUs by name: `n1="b/r 4"`."""
    return {name: machine(*_path_and_gpu(said)) for name, said in sizes.items()}


def _path_and_gpu(said: str) -> tuple[str, int]:
    path, gpu = said.split()
    return path, int(gpu)


FLAT = nodes(n1="b/r 3", n2="b/r 2", n3="b/r 2", n4="b/r 1")
RACKS = nodes(n1="b/r 3", n2="b/r 2", n3="b/s 4", n4="c/t 3", n5="c/t 3")


def where(known: dict[str, Machine], *pod_sets: PodSet) -> dict[str, int]:
    """Where the pods of `main` stand."""
    return told(place(book(known), *pod_sets))


def room_for(known: dict[str, Machine], asked: PodSet) -> tuple[int, int]:
    """Of how many slices or pods how many have room, where not all have."""
    found: FoundPlaces = place(book(known), asked)
    [failure] = found.failures
    assert found.places == {}
    return failure.fit, failure.of


@pytest.mark.parametrize(
    ("count", "stand"),
    [
        (1, {"n4": 1}),
        (2, {"n2": 2}),
        (3, {"n1": 3}),
        (4, {"n1": 3, "n4": 1}),
        (5, {"n1": 3, "n2": 2}),
        (6, {"n1": 3, "n2": 2, "n4": 1}),
        (8, {"n1": 3, "n2": 2, "n3": 2, "n4": 1}),
    ],
)
def test_best_fit(count: int, stand: dict[str, int]) -> None:
    """The node that is filled best; of several that are needed the largest first, and for the rest the one that it fills best."""
    assert where(FLAT, pod_set(count=count, within="rack")) == stand
    assert where(FLAT, pod_set(count=count, near="host")) == stand


@pytest.mark.parametrize(
    ("count", "stand"),
    [(1, {"n4": 1}), (2, {"n2": 2}), (3, {"n1": 3}), (4, {"n2": 2, "n3": 1, "n4": 1}), (8, {"n1": 3, "n2": 2, "n3": 2, "n4": 1})],
)
def test_least_free(count: int, stand: dict[str, int]) -> None:
    """Anywhere: the node with the least room that holds them all, else one after the other from the one with the least."""
    assert where(FLAT, pod_set(count=count, anywhere=True)) == stand


def test_within_a_level() -> None:
    """The rack that is filled best, though the first has room as well; no more than a rack holds."""
    assert where(RACKS, pod_set(count=4, within="rack")) == {"n3": 4}
    assert where(RACKS, pod_set(count=5, within="rack")) == {"n1": 3, "n2": 2}
    assert where(RACKS, pod_set(count=6, within="rack")) == {"n4": 3, "n5": 3}
    assert room_for(RACKS, pod_set(count=7, within="rack")) == (6, 7)
    assert room_for(RACKS, pod_set(count=5, within="host")) == (4, 5)


def test_near_one_another() -> None:
    """Where no rack holds them a block does, and where none does several; they are refused only where all of them together do not."""
    assert where(RACKS, pod_set(count=4, near="rack")) == {"n3": 4}
    assert where(RACKS, pod_set(count=9, near="rack")) == {"n1": 3, "n2": 2, "n3": 4}
    assert where(RACKS, pod_set(count=12, near="rack")) == {"n1": 3, "n2": 2, "n3": 4, "n4": 3}
    assert room_for(RACKS, pod_set(count=16, near="rack")) == (15, 16)


def test_down_the_levels() -> None:
    """Within a block the racks are chosen, then nodes of all of them together, whatever each rack was to get: as few as will do."""
    assert where(RACKS, pod_set(count=7, within="block")) == {"n1": 3, "n3": 4}
    assert where(RACKS, pod_set(count=6, within="block")) == {"n4": 3, "n5": 3}


def test_slices_stand_together() -> None:
    """Slices of two on nodes: a node with three takes one slice, so five nodes' worth of pods are but three slices."""
    assert where(RACKS, pod_set(count=4, within="block", slices=[{"level": "host", "size": 2}])) == {"n4": 2, "n5": 2}
    assert room_for(RACKS, pod_set(count=8, within="rack", slices=[{"level": "host", "size": 2}])) == (2, 4)
    assert where(RACKS, pod_set(count=10, slices=[{"level": "rack", "size": 5}])) == {"n1": 3, "n2": 2, "n4": 3, "n5": 2}


def test_parts_of_slices() -> None:
    """Slices of four within racks in parts of two on nodes: in rack r the node with three takes one part only."""
    asked = pod_set(count=4, slices=[{"level": "rack", "size": 4}, {"level": "host", "size": 2}])
    assert where(nodes(n1="b/r 3", n2="b/r 1", n3="b/s 4"), asked) == {"n3": 4}
    assert where(nodes(n1="b/r 3", n2="b/r 2", n3="b/s 3"), asked) == {"n1": 2, "n2": 2}
    assert room_for(nodes(n1="b/r 3", n2="b/r 1", n3="b/s 3"), asked) == (0, 1)


def test_a_leader_stands_with_its_workers() -> None:
    """The rack has to hold the leader as well; on n2 it would take the place of a worker who is needed, on n3 it stands beside one."""
    leader = pod_set(1, name="leader", group="g", within="rack")
    workers = pod_set(2, count=3, group="g", within="rack")
    found = place(book(nodes(n1="b/r 6", n2="b/s 4", n3="b/s 3", n4="b/t 9")), leader, workers)
    assert (told(found), told(found, "leader")) == ({"n2": 2, "n3": 1}, {"n3": 1})


def test_a_leader_with_room_to_spare() -> None:
    """It goes to the first node in order where enough is left for the workers, and they stand beside it first."""
    leader, workers = pod_set(2, name="leader", group="g", within="rack"), pod_set(1, count=4, group="g", within="rack")
    found = place(book(nodes(n2="b/s 4", n3="b/s 2")), leader, workers)
    assert (told(found), told(found, "leader")) == ({"n2": 2, "n3": 2}, {"n2": 1})


def test_a_leader_that_fits_nowhere() -> None:
    """Its workers are not placed without it."""
    leader, workers = pod_set(5, name="leader", group="g", within="rack"), pod_set(1, count=2, group="g", within="rack")
    found = place(book(nodes(n1="b/r 4", n2="b/s 4")), leader, workers)
    assert (found.places, [failure.pod_sets for failure in found.failures]) == ({}, [("leader", "main")])


def test_a_leader_takes_room_from_its_workers() -> None:
    """Six pods fit into the rack without it, and three with it."""
    leader = pod_set(3, name="leader", group="g", within="rack")
    rack = nodes(n1="b/r 3", n2="b/r 3")
    for count, stand in [(3, {"n1": 0, "n2": 3}), (4, {})]:
        found = place(book(rack), leader, pod_set(1, count=count, group="g", within="rack"))
        assert told(found) == {name: pods for name, pods in stand.items() if pods}
        assert told(found, "leader") == ({"n1": 1} if stand else {})
