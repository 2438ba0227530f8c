"""Workloads: what is read of pending, admitted, evicted and finished ones."""

from typing import Any

import pytest
from gpol.adapters.kueue.read.objects import KueueWorkload

from ..conftest import Json, Maker

HOUR = 3_600_000_000


def read(kueue: Maker, work: Json) -> KueueWorkload:
    """A workload as it is read."""
    return kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), work).objects.workloads[0]


def test_what_counts_where_nothing_is_said(kueue: Maker) -> None:
    """No priority is 0, no count is 1, no name of a pod set is `main`; nothing is held, known or reserved."""
    workload = read(kueue, kueue.obj("Workload", "w", {"podSets": [{}]}, namespace="ns"))
    assert (workload.key, workload.priority, workload.boost, workload.queue, workload.created) == ("ns/w", 0, 0, "", None)
    assert (workload.held, workload.requeued, workload.checks, workload.reclaimable) == ("", None, {}, {})
    assert (workload.admission, workload.finished) == (None, False)
    assert [(pods.name, pods.count, pods.min_count, pods.requests) for pods in workload.pod_sets] == [("main", 1, None, {})]


def test_a_pending_workload(kueue: Maker) -> None:
    """Who it is, since when, how important, and what its pods want."""
    pods = kueue.pods("one", 4, {"cpu": "2"}, nodeSelector={"a": "1"}, tolerations=[{"key": "t", "operator": "Exists"}])
    pods |= {"minCount": 2, "topologyRequest": {"podSetGroupName": "g", "podIndexLabel": "i"}}
    work = kueue.work(sets=[pods], spec={"priority": -3}, uid="u", creationTimestamp="2026-01-03T04:04:05+01:00", labels={"k": "v"})
    work["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j"}]
    workload = read(kueue, work)
    assert (workload.uid, workload.created, workload.priority) == ("u", kueue.now, -3)
    assert (workload.kind, workload.labels, workload.queue) == ("Job", {"k": "v"}, "lq")
    (only,) = workload.pod_sets
    assert (only.name, only.count, only.min_count, only.requests, only.group) == ("one", 4, 2, {"cpu": 2000}, "g")
    assert (only.node_selector, [each.key for each in only.tolerations]) == ({"a": "1"}, ["t"])


def test_an_admitted_workload(kueue: Maker) -> None:
    """Its reservation, since the condition QuotaReserved, with what its pods are charged."""
    workload = read(kueue, kueue.work(status=kueue.admitted(usage={"cpu": "3", "memory": "1Ki"}, count=1)))
    admission = workload.admission
    assert admission is not None
    assert (admission.cluster_queue, admission.since, admission.evicting) == ("a", kueue.now - 2 * HOUR - 245_000_000, False)
    (given,) = admission.assignments
    assert (given.pod_set, given.count, given.usage) == ("main", 1, {"cpu": 3000, "memory": 1024})
    assert given.flavors == {"cpu": "base", "memory": "base"}


def test_pods_that_are_done_are_charged_no_more(kueue: Maker) -> None:
    """Of 4 pods charged 8 cpu, one that is done leaves 3 and 6; no more are done than there are."""
    status = kueue.admitted(usage={"cpu": "8"}, count=4) | {
        "reclaimablePods": [{"name": "main", "count": 1}, {"name": "other", "count": 1}]
    }
    workload = read(kueue, kueue.work(sets=[kueue.pods(count=4)], status=status))
    assert workload.reclaimable == {"main": 1}
    assert workload.admission is not None
    assert [(given.count, given.usage) for given in workload.admission.assignments] == [(3, {"cpu": 6000})]
    status["reclaimablePods"] = [{"name": "main", "count": 9}]
    assert read(kueue, kueue.work(sets=[kueue.pods(count=4)], status=status)).reclaimable == {"main": 4}


def test_a_workload_admitted_in_part_keeps_its_count(kueue: Maker) -> None:
    """Two of four pods were admitted: that is what is charged, also when one of the others is done."""
    status = kueue.admitted(usage={"cpu": "2"}, count=2) | {"reclaimablePods": [{"name": "main", "count": 1}]}
    admission = read(kueue, kueue.work(sets=[kueue.pods(count=4)], status=status)).admission
    assert admission is not None
    assert [(given.count, given.usage) for given in admission.assignments] == [(2, {"cpu": 2000})]


@pytest.mark.parametrize(
    ("reason", "requeued", "timed_out"), [("Preempted", False, False), ("AdmissionCheck", True, False), ("PodsReadyTimeout", True, True)]
)
def test_from_when_an_evicted_workload_waits(reason: str, requeued: bool, timed_out: bool, kueue: Maker) -> None:
    """From its eviction for two reasons, else from its creation; while it holds quota it is being evicted."""
    evicted = kueue.true("Evicted", reason, "2026-01-03T02:04:05Z")
    workload = read(kueue, kueue.work(status=kueue.admitted("a", "base", None, 1, evicted)))
    assert workload.requeued == (kueue.now - HOUR if requeued else None)
    assert workload.timed_out is timed_out
    assert workload.admission is not None
    assert workload.admission.evicting


def test_a_reservation_that_is_over_is_none(kueue: Maker) -> None:
    """QuotaReserved=False beside an admission that was not cleared yet: it holds nothing."""
    status = {**kueue.admitted(), "conditions": [kueue.true("QuotaReserved", status="False")]}
    assert read(kueue, kueue.work(status=status)).admission is None


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ({"spec": {"active": False}}, "it is not active"),
        ({"spec": {"active": True}}, ""),
        ({"annotations": {"kueue.x-k8s.io/admission-gated-by": "x.io/y"}}, "it is gated by x.io/y"),
        ({"status": {"conditions": [{"type": "Requeued", "status": "False"}]}}, "it is not requeued yet"),
        ({"status": {"conditions": [{"type": "Requeued", "status": "True"}]}}, ""),
        ({"status": {"conditions": [{"type": "WaitingForReplacementPods", "status": "True"}]}}, "it waits for replacement pods"),
    ],
)
def test_what_kueue_does_not_queue(said: dict[str, Any], held: str, kueue: Maker) -> None:
    """Whatever keeps a workload out of its queue is its reason to be held."""
    assert read(kueue, kueue.work(**said)).held == held


def test_a_container_beyond_its_limit_is_misconfigured(kueue: Maker) -> None:
    """Kueue queues it, and never admits it."""
    pods = kueue.pods()
    pods["template"]["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "500m"}
    assert read(kueue, kueue.work(sets=[pods])).misconfigured == "a container asks for more cpu than its limit"


@pytest.mark.parametrize(
    ("work", "why"),
    [
        ({"spec": {"podSets": []}}, "spec.podSets: is empty"),
        ({"spec": {"podSets": [{}] * 19}}, "spec.podSets: has 19 entries"),
        ({"spec": {"podSets": [{}, {}]}}, "spec.podSets: has pod set `main` twice"),
        ({"spec": {"podSets": [{"count": -1}]}}, "count: is -1"),
        ({"spec": {"podSets": [{"count": 2, "minCount": 3}]}}, "spec.podSets[0].minCount: is 3, above the count; write at most 2"),
        ({"spec": {"podSets": [{"count": 2, "minCount": 0}]}}, "spec.podSets[0].minCount: is 0; write a whole number from 1"),
        ({"spec": {"podSets": [{"count": 2, "minCount": -1}]}}, "spec.podSets[0].minCount: is -1; write a whole number from 1"),
        ({"spec": {"podSets": [{"count": 0, "minCount": 1}]}}, "spec.podSets[0].minCount: is 1, above the count; leave it out"),
        ({"status": {"reclaimablePods": [{}, {}]}}, "status.reclaimablePods: has pod set `main` twice; keep one"),
        (
            {"status": {"admission": {"clusterQueue": "a", "podSetAssignments": [{"name": "p"}, {"name": "p"}]}}},
            "status.admission.podSetAssignments: has pod set `p` twice; keep one",
        ),
        (
            {"spec": {"podSets": [{"template": {"spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": "-5"}}}]}}}]}},
            "spec.podSets[0].template.spec.containers[0].resources.requests.nvidia.com/gpu: is -5, below 0; write 0 or more",
        ),
        ({"spec": {"priority": 2**40}}, "spec.priority: is 1099511627776"),
        ({"spec": {"priority": "high"}}, "spec.priority: is a text, not a whole number"),
        ({"spec": {"active": "no"}}, "spec.active: is a text, not true or false"),
        ({"creationTimestamp": "yesterday"}, "metadata.creationTimestamp: `yesterday` is no time"),
        ({"creationTimestamp": "2026-01-02T03:04:05"}, "has no zone such as Z or +01:00; write it as 2026"),
        ({"creationTimestamp": "1900-01-01T00:00:00Z"}, "is before 1970; correct the time"),
        ({"creationTimestamp": "2026-01-02T03:04:05.1234567Z"}, "is finer than a microsecond"),
        ({"annotations": {"kueue.x-k8s.io/priority-boost": "much"}}, "`much` is no boost"),
        ({"annotations": {"kueue.x-k8s.io/priority-boost": "99999999999"}}, "is no boost"),
        ({"annotations": {"kueue.x-k8s.io/workload-slice-replacement-for": "ns/w"}}, "names the workload itself"),
        ({"status": {"admission": {"podSetAssignments": []}}}, "status.admission.clusterQueue: is missing"),
        ({"status": {"admissionChecks": [{"name": "c", "state": "Maybe"}]}}, "state: is `Maybe`"),
        ({"status": {"conditions": {}}}, "status.conditions: is an object, not a list"),
    ],
)
def test_what_no_workload_says(work: dict[str, Any], why: str, kueue: Maker) -> None:
    """Values that Kueue refuses, and requests that gpol does not decide, are refused by name."""
    said = kueue.problems(kueue.queue(), kueue.flavor(), kueue.work(**work))
    assert any(why in problem for problem in said), said


def test_what_is_held_for_no_pod_set_is_noted(kueue: Maker) -> None:
    """It is charged to nobody, and said; of a pod set without pods nothing is held."""
    stranger = kueue.admitted()
    stranger["admission"]["podSetAssignments"].append({"name": "other", "flavors": {"cpu": "base"}, "resourceUsage": {"cpu": "7"}})
    told = "Workload ns/w: status.admission.podSetAssignments: is of a pod set that the workload does not have: it is not charged"
    assert kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), kueue.work(status=stranger)) == [told]
    sets = [kueue.pods(), kueue.pods("other", count=0)]
    notes = kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), kueue.work(sets=sets, status=stranger))
    assert notes == ["Workload ns/w: spec.podSets: a pod set without pods is left out"]


def test_what_counts_for_nothing_is_noted(kueue: Maker) -> None:
    """Gates that are off, limits of time, and a class without a value are named."""
    spec = {"preemptionGates": [{"name": "g"}], "maximumExecutionTimeSeconds": 60, "priorityClassRef": {"name": "high"}, "odd": 1}
    notes = kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), kueue.work(spec=spec))
    assert [note.split(": ")[1] for note in notes] == [
        f"spec.{field}" for field in ("maximumExecutionTimeSeconds", "odd", "preemptionGates", "priority")
    ]
