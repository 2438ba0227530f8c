"""In what an object differs from the policy: exact, told by field, and only in what the policy says."""

from copy import deepcopy
from typing import Any

import pytest
from gpol.adapters.kueue.live.guard.guarded_objects import KUEUE_GUARDED, guarded_objects
from gpol.adapters.live.guard.differences import differences
from gpol.adapters.live.guard.guarded_system import GuardedObject
from gpol.dsl import compile_policy

Json = dict[str, Any]

POLICY = """policy "p" { use kueue.classical }
resource "nvidia.com/gpu"

flavor base {
  cpu as owned
  memory as owned
}

flavor h100 {
  "nvidia.com/gpu" as owned
  label gpu = "h100"
}

flavor a100 {
  "nvidia.com/gpu" as owned
  taint spot = "true" NoSchedule
}

cohort all {
  queue a {
    serves "nvidia.com/gpu" from h100, a100
    serves cpu, memory from base
    owns 8 "nvidia.com/gpu" on h100
    owns 16 cpu on base
    owns 4Gi memory on base
    needs check "prov" on h100
    weight 1/2
    local queue "team/gpus"
  }
}
"""


@pytest.fixture(scope="module")
def objects() -> dict[str, GuardedObject]:
    """What is guarded."""
    return guarded_objects(compile_policy(POLICY, "p.gpol"), "nvidia.com/gpu", "gpol")[0]


@pytest.fixture
def queue(objects: dict[str, GuardedObject]) -> GuardedObject:
    """A ClusterQueue of the policy."""
    return objects["clusterqueues a"]


def found(wanted: GuardedObject) -> Json:
    """An object as the policy says it."""
    return deepcopy(wanted.body)


def told(wanted: GuardedObject, there: Json) -> list[tuple[str, str, str]]:
    """What differs."""
    return [(each.field, each.wanted, each.found) for each in differences(wanted, there, KUEUE_GUARDED.forms)]


def test_an_object_as_the_policy_says_does_not_differ(objects: dict[str, GuardedObject]) -> None:
    """Whatever else stands in it."""
    for wanted in objects.values():
        there = found(wanted)
        there["metadata"]["labels"]["team"] = "x"
        there.setdefault("spec", {})["somethingElse"] = {"a": 1}
        there["status"] = {"pendingWorkloads": 3}
        assert told(wanted, there) == []


def test_quantities_are_compared_as_numbers(queue: GuardedObject) -> None:
    """However somebody has written a number, it is the same."""
    there = found(queue)
    [memory] = [quota for quota in there["spec"]["resourceGroups"][1]["flavors"][0]["resources"] if quota["name"] == "memory"]
    assert memory["nominalQuota"] == "4Gi"
    memory["nominalQuota"] = str(4 * 2**30)
    there["spec"]["fairSharing"]["weight"] = "0.5"
    assert told(queue, there) == []


def test_a_quota_is_told_by_flavor_and_resource(queue: GuardedObject) -> None:
    """Each quota and limit that differs is one difference, and they are written together."""
    there = found(queue)
    quota = there["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    quota |= {"nominalQuota": "9", "borrowingLimit": "2"}
    place = "spec.resourceGroups[nvidia.com/gpu].flavors[h100].resources[nvidia.com/gpu]"

    assert told(queue, there) == [(f"{place}.borrowingLimit", "nothing", "2"), (f"{place}.nominalQuota", "8", "9")]
    assert {each.steps for each in differences(queue, there, KUEUE_GUARDED.forms)} == {("f:spec", "f:resourceGroups")}


def test_flavors_are_tried_in_their_order(queue: GuardedObject) -> None:
    """Other flavors, other resources, or another order are a difference of the whole list."""
    there = found(queue)
    there["spec"]["resourceGroups"][0]["flavors"].reverse()
    wanted = "nvidia.com/gpu from h100, a100; cpu, memory from base"
    assert told(queue, there) == [("spec.resourceGroups", wanted, "nvidia.com/gpu from a100, h100; cpu, memory from base")]
    there["spec"]["resourceGroups"] = None
    assert told(queue, there) == [("spec.resourceGroups", wanted, "nothing")]


@pytest.mark.parametrize(
    "groups", ["x", 7, [7], [{"coveredResources": 7}], [{"coveredResources": ["cpu"], "flavors": [{"resources": [{}]}]}]]
)
def test_groups_that_are_none(queue: GuardedObject, groups: Any) -> None:
    """What has not the form of resource groups is a difference, and no failure."""
    [difference] = told(queue, {**found(queue), "spec": {**found(queue)["spec"], "resourceGroups": groups}})
    assert difference[0] == "spec.resourceGroups"


def test_a_cohort_that_owns_nothing(objects: dict[str, GuardedObject]) -> None:
    """A quota that somebody gives to it is told."""
    wanted = objects["cohorts all"]
    there = found(wanted)
    there["spec"]["resourceGroups"] = found(objects["clusterqueues a"])["spec"]["resourceGroups"][:1]
    assert told(wanted, there) == [("spec.resourceGroups", "nothing", "nvidia.com/gpu from h100, a100")]


def test_defaults_need_not_be_there(queue: GuardedObject) -> None:
    """A field at Kueue's default may be missing; one that the policy says may not."""
    there = found(queue)
    del there["spec"]["preemption"], there["spec"]["queueingStrategy"]
    assert told(queue, there) == []
    del there["spec"]["fairSharing"]
    assert told(queue, there) == [("spec.fairSharing.weight", "500m", "nothing")]


def test_what_has_to_be_absent(objects: dict[str, GuardedObject], queue: GuardedObject) -> None:
    """A field that decides and that the policy does not say must not be there, unless it says what its absence says."""
    there = found(queue)
    there["spec"]["flavorFungibility"]["preference"] = "BorrowingOverPreemption"
    there["spec"]["admissionScope"] = {"admissionMode": "NoAdmissionFairSharing"}
    assert told(queue, there) == []
    there["spec"]["flavorFungibility"]["preference"] = "PreemptionOverBorrowing"
    [difference] = differences(queue, there, KUEUE_GUARDED.forms)
    assert (difference.field, difference.wanted, difference.is_extra) == ("spec.flavorFungibility.preference", "nothing", True)
    cohort = objects["cohorts all"]
    assert told(cohort, {**found(cohort), "spec": {**cohort.body["spec"], "parentName": "top"}}) == [("spec.parentName", "nothing", "top")]


def test_checks_are_merged_by_name(queue: GuardedObject) -> None:
    """A check of somebody else beside the policy's is his; the policy's check has to be there, with its flavors."""
    there = found(queue)
    checks = there["spec"]["admissionChecksStrategy"]["admissionChecks"]
    checks.insert(0, {"name": "theirs"})
    checks[1]["onFlavors"].append("a100")
    assert told(queue, there) == []
    checks[1]["onFlavors"].remove("h100")
    assert told(queue, there) == [("spec.admissionChecksStrategy.admissionChecks[prov].onFlavors[h100]", "h100", "nothing")]
    del checks[1]
    assert [each[0] for each in told(queue, there)] == [
        "spec.admissionChecksStrategy.admissionChecks[prov].name",
        "spec.admissionChecksStrategy.admissionChecks[prov].onFlavors[h100]",
    ]


def test_whole_objects_and_lists(objects: dict[str, GuardedObject]) -> None:
    """Labels of nodes and taints are compared whole: one more is a difference."""
    h100, a100 = objects["resourceflavors h100"], objects["resourceflavors a100"]
    assert told(h100, {**found(h100), "spec": {"nodeLabels": {"gpu": "h100", "zone": "x"}}}) == [
        ("spec.nodeLabels", '{"gpu":"h100"}', '{"gpu":"h100","zone":"x"}')
    ]
    assert [each[0] for each in told(a100, {**found(a100), "spec": {}})] == ["spec.nodeTaints"]


def test_the_label_of_the_guard(queue: GuardedObject) -> None:
    """That it is missing is no matter of the policy; another value is told."""
    there = found(queue)
    del there["metadata"]["labels"]
    assert told(queue, there) == []
    there["metadata"]["labels"] = {"gpol.dev/guard": "x"}
    assert told(queue, there) == [("metadata.labels[gpol.dev/guard]", "gpol", "x")]
