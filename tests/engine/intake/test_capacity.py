"""What exists: nodes, and the capacity of flavors that comes from them."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.dsl import compile_policy
from gpol.engine.event_parts import Taint
from gpol.engine.facts import NodeAdded, NodeChanged, NodeRemoved
from gpol.engine.intake.capacity import capacity, node_sizes, take_in
from gpol.engine.nodes import conditions
from gpol.engine.nodes.inventory import Inventory, Machine
from hypothesis import given
from hypothesis import strategies as st
from played import PROFILES

HEADER = 'policy "p" { use gpol.fair }\n'
COUNTED = 'flavor a { gpu from nodes where model = "a" }\nqueue q { owns 4 gpu on a }\n'
PLACED = COUNTED.replace("flavor a { gpu", "flavor a {\n  gpu").replace(' = "a" }', ' = "a"\n  placed on nodes\n}')
A = {"model": "a"}


def test_what_a_node_fact_says_is_kept() -> None:
    """Labels, amounts, taints and whether it takes pods, until the next fact about it; its flavor is the one that selects it."""
    graph, machines = compile_policy(HEADER + COUNTED, "t.gpol", PROFILES), Inventory()
    spot = Taint(key="pool", value="spot", effect="NoSchedule")
    take_in(NodeAdded(time=0, node="n", labels=A, capacity={"gpu": 4}, taints=(spot,), cordoned=True), graph, machines, {})
    assert machines == {"n": Machine(A, {"gpu": 4}, 0, (conditions.Taint("pool", "spot", "NoSchedule"),), True)}
    take_in(NodeChanged(time=0, node="n", labels={}, capacity={"gpu": 5}), graph, machines, {})
    assert machines == {"n": Machine({}, {"gpu": 5}, -1, (), False)}
    take_in(NodeRemoved(time=0, node="n"), graph, machines, {})
    assert machines == {}


@pytest.mark.parametrize(("policy", "counted"), [(COUNTED, 3), (PLACED, 7)], ids=["an amount", "placed"])
def test_a_cordoned_node(policy: str, counted: int) -> None:
    """It counts where pods get places, as those who run there do; elsewhere nobody knows who runs there, and it counts as gone."""
    graph = compile_policy(HEADER + policy, "t.gpol", PROFILES)
    machines = Inventory({"n1": Machine(A, {"gpu": 3}, 0), "n2": Machine(A, {"gpu": 4}, 0, cordoned=True)})
    assert capacity(graph, machines, {}) == [counted]
    assert node_sizes(graph, machines) == (({"gpu": 4},),), "the largest node, as if it took pods"


KINDS = (
    HEADER
    + """flavor a {
  gpu, cpu from nodes where model = "a"
}
flavor b {
  cpu, gpu from nodes where model = "b"
  placed on nodes
}
queue q { owns nothing }
"""
)

told = st.tuples(
    st.sampled_from(["n1", "n2", "n3", "n4", "n5"]),
    st.none()
    | st.builds(
        dict,
        labels=st.sampled_from([{"model": "a"}, {"model": "b"}, {}]),
        capacity=st.dictionaries(st.sampled_from(["gpu", "cpu", "disk"]), st.integers(0, 3)),
        cordoned=st.booleans(),
    ),
)


@given(st.lists(told, max_size=25))
def test_what_exists_is_the_sum_of_all_nodes(history: list[tuple[str, dict[str, Any] | None]]) -> None:
    """What is kept as nodes come, change and go is what summing up those who are there gives: amounts, and the largest sizes."""
    graph, machines = compile_policy(KINDS, "t.gpol", PROFILES), Inventory()
    for node, said in history:
        if said is not None:
            take_in((NodeChanged if node in machines else NodeAdded)(time=0, node=node, **said), graph, machines, {})
        elif node in machines:
            take_in(NodeRemoved(time=0, node=node), graph, machines, {})
        for each in (machines, machines.copy()):
            nodes = list(each.values())
            sums = []
            for slot in graph.slots:
                counted = [one for one in nodes if one.flavor == slot.flavor and (slot.flavor == 1 or not one.cordoned)]
                sums.append(sum(one.capacity.get(slot.resource, 0) for one in counted))
            assert capacity(graph, each, {}) == sums
            for flavor, largest in enumerate(node_sizes(graph, each)):
                resources = [resource for resource, _ in graph.flavors[flavor].capacity]
                sizes = {tuple(one.capacity.get(name, 0) for name in resources) for one in nodes if one.flavor == flavor}
                kept = {size for size in sizes if not any(size != other and all(map(int.__le__, size, other)) for other in sizes)}
                assert [tuple(size[name] for name in resources) for size in largest] == sorted(kept, reverse=True)


def test_a_copy_goes_its_own_way() -> None:
    """What comes to one of two inventories is not in the other one."""
    one = Inventory({"n": Machine(A, {"gpu": 3}, 0)})
    other = one.copy()
    other["m"] = Machine(A, {"gpu": 4}, 0)
    del other["n"]
    assert (dict(one), dict(other)) == ({"n": Machine(A, {"gpu": 3}, 0)}, {"m": Machine(A, {"gpu": 4}, 0)})
    assert (one.totals(0).total, other.totals(0).total) == ({"gpu": 3}, {"gpu": 4})


def test_nobody_is_placed_on_a_cordoned_node(cluster: Callable[[str], Any]) -> None:
    """Its amounts count, and it takes no pod; whoever runs there goes on."""
    c = cluster(HEADER + PLACED)
    c.fact("NodeAdded", node="n1", labels=A, capacity={"gpu": "2", "pods": 9})
    assert c.submit("v", "q", "2") == ["run v"]
    c.fact("NodeChanged", node="n1", labels=A, capacity={"gpu": "2", "pods": 9}, cordoned=True)
    assert c.running() == ["v"]
    c.fact("NodeAdded", node="n2", labels=A, capacity={"gpu": "1", "pods": 9})
    assert c.submit("w", "q", "1") == ["run w"]
    assert [place.domain for place in c.workload("w").assignments[0].places] == [("n2",)]
    c.finish("v")
    assert c.submit("x", "q", "2") == []
    assert c.fact("NodeChanged", node="n1", labels=A, capacity={"gpu": "2", "pods": 9}) == ["run x"]
