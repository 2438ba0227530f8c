"""Rounds of Armada, one property each; Armada's own rounds are played in tests/conformance/armada, and the laws are in tests/property."""

from dataclasses import replace
from fractions import Fraction

import pytest
from armada_cluster import GIB, TEST_SETTINGS, ArmadaCluster, ArmadaJob, ArmadaNode
from gpol.engine.definition.armada.armada_settings import ArmadaCap, ArmadaSettings
from gpol.engine.definition.armada.rescheduling import reschedule
from gpol.engine.definition.session.pods import NO_NODE, PodStatus

ONE = Fraction(1)


def node(cpu: int, zone: str = "", tainted: bool = False) -> ArmadaNode:
    """A node with so many cores, and memory enough."""
    return ArmadaNode((cpu, 64 * GIB), zone, tainted)


def job(name: str, cpu: int = 1, **more: object) -> ArmadaJob:
    """A job of the queue that its name begins with."""
    return replace(ArmadaJob(name, name[0], (cpu, 0)), **more)


def cluster(*nodes: ArmadaNode, settings: ArmadaSettings = TEST_SETTINGS, queues: str = "ab") -> ArmadaCluster:
    """Queues of one weight."""
    return ArmadaCluster(list(nodes), dict.fromkeys(queues, ONE), settings)


def test_a_protected_queue_loses_nothing() -> None:
    """Whoever has no more than the protected part of its share keeps all, though another has less."""
    protecting = replace(TEST_SETTINGS, protected=ONE)
    one = cluster(node(4), settings=protecting)
    one.play([job("a0"), job("a1"), job("b0", 2, preemptible=False)])
    assert one.play([job("b1")]).preempted == ()
    other = cluster(node(4), settings=replace(protecting, protected=Fraction(9, 10)))
    other.play([job("a0"), job("a1"), job("b0", 1, preemptible=False)])
    assert other.play([job("c0")]).preempted == ()


@pytest.mark.parametrize(("uncapped", "preempted"), [(False, ("a1",)), (True, ())])
def test_the_protected_share_may_be_the_uncapped_one(uncapped: bool, preempted: tuple[str, ...]) -> None:
    """A queue that wants little may be protected in all that it would get if it wanted everything."""
    settings = replace(TEST_SETTINGS, protected=Fraction(9, 10), protects_uncapped=uncapped)
    one = ArmadaCluster([node(4, "x"), node(4, "y")], {"a": Fraction(1, 3), "b": ONE}, settings)
    one.play([job("a0", zone="x"), job("a1", zone="y")])
    told = one.play([job("b0", 4)])
    assert (told.preempted, told.started) == (preempted, ("b0",) if preempted else ())


def test_what_was_told_to_stop_counts_as_gone() -> None:
    """A pod that stops already takes no room, and is not touched."""
    one = cluster(node(2))
    session = one.session([job("a0", 2, nodes=(0,), started=0), job("b0", 2)])
    session.move(session.pods[0], PodStatus.STOPPING, 0)
    reschedule(session, TEST_SETTINGS)
    assert [(pod.status, pod.node) for pod in session.pods] == [(PodStatus.STOPPING, 0), (PodStatus.PLACED, 0)]


def test_on_a_node_with_too_little_all_stay_and_none_come() -> None:
    """Where a node lost capacity, those who run there return, and it takes nobody else."""
    one = cluster(node(2))
    one.running = [job("a0", 2, nodes=(0,), started=0), job("a1", 1, nodes=(0,), started=0)]
    told = one.play([job("b0", 1, priority=1)])
    assert (told.started, told.preempted) == ((), ())
    assert told.told.refusals == {2: "no room"}


def test_a_workload_without_a_queue_is_left_alone() -> None:
    """Whose queue is not known neither starts nor is evicted; as in Armada, one of a higher priority takes no notice of it even so."""
    for priority, started in ((0, ("a0",)), (1, ("a0", "a1"))):
        one = cluster(node(2))
        one.running = [job("z0", 1, nodes=(0,), started=0)]
        told = one.play([job("z1"), job("a0", 1, priority=priority), job("a1", 1, priority=priority)])
        assert (told.started, told.preempted) == (started, ())


def test_a_gang_that_runs_in_part_waits() -> None:
    """The rest of a gang does not start while others of it run; where all of it was evicted or waits, it starts together."""
    gang = job("a0", 1, pods=2, nodes=(0, 0), started=0)
    for protected, statuses in ((ONE, [PodStatus.RUNNING, PodStatus.WAITING]), (Fraction(0), [PodStatus.RUNNING, PodStatus.PLACED])):
        one = cluster(node(4))
        session = one.session([gang])
        session.move(session.pods[1], PodStatus.WAITING, NO_NODE)
        reschedule(session, replace(TEST_SETTINGS, protected=protected))
        assert [pod.status for pod in session.pods] == statuses


def test_of_a_gang_that_is_over_in_part_the_rest_returns() -> None:
    """Pods that are over do not keep the others of their gang from returning; one that waits does not start without them."""
    one = cluster(node(4))
    session = one.session([job("a0", 1, pods=2, nodes=(0, 0), started=0), job("b0", 1, pods=2)])
    session.move(session.pods[1], PodStatus.DONE, NO_NODE)
    session.move(session.pods[3], PodStatus.DONE, NO_NODE)
    reschedule(session, TEST_SETTINGS)
    assert [pod.status for pod in session.pods] == [PodStatus.RUNNING, PodStatus.DONE, PodStatus.WAITING, PodStatus.DONE]


def test_a_gang_that_is_displaced_goes_as_a_whole() -> None:
    """Who takes the room of one pod of a gang displaces all of it, and is told to have."""
    one = cluster(node(2), node(2))
    one.play([job("a0", 2, pods=2)])
    told = one.play([job("b0", 2)])
    assert (told.started, told.preempted) == (("b0",), ("a0",))
    assert told.told.displaced_by == {0: 2, 1: 2}


def test_the_least_disturbing_zone_is_chosen() -> None:
    """A gang of one zone goes where nobody is disturbed; or else where those of the least priorities are."""
    one = cluster(node(2, "x"), node(2, "y"), node(4), queues="ab")
    told = one.play([job("a0", 1, pods=2, uniform=True)])
    assert [pod.node for pod in told.session.pods] == [0, 0]
    one = cluster(node(2, "x"), node(2, "y"), queues="abc")
    one.play([job("a0", 2, priority=1, zone="x"), job("b0", 2, zone="y")])
    told = one.play([job("c0", 1, pods=2, priority=2, preemptible=False, uniform=True)])
    assert (told.preempted, [pod.node for pod in told.session.pods[2:]]) == (("b0",), [1, 1])
    assert one.play([job("c1", 1, pods=3, priority=2, uniform=True)]).told.refusals == {2: "no room"}


def test_a_gang_fits_or_nothing_of_it_is_placed() -> None:
    """Of a gang whose last pod has no room no pod is placed, and who it displaced on trial runs on."""
    one = cluster(node(2))
    one.play([job("a0", 2)])
    told = one.play([job("b0", 1, pods=3)])
    assert [pod.status for pod in told.session.pods] == [PodStatus.RUNNING] + [PodStatus.WAITING] * 3


def test_caps_of_a_class_count_what_runs() -> None:
    """Beyond the cap of its priority class nothing of a queue starts; other classes and queues do."""
    one = cluster(node(8), settings=replace(TEST_SETTINGS, caps=(ArmadaCap(0, True, (("cpu", Fraction(1, 4)),)),)))
    one.play([job("a0")])
    told = one.play([job("a1"), job("a2"), job("a3", preemptible=False), job("b0")])
    assert told.started == ("a1", "a3", "b0")
    assert told.told.refusals == {2: "above the cap of its priority class"}


def test_beyond_the_cap_of_a_round_those_evicted_still_return() -> None:
    """Once a round has started more than its cap, nothing new starts, and nobody is preempted for that."""
    one = cluster(node(8), settings=replace(TEST_SETTINGS, round_cap=(("cpu", Fraction(1, 8)),)))
    assert one.play([job(f"a{number}") for number in range(4)]).started == ("a0", "a1")
    told = one.play([job(f"{queue}{number + 4}") for number in range(4) for queue in "ba"])
    assert (told.started, told.preempted) == (("b4", "b5"), ())
    assert list(told.told.refusals.values()) == ["enough started in this round"]


def test_who_started_and_is_evicted_again_waits_on() -> None:
    """A pod that got a node in the first part, and lost it in the second to one of a higher priority, waits, and does not stop."""
    one = cluster(node(2))
    one.running = [job("a0", nodes=(0,), started=0)]
    told = one.play([job("b0", priority=1), job("a1", 2, priority=2)])
    assert (told.started, told.preempted) == (("a1",), ("a0",))
    assert [(pod.status, pod.node) for pod in told.session.pods] == [
        (PodStatus.STOPPING, 0),
        (PodStatus.WAITING, NO_NODE),
        (PodStatus.PLACED, 0),
    ]


def test_equal_gangs_without_room_are_passed_over() -> None:
    """Once a pod has no room anywhere, pods like it are not tried, so the next of its queue has its turn sooner."""
    one = ArmadaCluster([node(4)], {"a": Fraction(10), "b": ONE, "c": ONE}, replace(TEST_SETTINGS, large_first=False))
    told = one.play([job("a0", 5), job("b0"), job("b1", 5), job("b2"), job("c0"), job("c1"), job("c2")])
    assert told.started == ("b0", "b2", "c0", "c1")
    assert told.told.refusals == {0: "no room", 2: "no room", 6: "no room"}


@pytest.mark.parametrize(("large_first", "nodes"), [(False, [1, 0]), (True, [0, 1])])
def test_the_larger_gang_may_come_first(large_first: bool, nodes: list[int]) -> None:
    """Of queues at the same cost and within their shares, that with the larger gang is first if the profile says so."""
    one = cluster(node(3), node(2), settings=replace(TEST_SETTINGS, large_first=large_first))
    assert [pod.node for pod in one.play([job("a0"), job("b0", 2)]).session.pods] == nodes


def test_who_has_run_longest_returns_first() -> None:
    """Of the evicted pods of a queue those are displaced that started last, whenever they were submitted."""
    one = cluster(node(2))
    one.running = [job("a0", nodes=(0,), started=2), job("a1", nodes=(0,), started=1, submitted=1)]
    one.round, one.submissions = 3, 2
    assert one.play([job("b0")]).preempted == ("a0",)


def test_nobody_takes_the_room_of_those_who_may_not_be_evicted() -> None:
    """Who may not be evicted takes room at all levels: not even a higher priority starts there."""
    one = cluster(node(2))
    one.play([job("a0", 2, priority=1, preemptible=False)])
    told = one.play([job("b0", 1, priority=2)])
    assert (told.started, told.preempted) == ((), ())


def test_what_a_queue_wants_counts_up_to_its_caps() -> None:
    """A queue is due no more than the caps of its priority classes let it have; the rest is for others."""
    one = cluster(node(8), settings=replace(TEST_SETTINGS, caps=(ArmadaCap(0, True, (("cpu", Fraction(1, 4)),)),)))
    told = one.play([job("a0", 8), job("a1", 1, priority=1), job("b0", 8, preemptible=False)])
    assert [queue.share.capped for queue in told.told.queues] == [Fraction(3, 8), Fraction(5, 8)]


def test_a_round_may_leave_a_node_with_more_than_it_has() -> None:
    """As in Armada, who started and was evicted again comes after a lower one that ran, and takes no notice of it; it is told, and after
    that all stay there, and nobody comes."""
    settings = replace(TEST_SETTINGS, large_first=False)
    one = ArmadaCluster([node(6)], {"a": Fraction(1, 4), "b": ONE, "c": ONE}, settings)
    one.running = [job("a0", nodes=(0,), started=0), job("b0", nodes=(0,), started=0)]
    told = one.play([job("b1", priority=1), job("c1", 2, priority=1), job("a2", 5, priority=2, preemptible=False)])
    assert (told.started, told.preempted) == (("b1", "a2"), ("a0",))
    assert told.told.oversubscribed == (0,)
    again = one.play([job("c2", 1, priority=3)])
    assert (again.started, again.preempted, again.told.oversubscribed) == ((), (), (0,))
