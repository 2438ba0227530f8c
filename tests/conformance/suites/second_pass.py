"""What workloads get in a scheduling cycle, with their places: when they are admitted, and in a second pass, where they run already and a
node has failed, or a check has made nodes for them.
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

from .schedule import by_key, name_of, off, positive
from .suite import Case
from .table_cluster import TableCluster, cluster_queue
from .world import World, as_created

Row = tuple[str, int, tuple[tuple[str, str], ...], tuple[tuple[tuple[str, ...], int], ...], bool]
"""A pod set: its name, pods, flavors by resource, places, and whether it is to get these later."""

Holding = tuple[str, tuple[Row, ...], tuple[tuple[str, int], ...]]
"""What a workload has after a cycle: its ClusterQueue, its pod sets, and amounts by `flavor|resource`."""

FAILED = "EvictedDueToNodeFailures"
"""Kueue's reason of the event that tells that there is no place for the pods of a failed node."""


# --- what the table says ------------------------------------------------------------------------------------------------


def wanted_holding(admission: Mapping[str, Any]) -> Holding:
    """An admission of the table; a pod set without pods gets nothing."""
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
    return admission["clusterQueue"], tuple(rows), positive(usage)


def wanted_evictions(tc: Case) -> dict[str, str]:
    """Who is evicted as there is no place for the pods of a failed node, and the nodes that failed."""
    return {
        f"{event['Key']['Namespace']}/{event['Key']['Name']}": event["Message"].rpartition(": ")[2]
        for event in tc.get("wantEvents") or []
        if event["Reason"] == FAILED
    }


def _row(name: str, count: int, flavors: Mapping[str, str], places: Iterable[PlacedPods], delayed: bool) -> Row:
    return name, count, tuple(sorted(flavors.items())), tuple((place.domain, place.pods) for place in places), delayed


# --- what gpol decides --------------------------------------------------------------------------------------------------


def new_holdings(world: World, decisions: Iterable[AnyDecision]) -> dict[str, Holding]:
    """What those have who are admitted, or get places, in a cycle."""
    return {each.workload: _holding(world, each) for each in decisions if isinstance(each, WorkloadAdmitted | WorkloadPlaced)}


def _holding(world: World, decision: WorkloadAdmitted | WorkloadPlaced) -> Holding:
    if isinstance(decision, WorkloadAdmitted):
        usage = {f"{charge.flavor}|{charge.resource}": charge.amount for charge in decision.usage}
    else:
        workload = world.core.view.workload(decision.workload)
        assert workload is not None
        slots = [(world.graph.slots[slot], held) for slot, held in workload.usage]
        usage = {f"{world.graph.flavors[slot.flavor].name}|{slot.resource}": held for slot, held in slots}
    return decision.queue, tuple(map(_given, decision.assignments)), positive(usage)


def _given(given: Assignment) -> Row:
    return _row(given.pod_set, given.count, given.flavors, given.places, given.delayed)


def evictions(decisions: Iterable[AnyDecision]) -> dict[str, str]:
    """Who is evicted because of lost nodes, with their names."""
    return {
        each.workload: ",".join(operand.value for operand in each.why.operands if operand.name == "lost node")
        for each in decisions
        if isinstance(each, WorkloadEvicted) and each.preemption == "node-lost"
    }


# --- a node that is replaced ------------------------------------------------------------------------------------------


def replace_node(case: Case) -> list[str]:
    """Play a case of TestFindTopologyAssignments whose workload has lost a node: where its pods go."""
    tc, kueue = case["tc"], TableCluster(_objects_of_search(case["tc"]))
    workload = kueue.workload(name_of(tc["workload"]))
    if not workload.lost_nodes:  # it keeps its places: nothing is looked for
        found = {given.pod_set: given.places for given in workload.assignments}
    else:
        nomination = nominate_again(kueue.trial(), workload)
        found = {pods.name: pods.places for pods in nomination.flavors.pod_sets if nomination.fits}
    wanted = {
        pods["podSetName"] or "main": [(domain["Values"], domain["Count"]) for domain in pods["wantAssignment"]["Domains"]]
        for pods in tc["podSets"]
    }
    return by_key("stands", wanted, {name: [(list(place.domain), place.pods) for place in found.get(name, ())] for name in wanted})


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
        "workloads": [as_created({**_as_gated(workload, tc), "spec": {"podSets": pod_sets}, "status": status})],
    }


def _as_gated(workload: Mapping[str, Any], tc: Case) -> dict[str, Any]:
    """A workload as Kueue reads it with the feature gates of a case: without the one for Pods that own theirs, it is nobody's."""
    owned = off(tc, "SkipReassignmentForPodOwnedWorkloads")
    unowned = {key: value for key, value in workload["metadata"].items() if key != "ownerReferences"}
    return {**workload, "metadata": unowned if owned else workload["metadata"]}
