"""A policy decides node by node: what Volcano's passes decide over a session comes out as decisions, cycle by cycle."""

from by_passes import Passes, policy

WEIGHTED = "queue q {\n  weight 1\n}\nqueue r {\n  weight 1\n}\n"
OWNED = "queue q { owns 8 gpu }\nqueue r { owns 8 gpu }\n"


def _volcano(plugin: str, nodes: dict[str, int], queues: str, racks: dict[str, str] | None = None, header: str = "") -> Passes:
    return Passes(policy(f"volcano.{plugin}", queues, header), nodes, racks)


def test_nothing_starts_beyond_the_entitlement() -> None:
    """Of 16 GPUs each queue is entitled to a half, as both ask for more.

    Three of the first queue are let in before the second queue has its turn. The third can't start, and keeps another one from being let
    in: that is how Volcano's plugins `proportion` and `overcommit` go.
    """
    cluster = _volcano("proportion", {"n1": 8, "n2": 8}, WEIGHTED)
    for queue in "qr":
        for number in range(3):
            cluster.submit(f"{queue}{number}", queue, "4")
    cluster.rest()
    assert cluster.running() == ["q0", "q1", "r0"]
    outcomes = [deferred.outcome for name in ("q2", "r1", "r2") if (deferred := cluster.workload(name).deferred) is not None]
    assert outcomes == ["let in", "no room", "no room"]


def test_a_workload_beyond_what_exists_is_not_let_in() -> None:
    """More than 6/5 of what exists is let in by no queue, and so nothing of it is placed."""
    cluster = _volcano("proportion", {"n1": 8}, WEIGHTED)
    cluster.submit("a", "q", "8")
    cluster.submit("b", "q", "8")
    cluster.rest()
    waiting = {name: cluster.workload(name).deferred for name in ("b",)}
    assert waiting["b"] is not None
    assert waiting["b"].outcome == "no room"


def test_who_was_let_in_stays_so() -> None:
    """It is told once, and it is placed as soon as there is room."""
    cluster = _volcano("capacity", {"n1": 8}, OWNED)
    cluster.submit("a", "q", "8")
    cluster.rest()
    cluster.submit("b", "q", "8", priority=0)
    assert cluster.rest() == ["next b"]
    deferred = cluster.workload("b").deferred
    assert deferred is not None
    assert deferred.outcome == "let in"
    cluster.finish("a")
    assert cluster.rest() == ["run b"]


def test_capacity_takes_back_what_a_queue_owns() -> None:
    """The queue that holds more than it owns gives up what stands on the first node that serves."""
    cluster = _volcano("capacity", {"n1": 8, "n2": 8}, OWNED)
    cluster.submit("b1", "r", "8")
    cluster.submit("b2", "r", "8")
    cluster.rest()
    cluster.submit("a", "q", "8")
    assert cluster.cycle() == ["evict b1 for a", "next a"]
    assert "run a" in cluster.rest()
    assert cluster.running() == ["b2", "a"]


def test_proportion_spares_gangs_at_their_minimum() -> None:
    """As shipped, `gang` is in the first tier: a workload that needs all its pods loses none to other queues."""
    cluster = _volcano("proportion", {"n1": 8}, WEIGHTED)
    cluster.submit("b", "r", "8")
    cluster.rest()
    cluster.submit("a", "q", "4")
    assert cluster.rest() == ["next a"]
    assert cluster.running() == ["b"]


def test_a_gang_within_a_rack() -> None:
    """The domain is asked for, whether nearness is scored or not."""
    cluster = _volcano("drf", {"n1": 8, "n2": 8}, WEIGHTED, {"n1": "r1", "n2": "r2"})
    cluster.submit("wide", "q", sets=[{"count": 3, "requests": {"gpu": "4"}, "within": "rack"}])
    assert cluster.rest() == ["next wide"]
    cluster.submit("narrow", "q", sets=[{"count": 2, "requests": {"gpu": "4"}, "within": "rack"}])
    assert cluster.rest() == ["run narrow"]
    assert set(cluster.places("narrow").values()) == {2}


def test_drf_evens_queues_out() -> None:
    """Whoever has the smaller share takes from whoever has more, as long as it still has less afterwards: at 2 of 8 GPUs it stops."""
    cluster = _volcano("drf", {"n1": 8}, WEIGHTED)
    for number in range(4):
        cluster.submit(f"b{number}", "r", "2")
    cluster.rest()
    for number in range(4):
        cluster.submit(f"a{number}", "q", "2")
    cluster.rest()
    assert sum(name.startswith("a") for name in cluster.running()) == 1


def test_within_a_rack_there_has_to_be_room_for_all_pods() -> None:
    """Volcano looks for a domain that holds all pods of a workload, those beyond its minimum as well."""
    cluster = _volcano("drf", {"n1": 8, "n2": 8}, WEIGHTED, {"n1": "r1", "n2": "r2"})
    cluster.submit("e", "q", sets=[{"count": 2, "minimum": 1, "requests": {"gpu": "5"}, "within": "rack"}])
    assert cluster.rest() == ["next e"]
    cluster.submit("f", "q", sets=[{"count": 2, "minimum": 1, "requests": {"gpu": "4"}, "within": "rack"}])
    assert cluster.rest() == ["run f"]
    assert set(cluster.places("f").values()) == {2}


def test_surplus_comes_and_single_pods_go() -> None:
    """With `gang` in the first tier, only pods beyond a minimum go to other queues; the workload runs on."""
    cluster = _volcano("proportion", {"n1": 8}, WEIGHTED)
    cluster.submit("e", "r", sets=[{"count": 8, "minimum": 2, "requests": {"gpu": "1"}}])
    cluster.rest()
    assert sum(cluster.places("e").values()) == 8
    cluster.submit("a", "q", "1")
    cluster.rest()
    assert cluster.running() == ["e", "a"]
    assert sum(cluster.places("e").values()) == 7
