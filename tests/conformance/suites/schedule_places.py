"""One scheduling cycle on clusters with topologies: TestScheduleForTAS, TestScheduleForTASCohorts, TestScheduleForTASPreemption.

Compared are all that are admitted in the cycle, with pods, flavors, amounts and places; who is told to go, why and for whom; who is left in
each queue, looked at again or not; and the reason token of who waits.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

from gpol.adapters.kueue.import_.topologies import PROVISIONING
from gpol.adapters.kueue.problems import Findings
from gpol.adapters.kueue.read.fields import Fields
from gpol.adapters.kueue.read.quantity import amount, parse
from gpol.adapters.kueue.read.topology.topology_assignments import places_given
from gpol.engine.definition.admission import cycle
from gpol.engine.definition.state.trial import Trial
from gpol.engine.events import AnyDecision, WorkloadAdmitted, WorkloadDeferred
from gpol.engine.facts import TimeAdvanced
from gpol.engine.outcome.decision import SearchState
from gpol.engine.outcome.nomination import Nomination
from gpol.engine.workload import Workload

from .schedule import NAMESPACES, by_key, in_queues, judging_again, left, off, positive, reasons, victims, wanted_victims
from .suite import Case, Excuse, table
from .world import World, as_created

Places = tuple[tuple[tuple[str, ...], int], ...]
Holding = tuple[str, tuple[tuple[str, int, tuple[tuple[str, str], ...], Places], ...], tuple[tuple[str, int], ...]]
"""What a workload gets: its ClusterQueue; pod sets with pods, flavors by resource and places; amounts by "flavor|resource"."""


def schedule(case: Case) -> list[str]:
    """Play a case: its objects, what holds quota already and what waits, then one cycle."""
    tc, world = case["tc"], _world(case)
    before = {each.name for each in world.core.view.workloads() if each.admitted is not None}
    with judging_again(world, {}, off=False), _placing_anew(without=off(tc, "TASRecomputeAssignmentWithinSchedulingCycle")):
        decisions = world.core.step(TimeAdvanced(time=world.now)) if world.core.next_wake() is not None else []
    admitted = {decision.workload: _admitted(decision) for decision in decisions if isinstance(decision, WorkloadAdmitted)}
    return [
        *by_key("gets", {name: _wanted(given) for name, given in (tc.get("wantNewAssignments") or {}).items()}, admitted),
        *by_key("goes", wanted_victims(tc), victims(world, decisions)),
        *by_key("left", in_queues(tc.get("wantLeft")), left(world, before, parked=False)),
        *by_key("set aside", in_queues(tc.get("wantInadmissibleLeft")), left(world, before, parked=True)),
        *reasons(tc, decisions),
        *_said(tc, decisions),
    ]


@contextmanager
def _placing_anew(without: bool) -> Iterator[None]:
    """Place anew who finds its places taken within a cycle; or, `without` that, pass it over.

    Kueue's feature gate for it is on by default.
    """
    judge, first = cycle.nominate, dict[str, Nomination]()

    def once(trial: Trial, workload: Workload, tried: SearchState = (), only: dict[tuple[str, str], int] | None = None) -> Nomination:
        if only is None or workload.name not in first:
            first[workload.name] = judge(trial, workload, tried, only)
        return first[workload.name]

    with patch.object(cycle, "nominate", once) if without else nullcontext():
        yield


def _world(case: Case) -> World:
    tc, cfg = case["tc"], case.get("cfg") or case
    objects = {
        "topologies": tc["topologies"],
        "nodes": tc["nodes"],
        "pods": tc.get("pods") or [],
        "flavors": [_as_gated(flavor, tc) for flavor in tc["resourceFlavors"]],
        "clusterQueues": tc["clusterQueues"],
        "localQueues": cfg["queues"],
        "cohorts": tc.get("cohorts") or [],
        "admissionChecks": tc.get("admissionChecks") or [],
        "workloads": list(map(as_created, tc["workloads"])),
        "namespaces": [{"metadata": {"name": name, "labels": labels}} for name, labels in NAMESPACES.items()],
    }
    world = World(objects)
    world.play(world.imported.facts)
    return world


def _as_gated(flavor: dict[str, Any], tc: Case) -> dict[str, Any]:
    """A flavor as Kueue reads it with the feature gates of a case: without TopologyAwareScheduling none has a topology."""
    if not off(tc, "TopologyAwareScheduling"):
        return flavor
    return {**flavor, "spec": {key: value for key, value in flavor["spec"].items() if key != "topologyName"}}


# --- what the table says ------------------------------------------------------------------------------------------------


def _wanted(admission: Mapping[str, Any]) -> Holding:
    """An admission of the table; a pod set without pods gets nothing."""
    usage: dict[str, int] = {}
    rows = []
    for row in (row for row in admission["podSetAssignments"] if row["count"]):
        flavors = row.get("flavors") or {}
        found = Findings()
        places = places_given(Fields(row, "", found)).places
        assert not found.problems
        rows.append((row["name"], row["count"], tuple(sorted(flavors.items())), tuple((place.domain, place.pods) for place in places)))
        for resource, quantity in (row.get("resourceUsage") or {}).items():
            if resource in flavors:
                key = f"{flavors[resource]}|{resource}"
                usage[key] = usage.get(key, 0) + amount(parse(quantity), resource)
    return admission["clusterQueue"], tuple(rows), positive(usage)


def _admitted(decision: WorkloadAdmitted) -> Holding:
    rows = tuple(
        (row.pod_set, row.count, tuple(sorted(row.flavors.items())), tuple((place.domain, place.pods) for place in row.places))
        for row in decision.assignments
    )
    return decision.queue, rows, positive({f"{charge.flavor}|{charge.resource}": charge.amount for charge in decision.usage})


_TOKENS = ("TopologyPlacementFailed", "WaitingForQuota", "NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForPreemptedWorkloads")


def _said(tc: Case, decisions: list[AnyDecision]) -> list[str]:
    """Where the events of the table say another reason why a workload waits."""
    wanted = {
        f"{event['Key']['Namespace']}/{event['Key']['Name']}": event["Reason"]
        for event in tc.get("wantEvents") or []
        if event["Reason"] in _TOKENS
    }
    said = {decision.workload: decision.reason for decision in decisions if isinstance(decision, WorkloadDeferred)}
    return by_key("is told to wait", wanted, said)


_SECOND_PASS = (
    "workload in CQ with two TAS flavors, only the second is using Provisioning Admission Check",
    "workload with unhealthyNode annotation; second pass; preferred; fit in different rack",
    "workload with unhealthyNode annotation; second pass; required rack; fit",
    "workload with unhealthyNode; second pass; slices; unhealthy node hosts incomplete slice",
    "workload with unhealthyNode; second pass; slices; unhealthy node hosts the whole workload",
    "workload in CQ with ProvisioningRequest when two TAS flavors; second pass",
    "workload in CQ with ProvisioningRequest gets QuotaReserved only; implicit defaulting",
    "workload in CQ with ProvisioningRequest; second pass; baseline scenario",
    "workload in CQ with ProvisioningRequest when two TAS flavors; second pass; implicit defaulting",
    "workload with unhealthyNode; second pass; slices; unhealthy node hosts whole slices",
    "second pass replacement must not take a domain claimed by another workload in the same cycle",
    "workload with unhealthyNode annotation; second pass; required rack; no fit",
    "workload with unhealthyNode; second pass; slices; unhealthy node hosts whole slice and incomplete slice",
    "workload in CQ with two TAS flavors - one with ProvisioningRequest, one regular; second pass",
    "workload with unhealthyNode; second pass; slices; baseline",
    "workload with unhealthyNode annotation; second pass; podspec constraints apply",
    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast",
    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast (not found error on patch)",
    "large workload in CQ with ProvisioningRequest; second pass",
    "workload in CQ with ProvisioningRequest gets QuotaReserved only",
    "workload with unhealthyNode annotation; second pass; preferred; no fit when using slices; FailFast",
    "workload with unhealthyNode annotation; second pass; two podsets",
    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast (test error on patch)",
    "workload with unhealthyNode; second pass; slices; finds correct slice domain",
    "workload in CQ with ProvisioningRequest; second pass; multi-resource workload fully consumes quota",
    "workload with unhealthyNode annotation; second pass; baseline scenario",
    "workload with unhealthyNode annotation; second pass; required rack for a single node; fit",
    "workload with unhealthyNode annotation; second pass; preferred; no fit",
)
"""Cases in which Kueue may look for places once quota is given: for pods of a node that failed, or once a check has made machines."""


def _in_second_pass(case: Case) -> bool:
    """Whether a workload has lost a node, or a check makes machines for workloads."""
    checks = {check["spec"]["controllerName"] for check in case["tc"].get("admissionChecks") or ()}
    return PROVISIONING in checks or any(workload["status"].get("unhealthyNodes") for workload in case["tc"]["workloads"])


def _transformed(case: Case) -> bool:
    """Whether a configuration changes what workloads ask for."""
    return bool(case["tc"]["resourceTransformations"])


_ANEW_OFF = (
    "two workloads considered; both overlapping in the initial flavor assignment",
    "two small workloads considered; there is only space for one of them on the initial node",
    "preempting workload with targets reserves capacity so that lower priority workload cannot use it",
    "preempting workload without targets reserves capacity so that lower priority workload cannot use it",
    "reclaim within cohort; capacity reserved by preempting workload does not allow to schedule last workload",
    "workload with preemption target recomputes stale TAS assignment in cohort",
    "two flavors in cohort; re-evaluation is sticky and does not switch to second flavor",
    "two workloads in cohort nominated to the same node; enough capacity to admit both",
)

_COMPARED = "who gets quota, with flavors, pods, amounts and places; who is told to go, why and for whom; who is left where, and why"

_OFF = "the feature gate for placing workloads anew within a cycle, on by default, is off: so is the mechanism, in this case alone"

_BY_LIBRARY = "the alpha feature gate SchedulerLibraryIntegration is on, by which Kueue asks other code the same"

SUITES = (
    table(
        "TestScheduleForTAS",
        67,
        _COMPARED,
        schedule,
        excused={
            **dict.fromkeys(_SECOND_PASS, Excuse("needs a second pass, which gpol does not decide yet", _in_second_pass)),
            **dict.fromkeys(
                (
                    "workload with Resource Transformation (Retain CPU → cpu_credits)",
                    "workload with Resource Transformation (Retain CPU → cpu_credits, not enough credits)",
                ),
                Excuse("needs resource transformations, which an import refuses", _transformed),
            ),
        },
        remarks={
            **dict.fromkeys(
                (
                    "SchedulerLibraryIntegration enabled: non-hostname lowest-level TAS excludes unschedulable node",
                    "SchedulerLibraryIntegration enabled: hostname lowest-level TAS filters unschedulable node via WAS",
                    "SchedulerLibraryIntegration enabled: generic TAS workload admitted on healthy node",
                ),
                _BY_LIBRARY,
            ),
            "initial scheduling; one-byte memory request fits on a 2Gi node with vectorized requests disabled": (
                "the feature gate VectorizedResourceRequests, on by default, is off: how Kueue stores amounts decides nothing here"
            ),
            "workload with a PodSet of size zero": "the pod set without pods is not compared: gpol has none of it",
        },
    ),
    table(
        "TestScheduleForTASCohorts",
        26,
        _COMPARED,
        schedule,
        remarks={f"{name}; TASRecomputeAssignmentWithinSchedulingCycle disabled": _OFF for name in _ANEW_OFF},
    ),
    table(
        "TestScheduleForTASPreemption",
        11,
        _COMPARED,
        schedule,
        remarks={
            "TAS disabled, preemption succeeds even with ResourceFlavor topologyName": (
                "the feature gate TopologyAwareScheduling is off: no flavor has a topology"
            ),
        },
    ),
)
