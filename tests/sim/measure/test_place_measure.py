"""Figures of nodes: what there was, was used and was stranded, exactly, and who stood there."""

from typing import Any

import pytest
from gpol.dsl import check
from gpol.engine.event_parts import Assignment, PlacedPods, PodSet
from gpol.engine.events import WorkloadPlaced
from gpol.engine.facts import FACT, Fact, PolicyActivated, TimeAdvanced
from gpol.engine.outcome.grounds import Why
from gpol.sim.drive.job import Job
from gpol.sim.drive.player import Player
from gpol.sim.drive.policy import Policy
from gpol.sim.drive.simulation import Simulation
from gpol.sim.measure.columns.compiled_count import count_at_hand
from gpol.sim.measure.columns.history_measure import HistoryMeasure
from gpol.sim.measure.measure import Measure
from gpol.sim.measure.place_measure import MOST_REMEMBERED_THERE, ClassFigures, PlaceMeasure, StrandedThere, asked_by
from same_figures import same_figures

POLICY = """policy "p" { use gpol.fair }
topology fabric {
  level rack from label "rack"
  level host from node
}
flavor a {
  gpu, cpu from nodes where pool = "a"
  placed in fabric
}
flavor b { gpu 8 }
queue q {
  owns 64 gpu on a
  prefer a, b
}
"""
EVICTS = POLICY.replace("use gpol.fair", "use gpol.fair\n when a node is lost evict")
UNPLACED = POLICY.replace("  placed in fabric\n", "")
MINUTE = 60_000_000


def node(name: str, time: int = 0, kind: str = "NodeAdded", gpu: str = "8", **said: Any) -> dict[str, Any]:
    """A node of rack r."""
    labels = {"pool": "a", "rack": "r"}
    return {"kind": kind, "time": time, "node": name, "labels": labels, "capacity": {"gpu": gpu, "cpu": "64"}, **said}


def submitted(name: str, minute: int, gpu: str, count: int = 1, **said: Any) -> dict[str, Any]:
    """A workload of pods that ask for so many GPUs."""
    pods = {"count": count, "requests": {"gpu": gpu}, **said}
    return {"kind": "WorkloadSubmitted", "time": minute * MINUTE, "workload": name, "queue": "q", "pod_sets": [pods]}


def ended(name: str, minute: int) -> dict[str, Any]:
    """A workload ends."""
    return {"kind": "WorkloadFinished", "time": minute * MINUTE, "workload": name}


def until(minute: int) -> dict[str, Any]:
    """Nothing happens until then."""
    return {"kind": "TimeAdvanced", "time": minute * MINUTE}


def measured(*facts: dict[str, Any] | Fact, policy: str = POLICY, judged_by: PodSet | None = None) -> PlaceMeasure:
    """The figures of a history from time 0."""
    active = Policy.of(check(policy, "p.gpol"))
    player = Player()
    measure = PlaceMeasure(lambda name: asked_by(player.core, name), judged_by)
    measure.take(player.step(active.activation(0), active.graph), active.graph)
    for said in facts:
        if isinstance(said, PolicyActivated):
            graph = Policy.of(check(said.text, "p.gpol")).graph
            batches = list(player.play(said, graph))
        else:
            batches = list(player.play(FACT.validate_python(said) if isinstance(said, dict) else said))
        for batch in batches:
            assert player.core.graph is not None
            measure.take(batch, player.core.graph)
    measure.finish()
    return measure


def minutes(figures: ClassFigures) -> tuple[float, float, float]:
    """GPU-minutes that there were, were used and were stranded."""
    return figures.existed / (1000 * MINUTE), figures.used / (1000 * MINUTE), figures.stranded / (1000 * MINUTE)


def test_what_is_free_and_of_no_use() -> None:
    """Three GPUs beside five are stranded while only pods of five and eight were asked for, and the last one beside a pod of two."""
    asked = [submitted("w", 0, "5"), submitted("x", 1, "8", count=9), until(4), submitted("y", 4, "2")]
    found = measured(node("n1"), node("n2"), *asked, until(6))
    [(of_class, figures)] = found.classes.items()
    assert of_class == (("a",), 8000)
    assert minutes(figures) == (96, 5 * 6 + 2 * 2, 3 * 4 + 1 * 2)
    assert found.nodes() == {(("a",), 8000): 2}
    [(path, there)] = found.stranded.items()
    assert (path, there.area, there.by) == (("r", "n1"), 14_000 * MINUTE, {"w": 14_000 * MINUTE, "y": 2_000 * MINUTE})


def test_one_pod_to_judge_by() -> None:
    """Judged by pods of four GPUs, three beside five are stranded whoever asks for less, and from the start; a small node is as a whole."""
    facts = (node("n1"), node("small", gpu="2"), until(10), submitted("w", 10, "5"), submitted("x", 12, "1"), until(20))
    found = measured(*facts, judged_by=PodSet(requests={"gpu": 4000}))
    assert {of_class[1]: minutes(figures) for of_class, figures in found.classes.items()} == {
        8000: (160, 5 * 10, 3 * 10),
        2000: (40, 1 * 8, 2 * 12 + 1 * 8),
    }


def test_how_much_is_stranded_at_once() -> None:
    """At most: of each class, and of all together; what is stranded for no time does not count, nor what was before the nodes changed."""
    first = (node("n1"), node("n2"), node("large", gpu="16"), submitted("w", 0, "6"), submitted("x", 0, "5"), submitted("v", 0, "9"))
    found = measured(
        *first, until(1), ended("x", 1), ended("w", 1), submitted("y", 1, "7"), until(2), judged_by=PodSet(requests={"gpu": 8000})
    )
    assert {of_class[1]: figures.most_stranded for of_class, figures in found.classes.items()} == {8000: 5000, 16_000: 7000}
    assert found.total().most_stranded == 12_000

    gone = {"kind": "NodeRemoved", "time": MINUTE, "node": "n1"}
    found = measured(node("n1"), submitted("w", 0, "5"), until(1), gone, node("n2", MINUTE), submitted("x", 2, "7"), until(3))
    assert found.total().most_stranded == 3000

    found = measured(node("n1"), submitted("w", 0, "5"), submitted("x", 0, "1"), until(1))
    assert found.total().most_stranded == 0


def test_nothing_is_stranded_before_anything_was_asked_for() -> None:
    """An idle cluster is idle; a node too small for all that was asked for is stranded as a whole, and nobody stands there."""
    found = measured(node("n1"), node("small", gpu="2"), until(10), submitted("w", 10, "8"), until(20))
    assert {of_class[1]: minutes(figures) for of_class, figures in found.classes.items()} == {8000: (160, 80, 0), 2000: (40, 0, 20)}
    assert found.stranded[("r", "small")].by == {}


def test_other_resources_strand_gpus() -> None:
    """Where CPUs are gone, free GPUs are of no use to pods that ask for both."""
    greedy = submitted("w", 0, "1")
    greedy["pod_sets"][0]["requests"]["cpu"] = "64"
    found = measured(node("n1"), greedy, until(1))
    assert minutes(found.total()) == (8, 1, 7)


def test_cordoned_nodes_and_those_that_change_or_go() -> None:
    """What a cordoned node has free is not stranded; a node that changes counts in its new class, one that is gone no more."""
    found = measured(
        node("n1"),
        submitted("w", 0, "5"),
        until(1),
        node("n1", MINUTE, "NodeChanged", cordoned=True),
        until(2),
        node("n1", 2 * MINUTE, "NodeChanged", gpu="16"),
        until(3),
        {"kind": "NodeRemoved", "time": 3 * MINUTE, "node": "n1"},
        until(9),
    )
    assert {of_class[1]: minutes(figures) for of_class, figures in found.classes.items()} == {8000: (16, 10, 3), 16_000: (16, 5, 0)}
    assert found.nodes() == {}


def test_who_comes_and_goes_with_a_node() -> None:
    """Whoever is admitted because a node comes, or evicted because one goes, counts once: on the other nodes too."""
    gone = {"kind": "NodeRemoved", "time": 2 * MINUTE, "node": "n2"}
    found = measured(
        node("n1", gpu="2"),
        submitted("w", 0, "2", count=2, flavors=["a"]),
        until(1),
        node("n2", MINUTE, gpu="3"),
        until(2),
        gone,
        until(3),
        policy=EVICTS,
    )
    assert {of_class[1]: minutes(figures)[:2] for of_class, figures in found.classes.items()} == {2000: (6, 2), 3000: (3, 2)}


def test_only_those_who_may_get_the_flavor_count() -> None:
    """A small pod that may run on another flavor alone is no use for what is free here."""
    found = measured(node("n1"), submitted("w", 0, "5"), submitted("x", 0, "1", flavors=["b"]), until(1))
    assert minutes(found.total()) == (8, 5, 3)


def test_ends_evictions_and_replacements_free_places() -> None:
    """Whoever is over uses nothing any more."""
    found = measured(node("n1"), submitted("w", 0, "8"), ended("w", 2), submitted("x", 3, "4"), until(4))
    assert minutes(found.total()) == (32, 8 * 2 + 4, 0)
    assert found.classes[("a",), 8000].stranded == 0


def test_a_policy_that_begins_to_give_places() -> None:
    """Before that nothing is counted; those who run without places use nothing of any node."""
    active = Policy.of(check(POLICY, "p.gpol"))
    later = active.activation(2 * MINUTE)
    before = [node("n1"), submitted("w", 0, "4"), submitted("x", 1, "8", flavors=["a"])]
    found = measured(*before, later, ended("w", 3), until(5), policy=UNPLACED)
    assert minutes(found.total()) == (24, 16, 0)


def test_flavors_without_places_are_not_counted() -> None:
    """A run under a policy that gives none has nothing to tell."""
    found = measured(node("n1"), submitted("w", 0, "4"), until(5), policy=UNPLACED)
    assert not found.gives_places


def test_pods_that_move() -> None:
    """Pods that get other places use nothing of those that they had."""
    active = Policy.of(check(POLICY, "p.gpol"))
    player, measure = Player(), PlaceMeasure()
    measure.take(player.step(active.activation(0), active.graph), active.graph)
    for said in (node("n1"), node("n2", gpu="16"), submitted("w", 0, "5")):
        measure.take(player.step(FACT.validate_python(said)), active.graph)
    there = Assignment(pod_set="main", count=1, flavors={"gpu": "a"}, places=(PlacedPods(domain=("n2",), pods=1),))
    moved = WorkloadPlaced(time=MINUTE, cause=1, workload="w", queue="q", reason="NodeLost", assignments=(there,), why=Why())
    measure.take((TimeAdvanced(time=MINUTE), [moved]), active.graph)
    measure.take((TimeAdvanced(time=3 * MINUTE), []), active.graph)
    measure.finish()
    assert {of_class[1]: minutes(figures)[1] for of_class, figures in measure.classes.items()} == {8000: 5, 16_000: 10}


def test_few_are_remembered() -> None:
    """Of very many workloads at one place those stay with which most was stranded."""
    there = StrandedThere()
    for number in range(10 * MOST_REMEMBERED_THERE):
        there.add(1 + number % 7, [f"w{number}"])
    there.add(100, ["big"])
    assert len(there.by) <= 2 * MOST_REMEMBERED_THERE + 1
    assert there.by["big"] == 100


@pytest.mark.parametrize("kernel", [count_at_hand, lambda: None], ids=["columns", "plain"])
def test_a_simulation_has_the_same_figures(kernel: Any) -> None:
    """Of a placed policy the figures by columns are those of the plain measure, and nodes are used as much as queues use."""
    active = Policy.of(check(POLICY.replace("flavor b { gpu 8 }\n", "").replace("prefer a, b", "only a"), "p.gpol"))
    jobs = []
    for number in range(120):
        fact = FACT.validate_python(submitted(f"w{number:03}", number // 3, str(3 + number * 7 % 6), count=1 + number % 2))
        jobs.append(Job(fact, (1 + number % 11) * MINUTE))  # type: ignore[arg-type]
    nodes = [FACT.validate_python(node(f"n{number}")) for number in range(4)]
    history, plain, stood = HistoryMeasure(None, kernel), Measure(), PlaceMeasure()
    for played in Simulation(active, jobs, Player(), "restart", None, nodes).chunks():  # type: ignore[arg-type]
        history.take(played, active.graph)
        stood.take(played, active.graph)
        for fact, decisions in [played] if isinstance(played, tuple) else played.batches():
            plain.take(fact, decisions, active.graph)
    stood.finish()
    same_figures(history.measure(), plain)
    assert stood.total().used == sum(figures.used_area for figures in plain.queues.values()) > 0
    assert 0 < stood.total().stranded <= stood.total().existed - stood.total().used


def test_a_node_in_no_domain_is_stranded() -> None:
    """It is of no use to anybody from the start, and counts in the sums as it does in what exists; once it has its label it is of use."""
    lacking = {**node("n2"), "labels": {"pool": "a"}}
    mended = {**node("n2", time=60 * MINUTE), "kind": "NodeChanged"}
    found = measured(node("n1"), lacking, submitted("w", 0, "1"), mended, until(90))
    assert found.outside == {"n2": "has no label `rack` (level rack)"}
    [figures] = found.classes.values()
    assert minutes(figures) == (16 * 90, 90, 8 * 60)
    assert figures.most_stranded == 8000
    assert found.stranded == {("n2",): StrandedThere(8000 * 60 * MINUTE, {})}
