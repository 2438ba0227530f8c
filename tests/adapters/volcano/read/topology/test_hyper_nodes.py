"""HyperNodes as they are read: what is of no effect in Volcano is noted, and what its webhook refuses is refused."""

from typing import Any

import pytest
from gpol.adapters.kueue.problems import Findings, ImportRefused
from gpol.adapters.kueue.read.kinds import Raw
from gpol.adapters.volcano.read.topology.network_objects import HyperNode
from gpol.adapters.volcano.read.volcano_kinds import read_volcano
from hypothesis import given
from hypothesis import strategies as st

from ...topology_objects import by_name, hyper_node, member, node, pod
from ...volcano_objects import Json, imported, pod_group, queue


def read(said: Json) -> tuple[list[HyperNode], Findings]:
    """A HyperNode, and what was found."""
    found = Findings()
    return read_volcano([Raw(said)], found).hyper_nodes, found


def test_members_of_all_kinds() -> None:
    """By name, by a pattern and by labels; the tier and its name."""
    labels = member("Node", labelMatch={"matchLabels": {"rack": "r1"}, "matchExpressions": [{"key": "gpu", "operator": "Exists"}]})
    said = hyper_node("s", 1, *by_name("Node", "n1"), member("Node", regexMatch={"pattern": "^n"}), labels, tierName="leaf")
    [made], found = read(said)
    assert (made.name, made.tier, made.tier_name, found.problems, found.notes()) == ("s", 1, "leaf", [], [])
    first, second, third = made.members
    assert (first.is_node, first.name, first.place) == (True, "n1", "spec.members[0].selector")
    assert second.pattern is not None
    assert second.pattern.matches("n2")
    assert third.selector is not None
    assert [(each.key, each.operator) for each in third.selector.requirements] == [("rack", "In"), ("gpu", "Exists")]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"members": by_name("Node", "n")}, "spec.tier: is missing; write a whole number, 0 or more"),
        ({"tier": -1, "members": by_name("Node", "n")}, "spec.tier: is -1; write a whole number from 0 to 2147483647"),
        ({"tier": 1}, "spec.members: is empty; name at least one member"),
        (
            {"tier": 1, "members": [{"selector": {"exactMatch": {"name": "n"}}}]},
            "spec.members[0].type: is missing; write Node or HyperNode",
        ),
        ({"tier": 1, "members": [member("Pod", exactMatch={"name": "n"})]}, "spec.members[0].type: is `Pod`; write one of Node, HyperNode"),
        (
            {"tier": 1, "members": [{"type": "Node"}]},
            "spec.members[0].selector: says nothing; say one of exactMatch, regexMatch, labelMatch",
        ),
        (
            {"tier": 1, "members": [member("Node", exactMatch={"name": "n"}, labelMatch={"matchLabels": {"a": "b"}})]},
            "spec.members[0].selector: says exactMatch and labelMatch; say one of exactMatch, regexMatch, labelMatch",
        ),
        (
            {"tier": 1, "members": [member("Node", exactMatch={"name": ""})]},
            "spec.members[0].selector.exactMatch.name: is missing; write a name",
        ),
        (
            {"tier": 1, "members": [member("Node", regexMatch={"pattern": "(?i)n"})]},
            "spec.members[0].selector.regexMatch.pattern: `(?i)n` has flags or names in a group, `(?`, which are not read; "
            "write `(?:` or `(`; "
            "write characters, classes, groups, `|`, `*`, `+`, `?`, `{2,5}`, `^` and `$`, or name the nodes by labelMatch",
        ),
        (
            {"tier": 1, "members": [member("Node", regexMatch={})]},
            "spec.members[0].selector.regexMatch.pattern: is missing; write a pattern for the names of nodes",
        ),
    ],
)
def test_what_is_wrong(said: Json, problem: str) -> None:
    """With its place, its cause and its remedy."""
    _, found = read({**hyper_node("s", 1), "spec": said})
    assert [str(each).removeprefix("HyperNode s: ") for each in found.problems] == [problem]


def test_what_has_no_effect_is_noted() -> None:
    """HyperNodes are members by their names alone, and an empty selector selects nothing."""
    patterns = member("HyperNode", regexMatch={"pattern": "^s"})
    [made], found = read(hyper_node("s", 1, patterns, member("Node", labelMatch={}), *by_name("Node", "n"), color="red"))
    assert [each.name for each in made.members] == ["n"]
    assert [str(note) for note in found.notes()] == [
        "HyperNode s: spec.color: is not imported",
        "HyperNode s: spec.members: has a labelMatch without a condition: as in Volcano, it selects no node",
        "HyperNode s: spec.members: names no HyperNode: as in Volcano, only exactMatch does, and this member is left out",
    ]


def test_nodes_and_pods_are_read_beside_hyper_nodes_alone() -> None:
    """Without them they are of no use. A pod that ended, or that stands nowhere yet, takes no room."""
    others = [node("n"), pod("p", "n", 1, "w"), pod("ended", "n", 1, phase="Succeeded"), pod("nowhere", "", 1)]
    alone, beside = Findings(), Findings()
    without = read_volcano(map(Raw, others), alone)
    made = read_volcano(map(Raw, [*others, hyper_node("s", 1, *by_name("Node", "n"))]), beside)
    assert (without.nodes, without.pods) == ([], [])
    assert {note.text for note in alone.notes()} == {"is of no kind that is imported"}
    assert ([each.name for each in made.nodes], [(each.name, each.group, each.node) for each in made.pods]) == (
        ["n"],
        [("ns/p", "ns/w", "n")],
    )
    assert (beside.problems, beside.notes()) == ([], [])


def test_another_version_is_refused() -> None:
    """A HyperNode of a version that gpol does not know."""
    _, found = read({**hyper_node("s", 1, *by_name("Node", "n")), "apiVersion": "topology.volcano.sh/v2"})
    assert "read the objects as topology.volcano.sh/v1alpha1" in str(found.problems[0])


KEYS = ("type", "selector", "exactMatch", "regexMatch", "labelMatch", "name", "pattern", "matchLabels", "mode", "highestTierName")
WORDS = (*KEYS, "Node", "HyperNode", "hard", "^n", "(", "", 1, -1, True, None)
GARBAGE = st.recursive(
    st.sampled_from(WORDS), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
)


@given(GARBAGE, GARBAGE, GARBAGE)
def test_no_garbage_breaks_an_import(tier: Any, members: Any, topology: Any) -> None:
    """Whatever objects say, an import is done or is refused with what is wrong."""
    said = {**hyper_node("s", 1), "spec": {"tier": tier, "tierName": topology, "members": members}}
    group = pod_group(networkTopology=topology, subGroupPolicy=members)
    good = hyper_node("t", 1, *by_name("Node", "n"))
    for objects in ([said], [good, group], [said, good, group]):
        try:
            imported(queue(), *objects, node("n"))
        except ImportRefused as error:
            assert all(problem.cause and problem.remedy for problem in error.problems)  # noqa: PT017 - either is good
