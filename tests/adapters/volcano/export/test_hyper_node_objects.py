"""Topologies as HyperNodes: what is exported means in Volcano what it means here, and comes back as it was."""

from collections.abc import Mapping
from typing import Any

import pytest
from gpol.adapters.kueue.problems import ExportRefused
from gpol.adapters.volcano.export.export_to_volcano import VolcanoExport, export_to_volcano
from gpol.adapters.volcano.export.hyper_node_objects import nodes_after
from gpol.dsl import compile_policy
from gpol.engine.facts import Fact, NodeAdded, NodeChanged, NodeRemoved
from hypothesis import given
from hypothesis import strategies as st

from ..topology_objects import by_name, fabric, hyper_node, node
from ..volcano_objects import GPU, Json, graph, imported, queue

POLICY = """\
policy "p" { use gpol.reclaim }
topology fabric {
  level block from label "site/block"
  level rack from label "site/rack"
  level host from node
}
flavor h100 {
  gpu from nodes where gpu.product = "H100"
  placed in fabric
}
queue q { owns 8 gpu }
"""

OTHER = """\
topology other {
  level block from label "site/zone"
  level host from node
}
flavor odd {
  cpu from nodes where old = "yes"
  placed in other
}
"""


def added(name: str, block: str, rack: str, product: str = "H100", **others: Any) -> NodeAdded:
    """A node of POLICY."""
    labels = {"site/block": block, "site/rack": rack, "gpu.product": product}
    return NodeAdded(time=0, node=name, labels=labels, capacity={"gpu": 8}, **others)


def exported(policy: str, *facts: Fact) -> VolcanoExport:
    """What an export makes of a policy, where facts say which nodes there are."""
    made = compile_policy(policy, "p.gpol")
    return export_to_volcano(made, nodes=nodes_after(facts, made))


def hyper_nodes(export: VolcanoExport) -> list[Json]:
    """The HyperNodes of an export, without what each has."""
    return [{"name": item["metadata"]["name"], **item["spec"]} for item in export.objects if item["kind"] == "HyperNode"]


def by_labels(**labels: str) -> Json:
    """A member by the labels of a node of POLICY."""
    said = {"gpu.product": "H100", **{f"site/{level}": value for level, value in labels.items()}}
    return {"type": "Node", "selector": {"labelMatch": {"matchLabels": said}}}


def refused(policy: str, *facts: Fact) -> list[str]:
    """Why an export is refused."""
    with pytest.raises(ExportRefused) as caught:
        exported(policy, *facts)
    return [str(problem) for problem in caught.value.problems]


def test_domains_become_hyper_nodes() -> None:
    """Those of the lowest level have the nodes with their labels, the others those below; racks of one name are told apart."""
    made = exported(POLICY, added("n1", "a", "r1"), added("n2", "a", "r1", cordoned=True), added("n3", "b", "r1"), added("n4", "b", "R_2"))
    assert hyper_nodes(made) == [
        {"name": "rack-a-r1", "tier": 1, "tierName": "rack", "members": [by_labels(block="a", rack="r1")]},
        {"name": "rack-r-2", "tier": 1, "tierName": "rack", "members": [by_labels(block="b", rack="R_2")]},
        {"name": "rack-b-r1", "tier": 1, "tierName": "rack", "members": [by_labels(block="b", rack="r1")]},
        {"name": "block-a", "tier": 2, "tierName": "block", "members": by_name("HyperNode", "rack-a-r1")},
        {"name": "block-b", "tier": 2, "tierName": "block", "members": by_name("HyperNode", "rack-r-2", "rack-b-r1")},
    ]
    notes = [str(note) for note in made.notes]
    assert "topology fabric: level: jobs name levels by their tiers in Volcano, or by tierName: block is tier 2, rack is tier 1" in notes
    assert "topology fabric: becomes HyperNodes of the domains that there are now: export it again when there are others" in notes
    assert any(
        note.startswith("flavor h100: placed: becomes HyperNodes, by which the plugin network-topology-aware goes") for note in notes
    )


def test_a_cordoned_node_is_where_it_is() -> None:
    """Its domain is there, also if it is alone in it."""
    assert [each["name"] for each in hyper_nodes(exported(POLICY, added("n", "a", "r", cordoned=True)))] == ["rack-r", "block-a"]


def test_flavors_of_one_topology_share_its_hyper_nodes() -> None:
    """Each adds its nodes; nodes of no flavor are in none."""
    both = POLICY.replace("queue q", 'flavor a100 {\n  cpu from nodes where gpu.product = "A100"\n  placed in fabric\n}\nqueue q')
    made = exported(both, added("n1", "a", "r"), added("n2", "a", "r", "A100"), added("n3", "a", "s", "B200"))
    rack, _ = hyper_nodes(made)
    a100 = {"gpu.product": "A100", "site/block": "a", "site/rack": "r"}
    assert rack["members"] == [{"type": "Node", "selector": {"labelMatch": {"matchLabels": a100}}}, by_labels(block="a", rack="r")]


def test_without_nodes_an_export_is_refused() -> None:
    """A policy does not say which domains there are. A guard of quotas needs none, and nodes without levels above need no HyperNodes."""
    made = compile_policy(POLICY, "p.gpol")
    with pytest.raises(ExportRefused) as caught:
        export_to_volcano(made)
    assert [str(problem) for problem in caught.value.problems] == [
        "p.gpol:7: flavor h100: placed: gives places in fabric, and a policy does not say which domains there are of block, rack; "
        "give the nodes with --nodes, as facts or as a CSV file"
    ]
    alone = export_to_volcano(made, quotas_alone=True)
    assert [item["kind"] for item in alone.objects] == ["Queue"]
    assert "flavor h100: placed: is left out" in "\n".join(map(str, alone.notes))
    plain = export_to_volcano(compile_policy(POLICY.replace("placed in fabric", "placed on nodes"), "p.gpol"))
    assert [item["kind"] for item in plain.objects] == ["Queue"]


def test_a_topology_without_nodes() -> None:
    """Noted: there are no HyperNodes of it."""
    made = exported(POLICY, added("n", "a", "r", "A100"))
    assert hyper_nodes(made) == []
    assert "topology fabric: has no nodes: there are no HyperNodes of it" in [str(note) for note in made.notes]


def test_what_volcano_cannot_have_is_refused() -> None:
    """Labels that no node has there, and a level that is of two tiers."""
    assert refused(POLICY, added("n", "a b", "r")) == [
        "p.gpol:2: topology fabric: level: goes by the label site/block = `a b`, which Kubernetes does not allow; "
        "use labels that nodes of Kubernetes can have"
    ]
    assert refused(f"{POLICY}{OTHER}", added("n", "a", "r")) == [
        "p.gpol:12: topology other: level: has level block as tier 1, and another topology as tier 2; "
        "call one of the levels otherwise: a tierName names one tier"
    ]


def test_nodes_after_facts() -> None:
    """The last fact about each node counts, and all others count for nothing."""
    made = compile_policy(POLICY, "p.gpol")
    moved = NodeChanged(time=1, node="n1", labels={"site/rack": "x"}, capacity={})
    known = nodes_after([added("n1", "a", "r"), added("n2", "a", "r"), moved, NodeRemoved(time=2, node="n2")], made)
    assert {name: each.labels for name, each in known.items()} == {"n1": {"site/rack": "x"}}
    with pytest.raises(ValueError, match="no node `n2` was added"):
        nodes_after([NodeRemoved(time=2, node="n2")], made)
    both = NodeAdded(time=0, node="n", labels={"gpu.product": "H100", "old": "yes"}, capacity={})
    with pytest.raises(ValueError, match="node `n` matches the flavors h100 and odd"):
        nodes_after([both], compile_policy(f"{POLICY}{OTHER}", "p.gpol"))


# --- there and back


def back(objects: list[Json]) -> list[Json]:
    """The HyperNodes of an export of what was imported."""
    made = imported(queue(), *objects)
    policy = graph(queue(), *objects)
    return [item for item in export_to_volcano(policy, nodes=nodes_after(made.facts, policy)).objects if item["kind"] == "HyperNode"]


def normal(objects: list[Json]) -> Mapping[str, Json]:
    """HyperNodes by name, their members in order of name."""
    specs = {item["metadata"]["name"]: item["spec"] for item in objects if item["kind"] == "HyperNode"}
    return {name: {**spec, "members": sorted(spec["members"], key=str)} for name, spec in specs.items()}


def test_hyper_nodes_come_back() -> None:
    """With their names, tiers and names of tiers; their nodes are members by name."""
    assert normal(back(fabric())) == normal(fabric())


@st.composite
def trees(draw: st.DrawFn) -> list[Json]:
    """HyperNodes of up to four tiers whose numbers are any, in branches that may lack some, with their nodes."""
    tiers = sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=4)))
    leaves = [f"l{number}" for number in range(draw(st.integers(1, 5)))]
    nodes = {leaf: [f"{leaf}-{number}" for number in range(draw(st.integers(1, 2)))] for leaf in leaves}
    objects = [hyper_node(leaf, tiers[0], *by_name("Node", *nodes[leaf])) for leaf in leaves]
    objects += [node(name) for names in nodes.values() for name in names]
    open_ones = leaves
    for tier in tiers[1:]:
        parents: dict[str, list[str]] = {}
        for each in open_ones:
            parents.setdefault(draw(st.sampled_from(["", f"t{tier}a", f"t{tier}b"])), []).append(each)
        lone = parents.pop("", [])
        objects += [hyper_node(name, tier, *by_name("HyperNode", *below)) for name, below in parents.items()]
        open_ones = [*lone, *parents]
    return draw(st.permutations(objects))


@given(trees())
def test_every_tree_comes_back(objects: list[Json]) -> None:
    """Also where branches lack some tier: no HyperNode is made up or lost."""
    assert normal(back(objects)) == normal(objects)


def test_nothing_of_the_fabric_is_lost_in_amounts() -> None:
    """The flavor of what was imported has what its nodes have."""
    made = imported(queue(), *fabric())
    assert sum(fact.capacity[GPU] for fact in made.facts if isinstance(fact, NodeAdded)) == 64
