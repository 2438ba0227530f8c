"""What `network-topology-aware` says of HyperNodes and of nodes in them."""

from fractions import Fraction

from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase, NetworkWish
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.place.hyper_node_scores import open_network_topology_aware
from small_clusters import Asked, Gang, cluster, plugin

AWARE = plugin("network-topology-aware")
RACKS = {"s": ("a", "b"), "t": ("c", "d")}
NODES = {"a": 4, "b": 4, "c": 4, "d": 4, "lone": 4}


def _cycle(*pods: Asked, wish: NetworkWish | None, others: tuple[Asked, ...] = ()) -> VolcanoCycle:
    gangs = [Gang("g", pods, phase=GroupPhase.RUNNING, wish=wish), Gang("old", others, queue="r", phase=GroupPhase.RUNNING)]
    return cluster(NODES, gangs, (), racks=RACKS)


def test_the_fuller_one_is_better_and_of_equal_ones_that_with_more_pods_of_the_workload() -> None:
    """A pod of three stands in rack `t`: it is the fuller one. Where `s` is as full by another pod, that third of the pods counts."""
    for others, better_by in (((), 50 * Fraction(1, 8) + 50 * Fraction(1, 128)), ((Asked(on="a"),), 100 * Fraction(1, 3))):
        cycle = _cycle(Asked(1, on="c"), Asked(1), Asked(1), wish=NetworkWish(True, 1), others=others)
        said = open_network_topology_aware(cycle, AWARE).hyper_node_scores
        assert said is not None
        found = said(cycle.jobs[0], cycle.groups[0].sub_jobs[0], ["s", "t"])
        assert found["t"] - found["s"] == better_by


def test_a_node_is_better_the_nearer_it_is() -> None:
    """In the same rack 100; else by the tier of what they have in common, of 1 to 3; where pods are spread, the rack with more of them."""
    cycle = _cycle(Asked(1, on="a"), Asked(1), wish=NetworkWish(False))
    said = open_network_topology_aware(cycle, AWARE).node_scores
    assert said is not None
    pod = cycle.session.pods[1]
    assert said(pod, [0, 2, 4], "s") == {0: 100, 2: 50, 4: 0}
    assert said(pod, [0, 2], "") == {}
    assert said(pod, [0, 2], "top") == {0: 50 + 100 * Fraction(1, 2), 2: 50}


def test_pods_without_a_wish_go_where_hyper_nodes_are_fuller() -> None:
    """Rack `s` is in use, so its nodes are better; a node outside all racks counts as if its rack were full."""
    cycle = _cycle(Asked(1), wish=None, others=(Asked(3, on="a"),))
    said = open_network_topology_aware(cycle, AWARE).node_scores
    assert said is not None
    found = said(cycle.session.pods[0], [1, 2, 4], "")
    assert found[4] > found[1] > found[2]


def test_the_highest_hyper_node_that_is_allowed_bounds_the_search() -> None:
    """Pods that stand in rack `s` may have it alone or, one tier up, both racks."""
    for tier, found in ((1, [["s"]]), (2, [["s", "t"], ["top"]])):
        cycle = _cycle(Asked(1, on="a"), Asked(1), wish=NetworkWish(True, tier))
        cycle.allocated_in[0] = "s"
        gradients = open_network_topology_aware(cycle, AWARE).gradients_for_job
        assert gradients is not None
        tried = gradients(cycle.jobs[0], cycle.hyper_nodes.by_name["<cluster-top-hypernode>"])
        assert [[each.name for each in gradient] for gradient in tried] == found
