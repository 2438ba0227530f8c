"""The facts that the steps of a test say: nodes, and pods with the places they ask for."""

import pytest
from gpol.dsl.syntax import tree
from gpol.dsl.syntax.parser import parse
from gpol.engine.event_parts import PodSet, Slice, Taint
from gpol.engine.facts import Fact, NodeAdded, NodeChanged, NodeRemoved, WorkloadSubmitted
from gpol.sim.drive.step_facts import fact_of


def fact(step: str, *nodes: str) -> Fact:
    """The fact of a step at one second, where these nodes are there."""
    parsed = parse(f'test "t" {{\n  at 1s {step}\n}}\n', "t.gpol")
    assert parsed.diagnostics == ()
    [item] = parsed.tree.items
    assert isinstance(item, tree.PolicyTest)
    [at] = item.steps
    assert isinstance(at, tree.At)
    assert at.action is not None
    return fact_of(at.action, 1_000_000, nodes)


def test_groups_of_pods_keep_their_order() -> None:
    """The sets of a group stand where the group does, each with its name."""
    submitted = fact('submit w by q { 1 gpu, group first { 4 cpu within rack, gang of 8 x 8 gpu within rack }, group "g", 2 gpu }')
    assert isinstance(submitted, WorkloadSubmitted)
    assert submitted.group == "g"
    assert [(each.name, each.group, each.count, each.within) for each in submitted.pod_sets] == [
        ("main", "", 1, ""),
        ("pods-2", "first", 1, "rack"),
        ("pods-3", "first", 8, "rack"),
        ("pods-4", "", 1, ""),
    ]


FULL = 'node n1 { 8 gpu and 64 cpu, label rack = "r1", taint maintenance NoSchedule, taint pool = "x" NoExecute, cordoned }'


def test_a_node_that_is_new_is_added() -> None:
    """With all that the step says of it."""
    assert fact(FULL, "n2") == NodeAdded(
        time=1_000_000,
        node="n1",
        labels={"rack": "r1"},
        capacity={"gpu": 8000, "cpu": 64_000},
        taints=(Taint(key="maintenance", effect="NoSchedule"), Taint(key="pool", value="x", effect="NoExecute")),
        cordoned=True,
    )


def test_a_node_that_is_there_is_changed() -> None:
    """What the step does not say is no longer so."""
    assert fact("node n1 { 4 gpu, 2 cpu }", "n1") == NodeChanged(time=1_000_000, node="n1", capacity={"gpu": 4000, "cpu": 2000})


def test_a_node_is_removed() -> None:
    """By its name."""
    assert fact('remove node "n.1"', "n.1") == NodeRemoved(time=1_000_000, node="n.1")


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        ("gang of 16 x 8 gpu within rack", {"count": 16, "requests": {"gpu": 8000}, "within": "rack"}),
        ('1 gpu on h100 near "a/b"', {"requests": {"gpu": 1000}, "flavors": ("h100",), "near": "a/b"}),
        ("1 gpu anywhere", {"requests": {"gpu": 1000}, "anywhere": True}),
        (
            "gang of 16 x 1 gpu within block in slices of 8 within rack in slices of 4 within host",
            {
                "count": 16,
                "requests": {"gpu": 1000},
                "within": "block",
                "slices": (Slice(level="rack", size=8), Slice(level="host", size=4)),
            },
        ),
        ("1 gpu", {"requests": {"gpu": 1000}}),
    ],
)
def test_pods_ask_for_places(pods: str, said: dict[str, object]) -> None:
    """Each wish is a field of the pod set; without one nothing is said of places."""
    submitted = fact(f"submit w by q {{ {pods} }}")
    assert isinstance(submitted, WorkloadSubmitted)
    assert submitted.pod_sets == (PodSet.model_validate(said),)
