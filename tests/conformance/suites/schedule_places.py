"""One scheduling cycle on clusters with topologies: TestScheduleForTAS, TestScheduleForTASCohorts, TestScheduleForTASPreemption.

Compared are all that are admitted in the cycle or get other places, with pods, flavors, amounts and places; who is told to go, why and for
whom; who is left in each queue, looked at again or not; and the reason token of who waits.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

from gpol.engine.definition.admission import cycle
from gpol.engine.definition.state.trial import Trial
from gpol.engine.events import AnyDecision, WorkloadDeferred
from gpol.engine.facts import TimeAdvanced
from gpol.engine.outcome.decision import SearchState
from gpol.engine.outcome.nomination import Nomination
from gpol.engine.workload import Workload

from .schedule import NAMESPACES, by_key, in_queues, judging_again, left, off, reasons, victims, wanted_victims
from .second_pass import evictions, new_holdings, wanted_evictions, wanted_holding
from .suite import Case, Excuse, table
from .world import World, as_created


def schedule(case: Case) -> list[str]:
    """Play a case: its objects, what holds quota already and what waits, then one cycle."""
    tc, world = case["tc"], _world(case)
    before = {each.name for each in world.core.view.workloads() if each.admitted is not None}
    with judging_again(world, {}, off=False), _placing_anew(without=off(tc, "TASRecomputeAssignmentWithinSchedulingCycle")):
        decisions = world.core.step(TimeAdvanced(time=world.now)) if world.core.next_wake() is not None else []
    homeless = wanted_evictions(tc)
    wanted = {name: wanted_holding(given) for name, given in (tc.get("wantNewAssignments") or {}).items() if name not in homeless}
    return [
        *by_key("gets", wanted, new_holdings(world, decisions)),
        *by_key("finds no other node", homeless, evictions(decisions)),
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


# --- what is said ------------------------------------------------------------------------------------------------------


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


# --- the tables -------------------------------------------------------------------------------------------------------


def _fails_late(case: Case) -> bool:
    """Whether a case turns off that a workload goes as soon as there is no place for pods of a failed node."""
    return off(case["tc"], "TASFailedNodeReplacementFailFast")


def _patch_fails(case: Case) -> bool:
    """Whether the cluster refuses what Kueue writes."""
    return bool(case["tc"].get("patchStatusErr"))


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

_COMPARED = (
    "who gets quota or other places, with flavors, pods, amounts, places; who is told to go, why and for whom; who is left where, why"
)

_LATE = "the feature gate TASFailedNodeReplacementFailFast, on by default, is off: Kueue then keeps who finds no other node"

_OFF = "the feature gate for placing workloads anew within a cycle, on by default, is off: so is the mechanism, in this case alone"

_BY_LIBRARY = "the alpha feature gate SchedulerLibraryIntegration is on, by which Kueue asks other code the same"

SUITES = (
    table(
        "TestScheduleForTAS",
        67,
        _COMPARED,
        schedule,
        excused={
            **dict.fromkeys(
                (
                    "workload with unhealthyNode annotation; second pass; required rack; no fit",
                    "workload with unhealthyNode annotation; second pass; preferred; no fit",
                ),
                Excuse(_LATE, _fails_late),
            ),
            **dict.fromkeys(
                (
                    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast (not found error on patch)",
                    "workload with unhealthyNode annotation; second pass; preferred; no fit; FailFast (test error on patch)",
                ),
                Excuse("the cluster refuses what Kueue writes, so that the workload stays as it was", _patch_fails),
            ),
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
