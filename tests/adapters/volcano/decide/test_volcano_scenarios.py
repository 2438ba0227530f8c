"""Scenarios: sessions follow one another as they should, and what is no scenario is refused by name."""

from decimal import Decimal
from typing import Any

import pytest
from gpol.adapters.kueue.problems import ImportRefused
from gpol.adapters.volcano.decide.volcano_scenarios import decide
from scenario_objects import Object, node, pod, pod_group, scenario, volcano_queue

GANG = [pod(f"g-{number}", "g") for number in range(2)]


def _gang(**more: Any) -> Object:
    return scenario([node("n0")], [volcano_queue("q")], [pod_group("g", minMember=2)], GANG, **more)


def test_a_gang_starts_and_runs_in_the_next_session() -> None:
    """What is bound in one session runs in the next one, and its PodGroup with it."""
    first, second = decide(_gang(then=[{"delete": []}]))["sessions"]

    assert first["pods"] == {"n/g-0": ["bound", "n0"], "n/g-1": ["bound", "n0"]}
    assert first["podGroups"] == {"n/g": "Inqueue"}
    assert second["pods"] == {"n/g-0": ["running", "n0"], "n/g-1": ["running", "n0"]}
    assert second["podGroups"] == {"n/g": "Running"}
    assert second["queues"]["q"]["allocated"] == {"cpu": 2000, "memory": 2 << 30}


def test_a_gang_without_room_waits_whole() -> None:
    """A gang of which one pod fits has none bound."""
    given = scenario([node("n0", cpu="1")], [volcano_queue("q")], [pod_group("g", minMember=2)], GANG)
    assert decide(given)["sessions"][0]["pods"] == {"n/g-0": ["pending"], "n/g-1": ["pending"]}


def test_what_is_deleted_makes_room() -> None:
    """A PodGroup that is deleted is gone with its pods in the next session."""
    groups, pods = [pod_group("old", phase="Running"), pod_group("g", minMember=2)], [pod("old-0", "old", "7", "n0"), *GANG]
    given = scenario([node("n0")], [volcano_queue("q")], groups, pods, then=[{"delete": ["n/old"]}])

    first, second = decide(given)["sessions"]

    assert first["pods"]["n/g-0"] == ["pending"]
    assert second["pods"] == {"n/g-0": ["bound", "n0"], "n/g-1": ["bound", "n0"]}


def _preempting(**more: Any) -> Object:
    classes = [{"metadata": {"name": "high"}, "value": 100}]
    groups = [pod_group("low", phase="Running"), pod_group("g", priorityClassName="high", minMember=1)]
    pods = [pod("low-0", "low", "8", "n0"), pod("g-0", "g", "8", priority=100)]
    given = scenario([node("n0")], [volcano_queue("q")], groups, pods, **more)
    given["case"]["PriClass"] = classes
    given["actions"] = ["allocate", "preempt"]
    given["tiers"] = [{"plugins": [{"name": "priority"}, {"name": "conformance"}, {"name": "predicates"}]}]
    return given


@pytest.mark.parametrize("recreate", [False, True])
def test_an_evicted_pod_is_gone_or_comes_again(recreate: bool) -> None:
    """Who is evicted for a pod of higher priority is gone in the next session; with `recreate` a pod of its name waits instead."""
    first, second = decide(_preempting(then=[{}], at=["2026-01-03T00:00:00Z"], recreate=recreate))["sessions"]

    assert first["evicted"] == {"n/low-0": "preempt"}
    assert first["pods"] == {"n/g-0": ["pipelined", "n0"], "n/low-0": ["evicted", "n0"]}
    assert first["nominated"] == {"n/g-0": "n0"}
    assert second["pods"] == {"n/g-0": ["bound", "n0"], **({"n/low-0": ["pending"]} if recreate else {})}


def test_sessions_remember_nothing_else() -> None:
    """The second session is what the first one is on the objects as they are then."""
    second = decide(_gang(then=[{}]))["sessions"][1]
    running = [pod(f"g-{number}", "g", on="n0") for number in range(2)]
    alone = scenario([node("n0")], [volcano_queue("q")], [pod_group("g", minMember=2)], running)
    assert decide(alone)["sessions"] == [second]


REFUSED: list[tuple[str, Any, str]] = [
    ("tiers", [{"plugins": [{"name": "tdm"}]}], "tiers[0].plugins[0].name: is `tdm`, a plugin that is not supported"),
    ("tiers", [{"plugins": [{"name": "gang", "enabled": {"Gangs": True}}]}], "has `Gangs`, which is no callback"),
    ("tiers", [{"plugins": [{"name": "gang", "arguments": {"x": 1}}]}], "has `x`, which plugin gang does not honour"),
    ("actions", ["allocate", "shuffle"], "actions[1]: is `shuffle`, which is not supported"),
    ("colour", 1, "has `colour`, which is not supported"),
    ("then", [{"delete": ["n/none"]}], "then[0].delete[0]: no PodGroup 'n/none' is there"),
    ("configurations", [{"name": "allocate", "arguments": {"x": 1}}], "has `x` of `allocate`, which is not supported"),
]


@pytest.mark.parametrize(("field", "value", "said"), REFUSED)
def test_what_no_pass_honours_is_refused_by_name(field: str, value: Any, said: str) -> None:
    """A refusal names the place, what is wrong, and what to write."""
    with pytest.raises(ImportRefused) as refusal:
        decide({**_gang(), field: value})
    assert said in str(refusal.value)
    assert "; " in str(refusal.value)


POD_PARTS: list[tuple[tuple[str, ...], Any, str]] = [
    (("spec", "affinity"), {"nodeAffinity": {}}, "case.Pods[0].spec.affinity: has `nodeAffinity`, which is not supported"),
    (("spec", "resourceClaims"), [], "case.Pods[0].spec: has `resourceClaims`, which is not supported"),
    (("spec", "containers"), [{"name": "c", "resources": {"requests": {"cpu": "many"}}}], 'case.Pods.n/g-0: "many" is no quantity'),
    (("metadata", "annotations"), {}, "case.Pods.n/g-0: names no PodGroup"),
    (("metadata", "annotations"), {"scheduling.k8s.io/group-name": "h"}, "case.Pods.n/g-0: is of no PodGroup that is there"),
    (("metadata", "creationTimestamp"), 5, "case.Pods[0].metadata.creationTimestamp: is no text such as"),
    (("status", "phase"), "Lost", "case.Pods[0].status.phase: is `Lost`"),
]


@pytest.mark.parametrize(("path", "value", "said"), POD_PARTS)
def test_parts_of_pods_are_checked(path: tuple[str, str], value: Any, said: str) -> None:
    """What a pod says has to be what Kubernetes allows, and what a pass honours."""
    given = pod("g-0", "g")
    given[path[0]] = {**given[path[0]], path[1]: value}
    with pytest.raises(ImportRefused) as refusal:
        decide(scenario([node("n0")], [volcano_queue("q")], [pod_group("g")], [given]))
    assert said in str(refusal.value)


def test_names_are_used_once() -> None:
    """Two objects of one name are refused."""
    with pytest.raises(ImportRefused, match=r"case\.Nodes: has n0 twice"):
        decide(scenario([node("n0"), node("n0")], [volcano_queue("q")], [], []))


def test_a_line_may_have_a_recorded_answer_beside_it() -> None:
    """`in` beside `volcano` is a scenario, and anything else beside it is refused."""
    assert decide({"in": _gang(), "volcano": {}}) == decide(_gang())
    with pytest.raises(ImportRefused, match="has `answer` beside `in`"):
        decide({"in": _gang(), "answer": {}})


@pytest.mark.parametrize(("whole_numbers", "node_taken"), [(False, "n1"), (True, "n0")])
def test_whole_numbers_count_where_the_scenario_says_so(whole_numbers: bool, node_taken: str) -> None:
    """With the weights that are given the fuller node is the better one; numbers of JSON have no effect, and the emptier one is."""
    plugins = [{"name": "predicates"}, {"name": "nodeorder", "arguments": {"leastrequested.weight": 0, "mostrequested.weight": 9}}]
    groups, pods = [pod_group("old", phase="Running"), pod_group("g", minMember=1)], [pod("old-0", "old", "4", "n0"), pod("g-0", "g")]
    more = {"tiers": [{"plugins": plugins}], "wholeNumbers": whole_numbers}
    given = {**scenario([node("n0"), node("n1")], [volcano_queue("q")], groups, pods), **more}
    assert decide(given)["sessions"][0]["pods"]["n/g-0"] == ["bound", node_taken]


@pytest.mark.parametrize(("factor", "phase"), [(None, "Inqueue"), (1, "Pending"), (2, "Inqueue")])
def test_the_factor_of_overcommit(factor: int | None, phase: str) -> None:
    """A PodGroup of 9 CPUs is let in on a node of 8 where the cluster is taken for larger by the factor; it is 1.2 if nothing is said."""
    plugin = {"name": "overcommit", **({} if factor is None else {"arguments": {"overcommit-factor": factor}})}
    group = pod_group("g", phase="Pending", minMember=1, minResources={"cpu": "9"})
    given = scenario([node("n0")], [volcano_queue("q")], [group], [pod("g-0", "g", "9")])
    answer = decide({**given, "tiers": [{"plugins": [plugin, {"name": "predicates"}]}]})
    assert answer["sessions"][0]["podGroups"] == {"n/g": phase}


@pytest.mark.parametrize(("now", "phase"), [("2026-01-01T00:59:59Z", "Pending"), ("2026-01-01T01:00:00Z", "Inqueue")])
def test_who_has_waited_long_enough_is_let_in(now: str, phase: str) -> None:
    """Plugin `sla` lets a PodGroup in once its wait is over, if nobody in an earlier tier has an opinion."""
    tiers = [{"plugins": [{"name": "sla", "arguments": {"sla-waiting-time": "2h"}}]}, {"plugins": [{"name": "overcommit"}]}]
    group = pod_group("g", phase="Pending", minMember=1, minResources={"cpu": "90"})
    group["metadata"] |= {"creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"volcano.sh/sla-waiting-time": "30m30m"}}
    given = scenario([node("n0")], [volcano_queue("q")], [group], [pod("g-0", "g", "90")], tiers=tiers, now=now)
    assert decide(given)["sessions"][0]["podGroups"] == {"n/g": phase}


def test_how_long_somebody_waits_needs_a_moment() -> None:
    """Plugin `sla` without `now`, or with what is no duration, is refused."""
    tiers = [{"plugins": [{"name": "sla"}]}]
    with pytest.raises(ImportRefused, match="now: is missing"):
        decide(_gang(tiers=tiers))
    for wrong in ("soon", "1", "0s", "1h-1m", 5):
        said = [{"plugins": [{"name": "sla", "arguments": {"sla-waiting-time": wrong}}]}]
        with pytest.raises(ImportRefused, match="sla-waiting-time: is "):
            decide(_gang(tiers=said, now="2026-01-01T00:00:00Z"))


@pytest.mark.parametrize(("kind", "taken"), [("MostAllocated", "n0"), ("LeastAllocated", "n1")])
def test_fuller_or_emptier_nodes(kind: str, taken: str) -> None:
    """Plugin `resource-strategy-fit` prefers the node that is fuller of cpu, or emptier, as its arguments say."""
    fit = {"name": "resource-strategy-fit", "arguments": {"resources": {"cpu": {"type": kind, "weight": 2}}}}
    groups, pods = [pod_group("old", phase="Running"), pod_group("g", minMember=1)], [pod("old-0", "old", "4", "n0"), pod("g-0", "g")]
    given = scenario([node("n0"), node("n1")], [volcano_queue("q")], groups, pods, tiers=[{"plugins": [{"name": "predicates"}, fit]}])
    assert decide(given)["sessions"][0]["pods"]["n/g-0"] == ["bound", taken]


@pytest.mark.parametrize("says_so", ["the one that waits", "the one that runs"])
def test_pods_that_may_not_stand_together(says_so: str) -> None:
    """A pod does not get a node of the domain in which a pod stands that it keeps away from, or that keeps away from it."""
    term = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": "zone"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    old, new = pod("old-0", "old", "1", "n0"), pod("g-0", "g")
    for each in (old, new):
        each["metadata"]["labels"] = {"app": "a"}
    (new if says_so == "the one that waits" else old)["spec"]["affinity"] = apart
    nodes = [node(name) for name in ("n0", "n1", "n2")]
    for each, zone in zip(nodes, ("east", "east", "west"), strict=True):
        each["metadata"]["labels"] = {"zone": zone}
    groups = [pod_group("old", phase="Running"), pod_group("g", minMember=1)]
    assert decide(scenario(nodes, [volcano_queue("q")], groups, [old, new]))["sessions"][0]["pods"]["n/g-0"] == ["bound", "n2"]


def test_quantities_may_be_numbers() -> None:
    """A quantity is a text or a number, and both are exact."""
    given = scenario([node("n0", cpu=Decimal("0.5"))], [volcano_queue("q")], [pod_group("g", minMember=1)], [pod("g-0", "g", "500m")])
    assert decide(given)["sessions"][0]["pods"] == {"n/g-0": ["bound", "n0"]}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("Pods", "volcano.sh/revocable-zone"), ("PodGroups", "volcano.sh/revocable-zone"), ("Queues", "volcano.sh/nodegroup-resource-limits")],
)
def test_annotations_by_which_other_plugins_decide_are_refused(kind: str, name: str) -> None:
    """They are named, with the object that has them."""
    given = scenario([node("n0")], [volcano_queue("q")], [pod_group("g")], [pod("g-0", "g")])
    metadata = given["case"][kind][0]["metadata"]
    metadata["annotations"] = {**metadata.get("annotations", {}), name: "*"}
    with pytest.raises(ImportRefused, match=f"says {name}, which is not supported"):
        decide(given)


@pytest.mark.parametrize("parent", ["none", "a"])
def test_queues_that_are_no_tree_are_refused(parent: str) -> None:
    """Where `Hierarchy` is on, each queue is below `root`, and none below itself."""
    tiers = [{"plugins": [{"name": "capacity", "enabled": {"Hierarchy": True}}]}]
    queues = [volcano_queue("root"), volcano_queue("a", parent=parent)]
    with pytest.raises(ImportRefused, match=r"case\.Queues\.a\.spec\.parent: "):
        decide(scenario([node("n0")], queues, [], [], tiers=tiers))


def test_preferences_are_refused() -> None:
    """A taint that would rather keep pods off is one; the weights of preferences may be given, and change nothing."""
    nodes = [node("n0", taints=[{"key": "k", "effect": "PreferNoSchedule"}])]
    with pytest.raises(ImportRefused, match=r"case\.Nodes\[0\]\.spec\.taints\[0\]\.effect: is `PreferNoSchedule`"):
        decide(scenario(nodes, [volcano_queue("q")], [], []))
    plain, weighed = ({"name": "nodeorder", "arguments": said} for said in ({}, {"tainttoleration.weight": 9}))
    answers = [decide(_gang(tiers=[{"plugins": [{"name": "predicates"}, each]}], wholeNumbers=True)) for each in (plain, weighed)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("tolerated", [False, True])
def test_taints_keep_pods_off(tolerated: bool) -> None:
    """Unless they tolerate them."""
    nodes = [node("n0", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])]
    waiting = pod("g-0", "g", tolerations=[{"key": "k", "value": "v"}] if tolerated else [])
    answer = decide(scenario(nodes, [volcano_queue("q")], [pod_group("g", minMember=1)], [waiting]))
    assert answer["sessions"][0]["pods"]["n/g-0"] == (["bound", "n0"] if tolerated else ["pending"])
