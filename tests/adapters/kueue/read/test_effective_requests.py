"""What Kueue counts for pods beyond their templates, as it wrote it down."""

import pytest

from ..conftest import Json, Maker

BY_TEMPLATE = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
BY_NAME = [{"name": "gpu", "resourceClaimName": "gpu-7"}]
DEVICES = "example.com/device"


def asked(kueue: Maker, work: Json) -> list[Json]:
    """What one pod of each pod set of a workload asks for."""
    loaded = kueue.load(kueue.queue(), kueue.flavor(), kueue.local(), work)
    return [pods.requests for pods in loaded.objects.workloads[0].pod_sets]


def considered(**resources: str) -> Json:
    """The status of a workload that waits, and for how much it counts."""
    return {"resourceRequests": [{"name": "main", "resources": resources}]}


def test_what_kueue_counted_stands_in_place_of_the_template(kueue: Maker) -> None:
    """LimitRanges and RuntimeClasses added memory to three pods; how many pods there are is no resource of theirs."""
    status = considered(cpu="6", memory="3Gi", pods="3")
    assert asked(kueue, kueue.work(sets=[kueue.pods(count=3, requests={"cpu": "1"})], status=status)) == [{"cpu": 2000, "memory": 2**30}]


def test_what_kueue_counted_is_of_the_pods_that_are_left(kueue: Maker) -> None:
    """One of three pods is done, so two count for 6 cpu; what does not go by whole pods is older than that, and the template counts."""
    sets, done = [kueue.pods(count=3, requests={"cpu": "1"})], {"reclaimablePods": [{"name": "main", "count": 1}]}
    assert asked(kueue, kueue.work(sets=sets, status=considered(cpu="6") | done)) == [{"cpu": 3000}]
    assert asked(kueue, kueue.work(sets=sets, status=considered(cpu="3m") | done)) == [{"cpu": 1000}]


def test_the_template_counts_where_kueue_said_nothing(kueue: Maker) -> None:
    """Before it has considered the workload, and of a pod set that it does not name."""
    other = {"resourceRequests": [{"name": "other", "resources": {"cpu": "9"}}]}
    assert asked(kueue, kueue.work()) == asked(kueue, kueue.work(status=other)) == [{"cpu": 1000}]


def test_the_template_counts_once_a_workload_holds_quota(kueue: Maker) -> None:
    """What it is charged for now may be another thing than what it would ask for anew."""
    assert asked(kueue, kueue.work(status=kueue.admitted(usage={"cpu": "3"}))) == [{"cpu": 1000}]


def test_an_overhead_that_nobody_has_counted_is_told(kueue: Maker) -> None:
    """A RuntimeClass may have one; where the template says it, or Kueue has counted the pods, nothing is lost."""
    told = "has a RuntimeClass whose overhead is not counted: Kueue has not said yet for how much it counts the pods"
    objects = kueue.queue(), kueue.flavor(), kueue.local()
    bare, known = kueue.pods(runtimeClassName="kata"), kueue.pods(runtimeClassName="kata", overhead={"cpu": "1"})
    assert kueue.notes(*objects, kueue.work(sets=[bare])) == [f"Workload ns/w: spec.podSets: {told}"]
    assert (
        kueue.notes(*objects, kueue.work(sets=[known])) == kueue.notes(*objects, kueue.work(sets=[bare], status=considered(cpu="2"))) == []
    )


def test_claims_that_kueue_has_counted(kueue: Maker) -> None:
    """Devices claimed by template are among what a waiting workload counts for."""
    status = considered(cpu="2", **{DEVICES: "4"})
    assert asked(kueue, kueue.work(sets=[kueue.pods(count=2, resourceClaims=BY_TEMPLATE)], status=status)) == [{"cpu": 1000, DEVICES: 2}]


def test_claims_that_nothing_counts_are_refused(kueue: Maker) -> None:
    """A workload that waits and claims devices would ask for less than in Kueue: it is refused by name, with a remedy."""
    work = kueue.work(sets=[kueue.pods("one"), kueue.pods("two", resourceClaims=BY_TEMPLATE)])
    assert kueue.problems(kueue.queue(), kueue.flavor(), kueue.local(), work) == [
        "Workload ns/w: spec.podSets[1].template.spec.resourceClaims: claims devices, and status.resourceRequests does not say for how "
        "much Kueue counts them; dump it again once Kueue has considered it, or leave this workload out"
    ]


def test_claims_of_a_workload_that_holds_quota(kueue: Maker) -> None:
    """They count for what it is charged, should it have to wait again."""
    status = kueue.admitted(usage={"cpu": "2", DEVICES: "4"}, count=2)
    work = kueue.work(sets=[kueue.pods(count=2, resourceClaims=BY_TEMPLATE)], status=status)
    assert asked(kueue, work) == [{"cpu": 1000, DEVICES: 2}]
    told = "Workload ns/w: spec.podSets: claims devices: they go on counting for what status.admission says"
    assert told in kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), work)


def test_claims_by_name_are_never_admitted(kueue: Maker) -> None:
    """Kueue does not queue such a workload: it is held, and what it claims is said to be lost."""
    work = kueue.work(sets=[kueue.pods(resourceClaims=BY_NAME)])
    notes = kueue.notes(kueue.queue(), kueue.flavor(), kueue.local(), work)
    assert notes == [
        "Workload ns/w: is held: it names a ResourceClaim, and Kueue admits only claims by template",
        "Workload ns/w: spec.podSets: claims devices: they count for nothing once it is released, as nothing in the dump says for how much "
        "they count",
    ]


@pytest.mark.parametrize(
    "work",
    [
        {"spec": {"active": False}},
        {"status": {"conditions": [{"type": "Finished", "status": "True"}]}},
    ],
)
def test_claims_of_a_workload_that_does_not_wait_are_not_refused(work: Json, kueue: Maker) -> None:
    """One that is held or finished asks for nothing now."""
    made = kueue.work(sets=[kueue.pods(resourceClaims=BY_TEMPLATE)], **work)
    assert asked(kueue, made) == [{"cpu": 1000}]
