"""PodGroups: each field is honoured, or told by name."""

from typing import Any

import pytest

from ..volcano_objects import GPU, Json, facts, notes, pod_group, problems, queue


def submitted(group: Json) -> Json:
    """The submission of a PodGroup."""
    [fact] = facts(queue(), group)
    assert fact["kind"] == "WorkloadSubmitted"
    return fact


def test_what_identifies_it_comes_along() -> None:
    """Its name with its namespace, its uid, labels, time, and the kind of its owner."""
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "w"}
    metadata = {"uid": "u-1", "labels": {"team": "x"}, "creationTimestamp": "2026-01-03T01:00:00Z", "ownerReferences": [owner]}
    fact = submitted(pod_group(metadata=metadata))
    assert (fact["workload"], fact["namespace"], fact["queue"]) == ("ns/w", "ns", "a")
    assert (fact["uid"], fact["labels"], fact["workload_kind"]) == ("u-1", {"team": "x"}, "Job")
    assert fact["created"] == 1_767_402_000_000_000


def test_without_a_queue_it_is_in_default() -> None:
    """As the definition of a PodGroup says."""
    [fact] = facts(queue("default"), pod_group(queue=None))
    assert fact["queue"] == "default"


@pytest.mark.parametrize("pods", [0, None])
def test_a_gang_of_none_is_one_pod(pods: int | None) -> None:
    """Volcano allows it; it is noted."""
    assert submitted(pod_group(minMember=pods))["pod_sets"] == [{"name": "gang", "count": 1, "requests": {GPU: 4}, "flavors": []}]
    assert notes(queue(), pod_group(minMember=pods)) == ["PodGroup ns/w: spec.minMember: is 0 or missing: it counts as a gang of one pod"]


NOTED: dict[str, Any] = {
    "minTaskMember": {"master": 1},
    "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
    "subGroupPolicy": [{"name": "x"}],
}


@pytest.mark.parametrize("field", NOTED)
def test_what_says_more_of_its_pods_is_noted(field: str) -> None:
    """Tasks, topology and groups of pods; of a PodGroup that is completed nothing is told."""
    [note] = notes(queue(), pod_group(**{field: NOTED[field]}))
    assert note.startswith(f"PodGroup ns/w: spec.{field}: is left out: ")
    assert notes(queue(), pod_group(phase="Completed", **{field: NOTED[field]})) == []


@pytest.mark.parametrize(
    "annotation",
    [
        "sla-waiting-time",
        "volcano.sh/sla-waiting-time",
        "volcano.sh/revocable-zone",
        "volcano.sh/jdb-min-available",
        "volcano.sh/cooldown-time",
    ],
)
def test_annotations_that_plugins_read_are_noted(annotation: str) -> None:
    """By name."""
    [note] = notes(queue(), pod_group(metadata={"annotations": {annotation: "1"}}))
    assert note.startswith(f"PodGroup ns/w: metadata.annotations.{annotation}: is left out")


@pytest.mark.parametrize(
    ("annotation", "label", "place"),
    [
        ("false", None, "annotations"),
        ("nonsense", None, "annotations"),
        ("false", "true", "annotations"),
        (None, "false", "labels"),
        ("true", "false", None),
        ("1", None, None),
        (None, None, None),
    ],
)
def test_what_may_not_be_evicted_is_noted(annotation: str | None, label: str | None, place: str | None) -> None:
    """The annotation counts before the label, and what is not true is false, as in Volcano."""
    metadata = {
        field: {"volcano.sh/preemptable": value} for field, value in (("annotations", annotation), ("labels", label)) if value is not None
    }
    told = notes(queue(), pod_group(metadata=metadata))
    assert [note.split(": ")[1] for note in told] == ([f"metadata.{place}.volcano.sh/preemptable"] if place else [])


def test_resources_of_quotas_count_once() -> None:
    """Volcano's controller writes requests and limits beside the plain names; only these count, and pods are counted already."""
    doubled = {"cpu": "4", GPU: "4", f"requests.{GPU}": "4", "requests.cpu": "4", "limits.cpu": "8", "count/pods": "4", "pods": "4"}
    assert submitted(pod_group(minResources=doubled))["pod_sets"][0]["requests"] == {"cpu": 1_000, GPU: 1}


def test_wrong_fields_are_told_with_their_place() -> None:
    """One wrong field does not hide another."""
    wrong = pod_group(phase="Asleep", minMember=-1, minResources={GPU: "-4"}, priorityClassName=7, metadata={"creationTimestamp": "noon"})
    assert sorted(line.split(": ")[1] for line in problems(queue(), wrong)) == [
        "metadata.creationTimestamp",
        "spec.minMember",
        "spec.minResources.nvidia.com/gpu",
        "spec.priorityClassName",
        "status.phase",
    ]


def test_a_gang_has_at_most_a_million_pods() -> None:
    """What a workload of gpol holds."""
    assert "write a whole number from 0 to 1000000" in problems(queue(), pod_group(minMember=1_000_001))[0]
