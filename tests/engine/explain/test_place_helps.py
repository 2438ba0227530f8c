"""What would give places on empty nodes: whatever is named helps when it is done, and what does not help is not named."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.explain.standing import NodesLacking, PlaceHelp
from gpol.engine.explain.wording import impediment_told

POLICY = """policy "p" { use test.bare }
topology fabric {
  level block from label "block"
  level rack from label "rack"
  level host from node
}
flavor a {
  gpu from nodes where pool = "a"
  placed in fabric
}
queue q {
  owns 64 gpu on a
}
"""
SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
TOLERANT = {"tolerations": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]}


def add(c: Any, name: str, rack: str, gpu: str = "8", taints: tuple[dict[str, str], ...] = (), **capacity: str) -> None:
    """A node of block b."""
    labels = {"pool": "a", "block": "b", "rack": rack, "name": name}
    c.fact("NodeAdded", node=name, labels=labels, capacity={"gpu": gpu, **capacity}, taints=list(taints))


def never(c: Any, name: str, **pods: Any) -> tuple[PlaceHelp, str]:
    """What would help a workload that can never run, and the remedy in words."""
    c.submit(name, "q", sets=[{"count": 2, "requests": {"gpu": "8"}, **pods}])
    [told] = c.standing(name).never
    assert told.kind == "unplaced"
    return told.helps, impediment_told(told)[1]


def runs(c: Any, name: str, **pods: Any) -> bool:
    """Whether a workload runs at once."""
    return f"run {name}" in c.submit(name, "q", sets=[{"count": 2, "requests": {"gpu": "8"}, **pods}])


@pytest.mark.parametrize(
    ("asked", "instead", "helps", "told"),
    [
        (
            {"within": "host"},
            {"within": "rack"},
            PlaceHelp(within="rack", pods=(1,)),
            "let pods stand within one rack, submit 1 pod",
        ),
        (
            {"within": "rack", "count": 3},
            {"within": "block", "count": 3},
            PlaceHelp(within="block", pods=(2,)),
            "let pods stand within one block, submit 2 pods",
        ),
        (
            {"within": "rack", "slices": [{"level": "host", "size": 2}]},
            {"within": "rack"},
            PlaceHelp(no_slices=True),
            "ask for no slices",
        ),
        ({"node_selector": {"name": "n9"}}, {}, PlaceHelp(other_nodes=True), "choose other nodes"),
        ({"requests": {"gpu": "8", "cpu": "4"}}, {}, PlaceHelp(unsaid=("cpu",), unsaid_alone=True), "let nodes say how much cpu they have"),
        (
            {"count": 3, "slices": [{"level": "host", "size": 2}], "requests": {"gpu": "4"}},
            {"requests": {"gpu": "4"}, "count": 4},
            None,
            "",
        ),
    ],
)
def test_what_is_named_helps(
    cluster: Callable[[str], Any], asked: dict[str, Any], instead: dict[str, Any], helps: PlaceHelp | None, told: str
) -> None:
    """Another level, number, choice of nodes: whoever does so runs."""
    c = cluster(POLICY.replace("use test.bare", "use test.bare\n  ignore cpu\n"))
    for name, rack in (("n1", "r1"), ("n2", "r1"), ("n3", "r2")):
        add(c, name, rack)
    found, remedy = never(c, "w", **asked)
    if helps is None:
        assert (found.pods, found.no_slices) == ((2, 4), True)
    else:
        assert found == helps
        assert remedy.startswith(told)
    assert runs(c, "v", **instead)


def test_a_wider_level_is_named_only_if_there_is_one_that_helps(cluster: Callable[[str], Any]) -> None:
    """None is wider than the widest, and none helps where nodes have too little of something; neither does a taint."""
    c = cluster(POLICY.replace("use test.bare", "use test.bare\n  ignore cpu\n"))
    add(c, "n1", "r1", cpu="4")
    add(c, "n2", "r1", cpu="4")
    add(c, "n3", "r2", "4", cpu="4", taints=(SPOT,))
    add(c, "n4", "r2", "4", cpu="4")
    found, remedy = never(c, "widest", within="block", count=3)
    assert (found.within, found.apart, found.tolerating) == ("", False, ())
    assert remedy == "submit 2 pods, or add nodes to a"
    found, remedy = never(c, "cpu", within="rack", requests={"gpu": "1", "cpu": "8"})
    assert (found.within, found.apart, found.tolerating, found.pods) == ("", False, (), ())
    assert remedy == "let a pod ask for at most 4 cpu, or add nodes to a"


def test_taints_that_are_in_the_way(cluster: Callable[[str], Any]) -> None:
    """One is named where it is enough, two where both have to be tolerated, none where that helps nobody."""
    c = cluster(POLICY)
    add(c, "n1", "r1")
    add(c, "n2", "r1", taints=(SPOT,))
    found, remedy = never(c, "w")
    assert found.tolerating == ("spot=true:NoSchedule",)
    assert remedy == "tolerate taint spot=true:NoSchedule, submit 1 pod, or add nodes to a"
    add(c, "n3", "r2", taints=({"key": "old", "effect": "NoSchedule"},))
    found, remedy = never(c, "both", count=3)
    assert found.tolerating == ("old:NoSchedule", "spot=true:NoSchedule")
    assert never(c, "more", count=3, within="rack")[0].tolerating == ()
    assert runs(c, "v", **TOLERANT)


def test_what_a_pod_may_ask_for_at_most(cluster: Callable[[str], Any]) -> None:
    """Where no node has as much of something that the policy ignores."""
    c = cluster(POLICY.replace("use test.bare", "use test.bare\n  ignore cpu\n"))
    add(c, "n1", "r1", cpu="4")
    add(c, "n2", "r1", cpu="6")
    found, remedy = never(c, "w", count=1, requests={"gpu": "8", "cpu": "8"})
    assert [(each.name, each.value) for each in found.at_most] == [("cpu", "6")]
    assert remedy == "let a pod ask for at most 6 cpu, or add nodes to a"
    assert runs(c, "v", count=1, requests={"gpu": "8", "cpu": "6"})


def test_nodes_without_a_label(cluster: Callable[[str], Any]) -> None:
    """The message says how many nodes lack which label, and cordoned ones are named only where there are some."""
    c = cluster(POLICY)
    c.fact("NodeAdded", node="n1", labels={"pool": "a", "rack": "r"}, capacity={"gpu": "16"})
    found, remedy = never(c, "w")
    assert found == PlaceHelp(lacking=(NodesLacking(level="block", label="block", nodes=1),))
    assert remedy == "give nodes their label `block`, or add nodes that have the labels of a and are in a host"
    [told] = c.standing("w").never
    assert impediment_told(told)[0].endswith("no node of a that takes pods is in any host; 1 node of a has no label `block` (level block)")
    c.fact("NodeChanged", node="n1", labels={"pool": "a", "rack": "r", "block": "b"}, capacity={"gpu": "16"}, cordoned=True)
    found, remedy = never(c, "v")
    assert remedy == "let those take pods that are cordoned, or add nodes that have the labels of a and are in a host"
