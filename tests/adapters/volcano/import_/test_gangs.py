"""Gangs: what PodGroups become, waiting or running, and which ones are left out."""

from typing import Any

import pytest
from gpol.engine.default_core import new_core
from gpol.engine.facts import PolicyActivated
from hypothesis import given
from hypothesis import strategies as st

from ..volcano_objects import GPU, NOW, Json, facts, graph, imported, notes, pod_group, priority, problems, queue


def test_a_waiting_gang_is_submitted() -> None:
    """Pending or Inqueue: its pods with what each of them asks for, free to be admitted."""
    for phase in ("Pending", "Inqueue"):
        [fact] = facts(queue(), pod_group(phase=phase, minResources={GPU: "8", "cpu": "6"}))
        assert fact["pod_sets"] == [{"name": "gang", "count": 4, "requests": {"cpu": 1_500, GPU: 2}, "flavors": []}]
        assert (fact["kind"], fact["queue"], fact["time"], "hold" in fact) == ("WorkloadSubmitted", "a", NOW, False)


def test_a_running_gang_is_adopted() -> None:
    """It is submitted on hold, then charged for all that it asks for of what the policy counts, since it was scheduled."""
    scheduled = {"type": "Scheduled", "status": "True", "lastTransitionTime": "2026-01-03T02:00:00Z"}
    group = pod_group(phase="Running", status={"conditions": [scheduled]}, minResources={GPU: "8", "cpu": "6"})
    submitted, adopted = facts(queue(), group, flavor="h100")
    assert submitted["hold"] is True
    assert (adopted["kind"], adopted["queue"], adopted["since"]) == ("WorkloadAdopted", "a", 1_767_405_600_000_000)
    assert adopted["placements"] == [{"pod_set": "gang", "count": 4, "flavors": {GPU: "h100"}, "usage": {GPU: 8}}]


@pytest.mark.parametrize(
    ("created", "condition", "since"),
    [
        (
            "2026-01-03T01:00:00Z",
            {"type": "Scheduled", "status": "False", "lastTransitionTime": "2026-01-03T02:00:00Z"},
            1_767_402_000_000_000,
        ),
        ("2026-01-03T01:00:00Z", {"type": "Unschedulable", "status": "True"}, 1_767_402_000_000_000),
        (None, {}, NOW),
    ],
)
def test_since_when_a_gang_runs(created: str | None, condition: Json, since: int) -> None:
    """Since it was created where no condition says when it was scheduled, and since now where nothing says anything."""
    group = pod_group(phase="Running", metadata={"creationTimestamp": created}, status={"conditions": [condition]})
    assert facts(queue(), group)[1]["since"] == since


def test_running_gangs_come_first() -> None:
    """So that what they hold is not given to others; else the order is that of the files."""
    groups = [pod_group("w"), pod_group("b", "Running"), pod_group("v"), pod_group("a", "Unknown")]
    told = [(fact["kind"], fact["workload"]) for fact in facts(queue(), *groups)]
    assert [name for kind, name in told if kind == "WorkloadSubmitted"] == ["ns/b", "ns/a", "ns/w", "ns/v"]
    assert told.index(("WorkloadAdopted", "ns/b")) == told.index(("WorkloadSubmitted", "ns/b")) + 1


def test_completed_gangs_are_no_facts() -> None:
    """Whatever they ask for."""
    assert facts(queue(), pod_group(phase="Completed", minResources=None)) == []


def test_a_gang_that_has_lost_pods_runs() -> None:
    """Volcano calls it Unknown; it is charged whole, which is noted."""
    assert [fact["kind"] for fact in facts(queue(), pod_group(phase="Unknown"))] == ["WorkloadSubmitted", "WorkloadAdopted"]
    assert notes(queue(), pod_group(phase="Unknown")) == [
        "PodGroup ns/w: status.phase: is Unknown: some of its pods run. It counts as running, with all of its gang"
    ]


@given(st.integers(1, 9), st.integers(0, 100), st.integers(0, 100_000))
def test_a_gang_asks_for_all_that_it_says(pods: int, gpus: int, thousandths: int) -> None:
    """So many pods, and the sum is exact, also where it is no multiple."""
    group = pod_group(minMember=pods, minResources={GPU: str(gpus), "cpu": f"{thousandths}m"})
    [fact] = facts(queue(), group)
    assert sum(each["count"] for each in fact["pod_sets"]) == pods
    for resource, total in ((GPU, gpus), ("cpu", thousandths)):
        assert sum(each["count"] * each["requests"].get(resource, 0) for each in fact["pod_sets"]) == total
    uneven = gpus % pods or thousandths % pods
    assert len(fact["pod_sets"]) == (2 if uneven else 1)
    assert ("is no multiple of minMember" in " ".join(notes(queue(), group))) == bool(uneven)


def test_pods_beyond_the_minimum_are_noted() -> None:
    """Nothing says what they use."""
    assert notes(queue(), pod_group(phase="Running", status={"running": 4})) == []
    [note] = notes(queue(), pod_group(phase="Running", status={"running": 5}))
    assert note.startswith("PodGroup ns/w: status.running: is above minMember: the pods beyond it are not charged")


@pytest.mark.parametrize("asked", [None, {}])
def test_a_waiting_gang_of_unknown_size_is_left_out(asked: Any) -> None:
    """With what its owner has to do; the others come along."""
    groups = [pod_group("w", minResources=asked), pod_group("v")]
    assert [fact["workload"] for fact in facts(queue(), *groups)] == ["ns/v"]
    [note] = notes(queue(), *groups)
    assert note.startswith("PodGroup ns/w: spec.minResources: is missing or empty, and the PodGroup waits: it is left out")
    assert note.endswith("Let its owner set spec.minResources to what minMember pods ask for together")


@pytest.mark.parametrize("asked", [None, {}])
def test_a_running_gang_of_unknown_size_is_refused(asked: Any) -> None:
    """It would be charged nothing, and others would get what it uses."""
    cause = "is missing or empty, and the PodGroup runs: nothing says how much it uses"
    remedy = "set it to what minMember pods ask for together, or leave the PodGroup out"
    assert problems(queue(), pod_group(phase="Running", minResources=asked)) == [f"PodGroup ns/w: spec.minResources: {cause}; {remedy}"]


def test_a_gang_that_asks_for_nothing_is_one() -> None:
    """To say nothing and to ask for nothing that counts are two things: Volcano's controller names the pods of all gangs."""
    assert facts(queue(), pod_group(minResources={"pods": "4", "count/pods": "4"}))[0]["pod_sets"][0]["requests"] == {}


def test_a_gang_of_an_unknown_queue_is_left_out() -> None:
    """Volcano schedules none of its pods, also where it ran before."""
    group = pod_group(phase="Running", queue="gone")
    assert facts(queue(), group) == []
    assert notes(queue(), group) == [
        "PodGroup ns/w: spec.queue: is not there: the PodGroup is left out, as Volcano schedules none of its pods"
    ]


def test_priorities_go_by_their_names() -> None:
    """One that is not there is that of workloads which name none, as in Volcano; noted."""
    classes = [priority("high", 1000), priority("low", 10, globalDefault=True)]
    assert facts(queue(), *classes, pod_group(priorityClassName="high"))[0]["priority"] == "high"
    assert facts(queue(), *classes, pod_group())[0].get("priority") is None
    assert notes(queue(), *classes, pod_group(priorityClassName="gone")) == [
        "PodGroup ns/w: spec.priorityClassName: is not there: the default priority counts, as in Volcano"
    ]


def test_what_no_fact_holds_is_refused() -> None:
    """With the object and the cause."""
    long = pod_group(metadata={"uid": "u" * 300})
    [told] = problems(queue(), long)
    assert told.startswith("PodGroup ns/w: cannot be imported: ")
    assert told.endswith("; correct the object, or leave it out")


def test_the_facts_play() -> None:
    """Who runs is charged, and who waits gets what is left."""
    tree = [queue("a", deserved={GPU: "8"}), queue("b", deserved={GPU: "4"})]
    groups = [pod_group("new", queue="b"), pod_group("old", "Running", minResources={GPU: "8"}), pod_group("late", queue="b", minMember=1)]
    made = imported(*tree, *groups)
    core = new_core()
    policy = graph(*tree, *groups)
    core.step(PolicyActivated(time=NOW, file="p.gpol", text="x", digest=policy.digest), policy)
    decided = [(decision.kind, decision.workload) for fact in made.facts for decision in core.step(fact)]
    assert decided == [("WorkloadAdmitted", "ns/new")]
    used = {node.name: core.view.used(number, 0) for number, node in enumerate(policy.nodes)}
    assert used == {"cluster": 12, "a": 8, "b": 4}
