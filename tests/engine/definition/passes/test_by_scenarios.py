"""A policy decides by scenarios: what KAI's passes decide over a session comes out as decisions, cycle by cycle."""

import pytest
from by_passes import Passes, policy
from gpol.engine.errors import FactError

TWO = """cohort all {
  queue q { owns 8 gpu }
  queue r { owns 8 gpu }
}
"""


def _kai(nodes: dict[str, int], queues: str = TWO, header: str = "", racks: dict[str, str] | None = None) -> Passes:
    return Passes(policy("kai.default", queues, header), nodes, racks)


def test_what_fits_is_admitted_and_packed() -> None:
    """Pods go to the fuller node, as the profile packs."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("a", "q", "2")
    assert cluster.rest() == ["run a"]
    cluster.submit("b", "q", "2", pods=3)
    assert cluster.rest() == ["run b"]
    assert (cluster.places("a"), cluster.places("b")) == ({"n1": 1}, {"n1": 3})


def test_a_queue_takes_back_what_it_owns_in_two_cycles() -> None:
    """The one that stops frees its room in one cycle, and the next one admits the workload that was promised it."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("b1", "r", "8")
    cluster.submit("b2", "r", "8")
    cluster.rest()
    cluster.submit("a", "q", "8")
    assert cluster.cycle() == ["evict b2 for a", "next a"]
    assert cluster.workload("a").deferred is not None
    assert cluster.standing("a").victims == ("b2",)
    assert cluster.rest() == ["run a", "next b2"]


def test_within_a_queue_the_lower_priority_goes() -> None:
    """Workloads of a priority that is never evicted stay, whatever comes."""
    cluster = _kai({"n1": 8}, "queue q { owns 8 gpu }\n")
    cluster.submit("low", "q", "8", priority="train")
    cluster.rest()
    cluster.submit("high", "q", "8", priority="build")
    assert cluster.rest() == ["evict low for high", "next high", "run high", "next low"]
    cluster.submit("higher", "q", "8", priority="inference")
    assert cluster.rest() == ["next higher"]


def test_workloads_move_to_make_room() -> None:
    """Two halves on two nodes move together, so that a whole node is free: nobody is worse off in the end."""
    cluster = _kai({"n1": 8, "n2": 8}, "queue q { owns 16 gpu }\n")
    cluster.submit("a", "q", "4")
    cluster.submit("filler", "q", "4")
    cluster.submit("b", "q", "4")
    cluster.rest()
    cluster.finish("filler")
    cluster.submit("whole", "q", "8")
    assert cluster.cycle() == ["evict b for whole", "next whole"]
    assert [decision.preemption for decision in cluster.decided if decision.kind == "WorkloadEvicted"] == ["consolidation"]
    cluster.rest()
    assert cluster.running() == ["a", "b", "whole"]


def test_a_gang_stands_within_one_rack_or_waits() -> None:
    """Room in two racks is none for a gang within one."""
    racks = {"n1": "r1", "n2": "r2"}
    cluster = _kai({"n1": 8, "n2": 8}, racks=racks)
    cluster.submit("wide", "q", sets=[{"count": 3, "requests": {"gpu": "4"}, "within": "rack"}])
    assert cluster.rest() == ["next wide"]
    cluster.submit("narrow", "q", sets=[{"count": 2, "requests": {"gpu": "4"}, "within": "rack"}])
    assert cluster.rest() == ["run narrow"]
    assert cluster.places("narrow") == {"n1": 2}


def test_limits_hold() -> None:
    """A queue never uses more than it says, however much is free."""
    cluster = _kai({"n1": 8}, "queue q {\n  owns 2 gpu\n  uses up to 4 gpu\n}\n")
    cluster.submit("a", "q", "4")
    cluster.submit("b", "q", "1")
    assert cluster.rest() == ["run a", "next b"]


def test_what_the_next_cycle_does_is_told() -> None:
    """Asking changes nothing."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("b1", "r", "8")
    cluster.submit("b2", "r", "8")
    cluster.rest()
    cluster.submit("a", "q", "8")
    before = cluster.core.freeze()
    assert cluster.standing("a").now == "cycle evicts"
    assert cluster.core.freeze() == before
    cluster.cycle()
    assert cluster.standing("a").now == "cycle fits"
    assert cluster.standing("b2").now == "cycle waits"


@pytest.mark.parametrize(
    ("pod_set", "told"),
    [
        ({"requests": {"gpu": "500m"}}, "asks for 500m gpu"),
        ({"requests": {"gpu": "1"}, "min_count": 1}, "would do with fewer pods"),
        ({"requests": {"gpu": "1"}, "slices": [{"level": "host", "size": 1}]}, "asks for slices"),
        ({"requests": {"gpu": "1"}, "group": "g"}, "is placed as a group"),
        ({"requests": {"gpu": "1"}, "flavors": ["a"]}, "chooses flavors"),
        ({"requests": {"gpu": "1"}, "within": "block"}, "names `block`, which is no level of the topology"),
        ({"requests": {"gpu": "1"}, "within": "host"}, "names `host`, which is the level of single nodes"),
    ],
)
def test_what_no_pass_looks_at_is_refused(pod_set: dict[str, object], told: str) -> None:
    """A submission that asks for more than passes know is refused by name, and nothing has changed."""
    cluster = _kai({"n1": 8})
    before = cluster.core.freeze()
    with pytest.raises(FactError, match=told):
        cluster.submit("w", "q", sets=[pod_set])
    assert cluster.core.freeze() == before


def test_who_loses_a_node_goes() -> None:
    """It lacks pods that it needs: it is evicted for nobody, and starts again where there is room."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("w", "q", "8", pods=2)
    cluster.rest()
    cluster.fact("NodeRemoved", node="n1")
    assert cluster.cycle() == ["evict w for -", "next w"]
    assert cluster.decided[0].reason == "NodeLost"
    cluster.fact("NodeAdded", node="n3", labels={"pool": "a", "rack": "r"}, capacity={"gpu": "8"})
    assert cluster.rest() == ["run w"]


def test_who_runs_on_a_cordoned_node_stays() -> None:
    """No pod comes there, and nobody who has to go from there makes room elsewhere."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("w", "r", "4")
    cluster.rest()
    cluster.fact("NodeChanged", node="n1", labels={"pool": "a", "rack": "r"}, capacity={"gpu": "8"}, cordoned=True)
    cluster.submit("a", "q", "8")
    assert cluster.rest() == ["run a"]
    assert (cluster.places("w"), cluster.places("a")) == ({"n1": 1}, {"n2": 1})


@pytest.mark.parametrize("profile", ["kai.default", "volcano.capacity"])
def test_a_gang_within_a_rack_beside_a_cordoned_node(profile: str) -> None:
    """The node is in its rack, takes no pod, and who runs there may be evicted as others may."""
    queues = TWO if profile == "kai.default" else "queue q { owns 8 gpu }\nqueue r { owns 8 gpu }\n"
    cluster = Passes(policy(profile, queues), {"n1": 8, "n2": 8, "n3": 8})
    cluster.submit("w", "r", "8", pods=3)
    cluster.rest()
    cluster.fact("NodeChanged", node="n1", labels={"pool": "a", "rack": "r"}, capacity={"gpu": "8"}, cordoned=True)
    cluster.submit("a", "q", sets=[{"count": 2, "requests": {"gpu": "4"}, "within": "rack"}])
    cluster.rest()
    assert cluster.running() == ["a"]
    assert "n1" not in cluster.places("a")


def test_a_node_without_the_label_of_a_level_takes_no_pod() -> None:
    """As everywhere in gpol: it is in no domain."""
    cluster = _kai({"n1": 8})
    cluster.fact("NodeAdded", node="n0", labels={"pool": "a"}, capacity={"gpu": "8"})
    cluster.submit("a", "q", "8")
    cluster.submit("b", "q", "8")
    assert cluster.rest() == ["run a", "next b"]


def test_what_no_node_has_is_missing() -> None:
    """A resource that nobody counts by quota still has to be on a node."""
    cluster = _kai({"n1": 8})
    cluster.submit("a", "q", sets=[{"count": 1, "requests": {"gpu": "1", "cpu": "1"}}])
    assert cluster.rest() == ["next a"]


def test_a_policy_by_passes_follows_only_what_passes_look_at() -> None:
    """A workload that was submitted before is looked at as well."""
    cluster = _kai({"n1": 8})
    cluster.activate(policy("gpol.fair", TWO))
    cluster.submit("w", "q", "500m")
    with pytest.raises(FactError, match="asks for 500m gpu"):
        cluster.activate(policy("kai.default", TWO))


def test_a_core_goes_on_from_its_own_bytes() -> None:
    """A copy decides the same."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("b1", "r", "8")
    cluster.submit("b2", "r", "8")
    cluster.rest()
    cluster.submit("a", "q", "8")
    other = cluster.core.copy()
    while (wake := cluster.core.next_wake()) is not None:
        assert other.next_wake() == wake
        cluster.cycle()
        other.step(cluster.history[-1 - len(cluster.decided)][0])
        assert other.freeze() == cluster.core.freeze()


def test_an_elastic_workload_starts_with_what_fits_and_grows() -> None:
    """At least its minimum; the next pods come one cycle each, as KAI looks at a workload again when its minimum is met."""
    cluster = _kai({"n1": 8}, "queue q { owns 8 gpu }\n")
    cluster.submit("other", "q", "4")
    cluster.rest()
    cluster.submit("e", "q", sets=[{"count": 6, "minimum": 2, "requests": {"gpu": "1"}}])
    cluster.rest()
    assert cluster.places("e") == {"n1": 4}
    cluster.finish("other")
    cluster.rest()
    assert cluster.places("e") == {"n1": 6}


def test_surplus_goes_before_whole_workloads() -> None:
    """The queue that holds more than it owns gives up single pods above the minimum of a workload, and it runs on."""
    cluster = _kai({"n1": 8, "n2": 8})
    cluster.submit("e", "r", sets=[{"count": 16, "minimum": 2, "requests": {"gpu": "1"}}])
    cluster.rest()
    assert sum(cluster.places("e").values()) == 16
    cluster.submit("a", "q", "4")
    cluster.cycle()
    kinds = [decision.kind for decision in cluster.decided]
    assert "WorkloadResized" in kinds
    assert "WorkloadEvicted" not in kinds
    cluster.rest()
    assert cluster.running() == ["e", "a"]
    assert sum(cluster.places("e").values()) == 12
