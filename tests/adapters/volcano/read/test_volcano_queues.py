"""Queues: each field is honoured, or told by name."""

from typing import Any

import pytest

from ..volcano_objects import GPU, block, notes, pod_group, problems, queue, text


def test_weight_divides_shares() -> None:
    """The weight becomes that of the queue or cohort; where somebody deserves something, a note says when Volcano counts it."""
    policy = text(queue("a", weight=3, deserved={GPU: "8"}), queue("b", weight=1, deserved={GPU: "8"}))
    assert block(policy, "queue a") == [f'owns 8 "{GPU}"', "weight 3"]
    assert block(policy, "queue b") == [f'owns 8 "{GPU}"']
    told = "Queue a: spec.weight: divides the share of what is borrowed here; in Volcano it counts only under the plugin proportion"
    assert notes(queue("a", weight=3, deserved={GPU: "8"})) == [told]
    assert notes(queue("a", weight=3), queue("b", weight=1), capacity=(f"{GPU}=8",)) == []


@pytest.mark.parametrize("weight", [0, -1, 65_536, 1.5, "2", True])
def test_a_weight_is_a_whole_number_of_16_bits(weight: Any) -> None:
    """As Volcano's definition has it: from 1 to 65,535."""
    [told] = problems(queue(weight=weight, deserved={GPU: "8"}))
    assert told.startswith("Queue a: spec.weight: is ")


@pytest.mark.parametrize("weight", [1, 65_535])
def test_the_bounds_of_a_weight(weight: int) -> None:
    """Both are taken."""
    assert ("weight 65535" in text(queue(weight=weight, deserved={GPU: "8"}))) == (weight > 1)


@pytest.mark.parametrize("state", ["Closed", "Closing", "Unknown"])
def test_a_queue_that_is_not_open_is_stopped(state: str) -> None:
    """Nothing new starts there; what runs goes on."""
    assert block(text(queue(state=state)), "queue a")[-1] == "stopped"


def test_a_queue_without_a_state_is_open() -> None:
    """As its author wrote it: the state comes from Volcano's controller."""
    assert "stopped" not in text(queue(state=""))


NOTED = {
    "priority": (100, "Queue a: spec.priority: is above 0, which a policy cannot say: "),
    "dequeueStrategy": ("fifo", "Queue a: spec.dequeueStrategy: is fifo, which has no effect in Volcano: "),
    "type": ("best-effort", "Queue a: spec.type: is left out: "),
    "extendClusters": ([{"name": "east"}], "Queue a: spec.extendClusters: is left out: "),
    "affinity": ({"nodeGroupAffinity": {}}, "Queue a: spec.affinity: is left out: "),
    "tomorrow": (1, "Queue a: spec.tomorrow: is not imported"),
}


@pytest.mark.parametrize("field", NOTED)
def test_what_has_no_place_in_a_policy_is_noted(field: str) -> None:
    """By name, with what became of it, and the rest is imported."""
    value, told = NOTED[field]
    [note] = notes(queue(deserved={GPU: "8"}, **{field: value}))
    assert note.startswith(told)


@pytest.mark.parametrize(("field", "value"), [("priority", 0), ("dequeueStrategy", "traverse"), ("type", ""), ("reclaimable", True)])
def test_defaults_are_not_noted(field: str, value: Any) -> None:
    """What says nothing new is passed over."""
    assert notes(queue(deserved={GPU: "8"}, **{field: value})) == []


@pytest.mark.parametrize("annotation", ["volcano.sh/hierarchy", "volcano.sh/hierarchy-weights", "volcano.sh/nodegroup-resource-limits"])
def test_annotations_that_plugins_read_are_noted(annotation: str) -> None:
    """Others are not."""
    [note] = notes(queue(metadata={"annotations": {annotation: "root/a", "of/mine": "x"}}))
    assert note.startswith(f"Queue a: metadata.annotations.{annotation}: is left out")


def test_wrong_fields_are_told_with_their_place() -> None:
    """One wrong field does not hide another."""
    told = problems(queue(state="Ajar", priority=-1, reclaimable="no", dequeueStrategy="lifo", parent=7, guarantee=[], deserved=8))
    assert sorted(line.split(": ")[1] for line in told) == [
        "spec.dequeueStrategy",
        "spec.deserved",
        "spec.guarantee",
        "spec.parent",
        "spec.priority",
        "spec.reclaimable",
        "status.state",
    ]


def test_the_state_of_workloads_counts_for_nothing() -> None:
    """What a Queue counts of its PodGroups follows from these."""
    counted = queue()
    counted["status"] |= {"running": 3, "allocated": {GPU: "7"}, "reservation": {}}
    assert text(counted, pod_group()) == text(queue(), pod_group())
