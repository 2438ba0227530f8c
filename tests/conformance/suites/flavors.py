"""Which flavors a workload gets, and why none: four tables of Kueue's flavor assigner.

What a search for victims would say is part of these tables, by flavor and resource; where they say nothing it is that somebody of the
queue's own would go.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpol.adapters.kueue.read.objects import Configuration
from gpol.adapters.kueue.read.quantity import text
from gpol.engine.definition.admission.place_pods import judge_places
from gpol.engine.definition.flavor.assigner import FlavorAssigner
from gpol.engine.outcome.nomination import Attempt, FlavorAssignment, Grade, Mode, Obstacle, PodSetFlavors, Verdict

from .suite import Case, differences, table
from .table_cluster import Json, TableCluster, cluster_queue, running
from .world import as_defaulted

MODES = {Mode.NO_FIT: "NoFit", Mode.PREEMPT: "Preempt", Mode.FIT: "Fit"}
POSSIBILITIES = {Grade.NO_VICTIMS: "NoCandidates", Grade.PREEMPT: "Preempt", Grade.RECLAIM: "Reclaim"}
GRADES = {possibility: grade for grade, possibility in POSSIBILITIES.items()}


def plan_of(
    pod_sets: list[Json],
    queues: list[Json],
    flavors: list[Json],
    usage: Mapping[str, Mapping[str, int]],
    tc: Case,
    cohorts: list[Json] | None = None,
    reclaimable: list[Json] | None = None,
) -> tuple[TableCluster, FlavorAssignment]:
    """The cluster and the plan for a workload of the first queue; `usage` is by ClusterQueue and `flavor|resource`."""
    fair = bool(tc.get("enableFairSharing"))
    workload = {
        "metadata": {"name": "wl", "namespace": "ns"},
        "spec": {"podSets": pod_sets},
        "status": {"reclaimablePods": reclaimable or []},
    }
    held = [running(f"in-{queue}", queue, amounts) for queue, amounts in usage.items() if amounts]
    kueue = TableCluster(
        {
            "topologies": tc.get("topologies") or [],
            "flavors": [flavor for flavor in flavors if tc.get("topologies") or not flavor["spec"].get("topologyName")],
            "clusterQueues": [_as_let_in(as_defaulted(queue, fair)) for queue in queues],
            "cohorts": cohorts or [],
            "workloads": [*held, workload],
        },
        Configuration(fair=fair),
        into={"ns/wl": queues[0]["metadata"]["name"]},
    )
    said = {kueue.slot(key): result for key, result in (tc.get("simulationResult") or {}).items()}

    preempts = {"preemptionPossiblity": "Preempt", "borrowingAfterSimulation": 0}
    verdicts: dict[int, Verdict] = {}
    for slot in range(len(kueue.graph.slots)):
        result = said.get(slot, preempts)
        verdicts[slot] = GRADES[result["preemptionPossiblity"]], result["borrowingAfterSimulation"]
    workload = kueue.workload("ns/wl")
    if tc.get("allowedFlavors"):  # an annotation of an alpha feature, which says what gpol's submissions say by themselves
        allowed, fact = tuple(tc["allowedFlavors"]), workload.fact
        pod_sets_of = tuple(pod_set.model_copy(update={"flavors": allowed}) for pod_set in fact.pod_sets)
        workload = replace(workload, fact=fact.model_copy(update={"pod_sets": pod_sets_of}))
    held = _held(kueue, tc.get("preemptWorkloadSlice") or tc.get("replaceWl"))
    assigner = FlavorAssigner(kueue.core.state.active, workload, lambda amounts, _: verdicts[min(amounts)], held=held)
    plan = assigner.assign(workload.remaining)
    judge_places(kueue.core.state.active, workload, plan)
    return kueue, plan


def _held(kueue: TableCluster, old: Json | None) -> dict[str, dict[str, tuple[int, int]]]:
    """What the workload holds whose place is taken, by pod set."""
    held: dict[str, dict[str, tuple[int, int]]] = {}
    names = [flavor.name for flavor in kueue.graph.flavors]
    for pods in old["TotalRequests"] if old is not None else ():
        amounts = {row["name"]: row["value"] for row in pods.get("Requests") or []}
        keys = {resource: f"{flavor}|{resource}" for resource, flavor in pods["Flavors"].items()}
        held[pods["Name"]] = {
            resource: (names.index(pods["Flavors"][resource]), kueue.smallest({key: amounts.get(resource, 0)})[kueue.slot(key)])
            for resource, key in keys.items()
        }
    return held


def _as_let_in(queue: Json) -> Json:
    """A ClusterQueue as a webhook lets it in: one without a cohort has no borrowing limits, which count for nothing there."""
    if queue["spec"].get("cohortName"):
        return queue
    groups = [
        {
            **group,
            "flavors": [
                {
                    **flavor,
                    "resources": [{key: value for key, value in row.items() if key != "borrowingLimit"} for row in flavor["resources"]],
                }
                for flavor in group["flavors"]
            ],
        }
        for group in queue["spec"]["resourceGroups"]
    ]
    return {**queue, "spec": {**queue["spec"], "resourceGroups": groups}}


# --- TestAssignFlavors --------------------------------------------------------------------------------------------------


def assign(case: Case) -> list[str]:
    """The whole assignment: mode, borrowing, reason and usage; of each pod set pods, amounts, flavors, what stood in the way, attempts."""
    tc, want = case["tc"], case["tc"]["wantAssignment"]
    queues = [tc["clusterQueue"], *([tc["secondaryClusterQueue"]] if "secondaryClusterQueue" in tc else [])]
    used = [tc.get("clusterQueueUsage") or {}, tc.get("secondaryClusterQueueUsage") or {}]
    usage = {queue["metadata"]["name"]: amounts for queue, amounts in zip(queues, used, strict=False)}
    gates = tc.get("featureGates") or {}
    reclaimable = None if "ReclaimablePods" in gates and not gates["ReclaimablePods"] else tc.get("wlReclaimablePods")
    kueue, plan = plan_of(tc["wlPods"], queues, list(case["resourceFlavors"].values()), usage, tc, reclaimable=reclaimable)
    expected = {
        "mode": tc["wantRepMode"],
        "borrowing": want["Borrowing"],
        "reason": want["NoFitReason"],
        "usage": {key: amount for key, amount in want["Usage"]["Quota"]["Assigned"].items() if amount},
        "pod sets": [pod_set["Name"] for pod_set in want["PodSets"]],
    }
    found = {
        "mode": MODES[plan.mode],
        "borrowing": plan.level,
        "reason": plan.reason,
        "usage": {key: amount for key, amount in kueue.amounts(plan.usage).items() if amount},
        "pod sets": [pod_set.name for pod_set in plan.pod_sets],
    }
    differing = differences(expected, found)
    for wanted, got in zip(want["PodSets"], plan.pod_sets, strict=False):
        differing += _pod_set(kueue, wanted, got)
    return differing


def _pod_set(kueue: TableCluster, want: Json, got: PodSetFlavors) -> list[str]:
    names = [flavor.name for flavor in kueue.graph.flavors]
    expected = {
        "count": want["Count"],
        "requests": {resource: str(amount) for resource, amount in want["Requests"].items()},
        "flavors": {
            resource: (chosen["Name"], chosen["Mode"], chosen["TriedFlavorIdx"]) for resource, chosen in (want.get("Flavors") or {}).items()
        },
        "in the way": sorted([*(want["Status"].get("reasons") or []), *(want["Status"].get("err") or {}).values()]),
    }
    found = {
        "count": got.count,
        "requests": {resource: text(amount, resource) for resource, amount in got.requests.items()},
        "flavors": {resource: (names[chosen.flavor], MODES[chosen.grade.mode], chosen.tried) for resource, chosen in got.flavors.items()},
        "in the way": sorted(
            _several(kueue, got) if obstacle.kind == "several-placed" else say(kueue, obstacle) for obstacle in got.obstacles
        ),
    }
    return [f"pod set {got.name}: {line}" for line in [*differences(expected, found), *_attempts(kueue, want, got)]]


def _several(kueue: TableCluster, pods: PodSetFlavors) -> str:
    """That several flavors of a pod set have a topology, in Kueue's words."""
    flavors = [kueue.graph.flavors[chosen.flavor] for chosen in pods.flavors.values()]
    return f"more than one TAS flavor assigned: {', '.join(sorted({flavor.name for flavor in flavors if flavor.topology >= 0}))}"


def _attempts(kueue: TableCluster, want: Json, got: PodSetFlavors) -> list[str]:
    """Where attempts differ, as Kueue's test compares them.

    The table does not always list them. Where one flavor fits, all that were tried have to be in the table, which may have more;
    where none does, it is the other way round: Kueue goes through resources in no certain order, and stops where one cannot be had.
    Not compared, as Kueue's test passes over it: a flavor that fits and of which the table says only that it lacks a resource, which is
    one of another group.
    """
    wanted = {attempt["Flavor"]: attempt for attempt in want.get("FlavorAssignmentAttempts") or []}
    found = {kueue.graph.flavors[attempt.flavor].name: _attempt(kueue, attempt) for attempt in got.attempts}
    if not wanted:
        return []
    fits = any(attempt.grade is Grade.FIT for attempt in got.attempts)
    left_out = {flavor for flavor in found if found[flavor][0] == "Fit" and _lacks_a_resource(wanted.get(flavor, {}))}
    compared = [flavor for flavor in (found if fits else wanted) if flavor not in left_out]
    expected = {flavor: _wanted_attempt(wanted[flavor]) if flavor in wanted else None for flavor in compared}
    return differences(expected, {flavor: found.get(flavor) for flavor in compared})


def _lacks_a_resource(attempt: Json) -> bool:
    """Whether the table says of a flavor that it is not of a resource, and nothing else."""
    reasons = attempt.get("Reasons") or []
    return bool(reasons) and all("does not provide resource" in reason for reason in reasons)


def _wanted_attempt(attempt: Json) -> tuple[Any, ...]:
    """Mode, level, reason, what could be gained by evicting, and what stood in the way."""
    possibility, obstacles = attempt.get("PreemptionPossibility"), sorted(attempt.get("Reasons") or [])
    return attempt["Mode"], attempt["Borrow"], attempt["NoFitReason"], possibility, obstacles


def _attempt(kueue: TableCluster, attempt: Attempt) -> tuple[Any, ...]:
    obstacles = sorted({say(kueue, obstacle) for obstacle in attempt.obstacles})  # Kueue lists one for several resources once here
    return MODES[attempt.grade.mode], attempt.level, attempt.reason, POSSIBILITIES.get(attempt.grade), obstacles


def say(kueue: TableCluster, obstacle: Obstacle) -> str:
    """An obstacle in Kueue's words."""
    resource, flavor = obstacle.resource, kueue.graph.flavors[obstacle.flavor].name if obstacle.flavor >= 0 else ""
    match obstacle.kind:
        case "unserved":
            return f"resource {resource} unavailable in ClusterQueue"
        case "missing":
            return f"flavor {flavor} not found"
        case "taint":
            taint = kueue.graph.flavors[obstacle.flavor].taints[obstacle.index]
            return f"untolerated taint {{{taint.key} {taint.value} {taint.effect} <nil>}} in flavor {flavor}"
        case "not-selected":
            return f"flavor {flavor} doesn't match node affinity"
        case "other-flavor":
            original = kueue.graph.flavors[obstacle.index].name if obstacle.index >= 0 else ""
            return f"could not assign {flavor} flavor since the original workload is assigned: {original}"
        case "exceeds":
            asked, most, assumed = (text(amount, resource) for amount in (obstacle.asked, obstacle.limit, obstacle.assumed))
            wanted = f"previously considered podsets requests ({assumed}) + current podset request ({asked})"
            return f"insufficient quota for {resource} in flavor {flavor}, {wanted} > maximum capacity ({most})"
        case _:
            lacks = obstacle.assumed + obstacle.asked - obstacle.limit
            return f"insufficient unused quota for {resource} in flavor {flavor}, {text(lacks, resource)} more needed"


# --- tables whose clusters are code in Kueue's flavorassigner_test.go, and so not in the data ------------------------------


def _flavors_and_mode(tc: Case, plan: FlavorAssignment, kueue: TableCluster) -> list[str]:
    names = [flavor.name for flavor in kueue.graph.flavors]
    found = {resource: names[chosen.flavor] for resource, chosen in plan.pod_sets[0].flavors.items()}
    return differences({"mode": tc["wantMode"], "flavors": tc["wantAssigment"]}, {"mode": MODES[plan.mode], "flavors": found})


_TEST, _OTHER = "test-clusterqueue", "other-clusterqueue"
_EVICTS = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "LowerPriority"}


def _usage(tc: Case) -> dict[str, Any]:
    return {_TEST: tc.get("testClusterQueueUsage") or {}, _OTHER: tc.get("otherClusterQueueUsage") or {}}


def _named(names: tuple[str, ...]) -> list[Json]:
    return [{"metadata": {"name": name}, "spec": {}} for name in names]


def reclaim_before_priority(case: Case) -> list[str]:
    """A queue with ten of two resources in each of three flavors, and one beside it with nothing."""
    tc, names = case["tc"], ("uno", "due", "tre")
    test, other = (
        cluster_queue(name, "cohort", [{flavor: {"compute": (owned,), "gpu": (owned,)} for flavor in names}])
        for name, owned in ((_TEST, "10"), (_OTHER, "0"))
    )
    test["spec"] |= {"preemption": _EVICTS, "flavorFungibility": tc.get("flavorFungibility") or {"whenCanPreempt": "TryNextFlavor"}}
    kueue, plan = plan_of([tc["workloadRequests"]["PodSet"]], [test, other], _named(names), _usage(tc), tc)
    return _flavors_and_mode(tc, plan, kueue)


def hierarchical(case: Case) -> list[str]:
    """Three cohorts above each other, each with four cpus in a flavor of its own name."""
    tc, names = case["tc"], ("one", "two", "three")
    test = cluster_queue(_TEST, "one", [])
    test["spec"] |= {
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": tc["testClusterQueueFlavors"]}],
        "preemption": _EVICTS,
        "flavorFungibility": tc.get("flavorFungibility") or {"whenCanPreempt": "TryNextFlavor"},
    }
    other = cluster_queue(_OTHER, "two", [{flavor: {"cpu": ("0",)} for flavor in names}])
    cohorts = [_cohort(name, parent) for name, parent in zip(names, (*names[1:], ""), strict=True)]
    kueue, plan = plan_of([tc["workloadRequests"]["PodSet"]], [test, other], _named(names), _usage(tc), tc, cohorts)
    return _flavors_and_mode(tc, plan, kueue)


def _cohort(name: str, parent: str) -> Json:
    resources = [{"name": "cpu", "nominalQuota": "4"}]
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": name, "resources": resources}]}]
    return {"metadata": {"name": name}, "spec": {"resourceGroups": groups, **({"parentName": parent} if parent else {})}}


def no_fit(case: Case) -> list[str]:
    """Why a workload does not fit, overall and by flavor."""
    tc = case["tc"]
    plain = cluster_queue("cq", "", [{flavor: {"cpu": ("2",)} for flavor in ("flavor-a", "flavor-b")}])
    queues = [tc.get("cq") or plain, *(tc.get("siblingCQs") or [])]
    flavors = tc.get("resourceFlavors") or case["resourceFlavors"]
    named = {flavor["name"] for queue in queues for group in queue["spec"]["resourceGroups"] for flavor in group["flavors"]}
    defined = [{**flavors[name], "metadata": {"name": name}} for name in sorted(named) if name in flavors]
    usage = {queues[0]["metadata"]["name"]: tc.get("cqUsage") or {}, **(tc.get("siblingCQUsage") or {})}
    kueue, plan = plan_of([tc["podSet"]], queues, defined, usage, tc)
    expected, found = _reasons(kueue, tc["wantFlavorAttempts"], plan)
    return differences({"reason": tc["wantNoFitReason"], **expected}, {"reason": plan.reason, **found})


def _reasons(kueue: TableCluster, wanted: Mapping[str, str], plan: FlavorAssignment) -> tuple[dict[str, str], dict[str, str]]:
    """Why each flavor does not fit, of those that the table names: what it says, and what was found.

    Kueue's test compares no flavor that the table does not name, and none that was not tried. Here one that is named has to have been
    tried, unless another one fits: there the search ends.
    """
    tried = {kueue.graph.flavors[attempt.flavor].name: attempt.reason for pod_set in plan.pod_sets for attempt in pod_set.attempts}
    if plan.unplaced_if_empty is not None:
        tried[kueue.graph.flavors[plan.unplaced_if_empty.flavor].name] = "TopologyPlacementFailed"
    found = {flavor: reason for flavor, reason in tried.items() if flavor in wanted}
    if plan.mode is not Mode.FIT:
        found |= dict.fromkeys(sorted(set(wanted) - set(tried)), "not tried")
    return {flavor: wanted[flavor] for flavor in found}, found


# --- the tables -------------------------------------------------------------------------------------------------------

SUITES = (
    table(
        "TestAssignFlavors",
        60,
        "mode, borrowing, reason and amounts; of each pod set pods, flavors, what stands in the way, flavors tried",
        assign,
        remarks={
            "with reclaimable pods; reclaimablePods off": "the feature gate ReclaimablePods is off: they are left out",
        },
    ),
    table("TestHierarchical", 3, "mode and flavors", hierarchical),
    table("TestReclaimBeforePriorityPreemption", 6, "mode and flavors", reclaim_before_priority),
    table(
        "TestIsNoFitDueToCapacityAndLimits",
        19,
        "the reason, and that of each flavor that the table names",
        no_fit,
        remarks={
            "tas placement fails, but queue has available capacity (waiting for preemption)": (
                "the alpha feature gate ConcurrentAdmission is on, which decides nothing here"
            ),
            "flavor not allowed by annotations": "the flavors of an alpha annotation are those that the submission asks for",
            "flavor spanning multiple resource groups": (
                "a flavor is in two groups, which a webhook refuses: here it is two flavors, and one again where the reason is worked out"
            ),
        },
    ),
)
