"""Workloads that wish for HyperNodes: the lowest tier that serves, the fullest there, and near to where pods stand already."""

from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase, NetworkWish
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from small_clusters import Asked, Gang, cluster, plugin, ran

TIERS = ((plugin("gang"), plugin("predicates"), plugin("network-topology-aware")),)
RACKS = {"s": ("a", "b"), "t": ("c", "d")}
NODES = {"a": 4, "b": 4, "c": 4, "d": 4}
HARD, WIDE, SOFT = NetworkWish(True, 1), NetworkWish(True, 2), NetworkWish(False)


def _cluster(gang: Gang, *others: Gang) -> VolcanoCycle:
    return cluster(NODES, [*others, gang], ("allocate",), TIERS, racks=RACKS)


def _old(*nodes: str, wish: NetworkWish | None = None) -> Gang:
    return Gang("old", tuple(Asked(3, on=node) for node in nodes), queue="r", phase=GroupPhase.RUNNING, wish=wish)


def test_a_gang_stands_in_one_rack_or_not_at_all() -> None:
    """Two pods fit into the rack that is empty; three fit into none, and into both together where that is allowed."""
    two, three = (Gang("g", tuple(Asked(4) for _ in range(pods)), minimum=pods, wish=HARD) for pods in (2, 3))
    cycle = _cluster(two, _old("a"))
    assert {node for state, node in ran(cycle).values() if state == "placed"} == {"c", "d"}
    assert cycle.allocated_in[1] == "t"
    assert {state for state, _ in ran(_cluster(three)).values()} == {"waiting"}
    for wish in (WIDE, SOFT):
        cycle = _cluster(Gang("g", three.pods, minimum=3, wish=wish))
        assert {state for state, _ in ran(cycle).values()} == {"placed"}
        assert cycle.allocated_in[0] == "top"


def test_the_fuller_rack_is_the_better_one() -> None:
    """A pod that fits into both goes where more is used."""
    cycle = _cluster(Gang("g", (Asked(1),), wish=HARD), _old("c"))
    assert ran(cycle)["g-0"][1] in ("c", "d")
    assert cycle.allocated_in[1] == "t"


def test_pods_that_come_later_join_those_that_run() -> None:
    """They stand where the others do, though the other rack is fuller; and nowhere if there is no room."""
    gang = Gang("g", (Asked(1, on="a"), Asked(1)), phase=GroupPhase.RUNNING, wish=HARD)
    cycle = _cluster(gang, _old("c", "d"))
    assert ran(cycle)["g-1"][1] in ("a", "b")
    assert cycle.allocated_in[1] == "s"
    full = Gang("g", (Asked(4, on="a"), Asked(2)), phase=GroupPhase.RUNNING, wish=HARD)
    assert ran(_cluster(full, _old("b")))["g-1"] == ("waiting", "")


def test_where_a_workload_stands_is_found_from_its_pods() -> None:
    """The lowest HyperNode that has all of them; without a wish it does not matter."""
    for nodes, wish, found in ((("a", "b"), HARD, "s"), (("a", "c"), SOFT, "top"), (("a",), None, "")):
        cycle = _cluster(_old(*nodes, wish=wish))
        ran(cycle)
        assert cycle.allocated_in == [found]


def test_room_for_the_whole_gang_is_not_asked_for_where_pods_of_it_run() -> None:
    """Its `minResources` are more than any rack has; a new gang of that size is not tried."""
    pods = (Asked(3, on="a"), Asked(1))
    assert ran(_cluster(Gang("g", pods, phase=GroupPhase.RUNNING, least=Asked(9, 0), wish=HARD)))["g-1"][1] in ("a", "b")
    assert ran(_cluster(Gang("g", (Asked(1),), least=Asked(9, 0), wish=HARD)))["g-0"] == ("waiting", "")
