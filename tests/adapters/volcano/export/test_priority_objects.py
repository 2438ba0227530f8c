"""Priorities: PriorityClasses, those that each cluster has, and the default one."""

from ..volcano_exports import HEAD, Json, exported, notes, problems

QUEUES = 'queue a { owns 8 "nvidia.com/gpu" }\n\nqueue b { owns nothing }\n'


def classes(text: str) -> list[Json]:
    """The PriorityClasses of a policy."""
    return [item for item in exported(text).objects if item["kind"] == "PriorityClass"]


def test_a_priority_is_a_class() -> None:
    """In order of name, and before the Queues."""
    text = f"{HEAD}priority high 1000\n\npriority below -5\n\n{QUEUES}"
    assert classes(text) == [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "below"}, "value": -5},
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    ]
    assert [item["kind"] for item in exported(text).objects] == ["PriorityClass", "PriorityClass", "Queue", "Queue"]


def test_a_default_of_all_queues_is_the_global_one() -> None:
    """With a note, as it counts for all pods of the cluster."""
    text = HEAD.replace("{ use gpol.reclaim }", "{\n  use gpol.reclaim\n  default priority high\n}") + f"priority high 1000\n\n{QUEUES}"
    assert [item.get("globalDefault") for item in classes(text)] == [True]
    assert [note.partition(": becomes")[0] for note in notes(text)] == ["priority high: default priority"]


def test_a_default_of_some_queues_is_noted() -> None:
    """Kubernetes has one default at most."""
    text = f"{HEAD}priority high 1000\n\n{QUEUES}".replace("owns nothing }", "\n  owns nothing\n  default priority high\n}")
    assert [item.get("globalDefault") for item in classes(text)] == [None]
    told = "is 1000 here; Kubernetes counts 0 unless a PriorityClass is the globalDefault: let each job name its class"
    assert notes(text) == [f"queue b: default priority: {told}"]


def test_classes_of_kubernetes_are_left_out() -> None:
    """Each cluster has them; others may not begin like them."""
    text = f"{HEAD}priority system-node-critical 2000001000\n\n{QUEUES}"
    assert classes(text) == []
    assert notes(text) == ["priority system-node-critical: is left out: each cluster has it"]
    for name, value in (("system-node-critical", 5), ("system-mine", 2_000_001_000)):
        [told] = problems(f"{HEAD}priority {name} {value}\n\n{QUEUES}")
        assert told.startswith(f"p.gpol:7: priority {name}: begins with `system-`")


def test_names_are_those_of_kubernetes() -> None:
    """Else the nearest name that it allows is told."""
    assert problems(f'{HEAD}priority "Top 1" 5\n\n{QUEUES}') == [
        "p.gpol:7: priority Top 1: is no name that Kubernetes allows; call it `top-1`, for instance"
    ]
