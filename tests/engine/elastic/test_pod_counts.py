"""How many pods elastic workloads have at least and at most, and what they are charged with more or fewer of them."""

from fractions import Fraction

import pytest
from gpol.engine.elastic.pod_counts import changes_between, fullness, is_elastic, least_pods, resized, running_pods
from gpol.engine.event_parts import Assignment, PlacedPods, PodSet, PodSetChange
from gpol.engine.facts import WorkloadSubmitted
from gpol.engine.intake.changes import submitted
from gpol.engine.workload import Workload
from pydantic import ValidationError

SLOTS = {("f", "gpu"): 0, ("f", "pods"): 1}


def made(*pod_sets: PodSet) -> Workload:
    """A workload of these pod sets that has all its pods on flavor f."""
    workload = submitted(WorkloadSubmitted(time=0, workload="w", pod_sets=pod_sets), 1)
    workload.assignments = tuple(Assignment(pod_set=each.name, count=each.count, flavors={"gpu": "f", "pods": "f"}) for each in pod_sets)
    gpus = sum(each.count * each.requests["gpu"] for each in pod_sets)
    workload.usage = ((0, gpus), (1, sum(each.count for each in pod_sets)))
    return workload


def pods(name: str, count: int, minimum: int | None = None, gpu: int = 1) -> PodSet:
    """A pod set."""
    return PodSet(name=name, count=count, requests={"gpu": gpu}, minimum=minimum)


def test_the_least_is_the_minimum_of_those_that_are_left() -> None:
    """Pods that are done are asked for no more, and a pod set without a minimum runs whole."""
    workload = made(pods("a", 8, 4), pods("b", 3))
    assert (is_elastic(workload.fact), least_pods(workload)) == (True, [4, 3])
    workload.remaining = (2, 3)
    assert (least_pods(workload), running_pods(workload)) == ([2, 3], [2, 3])
    assert not is_elastic(made(pods("a", 4, 4)).fact), "nothing of it is surplus"


def test_what_is_charged_follows_the_pods() -> None:
    """One pod more or fewer is charged for what it asks for, and as a pod; the other pod set stays as it is."""
    before = made(pods("a", 4, 1, gpu=2), pods("b", 3))
    after = resized(before, SLOTS, [2, 3], {})
    assert (after.usage, [each.count for each in after.assignments]) == (((0, 7), (1, 5)), [2, 3])
    assert resized(after, SLOTS, [4, 3], {}).usage == before.usage
    assert changes_between(before.assignments, after.assignments, {"a": 4, "b": 3}) == (PodSetChange(pod_set="a", taken=2),)


def test_changes_name_the_places() -> None:
    """Of pods that are added or taken the places are told, with how many stand there."""
    before = made(pods("a", 4, 1))
    two = (PlacedPods(domain=("n1",), pods=1), PlacedPods(domain=("n2",), pods=1))
    four = (PlacedPods(domain=("n1",), pods=3), PlacedPods(domain=("n2",), pods=1))
    smaller = resized(before, SLOTS, [2], {"a": two})
    larger = resized(smaller, SLOTS, [4], {"a": four})
    moved = (PlacedPods(domain=("n1",), pods=2),)
    assert changes_between(smaller.assignments, larger.assignments, {"a": 2}) == (PodSetChange(pod_set="a", added=2, places=moved),)
    assert changes_between(larger.assignments, smaller.assignments, {"a": 4}) == (PodSetChange(pod_set="a", taken=2, places=moved),)


def test_fullness_is_the_part_of_the_surplus() -> None:
    """A pod set that may have no surplus is full."""
    workload = made(pods("a", 8, 4), pods("b", 3))
    assert [fullness(workload, [5, 3], index) for index in (0, 1)] == [Fraction(1, 4), Fraction(1)]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"minimum": 5}, "minimum 5 is above the count, 4"),
        ({"minimum": 0}, "greater than or equal to 1"),
        ({"minimum": 2, "min_count": 2}, "minimum and min_count do not go together"),
        ({"minimum": 2, "group": "g"}, "minimum and group do not go together"),
        ({"minimum": 2, "slices": [{"level": "host", "size": 2}]}, "minimum and slices do not go together"),
    ],
)
def test_what_does_not_go_with_a_minimum_is_refused(said: dict[str, object], problem: str) -> None:
    """It would have no effect, or no clear one."""
    with pytest.raises(ValidationError, match=problem):
        PodSet.model_validate({"count": 4, "requests": {"gpu": 1}, **said})


def test_what_does_not_go_with_an_elastic_workload_is_refused() -> None:
    """A slice takes the place of another workload, and partial admission is for good."""
    with pytest.raises(ValidationError, match="it replaces another workload, and a pod set has a minimum"):
        WorkloadSubmitted(time=0, workload="w", replaces="v", pod_sets=(pods("a", 2, 1),))
    with pytest.raises(ValidationError, match="one pod set has a minimum, another one a min_count"):
        WorkloadSubmitted(time=0, workload="w", pod_sets=(pods("a", 2, 1), PodSet(name="b", count=2, requests={}, min_count=1)))
