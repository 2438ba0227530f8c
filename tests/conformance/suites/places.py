"""Where the pods of a workload would stand, or why there is no place for them: TestFindTopologyAssignments.

Topology, nodes, pods and pod sets are objects of a cluster with one flavor, and go the way of an import; then places are looked for as
for a workload that has got the flavor; or for the pods of a node that a workload has lost.
"""

from collections.abc import Iterator
from typing import Any

from gpol.adapters.kueue.import_.load import ImportRefused
from gpol.engine.definition.placement.placer import find_places, to_place
from gpol.engine.definition.placement.places import PodsHeld
from gpol.engine.event_parts import PodSet
from gpol.engine.outcome.nomination import NoPlaces

from .second_pass import replace_node
from .suite import Case, Excuse, differences, gate, table
from .table_cluster import Json, TableCluster, cluster_queue, quantity

FLAVOR = "default"
_CAUSES = {"selector": "nodeSelector", "affinity": "affinity", "outside": "topologyDomain"}


def find(case: Case) -> list[str]:
    """The places of each pod set, or the message why it has none."""
    tc = case["tc"]
    wanted = {pods["podSetName"] or "main": pods for pods in tc["podSets"]}
    if tc.get("workload"):
        return replace_node(case)
    if any(pods["wantReason"] == _UNSIZED for pods in wanted.values()):
        return _refused(tc)
    kueue = TableCluster(_objects(tc), into={"ns/wl": "cq"})
    places = kueue.core.state.active.places
    workload = kueue.workload("ns/wl")
    for prior, everywhere in _PRIOR.items():
        places.add(_prior(tc, prior), everywhere)
    found = find_places(places, to_place(workload, workload.remaining, dict.fromkeys(wanted, 0)))
    for prior, everywhere in _PRIOR.items():
        places.remove(_prior(tc, prior), everywhere)  # nobody is there who holds it when cycles go on
    expected = {name: _wanted(pods) for name, pods in wanted.items()}
    failures = {failure.pod_sets: say(failure, workload.fact.pod_sets) for failure in found.failures}
    got = {
        name: (
            [(list(place.domain), place.pods) for place in found.places.get(name, ())],
            next((told for names, told in failures.items() if name in names), ""),
        )
        for name in wanted
    }
    return differences(expected, got)


def _wanted(pods: Json) -> tuple[list[tuple[list[str], int]], str]:
    domains = (pods.get("wantAssignment") or {}).get("Domains") or []
    return [(domain["Values"], domain["Count"]) for domain in domains], pods["wantReason"]


_UNSIZED = "slice topology requested, but slice size not provided"


def _refused(tc: Case) -> list[str]:
    """What differs where an import has to refuse slices without a size."""
    try:
        TableCluster(_objects(tc), into={"ns/wl": "cq"})
    except ImportRefused as refused:
        fields = {problem.field.split(".")[-1] for problem in refused.problems}
        return differences({"refused": {"podSetSliceSize"}}, {"refused": fields})
    return ["is not refused"]


# --- the objects of a case ----------------------------------------------------------------------------------------------


def _objects(tc: Case) -> dict[str, Any]:
    resources = sorted({"cpu", *(resource for pods in tc["podSets"] for resource in pods.get("requests") or {})})
    levels = [{"nodeLabel": level} for level in tc["levels"]]
    return {
        "topologies": [{"metadata": {"name": "default"}, "spec": {"levels": levels}}],
        "flavors": [{"metadata": {"name": FLAVOR}, "spec": {"nodeLabels": tc.get("nodeLabels") or {}, "topologyName": "default"}}],
        "clusterQueues": [cluster_queue("cq", "", [{FLAVOR: dict.fromkeys(resources, ("1000",))}])],
        "nodes": tc["nodes"],
        "pods": tc.get("pods") or [],
        "workloads": [{"metadata": {"name": "wl", "namespace": "ns"}, "spec": {"podSets": [_pod_set(pods, tc) for pods in tc["podSets"]]}}],
    }


def _pod_set(said: Json, tc: Case) -> Json:
    """A pod set; of a group the leader asks for what the workers ask for, by which Kueue goes for both."""
    group = said.get("podSetGroupName")
    workers = max((pods for pods in tc["podSets"] if pods.get("podSetGroupName") == group), key=_count) if group else said
    request = {**(workers.get("topologyRequest") or {}), **({"podSetGroupName": group} if group else {})}
    amounts = {resource: quantity(amount, resource) for resource, amount in (said.get("requests") or {}).items()}
    spec: Json = {"containers": [{"resources": {"requests": amounts}}]}
    for field in ("nodeSelector", "tolerations"):
        if said.get(field):
            spec[field] = said[field]
    if said.get("nodeAffinity"):
        spec["affinity"] = {"nodeAffinity": said["nodeAffinity"]}
    return {"name": said["podSetName"] or "main", "count": said["count"], "topologyRequest": request, "template": {"spec": spec}}


def _count(pods: Json) -> int:
    return int(pods["count"])


_PRIOR = {"priorOwnUsage": False, "priorFlavorUsage": True}
"""What is used already: whether flavors of the same nodes see it as well."""


def _prior(tc: Case, field: str) -> Iterator[PodsHeld]:
    """What is used already: of the flavor alone, or on nodes whatever the flavor."""
    for used in tc.get(field) or ():
        amounts = {row["name"]: row["value"] for row in used["SinglePodRequests"]}
        yield PodsHeld(0, tuple(used["Values"]), used["Count"], {"pods": 1, **amounts})


# --- why there is no place ----------------------------------------------------------------------------------------------


def say(failure: NoPlaces, pod_sets: tuple[PodSet, ...]) -> str:
    """Why there is no place, in Kueue's words."""
    match failure.kind:
        case "no-domains":
            return f"no topology domains at level: {failure.level}"
        case "slice-above":
            return f"podset slice topology {failure.level} is above the podset topology {failure.asked}"
        case "no-level":
            [pods] = [pods for pods in pod_sets if pods.name in failure.pod_sets]
            of_slices = failure.level in [part.level for part in pods.slices]
            return f"no requested topology level{' for slices' if of_slices else ''}: {failure.level}"
    unit = "pod(s)" if failure.size == 1 else "slice(s)"
    if failure.layers:
        told = " doesn't allow to fit" + "".join(
            f"; {layer.fit}/{layer.of} slice(s) fit on level {layer.level}" for layer in failure.layers
        )
    elif failure.fit:
        told = f" allows to fit only {failure.fit} out of {failure.of} {unit}"
    else:
        told = f" doesn't allow to fit any of {failure.of} {unit}"
    causes = sorted(f"{_cause(cause, detail)}: {nodes}" for cause, detail, nodes in failure.kept_off)
    excluded = f". Total nodes: {failure.nodes}; excluded: {', '.join(causes)}" if causes else ""
    return f'topology "default"{told}{excluded}'


def _cause(cause: str, detail: str) -> str:
    return f'{cause} "{detail}"' if cause in ("taint", "resource") else _CAUSES[cause]


_BY_GATE = {
    "TASBalancedPlacement": (
        "balanced placement; three level topology; balance on the lowest level",
        "balanced placement; should not prune domain",
        "balanced placement; select correct block",
        "balanced placement; select optmial set of domains",
        "stable tie break on identical nodes: TASBalancedPlacement enabled",
        "balanced placement; leader worker set",
        "balanced placement; fallback to BestFit when leader worker set cannot meet threshold",
        "balanced placement; basic",
        "balanced placement; cannot chose domains from different blocks",
        "balanced placement; three level topology; balance on the same level as slice",
        "balanced placement; prioritize (using entropy) balanced domains; first rack wins",
        "balanced placement; four level topology; balance on rack level; slice not on the lowest level",
        "balanced placement; prioritize (using entropy) balanced domains; second rack wins",
        "stable tie break on identical nodes: reversed order, TASBalancedPlacement enabled",
        "balanced placement; four level topology; slice one level below balanced level",
        "balanced placement; select correct block taking into account pruning",
        "balanced placement; two level topology; balance on the highest level",
        "balanced placement; select optmial set of domains; with slices",
        "balanced placement; select correct block; prefer blocks with single rack; with slices",
        "balanced placement; four level topology; slice two levels below balanced level",
        "balanced placement; leader worker set does not reserve leader space on every node",
    ),
    "ElasticJobsViaWorkloadSlicesWithTAS": (
        "elastic workload scale down: truncates assignment",
        "elastic workload scale down with leader: truncates workers, reuses leader",
        "elastic workload scale up with leader: places delta workers, preserves leader assignment",
        "elastic workload scale up: delta-only placement preserves previous assignment",
        "elastic workload same count with leader: reuses both assignments exactly",
        "elastic workload scale up with leader: stale leader assignment falls back to fresh placement",
        "elastic workload same count: reuses previous assignment exactly",
        "elastic workload scale up: spread across multiple nodes preserved",
    ),
    "TASRespectNodeAffinityPreferred": (
        "flat topology, unconstrained mode, size 5 pods x 1",
        "with multiple preferred affinities",
        "flat topology, unconstrained mode, size 2 pods x 2",
        "affinity ordering with required topology level chooses secondary domain if primary is too small",
        "flat topology, preferred mode, size 2 pods x 2",
        "LWS with leader and workers; preferred affinity on workers; leader cannot fit on preferred zone",
        "with preferred affinity",
        "affinity ordering with preferred inner topology level bubbles up to parent level to avoid splitting across parent domains",
        "with required and preferred affinity",
        "affinity takes precedence over best fit",
        "flat topology, preferred mode, size 5 pods x 1",
    ),
}
"""Cases of feature gates that are off by default."""


_OF_WORKERS = "the request of the leader, by which Kueue does not go, and which no job says otherwise, is that of its workers"

SUITES = (
    table(
        "TestFindTopologyAssignments",
        140,
        "the places of each pod set, or why there are none, word for word",
        find,
        excused={
            name: Excuse(f"needs the alpha feature gate {needed}", gate(needed)) for needed, names in _BY_GATE.items() for name in names
        },
        remarks={
            "find topology assignment for sliced grouped podsets preserves worker capacity when placing leader": _OF_WORKERS,
            "BestFit: podset group workers spread across hosts": _OF_WORKERS,
            "node replaced for single-Pod-owned workload; gate off": (
                "the feature gate SkipReassignmentForPodOwnedWorkloads, on by default, is off: the owner of the workload is left out"
            ),
            "slice size is required when slice topology is requested": "gpol refuses slices without a size at import",
        },
    ),
)
