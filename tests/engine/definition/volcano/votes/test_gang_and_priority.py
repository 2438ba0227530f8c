"""What `gang`, `priority` and `conformance` say of victims."""

from dataclasses import replace

from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from gpol.engine.definition.volcano.model.volcano_cycle import VolcanoCycle
from gpol.engine.definition.volcano.votes.by_priority import lower_priority_victims, uncritical_victims, wants_all_its_pods
from gpol.engine.definition.volcano.votes.gang import gang_is_valid, gang_order, gang_starves, gang_victims
from small_clusters import Asked, Gang, cluster


def _cycle() -> VolcanoCycle:
    """One workload of three pods that needs two, one of higher priority of which a pod waits."""
    low = Gang("low", (Asked(1, on="n"), Asked(1, on="n"), Asked(1, on="n", priority=5)), 2, priority=1, phase=GroupPhase.RUNNING)
    high = Gang("high", (Asked(1, on="n"), Asked(1, priority=3)), 2, priority=2, phase=GroupPhase.RUNNING)
    return cluster({"n": 9}, [low, high], ())


def test_a_gang_spares_what_it_has_beyond_its_minimum() -> None:
    """One of three; none of the other gang, which lacks one."""
    cycle = _cycle()
    pods = cycle.session.pods
    assert [pod.name for pod in gang_victims(cycle, pods[4], pods[:4])] == ["low-0"]


def test_priority_looks_at_workloads_and_within_one_at_pods() -> None:
    """Lower priority is less; equal is not."""
    cycle = _cycle()
    pods = cycle.session.pods
    assert [pod.name for pod in lower_priority_victims(cycle, pods[4], pods[:4])] == ["low-0", "low-1", "low-2", "high-0"]
    assert [pod.name for pod in lower_priority_victims(cycle, pods[0], pods[1:4])] == []
    assert [pod.name for pod in lower_priority_victims(cycle, pods[2], pods[:2])] == ["low-0", "low-1"]


def test_pods_of_the_system_stay() -> None:
    """They are critical."""
    cycle = _cycle()
    cycle.pods = (replace(cycle.pods[0], critical=True), *cycle.pods[1:])
    assert [pod.name for pod in uncritical_victims(cycle, cycle.session.pods[4], cycle.session.pods[:2])] == ["low-1"]


def test_who_starves() -> None:
    """To `gang` who lacks pods of the minimum, to `priority` who lacks any; the broken gang comes first."""
    cycle = _cycle()
    high, low = cycle.jobs
    assert (gang_starves(cycle, low), gang_starves(cycle, high)) == (False, True)
    assert (wants_all_its_pods(cycle, low), wants_all_its_pods(cycle, high)) == (False, True)
    assert gang_order(cycle, high, low) < 0 < gang_order(cycle, low, high)
    assert gang_order(cycle, low, low) == 0


def test_a_gang_without_pods_enough_is_not_looked_at() -> None:
    """Of each role as many have to be there as it needs."""
    pods = (Asked(1, role="m"), Asked(1, role="m"))
    for minimum, roles, valid in ((2, (), True), (3, (), False), (2, (("m", 1), ("w", 1)), False), (1, (("m", 1), ("w", 1)), True)):
        cycle = cluster({"n": 9}, [Gang("g", pods, minimum, roles=roles)], ())
        assert gang_is_valid(cycle, cycle.jobs[0]) is valid
