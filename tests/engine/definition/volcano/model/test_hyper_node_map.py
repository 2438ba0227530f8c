"""The tree of HyperNodes."""

from gpol.engine.definition.volcano.model.hyper_node_map import CLUSTER_TOP, HyperNodeDomain, hyper_nodes_under_top

TREE = hyper_nodes_under_top(
    [
        HyperNodeDomain("r0", 1, "row", (), (0, 1)),
        HyperNodeDomain("r1", 1, "row", (), (2,)),
        HyperNodeDomain("row", 2, "", ("r0", "r1"), (0, 1, 2)),
        HyperNodeDomain("lone", 1, "", (), (3,)),
    ],
    5,
)


def test_all_are_below_one_that_has_all_nodes() -> None:
    """It is a tier above the highest one, also where a tier is known that has no HyperNode."""
    top = TREE.by_name[CLUSTER_TOP]
    assert (top.tier, top.children, top.nodes) == (3, ("lone", "row"), (0, 1, 2, 3, 4))
    assert TREE.tiers == (1, 2, 3)
    assert hyper_nodes_under_top([], 2, tiers=[4]).by_name[CLUSTER_TOP].tier == 5


def test_what_two_have_in_common() -> None:
    """The lowest that has both; with nothing it is the other one."""
    assert TREE.common("r0", "r1") == "row"
    assert TREE.common("r0", "row") == "row"
    assert TREE.common("r0", "lone") == CLUSTER_TOP
    assert TREE.common("", "r1") == TREE.common("r1", "") == "r1"
    assert TREE.common("r0", "unknown") == ""
    assert TREE.ancestors("r1") == ["r1", "row", CLUSTER_TOP]


def test_the_lowest_that_has_a_node() -> None:
    """Only those of the lowest tier count; a node outside has none."""
    assert [TREE.lowest_of(node) for node in range(5)] == ["r0", "r0", "r1", "lone", ""]
