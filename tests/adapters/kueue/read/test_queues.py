"""ClusterQueues, Cohorts, LocalQueues: what is read of them in both versions, and what is refused."""

from fractions import Fraction
from typing import Any

import pytest
from gpol.adapters.kueue.read.objects import CheckRule, ClusterQueue, ResourceQuota

from ..conftest import Maker


def read(kueue: Maker, **spec: Any) -> ClusterQueue:
    """A ClusterQueue that says this."""
    return kueue.load(kueue.queue(**spec), kueue.flavor()).objects.cluster_queues[0]


def test_what_counts_where_nothing_is_said(kueue: Maker) -> None:
    """Kueue's defaults: best effort, evict nobody, take a flavor to borrow in, look on before evicting, weight 1, no namespace."""
    bare = kueue.load(kueue.obj("ClusterQueue", "a")).objects.cluster_queues[0]
    assert (bare.cohort, bare.groups, bare.weight, bare.strict, bare.selector) == ("", (), 1, False, None)
    assert (bare.try_next_when_borrowing, bare.try_next_when_evicting, bare.evict_rather_than_borrow) == (False, True, False)
    assert (bare.within, bare.reclaim, bare.borrow, bare.borrow_up_to) == ("Never", "Never", "Never", None)
    assert (bare.checks, bare.stop, bare.by_usage, bare.inactive) == ((), "None", False, "")


def test_quotas_are_read_in_smallest_units(kueue: Maker) -> None:
    """cpu in thousandths, the rest whole; a limit that is not there is none, one of 0 is one."""
    quota = {"nominalQuota": "1500m", "borrowingLimit": 0, "lendingLimit": "1"}
    group = kueue.group("cpu memory", default=quota)
    queue = read(kueue, cohortName="c", groups=[group])
    assert queue.groups[0].resources == ("cpu", "memory")
    assert queue.groups[0].flavors[0].quotas == (ResourceQuota("cpu", 1500, 0, 1000), ResourceQuota("memory", 2, 0, 1))


def test_the_older_version_says_the_same(kueue: Maker) -> None:
    """v1beta1's cohort, admissionChecks and flavorFungibility mean what v1beta2's cohortName, strategy and MayStopSearch do."""
    older = read(
        kueue,
        version="v1beta1",
        cohort="c",
        admissionChecks=["prov"],
        flavorFungibility={"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
    )
    newer = read(
        kueue,
        cohortName="c",
        admissionChecksStrategy={"admissionChecks": [{"name": "prov"}]},
        flavorFungibility={"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"},
    )
    assert older == newer
    assert newer.checks == (CheckRule("prov", ()),)
    assert (newer.try_next_when_borrowing, newer.try_next_when_evicting) == (False, False)


def test_every_choice_is_read(kueue: Maker) -> None:
    """Preemption, preference, queueing, stopping, weight and usage are what the object says."""
    queue = read(
        kueue,
        queueingStrategy="StrictFIFO",
        stopPolicy="HoldAndDrain",
        fairSharing={"weight": "250m"},
        admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"},
        flavorFungibility={"whenCanBorrow": "TryNextFlavor", "preference": "PreemptionOverBorrowing"},
        preemption={
            "withinClusterQueue": "LowerOrNewerEqualPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": -5},
        },
        namespaceSelector={"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["x", "y"]}]},
    )
    assert (queue.strict, queue.stop, queue.weight, queue.by_usage) == (True, "HoldAndDrain", Fraction(1, 4), True)
    assert (queue.try_next_when_borrowing, queue.evict_rather_than_borrow) == (True, True)
    assert (queue.within, queue.reclaim, queue.borrow, queue.borrow_up_to) == ("LowerOrNewerEqualPriority", "Any", "LowerPriority", -5)
    assert queue.selector is not None
    wanted = [(requirement.key, requirement.operator, requirement.values) for requirement in queue.selector.requirements]
    assert wanted == [("a", "In", ("1",)), ("b", "NotIn", ("x", "y"))]


GROUP = {"coveredResources": ["cpu"], "flavors": [{"name": "base", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"queueingStrategy": "LIFO"}, "spec.queueingStrategy: is `LIFO`; write one of BestEffortFIFO, StrictFIFO"),
        ({"stopPolicy": "Halt"}, "spec.stopPolicy: is `Halt`"),
        ({"preemption": {"withinClusterQueue": "Any"}}, "spec.preemption.withinClusterQueue: is `Any`"),
        ({"preemption": {"reclaimWithinCohort": "LowerOrNewerEqualPriority"}}, "spec.preemption.reclaimWithinCohort: is `LowerOr"),
        ({"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": 2**31}}}, "maxPriorityThreshold: is 2147483648"),
        ({"preemption": []}, "spec.preemption: is a list, not an object"),
        ({"fairSharing": {"weight": "-1"}}, "spec.fairSharing.weight: is below 0"),
        ({"fairSharing": {"weight": "heavy"}}, 'spec.fairSharing.weight: "heavy" is no quantity'),
        ({"cohortName": 5}, "spec.cohortName: is the number 5, not a text"),
        ({"cohortName": "a", "cohort": "b"}, "spec.cohort: is `b`, but cohortName is `a`"),
        ({"cohortName": "x" * 254}, "spec.cohortName: has 254 characters"),
        ({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}}, "operator: is `Gt`"),
        ({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "values: is empty"),
        ({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["1"]}]}}, "values: is not empty"),
        ({"namespaceSelector": {"matchExpressions": [{"key": "a"}]}}, "operator: is missing"),
        ({"namespaceSelector": {"matchLabels": {"a": 1}}}, "matchLabels.a: is the number 1, not a text"),
        ({"admissionChecks": ["a"], "admissionChecksStrategy": {"admissionChecks": [{"name": "b"}]}}, "admissionChecks: stands beside"),
        ({"admissionChecksStrategy": {"admissionChecks": [{"name": "b"}, {"name": "b"}]}}, "names check `b` twice"),
        ({"groups": [GROUP] * 17}, "spec.resourceGroups: has 17 entries; Kueue allows at most 16"),
        ({"groups": [{**GROUP, "flavors": GROUP["flavors"] * 65}]}, "resourceGroups[0].flavors: has 65 entries"),
        ({"groups": [{**GROUP, "flavors": GROUP["flavors"] * 2}]}, "has a flavor twice"),
        ({"groups": [{**GROUP, "coveredResources": ["cpu", "cpu"]}]}, "has a resource twice"),
        ({"groups": [{**GROUP, "coveredResources": ["cpu", "memory"]}]}, "flavors[0].resources: has quotas of cpu"),
        ({"groups": [{**GROUP, "flavors": []}]}, "flavors: is empty"),
        ({"groups": [GROUP, GROUP]}, "resourceGroups[1].coveredResources: has cpu on base, as another group has"),
        ({"groups": [{**GROUP, "flavors": [{"name": "f", "resources": [{"name": "cpu"}]}]}]}, "nominalQuota: is missing"),
        ({"groups": [{**GROUP, "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}]}]}, "is -1, below 0"),
        ({"groups": [{**GROUP, "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": {}}]}]}]}, "is no quantity"),
        (
            {"groups": [{**GROUP, "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "1", "lendingLimit": "-2"}]}]}]},
            "is -2",
        ),
        ({"groups": "all"}, "spec.resourceGroups: is a text, not a list"),
    ],
)
def test_what_no_clusterqueue_says(spec: dict[str, Any], why: str, kueue: Maker) -> None:
    """Values that Kueue refuses are refused with their field, value and remedy."""
    said = kueue.problems(kueue.queue(**spec), kueue.flavor())
    assert any(why in problem for problem in said), said
    assert all(problem.startswith("ClusterQueue a: ") for problem in said)


def test_fields_that_are_not_known_are_noted(kueue: Maker) -> None:
    """Nothing is dropped without a word: an unknown field is named with its path."""
    notes = kueue.notes(kueue.queue(foo=1, concurrentAdmissionPolicy={}, preemption={"maybe": True}), kueue.flavor())
    assert notes == [
        "ClusterQueue a: spec.concurrentAdmissionPolicy: counts for nothing: Kueue's feature gate for it is off by default",
        "ClusterQueue a: spec.foo: is not imported",
        "ClusterQueue a: spec.preemption.maybe: is not imported",
    ]


def test_loose_groups_count_as_in_kueue(kueue: Maker) -> None:
    """A group without resources says nothing; a resource or a flavor in two groups is noted."""
    again = kueue.group("cpu", spot={"nominalQuota": "1"})
    shared = kueue.notes(kueue.queue(groups=[GROUP, kueue.group("memory", base={"nominalQuota": "1Gi"})]), kueue.flavor())
    assert [note.split(": ")[-1] for note in shared] == ["a flavor is in several groups, which Kueue's webhook refuses"]
    notes = kueue.notes(kueue.queue(groups=[GROUP, {"flavors": [{"name": "none"}]}, again]), kueue.flavor(), kueue.flavor("spot"))
    assert [note.split(": ")[-1] for note in notes] == [
        "a group without resources says nothing, and is left out",
        "a resource is in several groups, which Kueue's webhook refuses",
    ]


def test_a_cohort_and_a_local_queue(kueue: Maker) -> None:
    """A Cohort's parent, quota and weight and a LocalQueue's queue, weight, stop and usage so far are read."""
    cohort = kueue.obj("Cohort", "c", {"parentName": "top", "resourceGroups": [GROUP], "fairSharing": {"weight": 2}})
    local = kueue.local(stopPolicy="Hold", fairSharing={"weight": "3"})
    local["status"] = {"fairSharing": {"admissionFairSharingStatus": {"consumedResources": {"cpu": "1"}}}}
    made = kueue.load(kueue.queue(), kueue.flavor(), cohort, local)
    read_cohort, read_local = made.objects.cohorts[0], made.objects.local_queues[0]
    assert (read_cohort.parent, read_cohort.weight, read_cohort.groups[0].resources) == ("top", 2, ("cpu",))
    assert (read_local.cluster_queue, read_local.weight, read_local.stop) == ("a", 3, "Hold")
    assert read_local.consumed == (("cpu", 1000),)
    assert made.notes == []
