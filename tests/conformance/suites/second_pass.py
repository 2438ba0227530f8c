"""A scheduling cycle with workloads that run and are to get places: cases of TestScheduleForTAS in which a node has failed, or a check of
ProvisioningRequest has made nodes; and those of TestFindTopologyAssignments in which a node is replaced.

Compared are the new assignments with their places, who is evicted as it found none and why, and who waits.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.fields import Fields
from gpol.adapters.kueue.read.quantity import amount, parse
from gpol.adapters.kueue.read.topology.topology_assignments import places_given
from gpol.engine.definition.admission.second_pass import nominate_again
from gpol.engine.event_parts import Assignment, PlacedPods
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadEvicted, WorkloadPlaced
from gpol.engine.facts import TimeAdvanced

from .suite import Case, Excuse
from .table_cluster import TableCluster, cluster_queue
from .world import World, as_created

Row = tuple[str, int, tuple[tuple[str, str], ...], tuple[tuple[tuple[str, ...], int], ...], bool]
"""A pod set: its name, pods, flavors by resource, places, and whether it is to get these later."""

Holding = tuple[str, tuple[Row, ...], tuple[tuple[str, int], ...]]
"""What a workload has after a cycle: its ClusterQueue, its pod sets, and amounts by `flavor|resource`."""

FAILED = "EvictedDueToNodeFailures"
"""Kueue's reason of the event that tells that there is no place for the pods of a failed node."""


# --- what differs -----------------------------------------------------------------------------------------------------


def schedule(case: Case) -> list[str]:
    """Play a case of TestScheduleForTAS: its objects, what holds quota already and what waits, then one cycle."""
    tc, world = case["tc"], _world(case)
    before = {each.name for each in world.core.view.workloads() if each.admitted is not None}
    decisions = world.core.step(TimeAdvanced(time=world.now)) if world.core.next_wake() is not None else []
    gone = wanted_evictions(tc)
    wanted = {name: wanted_holding(given) for name, given in (tc.get("wantNewAssignments") or {}).items() if name not in gone}
    return [
        *_by_key("gets", wanted, new_holdings(world, decisions)),
        *_by_key("goes", gone, evictions(decisions)),
        *_by_key("left", _in_queues(tc.get("wantLeft")), _left(world, before, parked=False)),
        *_by_key("set aside", _in_queues(tc.get("wantInadmissibleLeft")), _left(world, before, parked=True)),
    ]


def replace_node(case: Case) -> list[str]:
    """Play a case of TestFindTopologyAssignments whose workload has lost a node: where its pods go."""
    tc, kueue = case["tc"], TableCluster(_objects_of_search(case["tc"]))
    workload = kueue.workload(_name(tc["workload"]))
    if not workload.lost_nodes:  # it keeps its places: nothing is looked for
        found = {given.pod_set: given.places for given in workload.assignments}
    else:
        nomination = nominate_again(kueue.trial(), workload)
        found = {pods.name: pods.places for pods in nomination.flavors.pod_sets if nomination.fits}
    wanted = {
        pods["podSetName"] or "main": [(domain["Values"], domain["Count"]) for domain in pods["wantAssignment"]["Domains"]]
        for pods in tc["podSets"]
    }
    return _by_key("stands", wanted, {name: [(list(place.domain), place.pods) for place in found.get(name, ())] for name in wanted})


def in_second_pass(case: Case) -> bool:
    """Whether a workload has lost a node, or is to get places later than quota."""
    given = (case["tc"].get("wantNewAssignments") or {}).values()
    admissions = [*given, *(workload["status"].get("admission") or {} for workload in case["tc"].get("workloads") or ())]
    delayed = any(row.get("delayedTopologyRequest") for admission in admissions for row in admission.get("podSetAssignments", ()))
    return delayed or any(workload["status"].get("unhealthyNodes") for workload in case["tc"].get("workloads") or ())


def _by_key(what: str, wanted: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    keys = sorted({*wanted, *got})
    return [f"{what} {key}: Kueue {wanted.get(key)}, gpol {got.get(key)}" for key in keys if wanted.get(key) != got.get(key)]


# --- what the table says ------------------------------------------------------------------------------------------------


def wanted_holding(admission: Mapping[str, Any]) -> Holding:
    """An admission of the table."""
    usage: dict[str, int] = {}
    rows = []
    for row in (row for row in admission["podSetAssignments"] if row["count"]):
        found, flavors = Findings(), row.get("flavors") or {}
        given = places_given(Fields(row, "", found))
        assert not found.problems
        rows.append(_row(row["name"], row["count"], flavors, given.places, given.delayed))
        for resource, quantity in (row.get("resourceUsage") or {}).items():
            if resource in flavors:
                key = f"{flavors[resource]}|{resource}"
                usage[key] = usage.get(key, 0) + amount(parse(quantity), resource)
    return admission["clusterQueue"], tuple(rows), _positive(usage)


def wanted_evictions(tc: Case) -> dict[str, str]:
    """Who is evicted as there is no place for the pods of a failed node, and the nodes that failed."""
    return {
        f"{event['Key']['Namespace']}/{event['Key']['Name']}": event["Message"].rpartition(": ")[2]
        for event in tc.get("wantEvents") or []
        if event["Reason"] == FAILED
    }


def _row(name: str, count: int, flavors: Mapping[str, str], places: Iterable[PlacedPods], delayed: bool) -> Row:
    return name, count, tuple(sorted(flavors.items())), tuple((place.domain, place.pods) for place in places), delayed


def _positive(usage: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple((key, usage[key]) for key in sorted(usage) if usage[key])


# --- what gpol decides --------------------------------------------------------------------------------------------------


def new_holdings(world: World, decisions: Iterable[AnyDecision]) -> dict[str, Holding]:
    """What those have who are admitted, or get places, in a cycle."""
    return {each.workload: _holding(world, each) for each in decisions if isinstance(each, WorkloadAdmitted | WorkloadPlaced)}


def _holding(world: World, decision: WorkloadAdmitted | WorkloadPlaced) -> Holding:
    workload = world.core.view.workload(decision.workload)
    assert workload is not None
    names = [flavor.name for flavor in world.graph.flavors]
    usage = {f"{names[world.graph.slots[slot].flavor]}|{world.graph.slots[slot].resource}": held for slot, held in workload.usage}
    return decision.queue, tuple(map(_given, decision.assignments)), _positive(usage)


def _given(given: Assignment) -> Row:
    return _row(given.pod_set, given.count, given.flavors, given.places, given.delayed)


def evictions(decisions: Iterable[AnyDecision]) -> dict[str, str]:
    """Who is evicted because of lost nodes, with their names."""
    return {
        each.workload: ",".join(operand.value for operand in each.why.operands if operand.name == "lost node")
        for each in decisions
        if isinstance(each, WorkloadEvicted) and each.preemption == "node-lost"
    }


def _left(world: World, before: set[str], parked: bool) -> dict[str, list[str]]:
    """Who is left in each queue; whoever was told to go still runs in Kueue, and is in no queue yet."""
    found = {}
    for name, queue in world.queue_names().items():
        waiting = [each for each in world.core.view.workloads() if each.queue == world.nodes[queue] and each.in_line]
        if names := sorted(each.name for each in waiting if each.parked == parked and each.name not in before):
            found[name] = names
    return found


def _in_queues(lists: Mapping[str, list[str]] | None) -> dict[str, list[str]]:
    return {queue: sorted(names) for queue, names in (lists or {}).items()}


# --- the objects of a case ----------------------------------------------------------------------------------------------


def _world(case: Case) -> World:
    tc, cfg = case["tc"], case.get("cfg") or case
    objects = {
        "topologies": tc["topologies"],
        "nodes": tc["nodes"],
        "pods": tc.get("pods") or [],
        "flavors": tc["resourceFlavors"],
        "clusterQueues": tc["clusterQueues"],
        "localQueues": cfg["queues"],
        "admissionChecks": tc.get("admissionChecks") or [],
        "workloads": list(map(as_created, tc["workloads"])),
        "namespaces": [{"metadata": {"name": "default", "labels": {}}}],
    }
    world = World(objects)
    world.play(world.imported.facts)
    return world


def _name(workload: Mapping[str, Any]) -> str:
    return f"{workload['metadata']['namespace']}/{workload['metadata']['name']}"


def _objects_of_search(tc: Case) -> dict[str, Any]:
    """The objects of a search for places, whose workload is admitted to a ClusterQueue of its flavor."""
    levels, workload = [{"nodeLabel": level} for level in tc["levels"]], tc["workload"]
    given = {row["name"]: row for row in workload["status"]["admission"]["podSetAssignments"]}
    pod_sets = [
        {
            "name": pods["podSetName"] or "main",
            "count": pods["count"],
            "topologyRequest": pods["topologyRequest"],
            "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": f"{pods['requests']['cpu']}m"}}}]}},
        }
        for pods in tc["podSets"]
    ]
    rows = [{**given[pods["name"]], "flavors": {"cpu": "default"}, "resourceUsage": {"cpu": "1"}} for pods in pod_sets]
    conditions = [{"type": kind, "status": "True"} for kind in ("QuotaReserved", "Admitted")]
    status = {**workload["status"], "admission": {"clusterQueue": "cq", "podSetAssignments": rows}, "conditions": conditions}
    return {
        "topologies": [{"metadata": {"name": "default"}, "spec": {"levels": levels}}],
        "flavors": [{"metadata": {"name": "default"}, "spec": {"nodeLabels": tc.get("nodeLabels") or {}, "topologyName": "default"}}],
        "clusterQueues": [cluster_queue("cq", "", [{"default": {"cpu": ("1000",)}}])],
        "nodes": tc["nodes"],
        "workloads": [as_created({**workload, "spec": {"podSets": pod_sets}, "status": status})],
    }


# --- what is not compared -----------------------------------------------------------------------------------------------


def _fails_late(case: Case) -> bool:
    """Whether a case turns off that a workload goes as soon as there is no place for pods of a failed node."""
    gates = case["tc"].get("featureGates") or {}
    return "TASFailedNodeReplacementFailFast" in gates and not gates["TASFailedNodeReplacementFailFast"]


def _patch_fails(case: Case) -> bool:
    """Whether the cluster refuses what Kueue writes."""
    return bool(case["tc"].get("patchStatusErr"))


def _moves_single_pods(case: Case) -> bool:
    """Whether a case turns off that workloads of a single Pod keep their places."""
    gates = case["tc"].get("featureGates") or {}
    return "SkipReassignmentForPodOwnedWorkloads" in gates and not gates["SkipReassignmentForPodOwnedWorkloads"]


_LATE = "a feature gate that is on by default is off: Kueue then tries again where there is no place for pods of a failed node"
_REFUSED = "the cluster refuses what Kueue writes, so that the workload is not evicted"
_MOVES = "the feature gate is off, on by default, by which workloads of a single Pod keep their places"

EXCUSED_FROM_SCHEDULE = {
    "workload with unhealthyNode annotation; second pass; required rack; no fit": Excuse(_LATE, _fails_late),
    "workload with unhealthyNode annotation; second pass; preferred; no fit": Excuse(_LATE, _fails_late),
    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast (not found error on patch)": Excuse(
        _REFUSED, _patch_fails
    ),
    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast (test error on patch)": Excuse(
        _REFUSED, _patch_fails
    ),
}
"""Cases of TestScheduleForTAS that are not compared."""

EXCUSED_FROM_SEARCH = {"node replaced for single-Pod-owned workload; gate off": Excuse(_MOVES, _moves_single_pods)}
"""Cases of TestFindTopologyAssignments that are not compared."""
