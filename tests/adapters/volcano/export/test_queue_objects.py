"""Queues: what each node says, and what a Queue cannot say."""

import pytest

from ..volcano_exports import HEAD, notes, problems, specs

GPU = "nvidia.com/gpu"


def of(*lines: str, name: str = "a") -> str:
    """A policy with one queue."""
    return HEAD + f"queue {name} {{\n  " + "\n  ".join(('owns 8 "nvidia.com/gpu"', *lines)) + "\n}\n\nqueue b { owns nothing }\n"


def test_a_weight_is_that_of_the_queue() -> None:
    """With a note, as only one plugin of Volcano reads it; the default is left out."""
    assert specs(of("weight 65535"))["a"] == {"weight": 65_535, "deserved": {GPU: "8"}}
    assert specs(of("weight 1"))["a"] == {"deserved": {GPU: "8"}}
    told = "becomes the weight of the Queue, which the plugin capacity does not read: there shares are not divided by it"
    assert notes(of("weight 3")) == [f"queue a: weight: {told}"]


@pytest.mark.parametrize("weight", ["0", "1/2", "65536"])
def test_other_weights_are_refused(weight: str) -> None:
    """Volcano takes whole numbers of 16 bits, and no 0."""
    [told] = problems(of(f"weight {weight}"))
    assert told.startswith(f"p.gpol:7: queue a: weight: is {weight}, and Volcano takes whole numbers from 1 to 65,535; multiply")


def test_a_strict_queue_is_noted() -> None:
    """Volcano has a field for it, and nothing that reads it."""
    assert specs(of("queueing strict fifo"))["a"]["dequeueStrategy"] == "fifo"
    [note] = notes(of("queueing strict fifo"))
    assert note.startswith("queue a: queueing strict fifo: becomes dequeueStrategy: fifo, which has no effect in Volcano yet")


def test_a_stopped_queue_is_closed_by_a_person() -> None:
    """Its state is no part of what is applied; the note has the command."""
    assert notes(of("stopped")) == [
        "queue a: stopped: is not said by the object: close the Queue with `vcctl queue operate --action close --name a`"
    ]
    assert specs(of("stopped")) == specs(of())


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("stopped and drained", "stopped and drained: evicts what runs, which closing a Queue does not; write `stopped`"),
        ("priority at most low", "priority at most: counts no priority above 1, and Volcano takes every job at its own; remove it"),
        ('for namespaces where label "x" exists', "for namespaces: keeps namespaces out, and Volcano lets every namespace use every Queue"),
        ("for no namespaces", "for namespaces: keeps namespaces out"),
    ],
)
def test_what_a_queue_cannot_say_is_refused(line: str, told: str) -> None:
    """Volcano would decide otherwise."""
    [found] = problems(of(line).replace("queue a", "priority low 1\n\nqueue a"))
    assert found.startswith(f"p.gpol:9: queue a: {told}")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ('for namespace "team"', "the annotation scheduling.volcano.sh/queue-name of its namespace"),
        ('for namespace "team-*"', "in Volcano a job names its Queue"),
        ('for user "ada"', "in Volcano a job names its Queue"),
    ],
)
def test_how_workloads_find_a_queue_is_noted(line: str, hint: str) -> None:
    """A person can make up for it; of namespaces by name there is an annotation."""
    [note] = notes(of(line))
    assert note.startswith("queue a: for: says ")
    assert hint in note
    assert ("annotation" in note) == ("annotation" in hint)


def test_local_queues_have_no_place() -> None:
    """Left out with a note, and refused where one is stopped."""
    assert notes(of('local queue "n/l"')) == ["local queue n/l: is left out: in Volcano a job names its Queue"]
    [told] = problems(of('local queue "n/l" { stopped }'))
    assert told.startswith("p.gpol:9: local queue n/l: stopped: stops one entry of a queue, and Volcano has none")


def test_a_deep_tree_is_noted() -> None:
    """Volcano's webhook takes five levels, unless it is told otherwise."""

    def nested(levels: int) -> str:
        cohorts = "".join(f"{' ' * level}cohort c{level} {{\n" for level in range(levels - 1))
        ends = "".join(f"{' ' * level}}}\n" for level in reversed(range(levels - 1)))
        return f'{HEAD}{cohorts}{" " * levels}queue a {{ owns 8 "nvidia.com/gpu" }}\n{ends}'

    assert notes(nested(5)) == []
    assert [note.partition(" Queues")[0] for note in notes(nested(7))] == ["cohort c5: has 5", "queue a: has 5"]


def test_names_come_back_without_their_prefix() -> None:
    """An import gives one to what is called as gpol's root."""
    assert list(specs(of(name='"queue/cluster"'))) == ["b", "cluster"]
