"""Lists of resources: which ones count, what is left out, and what no list may say."""

import pytest
from gpol.adapters.volcano.read.resource_lists import counts

from ..volcano_objects import GPU, graph, guaranteed, notes, problems, queue, quotas


@pytest.mark.parametrize("name", ["cpu", "memory", "pods", "ephemeral-storage", "hugepages-2Mi", "attachable-volumes-x", GPU, "a.b/c"])
def test_what_pods_ask_for_counts(name: str) -> None:
    """As in Volcano: what Kubernetes itself has, and what has a domain in its name."""
    assert counts(name)


@pytest.mark.parametrize("name", ["gpu", "license", "requests.cpu", f"requests.{GPU}", "limits.memory", "count/pods", "count/jobs.batch"])
def test_what_only_quotas_of_kubernetes_have_does_not_count(name: str) -> None:
    """Nor does a name without a domain, for which no pod can ask."""
    assert not counts(name)
    left_out = f"Queue a: spec.deserved.{name}: is of no resource that Volcano counts: it has no effect there, and is left out"
    assert notes(queue(deserved={GPU: "8", name: "4"})) == [left_out]


@pytest.mark.parametrize("name", ["deviceclass/gpu.example", "memory.deviceclass/gpu.example"])
def test_claimed_devices_are_noted(name: str) -> None:
    """A Queue may limit devices that are claimed, and no PodGroup says what it claims."""
    assert not counts(name)
    assert "counts devices that pods claim" in notes(queue(deserved={GPU: "8"}, capability={name: "4"}))[0]


def test_pods_are_noted() -> None:
    """A policy that decides at once cannot limit the number of pods."""
    assert "limits the number of pods" in notes(queue(deserved={GPU: "8"}, capability={"pods": "4"}))[0]


def test_amounts_are_rounded_up_as_in_kubernetes() -> None:
    """cpu counts in thousandths, memory in bytes, all else in whole units."""
    made = graph(queue(deserved={"cpu": "1500u", "memory": "1500m", GPU: "8"}))
    assert [quotas(made, "a")[name][0] for name in ("cpu", "memory", GPU)] == [2, 2, 8]


def test_wrong_amounts_are_told_with_their_place() -> None:
    """Below 0, no number, and a part of what is counted in whole ones."""
    told = problems(queue(deserved={GPU: "-1", "cpu": "many", "memory": "-1Gi"}, guarantee=guaranteed(gpu="500m")))
    assert told == [
        'Queue a: spec.deserved.cpu: "many" is no quantity; write it as 8, 500m or 80Gi',
        "Queue a: spec.deserved.memory: is -1Gi, below 0; write 0 or more",
        "Queue a: spec.deserved.nvidia.com/gpu: is -1, below 0; write 0 or more",
        "Queue a: spec.guarantee.resource.nvidia.com/gpu: is no whole number, and Kubernetes counts whole ones of it; write a whole number",
    ]


def test_a_capability_of_zero_limits_nothing_but_devices() -> None:
    """Volcano cannot tell 0 cpu and 0 memory from nothing said; of all else 0 is 0."""
    made = queue(deserved={"cpu": "0"}, capability={"cpu": "0", "memory": "0", GPU: "0"})
    others = queue("b", deserved={"cpu": "8", GPU: "8"})
    assert quotas(graph(made, others), "a") == {"cpu": (0, None, None), GPU: (0, 0, None)}
    assert [note.split(":")[1] for note in notes(made, others)] == [" spec.capability.cpu", " spec.capability.memory"]


def test_a_limit_beyond_64_bits_is_none() -> None:
    """What is as good as no limit is none."""
    assert quotas(graph(queue(deserved={GPU: "8"}, capability={GPU: "1E20", "cpu": "1e30"})), "a") == {GPU: (8, None, None)}
