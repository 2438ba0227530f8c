"""One rule of placing at a time, decided by both cores alike: small clusters where a mistake in one kernel shows."""

from typing import Any

import pytest
from cores_by_name import CORES
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadPlaced
from placing import FABRIC, RACKS
from player import Play

SECOND = 1_000_000

Plain = dict[str, Any]

AT_ONCE = """policy "p" {{
  use gpol.fair
  place pods {}
}}
{}flavor a {{
  gpu from nodes where pool = "a"
  placed in fabric
}}
cohort all {{
  queue q {{ owns 8 gpu }}
  queue r {{ owns nothing }}
}}
"""


def at_once(way: str) -> str:
    """A policy with one flavor of nodes, which places pods in this way."""
    return AT_ONCE.format(way, FABRIC)


def node(name: str, path: str, gpu: int) -> Plain:
    """A node with so many GPUs in `block/rack`."""
    block, rack = path.split("/")
    labels = {"pool": "a", "block": block, "rack": rack}
    return {"kind": "NodeAdded", "time": 0, "node": name, "labels": labels, "capacity": {"gpu": str(gpu)}}


def asks(name: str, pods: int, gpu: int = 1, queue: str = "q", time: int = 0, **said: Any) -> Plain:
    """A workload of equal pods, with what it says of its places."""
    pod_set = {"count": pods, "requests": {"gpu": str(gpu)}, **said}
    return {"kind": "WorkloadSubmitted", "time": time, "workload": name, "queue": queue, "pod_sets": [pod_set]}


def ends(name: str, time: int) -> Plain:
    """A workload is over."""
    return {"kind": "WorkloadFinished", "time": time, "workload": name}


def cycles(*seconds: int) -> list[Plain]:
    """Cycles at these moments."""
    return [{"kind": "TimeAdvanced", "time": each * SECOND} for each in seconds]


def placed(policy: str, *facts: Plain) -> dict[str, dict[str, int]]:
    """Where both cores place the pods of each workload that they admit, those of all its pod sets together; the last admission counts."""
    found: dict[str, dict[str, int]] = {}
    for event in decided(policy, *facts):
        if isinstance(event, WorkloadAdmitted):
            there = found[event.workload] = dict[str, int]()
            for place in (place for given in event.assignments for place in given.places):
                name = "/".join(place.domain)
                there[name] = there.get(name, 0) + place.pods
    return found


def told(policy: str, *facts: Plain) -> list[str]:
    """What both cores decide, in short."""
    return [f"{event.kind.removeprefix('Workload')} {event.workload}" for event in decided(policy, *facts)]


def decided(policy: str, *facts: Plain) -> list[AnyDecision]:
    """What both cores decide alike, after every fact."""
    play = Play((policy,), CORES["definition"], CORES["careful"], often=1)
    for plain in ({"kind": "PolicyActivated", "time": 0, "policy": 0}, *facts):
        play.step(plain)
    play.finish()
    return [event for event, _ in play.events if isinstance(event, AnyDecision)]


# --- the policy's own ways ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "stands"),
    [("packed", {"n2": 2}), ("spread", {"n1": 2}), ("keeping room for 4 gpu", {"n2": 2}), ("keeping room for 3 gpu", {"n1": 2})],
)
def test_the_node_that_the_policy_prefers(way: str, stands: dict[str, int]) -> None:
    """n1 has 8 and n2 has 3. Two pods leave 6 on n1, which still is room for two pods of 3 and no longer for two of 4; or they leave 1 on
    n2, where a pod of 3 had room and none of 4."""
    assert placed(at_once(way), node("n1", "b/r", 8), node("n2", "b/s", 3), asks("w", 2)) == {"w": stands}


def test_packed_they_stand_in_few_nodes() -> None:
    """No node has room for five, the rack has: the emptiest node first, so that two will do."""
    nodes = [node("n1", "b/r", 2), node("n2", "b/r", 4), node("n3", "b/r", 2)]
    assert placed(at_once("packed"), *nodes, asks("w", 5)) == {"w": {"n1": 1, "n2": 4}}


def test_spread_each_goes_where_most_room_is_left() -> None:
    """Four pods over nodes of 4, 2 and 2: two go where four were free, and then all three have as much."""
    nodes = [node("n1", "b/r", 4), node("n2", "b/r", 2), node("n3", "b/r", 2)]
    assert placed(at_once("spread"), *nodes, asks("v", 5), ends("v", 1), asks("w", 3, within="rack", time=2))["v"] == {
        "n1": 3,
        "n2": 1,
        "n3": 1,
    }


def test_the_lowest_level_that_holds_all() -> None:
    """Rack r has room for three only in two nodes, rack s has one node with three: it is taken though r is the fuller rack."""
    nodes = [node("n1", "b/r", 2), node("n2", "b/r", 1), node("n3", "b/s", 4)]
    assert placed(at_once("packed"), *nodes, asks("w", 3)) == {"w": {"n3": 3}}
    assert placed(at_once("packed"), *nodes, asks("w", 3, within="rack")) == {"w": {"n1": 2, "n2": 1}}


def test_room_in_two_racks_is_no_room_in_one() -> None:
    """Six GPUs are free, three in each rack. Four within a rack wait until the first of the two that run is over."""
    nodes = [node("n1", "b/r", 4), node("n2", "b/s", 4)]
    runs = [asks("v1", 1, within="host"), asks("v2", 1, gpu=1, node_selector={"rack": "s"})]
    facts = [*nodes, *runs, asks("w", 4, within="rack", time=1)]
    assert told(at_once("packed"), *facts) == ["Admitted v1", "Admitted v2"]
    assert placed(at_once("packed"), *facts, ends("v1", 2))["w"] == {"n1": 4}


def test_the_victim_that_helps() -> None:
    """r borrows all 16: two workloads of 4 in each rack and each node; q wants 8 GPUs of its own on one node. Of the last two, which come
    first, one stands on either node; the two on one node go, and nobody else."""
    nodes = [node("n1", "b/r", 8), node("n2", "b/s", 8)]
    runs = [asks(f"v{number}", 1, gpu=4, queue="r", time=number) for number in range(4)]
    facts = [*nodes, *runs, asks("w", 1, gpu=8, time=9)]
    assert placed(at_once("spread"), *facts) == {"v0": {"n1": 1}, "v1": {"n2": 1}, "v2": {"n1": 1}, "v3": {"n2": 1}, "w": {"n2": 1}}
    assert [each for each in told(at_once("spread"), *facts) if each.startswith("Evicted")] == ["Evicted v3", "Evicted v1"]


# --- as in Kueue --------------------------------------------------------------------------------------------------------------

CYCLES = f"""policy "p" {{ use kueue.classical }}
{FABRIC}flavor a {{
  gpu as owned
  label pool = "a"
  placed in fabric
}}
queue q {{
  owns 40 gpu
  evicts its own of lower priority
}}
"""

ABOVE_NODES = f"""policy "p" {{ use kueue.classical }}
{RACKS}flavor a {{
  gpu as owned
  label pool = "a"
  placed in racks
}}
flavor b {{
  gpu as owned
  placed in racks
}}
cohort all {{
  queue q {{ owns 8 gpu on a }}
  queue r {{ owns 8 gpu on b }}
}}
"""
"""Pods get racks; the nodes of `a` are among those of `b`."""


def test_a_leader_takes_the_least_from_its_workers() -> None:
    """The leader needs 2 of a node's GPUs and the four workers 1 each: only rack s has room for all of them,
    and the leader leaves room for one worker on its node."""
    leader = {"name": "leader", "count": 1, "requests": {"gpu": "2"}, "group": "g", "within": "rack"}
    workers = {"name": "workers", "count": 4, "requests": {"gpu": "1"}, "group": "g", "within": "rack"}
    gang = {**asks("w", 1), "pod_sets": [leader, workers]}
    nodes = [node("n1", "b/r", 5), node("n2", "b/s", 3), node("n3", "b/s", 3)]
    assert placed(CYCLES, *nodes, gang, *cycles(0)) == {"w": {"n2": 2, "n3": 3}}


def test_slices_are_whole_on_each_node() -> None:
    """Slices of two pods: the five GPUs of n1 hold two, and so the third one stands on n2."""
    sliced = asks("w", 6, within="rack", slices=[{"level": "host", "size": 2}])
    assert placed(CYCLES, node("n1", "b/r", 5), node("n2", "b/r", 3), sliced, *cycles(0)) == {"w": {"n1": 4, "n2": 2}}


def test_two_heads_of_a_cycle_do_not_take_the_same_node() -> None:
    """Both fit on the node that is there when the cycle begins. The second one waits for the first to end."""
    two = CYCLES.replace(
        "queue q {\n  owns 40 gpu\n  evicts its own of lower priority\n}",
        "cohort all {\n  queue q { owns 9 gpu }\n  queue r { owns 9 gpu }\n}",
    )
    facts = [node("n1", "b/r", 4), asks("v", 3), asks("w", 3, queue="r", time=1), *cycles(0, 1)]
    assert told(two, *facts).count("Admitted v") == 1
    assert "w" not in placed(two, *facts)
    assert placed(two, *facts, ends("v", 2 * SECOND), *cycles(3, 4))["w"] == {"n1": 3}


def test_flavors_of_one_topology_above_nodes_share_the_rack() -> None:
    """A rack of two nodes: what runs there on `a` leaves less of it for `b`, though either flavor has quota for eight."""
    nodes = [node("n1", "b/r", 4), node("n2", "b/r", 4)]
    facts = [*nodes, asks("v", 6), *cycles(0), asks("w", 4, queue="r", time=SECOND), *cycles(1, 2)]
    assert placed(ABOVE_NODES, *facts) == {"v": {"b/r": 6}}
    assert placed(ABOVE_NODES, *facts, ends("v", 3 * SECOND), *cycles(4, 5))["w"] == {"b/r": 4}


def test_flavors_of_the_same_nodes_share_them() -> None:
    """What stands on a node on `a` leaves less of it for `b`, until it is over."""
    two = ABOVE_NODES.replace(RACKS, FABRIC).replace("placed in racks", "placed in fabric")
    facts = [node("n1", "b/r", 8), node("n2", "b/s", 3), asks("v", 1, gpu=6), *cycles(0)]
    facts += [asks("w", 1, gpu=3, queue="r", time=SECOND), asks("x", 1, gpu=3, queue="r", time=SECOND), *cycles(1, 2)]
    assert placed(two, *facts) == {"v": {"n1": 1}, "w": {"n2": 1}}
    assert placed(two, *facts, ends("v", 3 * SECOND), *cycles(4, 5))["x"] == {"n1": 1}


def test_pod_sets_of_two_flavors_share_the_rack_whichever_comes_first() -> None:
    """The rack takes two pods of `b`, as its one node that says so does. One of `b` beside two of `a` are too many, in either order."""
    both = ABOVE_NODES.replace("owns 8 gpu on a }", "\n    owns 8 gpu on a\n    owns 8 gpu on b\n  }")
    nodes = [node("n1", "b/r", 4), {**node("n2", "b/r", 4), "capacity": {"gpu": "4", "pods": 2}}]
    nodes[1]["labels"] = {**nodes[1]["labels"], "pool": "other"}
    on_b = {"name": "x", "count": 1, "requests": {"gpu": "1"}, "flavors": ["b"]}
    on_a = {"name": "y", "count": 2, "requests": {"gpu": "1"}, "flavors": ["a"]}
    for pod_sets in [on_b, on_a], [on_a, on_b]:
        assert placed(both, *nodes, {**asks("w", 1), "pod_sets": pod_sets}, *cycles(0, 1)) == {}
    assert placed(both, *nodes, {**asks("w", 1), "pod_sets": [on_b, {**on_a, "count": 1}]}, *cycles(0, 1)) == {"w": {"b/r": 2}}


def test_a_node_that_goes_to_another_flavor_takes_its_use_along() -> None:
    """Six pods stand in the rack of `a`; its node is `b`'s from now on. There is room for two more pods of `b`, and not for four."""
    apart = ABOVE_NODES.replace("flavor b {\n  gpu as owned\n", 'flavor b {\n  gpu as owned\n  label pool = "b"\n')
    moved = {**node("n1", "b/r", 8), "kind": "NodeChanged", "time": SECOND, "labels": {"pool": "b", "block": "b", "rack": "r"}}
    facts = [node("n1", "b/r", 8), asks("v", 6), *cycles(0), moved, asks("w", 4, queue="r", time=SECOND), *cycles(1, 2)]
    assert placed(apart, *facts) == {"v": {"b/r": 6}}
    assert placed(apart, *facts, ends("v", 3 * SECOND), *cycles(4, 5))["w"] == {"b/r": 4}
    assert placed(apart, *facts[:-3], asks("w", 2, queue="r", time=SECOND), *cycles(1, 2))["w"] == {"b/r": 2}


def test_fewer_pods_where_all_find_no_room() -> None:
    """Six pods that may be two: four stand in the one rack with most room."""
    some = asks("w", 6, within="rack", min_count=2)
    assert placed(CYCLES, node("n1", "b/r", 4), node("n2", "b/s", 3), some, *cycles(0)) == {"w": {"n1": 4}}


def test_only_whom_a_node_needs_is_evicted() -> None:
    """Both nodes are full; a workload of greater priority needs one node. Who stands on the other one is put back."""
    low = [asks(f"v{number}", 4, within="host") for number in range(2)]
    facts = [
        node("n1", "b/r", 4),
        node("n2", "b/s", 4),
        *low,
        *cycles(0, 1),
        {**asks("w", 4, within="host", time=2 * SECOND), "priority": 9},
    ]
    found = told(CYCLES, *facts, *cycles(2, 3))
    assert [each for each in found if each.startswith("Evicted")] == ["Evicted v1"]


# --- nodes that are lost ------------------------------------------------------------------------------------------------------


def moved(policy: str, *facts: Plain) -> list[dict[str, int]]:
    """Where the pods of each workload stand that both cores give other places."""
    placings = [event for event in decided(policy, *facts) if isinstance(event, WorkloadPlaced)]
    return [{place.domain[0]: place.pods for given in each.assignments for place in given.places} for each in placings]


@pytest.mark.parametrize("changed", [{"cordoned": True}, {"labels": {"pool": "z", "block": "b", "rack": "r"}}])
def test_pods_stay_on_a_node_that_takes_no_more(changed: Plain) -> None:
    """It is cordoned, or of no flavor any more: the pods of another node are replaced in its rack, and its own stay."""
    policy = at_once("packed").replace("owns 8", "owns 24")
    nodes = [node("n0", "b/q", 8), node("n1", "b/r", 8), node("n2", "b/r", 8), node("n3", "b/r", 8)]
    later = {**node("n1", "b/r", 8), "kind": "NodeChanged", "time": SECOND, **changed}
    gone = {"kind": "NodeRemoved", "time": 2 * SECOND, "node": "n2"}
    facts = [*nodes, asks("w", 2, gpu=8, within="rack"), later, gone]
    assert placed(policy, *facts) == {"w": {"n1": 1, "n2": 1}}
    assert moved(policy, *facts) == [{"n1": 1, "n3": 1}]


def test_who_is_adopted_has_lost_nodes_that_are_not_there() -> None:
    """Its pods there get other places at once, and what they use counts for the next one."""
    held = {**asks("w", 2, gpu=8, within="rack"), "hold": True}
    given = {"pod_set": "main", "count": 2, "flavors": {"gpu": "a"}, "usage": {"gpu": 16000}}
    given["places"] = [{"domain": ["n1"], "pods": 1}, {"domain": ["nx"], "pods": 1}]
    adopted = {"kind": "WorkloadAdopted", "time": SECOND, "workload": "w", "queue": "q", "since": 0, "placements": [given]}
    facts = [node("n1", "b/r", 8), node("n2", "b/r", 8), node("n3", "b/s", 8), held, adopted]
    assert moved(at_once("packed"), *facts) == [{"n1": 1, "n2": 1}]
    assert placed(at_once("packed").replace("owns 8", "owns 24"), *facts, asks("v", 1, gpu=8, time=2 * SECOND)) == {"v": {"n3": 1}}


# --- what the language says of leaders, and of nodes that change --------------------------------------------------------------------


def test_whose_tolerations_decide_where_a_leader_stands() -> None:
    """Its node is tainted, and its workers alone tolerate that: in cycles it stands there all the same, at once it has no place."""
    tainted = {**node("n1", "b/r", 4), "taints": [{"key": "spot", "effect": "NoSchedule"}]}
    works = {"name": "work", "count": 2, "tolerations": [{"key": "spot", "operator": "Exists"}]}
    sets = [{"requests": {"gpu": "1"}, "group": "g", "within": "rack", **each} for each in ({"name": "lead"}, works)]
    facts = [tainted, {**asks("w", 1), "pod_sets": sets}]
    assert placed(CYCLES, *facts, *cycles(0)) == {"w": {"n1": 3}}
    assert placed(at_once("packed"), *facts) == {}
    assert placed(at_once("packed"), *facts, {**node("n2", "b/r", 3), "time": SECOND}) == {"w": {"n2": 3}}


@pytest.mark.parametrize(
    ("changed", "decided_then"),
    [
        ([{"capacity": {"gpu": "2"}}], ["Evicted w", "Admitted v"]),
        ([{"labels": {"pool": "z"}}], ["Evicted w", "Admitted v"]),
        ([{"cordoned": True}], ["Admitted v"]),
        ([{"kind": "NodeRemoved"}, {"kind": "NodeAdded", "capacity": {"gpu": "2"}}], ["Placed w", "Evicted w", "Admitted v"]),
    ],
)
def test_what_pods_use_beyond_their_node_is_charged_to_its_flavor(changed: list[Plain], decided_then: list[str]) -> None:
    """Of two nodes one is free; the owner of all of them comes once the other one has changed under who borrows it."""
    policy = at_once("packed").replace("owns 8", "owns 16")
    steps = [{**node("n1", "b/r", 8), "kind": "NodeChanged", "time": SECOND, **each} for each in changed]
    for step in steps:
        if step["kind"] == "NodeRemoved":
            del step["labels"], step["capacity"]
    facts = [node("n1", "b/r", 8), node("n2", "b/r", 8), asks("w", 1, gpu=8, queue="r"), *steps, asks("v", 1, gpu=8, time=2 * SECOND)]
    assert told(policy, *facts) == ["Admitted w", *decided_then]
