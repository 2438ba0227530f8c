"""What each pass does with small clusters, told from KAI's rules, and what holds after any cycle."""

import pytest
from gpol.engine.definition.kai.kai_cycle import KaiCycle, KaiEviction
from gpol.engine.definition.kai.search.solver import largest_part
from gpol.engine.definition.kai.settings import KaiPass, KaiSettings, NodePick
from gpol.engine.definition.kai.terms import WorkloadTerms
from gpol.engine.definition.session.pods import HOLDING, PodStatus, SessionGroup
from hypothesis import given, settings
from hypothesis import strategies as st
from kai_clusters import WAITS, Job, Queue, cycle, run


def test_pods_go_where_least_is_free_or_most() -> None:
    """Packing fills the fullest node that has room; spreading takes the emptiest."""
    jobs = [Job("old", 0, 4, (1,)), Job("new", 0, 2, (WAITS,))]
    assert run(cycle([8, 8, 1], [Queue()], jobs)) == {"new-0": ("PLACED", 1)}
    spread = KaiSettings(pick=NodePick.SPREAD)
    assert run(cycle([8, 8, 1], [Queue()], jobs, spread)) == {"new-0": ("PLACED", 0)}


def test_a_gang_is_placed_as_a_whole_or_not_at_all() -> None:
    """Three pods of 4 GPUs do not fit on one node of 8."""
    assert run(cycle([8], [Queue()], [Job("gang", 0, 4, (WAITS,) * 3)])) == {}
    assert len(run(cycle([8], [Queue()], [Job("gang", 0, 4, (WAITS,) * 3, least=2)]))) == 2


def test_a_workload_that_stops_leaves_room_for_a_promise() -> None:
    """What is free only later is promised, and a gang with one promise gets promises alone."""
    made = cycle([4, 4], [Queue()], [Job("old", 0, 4, (0,)), Job("gang", 0, 4, (WAITS,) * 2)])
    made.session.move(made.session.pods[0], PodStatus.STOPPING, 0)
    assert run(made, KaiPass.ALLOCATE) == {"gang-0": ("PROMISED", 1), "gang-1": ("PROMISED", 0)}


def test_a_limit_and_what_is_owned_bound_a_queue() -> None:
    """No workload exceeds a limit, and one that may not be evicted keeps within what its queue owns."""
    jobs = [Job("stays", 0, 2, (WAITS,), preemptible=False), Job("goes", 0, 2, (WAITS,)), Job("more", 0, 2, (WAITS,))]
    assert run(cycle([8], [Queue(owned=1, limit=3)], jobs)) == {"goes-0": ("PLACED", 0)}


def test_consolidation_moves_others_only_if_all_find_places() -> None:
    """A pod moves to where it fits, so that a larger one has its node; in a fuller cluster nothing moves."""
    jobs = [Job("a", 0, 2, (0,)), Job("b", 0, 2, (1,)), Job("big", 0, 4, (WAITS,))]
    made = cycle([4, 4], [Queue()], jobs)
    after = run(made, KaiPass.ALLOCATE, KaiPass.CONSOLIDATE)
    assert {name: status for name, (status, _) in after.items()} in (
        {"a-0": "PROMISED", "big-0": "PROMISED"},
        {"b-0": "PROMISED", "big-0": "PROMISED"},
    )
    assert list(made.evictions.values()) == [KaiEviction(KaiPass.CONSOLIDATE, 2)]
    full = cycle([4, 4], [Queue()], [Job("a", 0, 3, (0,)), Job("b", 0, 2, (1,)), Job("big", 0, 4, (WAITS,))])
    assert run(full, KaiPass.ALLOCATE, KaiPass.CONSOLIDATE) == {}


@pytest.mark.parametrize(("most", "moves"), [(0, False), (1, False), (2, True), (-1, True)])
def test_consolidation_moves_as_many_workloads_as_it_may(most: int, moves: bool) -> None:
    """Three have to move for one: one more than the setting says may, and none at all where it says none."""
    stay = [Job(name, 0, 1, (node,), preemptible=False) for name, node in (("x", 1), ("y", 2))]
    jobs = [*stay, *[Job(name, 0, 1, (0,)) for name in "abc"], Job("big", 0, 3, (WAITS,))]
    made = cycle([3, 3, 3], [Queue(owned=2)], jobs, KaiSettings(most_consolidated=most))
    assert ("big-0" in run(made, KaiPass.CONSOLIDATE)) is moves


def test_a_queue_takes_back_what_it_owns() -> None:
    """A workload of a queue that holds more than its share stops, and its room is promised."""
    jobs = [Job("first", 0, 4, (0,)), Job("second", 0, 4, (0,)), Job("owner", 1, 4, (WAITS,))]
    made = cycle([8], [Queue(owned=4), Queue(owned=4)], jobs)
    assert run(made, KaiPass.RECLAIM) == {"second-0": ("STOPPING", 0), "owner-0": ("PROMISED", 0)}
    assert made.evictions == {1: KaiEviction(KaiPass.RECLAIM, 2)}


def test_nobody_takes_back_from_workloads_that_may_not_be_evicted() -> None:
    """They keep what they have, whatever their queue is due."""
    jobs = [Job("first", 0, 8, (0,), preemptible=False), Job("owner", 1, 4, (WAITS,))]
    assert run(cycle([8], [Queue(owned=4), Queue(owned=4)], jobs), KaiPass.RECLAIM) == {}


def test_surplus_pods_go_first() -> None:
    """An elastic victim loses as many pods as are needed, from the last."""
    jobs = [Job("elastic", 0, 2, (0, 0, 0, 0), least=1), Job("owner", 1, 4, (WAITS,))]
    made = cycle([8], [Queue(owned=4), Queue(owned=4)], jobs)
    assert run(made, KaiPass.RECLAIM) == {"elastic-3": ("STOPPING", 0), "elastic-2": ("STOPPING", 0), "owner-0": ("PROMISED", 0)}


@pytest.mark.parametrize(("priority", "evicts"), [(49, False), (50, False), (51, True)])
def test_only_higher_priority_preempts_within_a_queue(priority: int, evicts: bool) -> None:
    """Equal priority does not."""
    made = cycle([4], [Queue(owned=4)], [Job("low", 0, 4, (0,)), Job("new", 0, 4, (WAITS,), priority=priority)])
    assert ("low-0" in run(made, KaiPass.PREEMPT)) is evicts


@pytest.mark.parametrize(("terms", "ends"), [((10, 9), False), ((10, 10), True), ((-1, 99), False), ((0, 0), True)])
def test_broken_gangs_end_when_their_time_is_over(terms: tuple[int, int], ends: bool) -> None:
    """A gang with fewer pods than its minimum; a grace below 0 is for ever."""
    made = cycle([4], [Queue()], [Job("gang", 0, 1, (0, WAITS), 2, terms=WorkloadTerms(*terms))])
    assert run(made, KaiPass.BROKEN) == ({"gang-0": ("STOPPING", 0)} if ends else {})


def test_a_gang_with_a_pod_that_ended_well_is_not_broken() -> None:
    """Its other pods are let finish."""
    made = cycle([4], [Queue()], [Job("gang", 0, 1, (0, WAITS), 2, terms=WorkloadTerms(0, 0, succeeded=True))])
    assert run(made, KaiPass.BROKEN) == {}


@given(st.integers(1, 40), st.integers(0, 40))
def test_the_largest_part_is_found_with_few_probes(count: int, most: int) -> None:
    """Doubling and halving finds where success ends, without probing anything twice."""
    probed: list[int] = []

    def probe(part: int) -> bool:
        probed.append(part)
        return part <= most

    assert largest_part(count, probe) == min(count, most)
    assert len(probed) == len(set(probed)) <= 2 * count.bit_length() + 1


Drawn = tuple[int, int, list[int], int, int, bool, int]
"""A job: its queue, the GPUs of a pod, nodes, surplus pods, its priority, whether it may be evicted, and of how many of two groups it
needs (0: it has no groups)."""

_JOBS = st.tuples(
    st.integers(0, 2),
    st.integers(1, 4),
    st.lists(st.sampled_from([WAITS, WAITS, 0, 1, 2]), min_size=1, max_size=4),
    st.integers(0, 2),
    st.sampled_from([50, 75, 100]),
    st.booleans(),
    st.integers(0, 2),
)


def _cluster(drawn: list[Drawn], names: list[str]) -> KaiCycle:
    """Three nodes of 8 GPUs; pods that would not fit where they are drawn wait."""
    free = [8, 8, 8]
    jobs = []
    for name, (queue, gpus, nodes, surplus, priority, preemptible, split) in zip(names, drawn, strict=False):
        at = []
        for node in nodes:
            fits = node != WAITS and free[node] >= gpus
            free[node] -= gpus if fits else 0
            at.append(node if fits else WAITS)
        if split and len(at) > 1:
            group_of = (1,) * (len(at) - 1) + (2,)
            groups = (SessionGroup("", -1, (1, 2), split), SessionGroup("a", 0, (), 1), SessionGroup("b", 0, (), 1))
            jobs.append(Job(name, queue, gpus, tuple(at), None, priority, preemptible, groups, group_of))
        else:
            jobs.append(Job(name, queue, gpus, tuple(at), max(1, len(at) - surplus), priority, preemptible))
    return cycle([8, 8, 8], [Queue(4), Queue(2, weight=3), Queue(None)], jobs)


@settings(max_examples=60, deadline=None)
@given(st.lists(_JOBS, max_size=8))
def test_what_holds_after_any_cycle(drawn: list[Drawn]) -> None:
    """Nodes are not overfilled, nor promised twice; who may not be evicted stays; gangs start whole; who stops was told so.

    Two exceptions are KAI's own: a pod that moves can get a promise back that others were given since, and trials of workloads with groups
    can be left in the session.
    """
    made = _cluster(drawn, [f"j{at}" for at in range(len(drawn))])
    session = made.session
    first = [pod.node for pod in session.pods]
    run(made)
    for node in range(3):
        now = [pod for pod in session.pods if (first[pod.number] == node) or (pod.status is PodStatus.PLACED and pod.node == node)]
        later = [pod for pod in session.pods if pod.node == node and pod.status in HOLDING]
        assert sum(pod.requests[2] for pod in now) <= 8
        assert sum(pod.requests[2] for pod in later) <= 8 or any(pod.leaving for pod in later)
    for number in made.evictions:
        by = made.evictions[number].by
        assert by is KaiPass.BROKEN or session.workload_of(session.pods[number]).preemptible
    for view in made.views:
        ran = sum(first[pod.number] != WAITS for pod in view.pods)
        held = sum(view.count(HOLDING))
        assert held == 0 or ran or len(view.groups) > 1 or held >= view.minimum[0]
    left = {pod.number for pod in session.pods if pod.status is PodStatus.STOPPING}
    assert left <= {*made.evictions, *made.tentative}
    assert not made.tentative or any(len(view.groups) > 1 for view in made.views)


@settings(max_examples=30, deadline=None)
@given(st.lists(_JOBS, max_size=8))
def test_the_same_cluster_is_decided_the_same_way(drawn: list[Drawn]) -> None:
    """Twice the same, and under other names in the same order as well."""
    count = len(drawn)
    first, again = (_cluster(drawn, [f"j{at}" for at in range(count)]) for _ in range(2))
    other = _cluster(drawn, [f"x{at}" for at in range(count)])
    told = run(first)
    assert run(again) == told
    assert {f"j{name[1:]}": where for name, where in run(other).items()} == told
