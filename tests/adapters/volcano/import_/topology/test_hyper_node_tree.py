"""HyperNodes that are no tree are refused by name; in a tree each node has one HyperNode for each tier."""

import pytest
from gpol.adapters.volcano.import_.topology import hyper_node_tree

from ...topology_objects import by_name, fabric, hyper_node, member, node
from ...volcano_objects import Json, facts, problems, queue

NODES = by_name("Node", "n1", "n2")


def domains(*objects: Json) -> dict[str, list[str]]:
    """The HyperNode of each tier by node, from the highest tier down."""
    added = [fact for fact in facts(queue(), *objects) if fact["kind"] == "NodeAdded"]
    found = {}
    for fact in added:
        of_tiers = {key: value for key, value in fact["labels"].items() if key.startswith("gpol.dev/hypernode-tier-")}
        found[fact["node"]] = [of_tiers[key] for key in sorted(of_tiers, key=lambda key: -int(key.rpartition("-")[2]))]
    return found


def test_a_node_has_a_hyper_node_of_each_tier() -> None:
    """Its own, and those above it."""
    found = domains(*fabric())
    assert found["a2-1"] == ["a", "a2"]
    assert found["b1-0"] == ["b", "b1"]
    assert len(found) == 8


def test_members_by_pattern_and_by_label() -> None:
    """They are looked for among the nodes of the dump; several ways to name a node make it a member once."""
    by_label = member("Node", labelMatch={"matchLabels": {"rack": "r1"}})
    by_test = member("Node", labelMatch={"matchExpressions": [{"key": "rack", "operator": "NotIn", "values": ["r1"]}]})
    pattern = member("Node", regexMatch={"pattern": "^x[0-9]$"})
    objects = [hyper_node("s", 1, by_label, pattern), hyper_node("t", 1, by_test)]
    assert domains(*objects, node("x1", rack="r1"), node("y1", rack="r1"), node("y2", rack="r2"), node("y3")) == {
        "x1": ["s"],
        "y1": ["s"],
        "y2": ["t"],
        "y3": ["t"],
    }


def test_a_branch_without_some_tier_has_the_widest_below_it() -> None:
    """Pods that may go up to tier 2 stand in a HyperNode of tier 2 or lower: here one of tier 1, alone or directly in tier 3."""
    objects = [
        hyper_node("top", 3, *by_name("HyperNode", "mid", "low")),
        hyper_node("mid", 2, *by_name("HyperNode", "deep")),
        *(hyper_node(name, 1, *by_name("Node", f"n-{name}")) for name in ("low", "deep", "lone")),
    ]
    nodes = [node(f"n-{name}") for name in ("low", "deep", "lone")]
    assert domains(*objects, *nodes) == {"n-low": ["top", "low", "low"], "n-deep": ["top", "mid", "deep"], "n-lone": ["lone"] * 3}


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        (
            [hyper_node("s", 2, *by_name("HyperNode", "t"))],
            "HyperNode s: spec.members[0].selector: names HyperNode t, which is not there; "
            "add it to the dump, or take it out of the members",
        ),
        (
            [hyper_node("s", 1, *by_name("Node", "n1", "gone"))],
            "HyperNode s: spec.members[1].selector: names node gone, which is not there; "
            "add the Node to the dump, or take it out of the members",
        ),
        (
            [hyper_node(name, 2, *by_name("HyperNode", "low")) for name in ("s", "t")] + [hyper_node("low", 1, *NODES)],
            "HyperNode t: spec.members[0].selector: names HyperNode low, which is a member of s, too; let it be a member of one of them",
        ),
        (
            [hyper_node("s", 1, *NODES), hyper_node("t", 1, member("Node", regexMatch={"pattern": "2$"}))],
            "HyperNode t: spec.members[0].selector: has node n2, which is a member of s, too; "
            "let each node be a member of one HyperNode; those above that one have it as well",
        ),
        (
            [hyper_node("s", 1, *by_name("HyperNode", "t")), hyper_node("t", 1, *NODES)],
            "HyperNode s: spec.tier: is 1, and that of its member t is 1; let it be higher than those of its members",
        ),
        (
            [hyper_node(name, tier, *by_name("HyperNode", of)) for name, tier, of in (("s", 1, "u"), ("t", 2, "s"), ("u", 3, "t"))],
            "HyperNode s: spec.members: goes round in a circle, each in the next: s -> t -> u -> s; take one of them out of the members",
        ),
        (
            [hyper_node("s", 1, *by_name("HyperNode", "s"))],
            "HyperNode s: spec.members: goes round in a circle, each in the next: s -> s; take one of them out of the members",
        ),
        (
            [hyper_node("s", 2, *by_name("HyperNode", "t"), *by_name("Node", "n2")), hyper_node("t", 1, *by_name("Node", "n1"))],
            "HyperNode s: spec.members: has nodes and is of tier 2, and the lowest tier is 1: these nodes are in none of that tier; "
            "put them into HyperNodes of tier 1, and make those its members",
        ),
    ],
)
def test_what_is_no_tree_is_refused(objects: list[Json], problem: str) -> None:
    """With its place, its cause and its remedy."""
    assert problems(queue(), *objects, node("n1"), node("n2")) == [problem]


def test_a_long_circle_is_told_shortly() -> None:
    """Its first HyperNodes are named; a long one takes no longer than others."""
    names = [f"s{number:04}" for number in range(2_000)]
    objects = [hyper_node(name, 1, *by_name("HyperNode", names[number - 1])) for number, name in enumerate(names)]
    [told] = problems(queue(), *objects, node("n1"))
    assert told.startswith("HyperNode s0000: spec.members: goes round in a circle, each in the next: s0000 -> s0001 -> ")
    assert "s0007 -> ... -> s0000;" in told


def test_finding_nodes_takes_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may write HyperNodes could else let an import run for days. A selector with a value only looks at the nodes that have it."""
    monkeypatch.setattr(hyper_node_tree, "MOST_WORK", 100)
    nodes = [node("n1", rack="a"), node("n2", rack="b"), node("n3")]
    by_value = [member("Node", labelMatch={"matchLabels": {"rack": rack}}) for rack in "ab"]
    without = member("Node", labelMatch={"matchExpressions": [{"key": "rack", "operator": "DoesNotExist"}]})
    assert domains(hyper_node("s", 1, *by_value, without), *nodes) == {"n1": ["s"], "n2": ["s"], "n3": ["s"]}
    why = (
        "comes when finding the nodes of HyperNodes by patterns and labels has taken too much already; "
        "name nodes by labelMatch with a value that few of them have, or by exactMatch"
    )
    for last in (without, member("Node", regexMatch={"pattern": "3$"})):
        told = problems(queue(), hyper_node("s", 1, *by_value, without, last), *nodes)
        assert told == [f"HyperNode s: spec.members[3].selector: {why}"]
