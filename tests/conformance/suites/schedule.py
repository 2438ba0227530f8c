"""One scheduling cycle: TestSchedule, TestScheduleForFairSharing, TestScheduleRecomputePreemptionTargets.

Compared are all that hold quota after the cycle, with pods, flavors and usage; who is told to go, why and for whom; who is left in each
queue, looked at again or not; and the reason token of who waits.
"""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from gpol.adapters.kueue.decide.kueue_reasons import REASONS
from gpol.adapters.kueue.read.quantity import amount, parse
from gpol.engine.definition.admission import cycle
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadDeferred, WorkloadEvicted
from gpol.engine.facts import OperatorAction, TimeAdvanced
from gpol.engine.outcome.nomination import Mode, Nomination
from gpol.engine.workload import Workload

from .suite import Case, Excuse, gate, table
from .world import World, as_created, as_defaulted

NAMESPACES = {
    "default": {},
    "eng-alpha": {"dep": "eng"},
    "eng-beta": {"dep": "eng"},
    "eng-gamma": {"dep": "eng"},
    "sales": {"dep": "sales"},
    "lend": {"dep": "lend"},
}
"""The namespaces of the tests and their labels: code in Kueue's scheduler_test.go, and so not in the data."""

Holding = tuple[str, tuple[tuple[str, int, tuple[tuple[str, str], ...]], ...], tuple[tuple[str, int], ...]]
"""What a workload holds: its ClusterQueue; pod sets with pods and flavors by resource; amounts by "flavor|resource"."""


def schedule(case: Case) -> list[str]:
    """Play a case: its objects, what holds quota already and what waits, then one cycle."""
    tc, world = case["tc"], _world(case)
    held = {each.name: _holding(world, each) for each in world.core.view.workloads() if each.admitted is not None}
    before = set(held)
    again: dict[str, dict[str, int]] = {}
    with judging_again(world, again, is_switched_off(case)):
        decisions = world.core.step(TimeAdvanced(time=world.now))
    admitted = [decision for decision in decisions if isinstance(decision, WorkloadAdmitted)]
    if tc.get("admissionError"):
        _take_back(world, admitted)
    else:
        held |= {decision.workload: _admitted(world, decision) for decision in admitted}
    return [
        *by_key("holds", {name: _wanted(admission) for name, admission in (tc.get("wantAssignments") or {}).items()}, held),
        *by_key("goes", wanted_victims(tc), victims(world, decisions)),
        *by_key("left", in_queues(tc.get("wantLeft")), left(world, before, parked=False)),
        *by_key("set aside", in_queues(tc.get("wantInadmissibleLeft")), left(world, before, parked=True)),
        *_named("judged again in", tc.get("wantPreemptionTargetRecomputations"), again),
        *_named("passed over in", tc.get("wantSkippedPreemptions"), _skipped(world, decisions)),
        *reasons(tc, decisions),
    ]


@contextmanager
def judging_again(world: World, again: dict[str, dict[str, int]], off: bool) -> Iterator[None]:
    """Count by queue what judging a workload again came to, when its victims had gone for another one; with `off` leave it out.

    Kueue's feature gate for it is on by default. Without it such a workload is passed over.
    """
    judge = cycle._Cycle._again

    def counted(running: cycle._Cycle, nomination: Nomination) -> Nomination:
        if off:
            return nomination
        found = judge(running, nomination)
        result = "deferred_fit" if found.flavors.mode is Mode.DEFERRED_FIT else "new_targets" if found.victims else "skipped"
        counts = again.setdefault(world.graph.nodes[found.queue].name, {})
        counts[result] = counts.get(result, 0) + 1
        return found

    with patch.object(cycle._Cycle, "_again", counted):
        yield


def _take_back(world: World, admitted: list[WorkloadAdmitted]) -> None:
    """What follows where the cluster does not take admissions: they are taken back, and the workloads may be looked at again."""
    for decision in admitted:
        for action in ("evict", "release"):
            world.play([OperatorAction(time=world.now, by="api-server", action=action, workload=decision.workload)])


def _world(case: Case) -> World:
    tc, cfg = case["tc"], case["cfg"]
    fair = bool(tc.get("enableFairSharing"))
    objects = {
        "flavors": cfg["resourceFlavors"],
        "clusterQueues": [as_defaulted(queue, fair) for queue in [*cfg["clusterQueues"], *(tc.get("additionalClusterQueues") or [])]],
        "localQueues": [*cfg["queues"], *(tc.get("additionalLocalQueues") or [])],
        "cohorts": tc.get("cohorts") or [],
        "workloads": [_as_limited(_as_gated(as_created(workload), tc), tc) for workload in tc["workloads"]],
        "namespaces": [{"metadata": {"name": name, "labels": labels}} for name, labels in NAMESPACES.items()],
    }
    world = World(objects, fair)
    world.play(world.imported.facts)
    return world


def _as_gated(workload: dict[str, Any], tc: Case) -> dict[str, Any]:
    """A workload as Kueue reads it with the feature gates of a case: without PartialAdmission minCount counts for nothing."""
    if not off(tc, "PartialAdmission"):
        return workload
    pod_sets = [{key: value for key, value in pod_set.items() if key != "minCount"} for pod_set in workload["spec"]["podSets"]]
    return {**workload, "spec": {**workload["spec"], "podSets": pod_sets}}


def _as_limited(workload: dict[str, Any], tc: Case) -> dict[str, Any]:
    """A workload as a cluster lets it in where a LimitRange of its namespace has a maximum: that is the limit of its containers."""
    most = {
        resource: quantity
        for known in tc.get("objects") or []
        if known["metadata"]["namespace"] == workload["metadata"]["namespace"]
        for row in known["spec"]["limits"]
        for resource, quantity in row["max"].items()
    }
    if not most:
        return workload
    pod_sets = copy.deepcopy(workload["spec"]["podSets"])
    for container in (container for pod_set in pod_sets for container in pod_set["template"]["spec"]["containers"]):
        container["resources"]["limits"] = most
    return {**workload, "spec": {**workload["spec"], "podSets": pod_sets}}


def off(tc: Case, gate: str) -> bool:
    """Whether a case turns a feature gate off that is on by default."""
    gates = tc.get("featureGates") or {}
    return gate in gates and not gates[gate]


def is_switched_off(case: Case) -> bool:
    """Whether a case is of Kueue without judging a workload again whose victims had gone for another one."""
    return off(case.get("tc") or {}, "RecomputeAssignmentUponPreemptionTargetsOverlap")


def places_nobody_anew(case: Case) -> bool:
    """Whether a case is of Kueue without placing a workload anew whose places were taken."""
    tc = case.get("tc") or {}
    return bool(tc.get("topologies")) and off(tc, "TASRecomputeAssignmentWithinSchedulingCycle")


def by_key(what: str, wanted: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """What two mappings differ in, key by key."""
    return [
        f"{what} {key}: Kueue {wanted.get(key)}, gpol {got.get(key)}" for key in sorted({*wanted, *got}) if wanted.get(key) != got.get(key)
    ]


def in_queues(lists: dict[str, list[str]] | None) -> dict[str, list[str]]:
    """Lists of names by queue, each in order."""
    return {queue: sorted(names) for queue, names in (lists or {}).items()}


# --- who holds what -----------------------------------------------------------------------------------------------------


def _wanted(admission: dict[str, Any]) -> Holding:
    """An admission of the table."""
    usage: dict[str, int] = {}
    rows = []
    for row in admission["podSetAssignments"]:
        flavors = row.get("flavors") or {}
        rows.append((row["name"], row["count"], tuple(sorted(flavors.items()))))
        for resource, quantity in (row.get("resourceUsage") or {}).items():
            if resource in flavors:
                key = f"{flavors[resource]}|{resource}"
                usage[key] = usage.get(key, 0) + amount(parse(quantity), resource)
    return admission["clusterQueue"], tuple(rows), positive(usage)


def positive(usage: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """The amounts above 0, in order."""
    return tuple((key, usage[key]) for key in sorted(usage) if usage[key])


def _holding(world: World, workload: Workload) -> Holding:
    names = [flavor.name for flavor in world.graph.flavors]
    usage = {f"{names[world.graph.slots[slot].flavor]}|{world.graph.slots[slot].resource}": held for slot, held in workload.usage}
    rows = tuple((row.pod_set, row.count, tuple(sorted(row.flavors.items()))) for row in workload.assignments)
    return world.graph.nodes[workload.queue].name, rows, positive(usage)


def _admitted(world: World, decision: WorkloadAdmitted) -> Holding:
    rows = tuple((row.pod_set, row.count, tuple(sorted(row.flavors.items()))) for row in decision.assignments)
    return decision.queue, rows, positive({f"{charge.flavor}|{charge.resource}": charge.amount for charge in decision.usage})


# --- who goes ---------------------------------------------------------------------------------------------------------


def wanted_victims(tc: Case) -> dict[str, tuple[str, str]]:
    """The reason for which each workload was told to go in this cycle, and the UID of the one that takes its place."""
    return {
        name_of(workload): (condition["reason"], condition["message"].split("(UID: ")[1].split(",")[0])
        for workload in tc.get("wantWorkloads") or []
        for condition in workload["status"].get("conditions", [])
        if condition["type"] == "Preempted" and condition["status"] == "True"
    }


def victims(world: World, decisions: list[AnyDecision]) -> dict[str, tuple[str, str]]:
    """The same of what gpol decided; not of who goes for nobody, as it has lost a node."""
    uids = {each.name: each.fact.uid for each in world.core.view.workloads()}
    return {
        decision.workload: (REASONS[decision.preemption], uids[decision.beneficiary or ""])
        for decision in decisions
        if isinstance(decision, WorkloadEvicted) and decision.preemption != "node-lost"
    }


def name_of(workload: dict[str, Any]) -> str:
    """A workload by `namespace/name`."""
    return f"{workload['metadata']['namespace']}/{workload['metadata']['name']}"


# --- who waits --------------------------------------------------------------------------------------------------------


def left(world: World, before: set[str], parked: bool) -> dict[str, list[str]]:
    """Who is left in each queue; whoever was told to go still runs in Kueue, and is in no queue yet."""
    found = {}
    for name, queue in world.queue_names().items():
        waiting = [each for each in world.core.view.workloads() if each.queue == world.nodes[queue] and each.in_line]
        names = sorted(each.name for each in waiting if each.parked == parked and each.name not in before)
        if names:
            found[name] = names
    return found


def _skipped(world: World, decisions: list[AnyDecision]) -> dict[str, int]:
    """How many workloads of each queue would have evicted others, and were passed over."""
    got = {node.name: 0 for node in world.graph.nodes}
    for decision in decisions:
        if isinstance(decision, WorkloadDeferred) and decision.why.limit is not None:  # one that fitted met no limit
            got[decision.queue] += decision.outcome in ("overtaken", "overlapping")
    return got


def _named(what: str, wanted: Mapping[str, Any] | None, got: Mapping[str, Any]) -> list[str]:
    """Where two mappings differ in the keys that the table names."""
    wanted = wanted or {}
    return by_key(what, dict(wanted), {key: got.get(key) for key in wanted})


def reasons(tc: Case, decisions: list[AnyDecision]) -> list[str]:
    """Where the token of a workload that waits differs, of those for which the table shows one."""
    said = {decision.workload: decision.reason for decision in decisions if isinstance(decision, WorkloadDeferred)}
    wanted, got = {}, {}
    for workload in tc.get("wantWorkloads") or []:
        for condition in workload["status"].get("conditions", []):
            if condition["type"] == "QuotaReserved" and condition["status"] == "False":
                wanted[name_of(workload)] = condition["reason"]
                got[name_of(workload)] = said.get(name_of(workload), "")
    return by_key("waits", wanted, got)


# --- the tables -------------------------------------------------------------------------------------------------------

_COMPARED = "who holds quota, with flavors, pods and amounts; who is told to go, why and for whom; who is left where, and why"

_TAKEN_BACK = "the admission that the cluster does not take is taken back by an operator: evicted and released"
_OFF = "Kueue's feature gate for judging a workload again, on by default, is off: so is the mechanism, in this case alone"


SUITES = (
    table(
        "TestSchedule",
        65,
        _COMPARED,
        schedule,
        excused={
            "block preemptions and signal `BlockedOnPreemptionGates` when a preemption gate is present": Excuse(
                "needs the alpha feature gate MultiKueueOrchestratedPreemption", gate("MultiKueueOrchestratedPreemption")
            ),
        },
        remarks={
            "error during admission": _TAKEN_BACK,
            "partial admission disabled, multiple variable pod sets": "the feature gate PartialAdmission is off: minCount is left out",
            "container does not satisfy limitRange constraints": "the maximum of the LimitRange is the limit of the containers",
        },
    ),
    table(
        "TestScheduleForFairSharing",
        22,
        _COMPARED,
        schedule,
        remarks={
            "multiple preemptions skip overlapping preemption targets": _OFF,
            "multiple preemptions within cq when fair sharing": (
                "no reclaimWithinCohort, which a cluster never has, lets evicting go with borrowing, and nothing else: "
                "here borrowWithinCohort says so"
            ),
        },
    ),
    table(
        "TestScheduleRecomputePreemptionTargets",
        7,
        _COMPARED + "; what judging workloads again came to",
        schedule,
        remarks={"legacy overlap skip with RecomputePreemptionTargetsUponOverlap disabled": _OFF},
    ),
)
