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
    assert remedy == "uncordon nodes, or add nodes that have the labels of a and are in a host"
    [told] = c.standing("v").never
    assert impediment_told(told)[0].endswith("; 1 node of a is cordoned")


def test_a_label_of_the_flavor_is_named_with_its_value(cluster: Callable[[str], Any]) -> None:
    """Nodes of the flavor need that value, not any."""
    c = cluster(POLICY.replace("  placed in fabric", '  label zone = "z"\n  placed in fabric'))
    add(c, "n1", "r1")
    _, remedy = never(c, "w", count=1)
    assert remedy.startswith('give nodes their label `zone = "z"`, or ')
    labels = {"pool": "a", "block": "b", "rack": "r1", "name": "n1", "zone": "z"}
    assert "run w" in c.fact("NodeChanged", node="n1", labels=labels, capacity={"gpu": "8"})


def test_pod_sets_with_the_same_trouble(cluster: Callable[[str], Any]) -> None:
    """What helps one pod set is found though the other one has trouble, too."""
    c = cluster(POLICY)
    add(c, "n1", "r1", taints=(SPOT,))
    add(c, "n2", "r1", taints=(SPOT,))
    one = {"requests": {"gpu": "8"}}
    c.submit("w", "q", sets=[{"name": "driver", **one}, {"name": "worker", **one}])
    [told] = c.standing("w").never
    assert (told.places.pod_sets, told.helps.tolerating) == (("driver",), ("spot=true:NoSchedule",))
    assert "run v" in c.submit("v", "q", sets=[{"name": "driver", **one, **TOLERANT}, {"name": "worker", **one, **TOLERANT}])


def test_pod_sets_find_places_beside_one_another(cluster: Callable[[str], Any]) -> None:
    """Where one pod set has places, what helps the other one has to leave them to it."""
    c = cluster(POLICY)
    add(c, "n1", "r1", taints=(SPOT,))
    add(c, "n2", "r1")
    c.fact("NodeAdded", node="n3", labels={"pool": "a", "block": "b", "rack": "r2", "name": "n3"}, capacity={"gpu": "4"})
    one = {"requests": {"gpu": "8"}}
    sets = [{"name": "driver", "node_selector": {"name": "n2"}, **one}, {"name": "worker", "node_selector": {"rack": "r1"}, **one}]
    c.submit("w", "q", sets=sets)
    [told] = c.standing("w").never
    assert {each.cause for each in told.places.kept_off} == {"selector", "taint", "resource"}
    assert (told.places.pod_sets, told.helps.tolerating, told.helps.other_nodes) == (("worker",), ("spot=true:NoSchedule",), False)


def test_many_taints_are_tried_together(cluster: Callable[[str], Any]) -> None:
    """Six nodes with a taint each: all have to be tolerated."""
    c = cluster(POLICY)
    for number in range(6):
        add(c, f"n{number}", "r1", taints=({"key": f"t{number}", "effect": "NoSchedule"},))
    found, _ = never(c, "w", count=6)
    assert found.tolerating == tuple(f"t{number}:NoSchedule" for number in range(6))


def test_a_resource_that_the_policy_does_not_know(cluster: Callable[[str], Any]) -> None:
    """Nodes have to say it, and the policy has to ignore it: one alone does not help."""
    c = cluster(POLICY.replace("use test.bare", "use test.bare\n  ignore cpu\n"))
    add(c, "n1", "r1")
    add(c, "n2", "r1")
    found, remedy = never(c, "w", requests={"gpu": "8", "cpu": "4", "memory": "1Gi"})
    assert (found.unsaid, found.unsaid_alone, found.uncounted) == (("cpu", "memory"), True, ("memory",))
    assert remedy.startswith("write `ignore memory` in the policy and let nodes say how much cpu and memory they have")


def test_a_leader_and_its_workers_are_told_once(cluster: Callable[[str], Any]) -> None:
    """They lack places together."""
    c = cluster(POLICY)
    for name, rack in (("n1", "r1"), ("n2", "r1"), ("n3", "r2"), ("n4", "r2")):
        add(c, name, rack)
    alike = {"requests": {"gpu": "8"}, "within": "rack", "group": "g"}
    c.submit("w", "q", sets=[{"name": "leader", **alike}, {"name": "workers", "count": 3, **alike}])
    [told] = c.standing("w").never
    assert told.places.pod_sets == ("leader", "workers")
    assert "closest is b/r1 with room for 1 beside the leader" in impediment_told(told)[0]
