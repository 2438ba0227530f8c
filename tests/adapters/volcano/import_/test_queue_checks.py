"""What Queues may not say together: the rules of Volcano's webhook, which is not always there."""

from typing import Any

import pytest

from ..volcano_objects import GPU, Json, guaranteed, pod_group, problems, queue, text

TOTAL = ("cpu=1000", f"{GPU}=1000")


def test_a_parent_has_to_be_there() -> None:
    """`root` is the parent of all that name none, whether or not it is there."""
    assert problems(queue(parent="b")) == [
        "Queue a: spec.parent: names `b`, which is not there; give that Queue, too, or correct the name",
    ]
    assert text(queue(parent="root", deserved={GPU: "8"})) == text(queue(parent="", deserved={GPU: "8"})) == text(queue())


def test_a_circle_is_told_once() -> None:
    """With its way round; what hangs below it is not told as well."""
    assert problems(queue("a", parent="b"), queue("b", parent="c"), queue("c", parent="a"), queue("d", parent="a")) == [
        "Queue a: spec.parent: goes round in a circle: a -> b -> c -> a; let one of them have no parent",
    ]
    assert problems(queue("a", parent="a"))[0] == "Queue a: spec.parent: goes round in a circle: a -> a; let one of them have no parent"


@pytest.mark.parametrize("name", [None, 7])
def test_a_queue_without_a_name_is_in_no_circle(name: Any) -> None:
    """What is wrong with its name is all that is told, also where it names a parent that hangs below the root."""
    for nameless in (queue(deserved={GPU: "8"}), queue(parent="b")):
        nameless["metadata"] = {} if name is None else {"name": name}
        [told] = problems(nameless, queue("b", deserved={GPU: "8"}))
        assert "metadata.name" in told


def test_a_tree_that_is_too_deep() -> None:
    """As deep as the language nests, and no deeper; told once."""

    def chain(levels: int) -> list[Json]:
        return [queue(f"q{level:02}", parent=f"q{level - 1:02}" if level else "", deserved={GPU: "8"}) for level in range(levels)]

    assert text(*chain(30)).count("cohort") == 29
    [told] = problems(*chain(40))
    assert told == "Queue q30: spec.parent: has 30 Queues above it or more; nest at most 30 levels"


@pytest.mark.parametrize(
    ("deserved", "guarantee", "capability", "told"),
    [
        ("8", "9", "10", "spec.deserved.cpu: is 8, and 9 are guaranteed; write at least 9, or guarantee less"),
        ("11", "1", "10", "spec.deserved.cpu: is 11, above the capability, 10; write at most 10, or raise the capability"),
        ("500m", "501m", "1", "spec.deserved.cpu: is 500m, and 501m are guaranteed; write at least 501m, or guarantee less"),
    ],
)
def test_guaranteed_deserved_capability(deserved: str, guarantee: str, capability: str, told: str) -> None:
    """Each is at most the next, for every resource that two of them name."""
    made = queue(deserved={"cpu": deserved}, guarantee=guaranteed(cpu=guarantee), capability={"cpu": capability})
    assert problems(made) == [f"Queue a: {told}"]


def test_equal_ones_are_good() -> None:
    """The bounds belong to it."""
    assert text(queue(deserved={"cpu": "8"}, guarantee=guaranteed(cpu="8"), capability={"cpu": "8"}))


def test_a_guarantee_above_the_capability() -> None:
    """Also where nothing is deserved."""
    told = "Queue a: spec.guarantee.resource.cpu: is 9, above the capability, 8; write at most 8, or raise the capability"
    assert problems(queue(guarantee=guaranteed(cpu="9"), capability={"cpu": "8"}), capacity=TOTAL) == [told]


def parent_and_children(parent: Json, *children: Json) -> list[Json]:
    """A Queue `p` and those below it."""
    return [queue("p", **parent), *(queue(f"c{number}", parent="p", **spec) for number, spec in enumerate(children))]


def test_children_deserve_no_more_than_their_parent() -> None:
    """In sum; a parent that does not name the resource deserves none of it."""
    good = parent_and_children({"deserved": {GPU: "8"}}, {"deserved": {GPU: "4"}}, {"deserved": {GPU: "4"}})
    assert text(*good)
    for parent, told in (({GPU: "7"}, "7"), ({"cpu": "1"}, "0")):
        bad = parent_and_children({"deserved": parent}, {"deserved": {GPU: "4"}}, {"deserved": {GPU: "4"}})
        assert problems(*bad) == [
            f"Queue p: spec.deserved.{GPU}: is {told}, and the Queues below have 8 together; write at least 8, or give them less"
        ]


def test_children_guarantee_no_more_than_their_parent() -> None:
    """In sum; what is guaranteed and not deserved counts as deserved."""
    child = {"deserved": {GPU: "4"}, "guarantee": guaranteed(gpu="2")}
    good = parent_and_children({"deserved": {GPU: "8"}, "guarantee": guaranteed(gpu="4")}, child, child)
    assert text(*good)
    bad = parent_and_children({"deserved": {GPU: "8"}, "guarantee": guaranteed(gpu="3")}, child, child)
    assert [told.split(": ")[1] for told in problems(*bad)] == [f"spec.guarantee.resource.{GPU}"]
    undeserved = parent_and_children({"deserved": {GPU: "1"}, "guarantee": guaranteed(gpu="1")}, {"guarantee": guaranteed(gpu="2")})
    assert len(problems(*undeserved)) == 2


def test_a_capability_is_at_most_that_above() -> None:
    """Of the nearest Queue that has one; the root's is apart."""
    deserving = {"deserved": {GPU: "8"}}
    grandchild = queue("g", parent="c0", capability={GPU: "17"})
    tree = [*parent_and_children({**deserving, "capability": {GPU: "16"}}, deserving), grandchild]
    assert problems(*tree) == [
        f"Queue g: spec.capability.{GPU}: is 17, above that of Queue p, 16; write at most 16, or leave it out",
    ]
    assert text(queue("root", capability={GPU: "16"}), queue(deserved={GPU: "8"}, capability={GPU: "17"}))


def test_all_together_fit_64_bits() -> None:
    """The sum of what is deserved is told at the biggest part."""
    told = problems(queue("a", deserved={"memory": "5E"}), queue("b", deserved={"memory": "6E"}))
    assert told == ["Queue b: spec.deserved.memory: with it, all together deserve more than 64 bits hold; let it deserve less"]


def test_pod_groups_belong_to_leaves() -> None:
    """Volcano's plugin decides nothing where one does not; one that is completed counts for nothing."""
    tree = parent_and_children({"deserved": {GPU: "8"}}, {"deserved": {GPU: "8"}})
    remedy = "which has others below it; name one of those, as Volcano decides nothing otherwise"
    assert problems(*tree, pod_group(queue="p")) == [f"PodGroup ns/w: spec.queue: is Queue p, {remedy}"]
    assert problems(queue("root", weight=1), queue(), pod_group(queue="root")) == [f"PodGroup ns/w: spec.queue: is Queue root, {remedy}"]
    assert text(*tree, pod_group(queue="p", phase="Completed"))


@pytest.mark.parametrize("objects", [[], [queue("root", weight=1)], [pod_group()]])
def test_without_queues_there_is_no_policy(objects: list[Json]) -> None:
    """Most likely these are the wrong files."""
    [told] = problems(*objects)
    assert told == "Queue: there is none, apart from the root; give what `kubectl get queues.scheduling.volcano.sh -o yaml` writes"
