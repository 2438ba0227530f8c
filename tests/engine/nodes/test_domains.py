"""The domains of a topology: which nodes are in which, in which order, and how a place is told."""

from dataclasses import replace

from gpol.engine.nodes.domains import DomainTree, belongs_to, domain_tree, domain_trees
from gpol.engine.nodes.inventory import Machine
from hypothesis import given
from hypothesis import strategies as st
from placing import POLICY, RACKS, graph_of, machine

IN_RACKS = POLICY.replace("placed in fabric", "placed in racks").replace("topology fabric", RACKS + "topology fabric")
NODES = {"n1": machine("b1/r1", 1), "n2": machine("b1/r2", 1), "n3": machine("b2/r1", 1), "n4": machine("b1/r1", 1)}


def tree_of(nodes: dict[str, Machine], text: str = POLICY) -> DomainTree:
    """The domains of the first flavor of a policy."""
    [tree] = domain_trees(graph_of(text), nodes)
    assert tree is not None
    return tree


def told(tree: DomainTree) -> list[list[str]]:
    """The domains of each level, from the widest down."""
    return [["/".join(tree.domains[domain].path) for domain in level] for level in tree.levels]


def test_levels() -> None:
    """A domain is known by the values of all levels above it as well: rack r1 of block b1 is not rack r1 of block b2."""
    tree = tree_of(NODES)
    assert told(tree) == [["b1", "b2"], ["b1/r1", "b1/r2", "b2/r1"], ["b1/r1/n1", "b1/r1/n4", "b1/r2/n2", "b2/r1/n3"]]
    assert [tree.level_of(domain) for domain in range(len(tree.domains))] == [0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_parents_and_children() -> None:
    """Each domain is among the children of its parent, which come in order; the widest have no parent."""
    tree = tree_of(NODES)
    for number, domain in enumerate(tree.domains):
        assert (domain.parent == -1) == (number in tree.levels[0])
        assert domain.parent == -1 or number in tree.domains[domain.parent].children
        assert all(tree.domains[child].parent == number for child in domain.children)
        assert list(domain.children) == sorted(domain.children)


def test_a_node_is_told_by_its_name_alone() -> None:
    """Where a topology ends above nodes, a place is told by all its levels."""
    tree = tree_of(NODES)
    assert [tree.place(leaf) for leaf in tree.lowest] == [("n1",), ("n4",), ("n2",), ("n3",)]
    above = tree_of(NODES, IN_RACKS)
    assert [above.place(leaf) for leaf in above.lowest] == [("b1", "r1"), ("b1", "r2"), ("b2", "r1")]


def test_the_nodes_of_a_wider_place() -> None:
    """Only the lowest domains know their nodes, and one may have several."""
    above = tree_of(NODES, IN_RACKS)
    assert [above.domains[leaf].machines for leaf in above.lowest] == [("n1", "n4"), ("n2",), ("n3",)]
    assert all(not above.domains[domain].machines for domain in above.levels[0])


def test_who_takes_no_part() -> None:
    """A node without the label of a level is in no domain, nor is one that is cordoned; without them their domains are gone, too."""
    lacking = Machine({"block": "b9"}, {"gpu": 1}, -1)
    tree = tree_of({"n1": NODES["n1"], "lacking": lacking, "cordoned": replace(NODES["n3"], cordoned=True)})
    assert told(tree) == [["b1"], ["b1/r1"], ["b1/r1/n1"]]
    assert told(tree_of({})) == [[], [], []]


def test_a_flavor_has_the_nodes_with_all_its_labels() -> None:
    """Those that it selects and those that it declares; a flavor that says nothing has all of them."""
    [flavor] = graph_of().flavors
    assert belongs_to(flavor, NODES["n1"])
    both = replace(flavor, nodes=(("model", "h100"),), labels=(("pool", "p"),))
    for labels, is_of_it in [({"model": "h100", "pool": "p"}, True), ({"model": "h100"}, False), ({"pool": "p"}, False)]:
        assert belongs_to(both, machine("b/r", 1, **labels)) == is_of_it
        assert not belongs_to(both, machine("b/r", 1, cordoned=True, **labels))


def test_a_flavor_without_a_topology_has_no_domains() -> None:
    """Its pods get no places, whatever nodes there are."""
    assert domain_trees(graph_of(POLICY.replace("  placed in fabric\n", "")), NODES) == (None,)


@given(paths=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["r", "s"])), max_size=8), reverse=st.booleans())
def test_the_order_of_nodes_does_not_matter(paths: list[tuple[str, str]], reverse: bool) -> None:
    """Each node is in one lowest domain, numbers stand in the order of paths, and the order of the facts changes nothing."""
    nodes = {f"n{number}": machine("/".join(path), 1) for number, path in enumerate(paths)}
    [topology], [flavor] = graph_of().topologies, graph_of().flavors
    tree = domain_tree(topology, flavor, nodes)
    assert tree == domain_tree(topology, flavor, {name: nodes[name] for name in sorted(nodes, reverse=reverse)})
    assert sorted(name for leaf in tree.lowest for name in tree.domains[leaf].machines) == sorted(nodes)
    for level in tree.levels:
        paths_of_level = [tree.domains[domain].path for domain in level]
        assert paths_of_level == sorted(set(paths_of_level))
