"""What exists: by the caller, by the root's capability, or by what is deserved; and what is not counted."""

import re

import pytest
from gpol.adapters.volcano.import_.load_volcano import said_capacity

from ..volcano_objects import GPU, block, guaranteed, imported, notes, pod_group, problems, queue, text


def flavor(*objects: dict[str, object], **options: object) -> list[str]:
    """What the flavor of a policy has."""
    return block(text(*objects, **options), "flavor")


def test_what_is_deserved_exists() -> None:
    """Where nothing says more; a note says so once."""
    tree = [queue("a", deserved={GPU: "8", "cpu": "8"}), queue("b", guarantee=guaranteed(gpu="4"))]
    assert flavor(*tree) == [f'cpu, "{GPU}" as owned']
    told = [str(note) for note in imported(*tree).notes if note.names == ("root",)]
    assert told == [
        f"Queue root: what all Queues deserve: of cpu, {GPU} is taken for all that exists: "
        "if the cluster has more, say so with --capacity, or in the policy"
    ]


def test_what_the_caller_says_exists() -> None:
    """In place of what is deserved, and of what nobody deserves as well."""
    assert flavor(queue(), capacity=(f"{GPU}=64", "cpu=1500m", "memory=80Gi")) == ["cpu 1500m", "memory 80Gi", f'"{GPU}" 64']


def test_the_capability_of_the_root_limits_what_exists() -> None:
    """Nothing can use more; the lower of both counts."""
    root = queue("root", capability={GPU: "32"})
    assert flavor(root, queue()) == [f'"{GPU}" 32']
    assert flavor(root, queue(), capacity=(f"{GPU}=64",)) == [f'"{GPU}" 32']
    assert flavor(root, queue(), capacity=(f"{GPU}=16",)) == [f'"{GPU}" 16']


def test_what_the_root_deserves_counts_for_nothing() -> None:
    """Volcano sums up what is below it."""
    root = queue("root", deserved={GPU: "1"}, guarantee=guaranteed(gpu="1"))
    assert flavor(root, queue()) == [f'"{GPU}" as owned']
    assert [note.split(": ")[1] for note in notes(root, queue())] == ["spec.deserved", "spec.guarantee.resource"]


def test_more_deserved_than_there_is() -> None:
    """No policy can give away what does not exist."""
    cause = "is 16 in all Queues together, and 15 exist, by the root's capability or --capacity"
    remedy = "let the Queues deserve less, or say a higher number"
    told = [f"Queue root: spec.deserved.{GPU}: {cause}; {remedy}"]
    assert problems(queue("a"), queue("b"), capacity=(f"{GPU}=15",)) == told
    assert problems(queue("a"), queue("b"), queue("root", capability={GPU: "15"})) == told
    assert text(queue("a"), queue("b"), capacity=(f"{GPU}=16",))


def test_a_limit_on_what_nobody_deserves_needs_a_capacity() -> None:
    """It would be lost otherwise; with the amount it is kept."""
    limited = queue(capability={"cpu": "4"}, deserved={GPU: "8"})
    cause = "is limited, and nothing says how much of it the cluster has: no Queue deserves any"
    assert problems(limited, queue("b", capability={"cpu": "4"})) == [
        f"Queue a: spec.capability.cpu: {cause}; say it with --capacity cpu=AMOUNT"
    ]
    assert "borrows up to 4 cpu" in block(text(limited, capacity=("cpu=64",)), "queue a")


def test_where_nothing_is_known_nothing_could_run() -> None:
    """Queues by weight alone, as the plugin proportion has them, need to know what exists."""
    by_weight = [queue("a", weight=1), queue("b", weight=3)]
    assert "say what the cluster has with --capacity" in problems(*by_weight)[0]
    assert block(text(*by_weight, capacity=(f"{GPU}=8",)), "queue b") == ["owns nothing", "weight 3"]


def test_what_nobody_deserves_is_ignored() -> None:
    """cpu and memory always, else what PodGroups ask for, which is noted."""
    asking = pod_group(minResources={GPU: "4", "cpu": "4", "example.com/nic": "4"})
    policy = text(queue(), asking)
    assert '  ignore cpu, "example.com/nic", memory\n' in policy
    assert 'resource "example.com/nic"\n' in policy
    assert [note.split(",")[0] for note in notes(queue(), asking)] == [
        "PodGroup ns/w: spec.minResources: names cpu",
        "PodGroup ns/w: spec.minResources: names example.com/nic",
    ]
    assert "nic" not in text(queue(), pod_group(phase="Completed", minResources={"example.com/nic": "4"}))
    assert "ignore" not in text(queue(deserved={"cpu": "1", "memory": "1Gi"}))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["8"], "`8` says no amount; write it as nvidia.com/gpu=64"),
        (["=8"], "`=8` says no amount; write it as nvidia.com/gpu=64"),
        (["gpu=8"], "`gpu` is nothing that a PodGroup asks for; name cpu, memory, or a resource such as nvidia.com/gpu"),
        (["pods=8"], "`pods` is nothing that a PodGroup asks for; name cpu, memory, or a resource such as nvidia.com/gpu"),
        (["a/\x1b=8"], "is nothing that a PodGroup asks for"),
        (["cpu=8", "cpu=9"], "`cpu` is said twice; say it once"),
        (["cpu=many"], 'cpu: "many" is no quantity; write it as 64, 500m or 80Gi'),
        (["cpu="], 'cpu: "" is no quantity'),
        (["cpu=-1"], "cpu: -1 is below 0; write 0 or more"),
    ],
)
def test_amounts_of_the_caller(said: list[str], told: str) -> None:
    """What is no amount of a resource is told with what to write."""
    with pytest.raises(ValueError, match=re.escape(told)):
        said_capacity(said)


def test_amounts_are_those_of_kubernetes() -> None:
    """With the suffixes of quantities, rounded up."""
    assert said_capacity(["cpu=1.5", "memory=1Ki", f"{GPU}=64"]) == {"cpu": 1500, "memory": 1024, GPU: 64}
