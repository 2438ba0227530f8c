"""Cohorts and queues of the policy: every field of a ClusterQueue as its statement."""

from typing import Any

import pytest

from ..conftest import Maker

GROUP = {"coveredResources": ["cpu"], "flavors": [{"name": "base", "resources": [{"name": "cpu", "nominalQuota": "8"}]}]}


def statements(kueue: Maker, profile: str = "kueue.classical", **spec: Any) -> list[str]:
    """What the queue of a ClusterQueue says beyond what it serves and owns."""
    text = kueue.text(kueue.queue(**spec), kueue.flavor(), profile=profile)
    lines = [line.strip() for line in text.split("queue a {")[1].splitlines()[1:]]
    return [line for line in lines if line not in ("", "}", "serves cpu from base", "owns 8 cpu on base")]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, []),
        ({"queueingStrategy": "StrictFIFO"}, ["queueing strict fifo"]),
        ({"fairSharing": {"weight": "500m"}}, ["weight 0.5"]),
        ({"fairSharing": {"weight": "0"}}, ["weight 0"]),
        ({"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}, ["when borrowing try next flavor"]),
        ({"flavorFungibility": {"whenCanPreempt": "MayStopSearch"}}, ["when evicting take flavor"]),
        ({"flavorFungibility": {"preference": "PreemptionOverBorrowing"}}, ["rather evict than borrow"]),
        ({"flavorFungibility": {"preference": "BorrowingOverPreemption"}}, []),
        ({"preemption": {"withinClusterQueue": "LowerPriority"}}, ["evicts its own of lower priority"]),
        ({"preemption": {"withinClusterQueue": "LowerOrNewerEqualPriority"}}, ["evicts its own of lower priority or newer"]),
        ({"preemption": {"reclaimWithinCohort": "LowerPriority"}}, ["reclaims from lower priority"]),
        ({"preemption": {"reclaimWithinCohort": "Any"}}, ["reclaims from anyone"]),
        ({"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}}, ["borrows by evicting lower priority"]),
        (
            {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": -7}}},
            ["borrows by evicting lower priority up to -7"],
        ),
        ({"preemption": {"borrowWithinCohort": {"policy": "Never", "maxPriorityThreshold": 5}}}, []),
        ({"stopPolicy": "Hold"}, ["stopped"]),
        ({"stopPolicy": "HoldAndDrain"}, ["stopped and drained"]),
        ({"stopPolicy": "None"}, []),
        ({"namespaceSelector": None}, ["for no namespaces"]),
        ({"namespaceSelector": {"matchLabels": {"a": "1"}}}, ['for namespaces where label "a" in "1"']),
        (
            {
                "namespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1", "2"]}, {"key": "b", "operator": "Exists"}]
                }
            },
            ['for namespaces where label "a" not in "1", "2" and label "b" exists'],
        ),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}] * 2}},
            ['for namespaces where label "a" absent'],
        ),
        ({"admissionChecks": ["prov"]}, ["needs check prov"]),
        ({"admissionChecksStrategy": {"admissionChecks": [{"name": "p", "onFlavors": ["base", "odd"]}]}}, ["needs check p on base"]),
        ({"admissionChecksStrategy": {"admissionChecks": [{"name": "p", "onFlavors": ["odd"]}]}}, []),
        ({"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}, []),
    ],
)
def test_every_field_has_its_statement(spec: dict[str, Any], said: list[str], kueue: Maker) -> None:
    """A default says nothing; everything else is one line of the language."""
    found = [line for line in statements(kueue, **spec) if not line.startswith("hold ")]
    assert found == said


def test_what_a_policy_that_decides_at_once_cannot_say(kueue: Maker) -> None:
    """It is left out and named, once for each field."""
    preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    spec = {"preemption": preemption, "flavorFungibility": {"preference": "PreemptionOverBorrowing"}, "queueingStrategy": "StrictFIFO"}
    assert statements(kueue, "gpol.fair", **spec) == ["borrows nothing", "lends nothing", "queueing strict fifo"]
    notes = kueue.notes(kueue.queue(**spec), kueue.queue("b", **spec), kueue.flavor(), profile="gpol.fair")
    left_out = "cannot be said in a policy that decides at once: it is left out"
    assert notes == [f"ClusterQueue a, b: spec.{field}: {left_out}" for field in ("flavorFungibility.preference", "preemption")]


def test_the_tree_has_given_and_implicit_cohorts(kueue: Maker) -> None:
    """Cohorts stand inside their parents; one that is only named is there as well, with nothing of its own."""
    quota = kueue.group("cpu memory", base={"nominalQuota": "1", "borrowingLimit": "2", "lendingLimit": "0"})
    objects = [
        kueue.obj("Cohort", "team", {"parentName": "dept", "resourceGroups": [quota], "fairSharing": {"weight": 3}}),
        kueue.queue("b", cohortName="team"),
        kueue.queue("a", cohortName="team"),
        kueue.queue("alone", cohortName="pool"),
        kueue.queue("single"),
        kueue.flavor(),
    ]
    text = kueue.text(*objects)
    lines = [line for line in text.splitlines() if line.lstrip().startswith(("cohort", "queue"))]
    assert lines == [
        "cohort dept {",
        "  cohort team {",
        "    queue a {",
        "    queue b {",
        "cohort pool {",
        "  queue alone {",
        "queue single {",
    ]
    own = text.split("cohort team {\n")[1].split("    queue")[0].split("\n")
    assert [line.strip() for line in own[:-1]] == [
        "owns 1 cpu on base",
        "borrows up to 2 cpu on base",
        "lends up to 0 cpu on base",
        "owns 1 memory on base",
        "borrows up to 2 memory on base",
        "lends up to 0 memory on base",
        "weight 3",
    ]


@pytest.mark.parametrize("profile", ["kueue.classical", "gpol.fair"])
def test_limits_without_a_parent_have_no_effect(profile: str, kueue: Maker) -> None:
    """They are left out and named, of a ClusterQueue without a cohort and of a Cohort at the top."""
    limited = kueue.group(base={"nominalQuota": "8", "borrowingLimit": "1", "lendingLimit": "1"})
    objects = [kueue.queue(groups=[limited]), kueue.obj("Cohort", "c", {"resourceGroups": [limited]}), kueue.flavor()]
    text = kueue.text(*objects, profile=profile)
    assert "up to" not in text
    assert text.count("borrows nothing") == text.count("lends nothing") == (2 if profile == "gpol.fair" else 0)
    told = "spec.resourceGroups: limits borrowing or lending without a cohort above: that has no effect, and is left out"
    assert kueue.notes(*objects, profile=profile) == [f"ClusterQueue a: {told}", f"Cohort c: {told}"]


def test_lending_more_than_is_owned(kueue: Maker) -> None:
    """Kueue's profiles keep the limit, which has no effect there; deciding at once it would be an error, and is left out."""
    objects = [kueue.queue(groups=[kueue.group(base={"nominalQuota": "2", "lendingLimit": "3"})], cohortName="c"), kueue.flavor()]
    assert "lends up to 3 cpu on base" in kueue.text(*objects)
    assert "lends up to" not in kueue.text(*objects, profile="gpol.fair")
    assert "lends more than it owns" in kueue.notes(*objects, profile="gpol.fair")[0]


@pytest.mark.parametrize(("limit", "written"), [("5", True), ("6", True), ("7", False)])
def test_a_cohort_lends_of_what_is_below_it(kueue: Maker, limit: str, written: bool) -> None:
    """A cohort owns 1 itself, the cohort in it 2, and a ClusterQueue there 3: a limit up to 6 has a meaning, also deciding at once."""
    objects = [
        kueue.obj("Cohort", "top"),
        kueue.obj(
            "Cohort", "outer", {"parentName": "top", "resourceGroups": [kueue.group(base={"nominalQuota": "1", "lendingLimit": limit})]}
        ),
        kueue.obj("Cohort", "inner", {"parentName": "outer", "resourceGroups": [kueue.group(base={"nominalQuota": "2"})]}),
        kueue.queue(groups=[kueue.group(base={"nominalQuota": "3"})], cohortName="inner"),
        kueue.queue("b", cohortName="top"),
        kueue.flavor(),
    ]
    assert f"lends up to {limit} cpu on base" in kueue.text(*objects)
    assert (f"lends up to {limit} cpu on base" in kueue.text(*objects, profile="gpol.fair")) is written
    told = "Cohort outer: spec.resourceGroups: lends more than it owns: that has no effect, and is left out"
    assert (told in kueue.notes(*objects, profile="gpol.fair")) is not written


def test_local_queues_stand_in_their_queue(kueue: Maker) -> None:
    """By namespace and name, with weight and stop; one of no ClusterQueue is left out and named."""
    locals_ = [kueue.local("b"), kueue.local("a", fairSharing={"weight": "2"}, stopPolicy="HoldAndDrain"), kueue.local("lost", "gone")]
    text = kueue.text(kueue.queue(), kueue.flavor(), *locals_)
    assert '  local queue "ns/a" {\n    weight 2\n    stopped and drained\n  }\n  local queue "ns/b"\n' in text
    assert "lost" not in text
    notes = kueue.notes(kueue.queue(), kueue.flavor(), *locals_)
    assert notes == ["LocalQueue ns/lost: spec.clusterQueue: is not there: the LocalQueue is left out, and its workloads wait"]
