"""Which node a pod of Armada gets."""

from dataclasses import replace
from fractions import Fraction

import pytest
from armada_cluster import GIB, TEST_SETTINGS, ArmadaCluster, ArmadaJob, ArmadaNode

MIB = 1024**2


def started_on(nodes: list[ArmadaNode], *jobs: ArmadaJob, large_first: bool = False) -> list[int]:
    """The nodes of the pods after a round on nodes of which nothing is taken; -1 where one waits."""
    cluster = ArmadaCluster(nodes, {"a": Fraction(1)}, replace(TEST_SETTINGS, large_first=large_first))
    return [pod.node for pod in cluster.play(jobs).session.pods]


def test_the_fullest_node_with_room_comes_first() -> None:
    """Nodes are compared by cores, then by memory, then by their order."""
    sizes = [(8, 64 * GIB), (4, 64 * GIB), (4, 32 * GIB), (4, 32 * GIB)]
    nodes = [ArmadaNode(size) for size in sizes]
    jobs = [ArmadaJob(f"a{number}", "a", (4, GIB)) for number in range(5)]
    assert started_on(nodes, *jobs) == [2, 3, 1, 0, 0]


@pytest.mark.parametrize(("free", "asked", "node"), [(200, 128, 0), (200, 130, -1), (256, 130, 0), (256, 200, 0)])
def test_nodes_are_found_by_what_is_free_rounded_down(free: int, asked: int, node: int) -> None:
    """Where all else is just enough, a node on which memory is enough, but not when it is rounded down to 128 MiB, is not found."""
    assert started_on([ArmadaNode((1, free * MIB))], ArmadaJob("a", "a", (1, asked * MIB))) == [node]


def test_a_search_that_has_come_further_does_not_go_back() -> None:
    """A node with just enough memory is found as long as cores alone order it, and passed over after one that has too little memory."""
    enough, less = ArmadaNode((2, 200 * MIB)), ArmadaNode((2, 100 * MIB))
    job = ArmadaJob("a", "a", (1, 200 * MIB))
    assert started_on([enough], job) == [0]
    assert started_on([enough, less], job) == [-1]


def test_a_pod_goes_where_it_may() -> None:
    """Taints and zones keep pods off nodes; each kind of nodes is searched by itself."""
    nodes = [ArmadaNode((1, GIB), "x", tainted=True), ArmadaNode((2, GIB), "x"), ArmadaNode((3, GIB), "y")]
    jobs = [
        ArmadaJob("a0", "a", (1, 0), zone="x"),
        ArmadaJob("a1", "a", (1, 0), zone="x", tolerates=True),
        ArmadaJob("a2", "a", (2, 0)),
        ArmadaJob("a3", "a", (2, 0), zone="x", tolerates=True),
    ]
    assert started_on(nodes, *jobs) == [1, 0, 2, -1]


def test_those_who_would_return_last_are_displaced() -> None:
    """Of several nodes the one is taken where those are displaced who come last in the order of return."""
    cluster = ArmadaCluster([ArmadaNode((2, GIB))] * 2, {"a": Fraction(1), "b": Fraction(1)}, TEST_SETTINGS)
    first = cluster.play([ArmadaJob(f"a{number}", "a", (1, 0)) for number in range(4)])
    assert [pod.node for pod in first.session.pods] == [0, 0, 1, 1]
    second = cluster.play([ArmadaJob("b0", "b", (2, 0))])
    assert second.preempted == ("a2", "a3")
    assert second.told.displaced_by == {2: 4, 3: 4}


def test_a_lower_pod_displaces_nobody_higher() -> None:
    """Those of a higher priority are not displaced, however little their queue is due."""
    cluster = ArmadaCluster([ArmadaNode((2, GIB))], {"a": Fraction(1), "b": Fraction(1)}, TEST_SETTINGS)
    cluster.play([ArmadaJob("a0", "a", (1, 0), priority=1), ArmadaJob("a1", "a", (1, 0))])
    assert cluster.play([ArmadaJob("b0", "b", (2, 0))]).preempted == ()
    assert cluster.play([ArmadaJob("b0", "b", (1, 0))]).preempted == ("a1",)
