"""Passes `preempt` and `reclaim`: who has to go, for whom, and what is taken back."""

import pytest
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase, NetworkWish
from small_clusters import USUAL, Asked, Gang, cluster, evicted, plugin, ran, states

RUNNING = GroupPhase.RUNNING


def _low(*pods: Asked, queue: str = "q", minimum: int = 1, name: str = "low", priority: int = 1) -> Gang:
    return Gang(name, pods, minimum, queue, priority, RUNNING)


def test_a_workload_of_higher_priority_takes_as_much_as_it_needs() -> None:
    """Of the pods in its way the youngest one goes; where the gang can spare only one, that is the first by uid."""
    for minimum, victim in ((0, "low-1"), (1, "low-0")):
        gangs = [_low(Asked(2, on="a"), Asked(2, on="a"), minimum=minimum), Gang("high", (Asked(2),), priority=9)]
        cycle = cluster({"a": 4}, gangs, ("allocate", "preempt"))
        assert ran(cycle)["high-0"] == ("promised", "a")
        assert evicted(cycle) == [(victim, "preempt", "high-0")]
    assert list(cycle.nominations()) == [(2, 0)]


def test_a_gang_keeps_its_minimum() -> None:
    """Where both pods are needed none goes, unless the plugin does not vote on that."""
    gangs = [_low(Asked(2, on="a"), Asked(2, on="a"), minimum=2), Gang("high", (Asked(2),), priority=9)]
    cycle = cluster({"a": 4}, gangs, ("preempt",))
    assert ran(cycle)["high-0"] == ("waiting", "")
    without = ((plugin("priority"), plugin("gang", "Preemptable")), (plugin("predicates"),))
    cycle = cluster({"a": 4}, gangs, ("preempt",), without)
    assert ran(cycle)["high-0"] == ("promised", "a")


def test_what_does_not_complete_a_gang_is_taken_back() -> None:
    """Room for one of two pods could be made; it is not, and the pod's node is remembered all the same."""
    gangs = [_low(Asked(4, on="a"), Asked(4, on="b", priority=0), minimum=1), Gang("high", (Asked(4), Asked(4)), minimum=2, priority=9)]
    cycle = cluster({"a": 4, "b": 4}, gangs, ("preempt",))
    assert set(ran(cycle).values()) == {("running", "a"), ("running", "b"), ("waiting", "")}
    assert evicted(cycle) == []
    assert [pod for pod, _ in cycle.nominations()] == [2]


def test_a_pod_whose_eviction_was_taken_back_is_not_counted_on_its_node_any_more() -> None:
    """The node has as many pods as it takes; after a trial that was taken back another pod finds it with one less."""
    gangs = [_low(Asked(4, on="a"), Asked(4, on="b")), Gang("high", (Asked(4), Asked(4)), minimum=2, priority=9)]
    cycle = cluster({"a": 4, "b": 4}, gangs, ("preempt",), most_pods=1)
    ran(cycle)
    assert sorted(len(cycle.seen_on(node)) for node in (0, 1)) == [0, 1]


def test_pods_of_the_same_workload_yield_to_those_of_higher_priority() -> None:
    """The second part of the pass looks within the workload."""
    gang = Gang("g", (Asked(4, on="a", priority=1), Asked(4, priority=9)), phase=RUNNING)
    cycle = cluster({"a": 4}, [gang], ("preempt",))
    assert ran(cycle)["g-1"][0] == "waiting"
    cycle = cluster({"a": 4}, [gang], ("preempt",), ((plugin("priority"), plugin("gang", "Preemptable", "JobStarving")),))
    assert ran(cycle)["g-1"] == ("promised", "a")
    assert evicted(cycle) == [("g-0", "preempt", "g-1")]


def test_idle_room_is_promised_within_a_workload_without_asking_for_its_gang() -> None:
    """One pod of two fits: allocate leaves it, and preempt promises it the room though the gang cannot start."""
    gang = Gang("g", (Asked(4), Asked(4)), minimum=2)
    assert ran(cluster({"a": 4}, [gang], ("allocate",)))["g-0"] == ("waiting", "")
    assert ran(cluster({"a": 4}, [gang], ("allocate", "preempt")))["g-0"] == ("promised", "a")


@pytest.mark.parametrize(("queue", "by"), [("q", "preempt"), ("r", "reclaim")])
def test_preempt_stays_in_the_queue_and_reclaim_leaves_it(queue: str, by: str) -> None:
    """The same pod goes by one pass or the other."""
    for pass_name in ("preempt", "reclaim"):
        cycle = cluster({"a": 4}, [_low(Asked(2, on="a"), Asked(2, on="a"), queue=queue), Gang("g", (Asked(2),), priority=9)], (pass_name,))
        ran(cycle)
        assert bool(evicted(cycle)) == (pass_name == by)


def test_reclaim_takes_the_first_node_that_serves() -> None:
    """Nodes are taken by name, not by how good they are."""
    gangs = [_low(Asked(4, on="b"), Asked(4, on="c"), Asked(2, on="a"), queue="r"), Gang("g", (Asked(4),))]
    cycle = cluster({"c": 4, "b": 4, "a": 3}, gangs, ("reclaim",))
    assert ran(cycle)["g-0"] == ("promised", "b")


def test_pods_that_never_evict_do_not() -> None:
    """Their preemption policy is `Never`."""
    for pass_name, queue in (("preempt", "q"), ("reclaim", "r")):
        gangs = [_low(Asked(2, on="a"), Asked(2, on="a"), queue=queue), Gang("g", (Asked(2, evicts=False),), priority=9)]
        assert ran(cluster({"a": 4}, gangs, (pass_name,)))["g-0"] == ("waiting", "")


def test_a_pod_that_was_promised_a_node_evicts_nobody_once_nodes_were_looked_for() -> None:
    """Pass `allocate` looks for nodes for it first; without that pass its node counts as unknown."""
    gangs = [_low(Asked(2, on="a"), Asked(2, on="a")), Gang("g", (Asked(2, promised="a"),), priority=9)]
    assert ran(cluster({"a": 4}, gangs, ("allocate", "preempt")))["g-0"] == ("waiting", "")
    assert ran(cluster({"a": 4}, gangs, ("preempt",)))["g-0"] == ("promised", "a")


def test_workloads_that_wish_for_hyper_nodes_do_not_preempt() -> None:
    """The original does not support it."""
    gangs = [_low(Asked(2, on="a"), Asked(2, on="a")), Gang("g", (Asked(2),), priority=9, wish=NetworkWish(True, 1))]
    assert ran(cluster({"a": 4}, gangs, ("preempt",), racks={"s": ("a",)}))["g-0"] == ("waiting", "")


def test_whom_it_needs_not_evict_is_spared() -> None:
    """The small pod goes first and is not enough; with the large one gone it may stay, where nodes are chosen by their victims."""
    low = [_low(Asked(4, on="a"), name="large", minimum=0), _low(Asked(1, on="a"), name="small", minimum=0)]
    gangs = [*low, Gang("g", (Asked(4),), priority=9)]
    plain, sparing = (cluster({"a": 5}, gangs, ("preempt",), USUAL, aware=aware) for aware in (False, True))
    assert ran(plain)["g-0"] == ran(sparing)["g-0"] == ("promised", "a")
    assert [victim for victim, _, _ in evicted(plain)] == ["small-0", "large-0"]
    assert [victim for victim, _, _ in evicted(sparing)] == ["large-0"]
    assert states(sparing)["small-0"] == ("running", "a")


def test_a_pod_for_which_only_pods_that_ask_for_nothing_stop_is_not_nominated() -> None:
    """They make room among the pods that the node counts; Volcano looks at the amounts that were freed."""
    for asked, nominated in ((0, []), (1, [(1, 0)])):
        gangs = [_low(Asked(asked, asked, on="a"), minimum=0), Gang("g", (Asked(1),), priority=9)]
        cycle = cluster({"a": 4}, gangs, ("preempt",), most_pods=1)
        assert ran(cycle)["g-0"] == ("promised", "a")
        assert len(evicted(cycle)) == 1
        assert list(cycle.nominations()) == nominated
