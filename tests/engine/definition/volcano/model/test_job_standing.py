"""How far a workload is, and whether it goes on after a pod found no node."""

import pytest
from gpol.engine.definition.session.pods import PodStatus
from gpol.engine.definition.volcano.model.job_standing import (
    goes_on,
    has_hard_wish,
    promised,
    ready,
    starts,
    starts_later,
    starves,
    waiting_for_nothing,
)
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase, NetworkWish
from small_clusters import Asked, Gang, cluster

ROLES = (("m", 1), ("w", 2))


def test_counts() -> None:
    """One runs, one was promised room, one waits for nothing, one waits: two are ready or as good, three with promised ones."""
    pods = (Asked(1, on="n"), Asked(1), Asked(0, 0), Asked(1))
    cycle = cluster({"n": 9}, [Gang("g", pods, 3, phase=GroupPhase.RUNNING)], ())
    job = cycle.jobs[0]
    cycle.promise(cycle.session.pods[1], 0, after_eviction=False)
    own = cycle.session.pods_of(job)
    assert (ready(cycle, own), promised(own), waiting_for_nothing(cycle, own)) == (1, 1, 1)
    assert [starts(cycle, own, minimum) for minimum in (2, 3)] == [True, False]
    assert [starts_later(cycle, own, minimum) for minimum in (3, 4)] == [True, False]
    assert starves(cycle, job)


@pytest.mark.parametrize(
    ("minimum", "roles", "failed", "goes"),
    [
        (4, (), 3, False),  # it needs all its pods
        (3, (), 3, True),
        (2, ROLES, 3, True),  # roles do not count: of the other role two are left
        (2, (("m", 1), ("w", 3)), 0, True),
        (3, ROLES, 3, False),  # roles count: none of those that failed has room
        (3, (("m", 1), ("w", 0)), 3, True),
    ],
)
def test_going_on_after_a_pod_found_no_node(minimum: int, roles: tuple[tuple[str, int], ...], failed: int, goes: bool) -> None:
    """Only while the gang can become complete."""
    pods = (Asked(1, role="m"), Asked(1, role="m"), Asked(1, role="w"), Asked(1, role="w"))
    cycle = cluster({"n": 9}, [Gang("g", pods, minimum, roles=roles)], ())
    cycle.no_node_for[0][failed] = None
    assert goes_on(cycle, cycle.jobs[0], cycle.groups[0].sub_jobs[0]) is goes


def test_room_that_the_failing_role_has_counts() -> None:
    """As many of it as it needs run already."""
    pods = (Asked(1, role="m"), Asked(1, role="w", on="n"), Asked(1, role="w", on="n"), Asked(1, role="w"))
    cycle = cluster({"n": 9}, [Gang("g", pods, 3, roles=ROLES)], ())
    cycle.no_node_for[0][3] = None
    assert goes_on(cycle, cycle.jobs[0], cycle.groups[0].sub_jobs[0])
    cycle.session.move(cycle.session.pods[1], PodStatus.STOPPING, 0)
    assert not goes_on(cycle, cycle.jobs[0], cycle.groups[0].sub_jobs[0])


@pytest.mark.parametrize(
    ("wish", "hard"), [(None, False), (NetworkWish(True, 1), True), (NetworkWish(False), True), (NetworkWish(True), False)]
)
def test_who_goes_by_hyper_nodes(wish: NetworkWish | None, hard: bool) -> None:
    """Also who only wishes it, up to the top; not one whose tier is not known."""
    cycle = cluster({"n": 9}, [Gang("g", (Asked(1),), wish=wish)], ())
    assert has_hard_wish(cycle, cycle.jobs[0]) is hard
