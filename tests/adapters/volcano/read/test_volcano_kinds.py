"""Kinds, versions and names of objects."""

import pytest

from ..volcano_objects import Json, notes, pod_group, priority, problems, queue, text


def changed(item: Json, **fields: str | None) -> Json:
    """An object with other fields at its top; None removes one."""
    return {key: value for key, value in {**item, **fields}.items() if value is not None}


@pytest.mark.parametrize(
    "item",
    [
        changed(queue("b"), apiVersion="scheduling.run.ai/v2"),
        changed(pod_group(), apiVersion="scheduling.sigs.k8s.io/v1alpha1"),
        changed(priority("x", 1), apiVersion="example.com/v1"),
        {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "b"}},
    ],
)
def test_objects_of_other_groups_are_noted(item: Json) -> None:
    """Other systems have kinds of the same name."""
    [note] = notes(queue(), item)
    assert note.endswith(": is of no kind that is imported")


@pytest.mark.parametrize(
    ("item", "version"),
    [
        (changed(queue(), apiVersion="scheduling.volcano.sh/v1beta2"), "scheduling.volcano.sh/v1beta1"),
        (changed(priority("x", 1), apiVersion="scheduling.k8s.io/v1beta1"), "scheduling.k8s.io/v1"),
    ],
)
def test_other_versions_are_refused(item: Json, version: str) -> None:
    """Their fields may mean something else; the remedy names the version."""
    assert problems(item)[0].endswith(f"; read the objects as {version}")


def test_a_version_that_is_not_said_is_the_one() -> None:
    """A short file may leave it out."""
    assert text(changed(queue(), apiVersion=None)) == text(queue())


def test_an_object_needs_a_kind() -> None:
    """Without one nothing can be made of it."""
    told = "object a: kind: is missing; give objects as `kubectl get -o yaml` writes them"
    assert told in problems(changed(queue(), kind=None), queue("b"))


@pytest.mark.parametrize("name", ["A", "a b", "a/b", "-a", "a*", "a_b"])
def test_names_are_those_of_kubernetes(name: str) -> None:
    """A name goes into rules of the policy, where `*` would mean something."""
    [told] = problems(queue(name))
    assert told == f"Queue {name}: metadata.name: is `{name}`, which Kubernetes does not allow; use small letters, digits, `-` and `.`"


def test_names_are_there_once() -> None:
    """Within a kind; a PodGroup's name counts with its namespace."""
    other = pod_group(metadata={"namespace": "other"})
    assert text(queue(), pod_group(), other)
    assert problems(queue(), queue()) == ["Queue a: metadata.name: is there twice; keep one of the two objects"]
    assert problems(queue(), pod_group(), pod_group()) == ["PodGroup ns/w: metadata.name: is there twice; keep one of the two objects"]


def test_names_fit_gpol() -> None:
    """A workload's name holds its namespace, too."""
    long = pod_group("x" * 200, metadata={"namespace": "y" * 63})
    assert problems(queue(), long)[0].endswith("metadata.name: has 264 characters with its namespace; use 253 at most")
    assert "namespace: is missing" in problems(queue(), pod_group(metadata={"namespace": ""}))[0]


def test_a_list_that_is_cut_off_is_noted() -> None:
    """Kubernetes gives a long answer in parts."""
    part = {"apiVersion": "v1", "kind": "QueueList", "metadata": {"continue": "x"}, "items": [queue()]}
    [note] = notes(part)
    assert note.startswith("QueueList: metadata.continue: is cut off, a part is missing")


def test_priority_classes() -> None:
    """Their values become priorities, the default one that of workloads which name none."""
    policy = text(queue(), priority("low", -5), priority("high", 1000, globalDefault=True, description="x"))
    assert "  default priority high\n" in policy
    assert "priority high 1000\npriority low -5\n" in policy


def test_what_priority_classes_cannot_say() -> None:
    """Two defaults, no value, a value beyond 32 bits; who never evicts others is noted."""
    assert problems(queue(), priority("x", 1, globalDefault=True), priority("y", 2, globalDefault=True)) == [
        "PriorityClass y: globalDefault: is true, as for x; let one class be the default"
    ]
    valueless = priority("x", 1)
    del valueless["value"]
    assert problems(queue(), valueless) == ["PriorityClass x: value: is missing; write a whole number"]
    assert "value: is 4294967296" in problems(queue(), priority("x", 2**32))[0]
    assert notes(queue(), priority("x", 1, preemptionPolicy="Never")) == [
        "PriorityClass x: preemptionPolicy: is Never, which a policy cannot say: workloads of the class may evict others"
    ]
