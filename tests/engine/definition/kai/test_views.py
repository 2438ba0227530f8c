"""What of a workload is placed or evicted next: its minimum first, then one pod after the other."""

import pytest
from gpol.engine.definition.kai.views import WorkloadView, gang_whole, partial, pods_to_evict, readiness, ready
from gpol.engine.definition.session.pods import SessionGroup
from hypothesis import given
from hypothesis import strategies as st
from kai_clusters import WAITS, Job, Queue, cycle

_TREE = (SessionGroup("", -1, (1, 2), 1), SessionGroup("a", 0, (), 2), SessionGroup("b", 0, (), 1))
"""Two groups of pods, of which one is enough: `a` needs two pods, `b` one."""


def _view(job: Job) -> WorkloadView:
    return cycle([8, 8], [Queue()], [job]).views[0]


def _names(view: WorkloadView) -> list[str]:
    return [pod.name for pod in view.pods_to_place()]


@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 6))
def test_the_minimum_is_placed_at_once_and_the_rest_one_by_one(running: int, waiting: int, least: int) -> None:
    """Below its minimum a workload asks for what it lacks of it, else for one pod more."""
    view = _view(Job("j", 0, 1, (0,) * running + (WAITS,) * waiting, least))
    wanted = least - running if running < least else 1
    assert len(view.pods_to_place()) == min(wanted, waiting)
    assert ready(view) == (running + waiting >= least)
    assert readiness(view) == (0 if running < least else 1 if running == least else 2)
    assert gang_whole(view) == (running >= least)


@given(st.integers(1, 6), st.integers(0, 6))
def test_a_victim_loses_surplus_pods_one_by_one_then_the_rest(running: int, least: int) -> None:
    """The last pod goes first; at its minimum all go together."""
    view = _view(Job("j", 0, 1, (0,) * running, least))
    gone, more = pods_to_evict(view)
    surplus = 0 < least < running or least == 0
    assert [pod.name for pod in gone] == [f"j-{at}" for at in reversed(range(running))][: 1 if surplus else running]
    assert more == (surplus and running > 1)


def test_of_several_groups_as_many_are_placed_as_are_needed() -> None:
    """One of two groups is enough: the first by name, whole; then the other one."""
    waits = Job("j", 0, 1, (WAITS,) * 3, groups=_TREE, group_of=(2, 1, 1))
    assert _names(_view(waits)) == ["j-1", "j-2"]
    half = Job("j", 0, 1, (WAITS, 0, 0), groups=_TREE, group_of=(2, 1, 1))
    assert _names(_view(half)) == ["j-0"]


def test_a_group_that_is_not_needed_goes_before_one_that_is() -> None:
    """With both groups at their minimum one is surplus: it goes whole, and the other one after it."""
    view = _view(Job("j", 0, 1, (0, 0, 0), groups=_TREE, group_of=(1, 1, 2)))
    gone, more = pods_to_evict(view)
    assert ([pod.name for pod in gone], more) == (["j-2"], True)
    rest = view.part(pod for pod in view.pods if pod not in gone)
    assert ([pod.name for pod in pods_to_evict(rest)[0]], pods_to_evict(rest)[1]) == (["j-1", "j-0"], False)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_part_of_a_workload_asks_for_just_that_part(count: int) -> None:
    """A part counts as it was made: with a minimum that it can reach, whatever becomes of its pods."""
    made = cycle([8], [Queue()], [Job("j", 0, 1, (WAITS,) * 4, 4)])
    view = made.views[0]
    part = partial(view, view.pods_to_place()[:count])
    made.promise(view.pods[0], 0)
    assert [pod.name for pod in part.pods_to_place()] == [f"j-{at}" for at in range(count)]
    assert len(view.pods_to_place()) == 3
