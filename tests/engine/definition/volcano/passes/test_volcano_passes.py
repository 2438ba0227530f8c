"""The other passes, and how a cycle ends."""

import pytest
from gpol.engine.definition.session.pods import PodStatus
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.passes.volcano_passes import run_cycle
from small_clusters import USUAL, Asked, Gang, cluster, plugin, ran

OVERCOMMIT = (USUAL[0], (plugin("overcommit"), plugin("predicates")))


def _pending(name: str, cpu: int | None, priority: int = 0) -> Gang:
    return Gang(name, (Asked(1),), priority=priority, phase=GroupPhase.PENDING, least=None if cpu is None else Asked(cpu, 0))


def test_groups_are_let_in_up_to_a_fifth_more_than_the_cluster() -> None:
    """Ten cpus count as twelve. The one that asks for too much is left out, what says nothing is not."""
    gangs = [_pending("a", 8, 9), _pending("b", 5, 8), _pending("c", 4, 7), _pending("d", None)]
    cycle = cluster({"n": 10}, gangs, ("enqueue",), OVERCOMMIT)
    run_cycle(cycle)
    assert [str(phase) for phase in cycle.phases] == ["Inqueue", "Pending", "Inqueue", "Inqueue"]


def test_what_runs_and_what_was_let_in_before_takes_room_at_the_door() -> None:
    """Of twelve cpus six are used, and four are awaited by a group that was let in: three more are too many, two are not."""
    running = Gang("old", (Asked(6, on="n"),), phase=GroupPhase.RUNNING)
    awaited = Gang("in", (Asked(4), Asked(4)), minimum=2, least=Asked(4, 0))
    for cpu, phase in ((3, GroupPhase.PENDING), (2, GroupPhase.INQUEUE)):
        cycle = cluster({"n": 10}, [running, awaited, _pending("new", cpu)], ("enqueue",), OVERCOMMIT)
        run_cycle(cycle)
        assert cycle.phases[2] is phase


def test_backfill_places_pods_that_ask_for_nothing_alone() -> None:
    """A pod that asks for a cpu waits for pass `allocate`; one that asks for nothing waits for `backfill`."""
    gangs = [Gang("g", (Asked(1),)), Gang("e", (Asked(0, 0),))]
    assert [state for state, _ in ran(cluster({"n": 4}, gangs, ("backfill",))).values()] == ["waiting", "placed"]
    assert [state for state, _ in ran(cluster({"n": 4}, gangs, ("allocate",))).values()] == ["placed", "waiting"]


def test_backfill_reserves_where_a_node_is_too_full_to_start_more() -> None:
    """The plugin that counts pods is not asked, but what starts is counted: of two pods the first starts."""
    gangs = [Gang("e", (Asked(0, 0), Asked(0, 0)))]
    assert [state for state, _ in ran(cluster({"n": 4}, gangs, ("backfill",), (USUAL[0],), most_pods=1)).values()] == ["placed", "reserved"]


@pytest.mark.parametrize(
    ("statuses", "minimum", "phase"),
    [
        ([PodStatus.RUNNING, PodStatus.RUNNING], 2, GroupPhase.RUNNING),
        ([PodStatus.RUNNING, PodStatus.WAITING], 2, GroupPhase.UNKNOWN),
        ([PodStatus.RUNNING, PodStatus.STOPPING], 2, GroupPhase.RUNNING),
        ([PodStatus.STOPPING, PodStatus.WAITING], 2, GroupPhase.INQUEUE),
        ([PodStatus.DONE, PodStatus.DONE], 2, GroupPhase.COMPLETED),
        ([PodStatus.RUNNING, PodStatus.WAITING], 1, GroupPhase.RUNNING),
    ],
)
def test_the_phase_at_the_end(statuses: list[PodStatus], minimum: int, phase: GroupPhase) -> None:
    """It runs with enough pods, of which some may stop; is unknown where some run and the gang is broken; else it stays as it is."""
    cycle = cluster({"n": 9}, [Gang("g", (Asked(1, on="n"), Asked(1, on="n")), minimum=minimum)], ())
    for pod, status in zip(cycle.session.pods, statuses, strict=True):
        cycle.session.move(pod, status, -1 if status in (PodStatus.WAITING, PodStatus.DONE) else 0)
    run_cycle(cycle)
    assert cycle.phases == [phase]


def test_only_the_plugin_gang_tells_of_broken_gangs() -> None:
    """Without it the group stays as it is."""
    gangs = [Gang("g", (Asked(1, on="n"), Asked(1)), minimum=2)]
    for tiers, phase in ((USUAL, GroupPhase.UNKNOWN), (((plugin("predicates"),),), GroupPhase.INQUEUE)):
        cycle = cluster({"n": 1}, gangs, (), tiers)
        run_cycle(cycle)
        assert cycle.phases == [phase]


def test_pods_that_start_do_not_count_for_the_phase_yet() -> None:
    """The group is let in, and runs from the next cycle on."""
    cycle = cluster({"n": 9}, [Gang("g", (Asked(1),))], ("allocate",))
    assert ran(cycle)["g-0"] == ("placed", "n")
    assert cycle.phases == [GroupPhase.INQUEUE]
