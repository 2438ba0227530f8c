"""Places for the pods of a workload that fits by quota, and what becomes of it where there are none, now or ever."""

from typing import Any

from gpol.engine.definition.admission.place_pods import places_held, pod_sets_to_place
from gpol.engine.definition.placement.places import PodsHeld
from gpol.engine.outcome.nomination import FlavorAssignment, Grade, Mode
from placing import FABRIC, ask, cluster_of, stands

POLICY = f"""policy "p" {{ use kueue.classical }}
{FABRIC}flavor a {{
  gpu as owned
  placed in fabric
}}
queue q {{
  owns 20 gpu
  evicts its own of lower priority
}}
"""
"""One queue with one flavor of nodes."""

MIXED = POLICY.replace("queue q {", "flavor plain { gpu as owned }\nqueue q {").replace(
    "owns 20 gpu", "owns 20 gpu on a\n  owns 20 gpu on plain"
)
"""The same with a flavor beside it that gives no places."""


def judged(c: Any, name: str) -> FlavorAssignment:
    """The assignment with which a workload would be nominated."""
    found = c.core.probe.nominate(name).flavors
    assert isinstance(found, FlavorAssignment)
    return found


def where(assignment: FlavorAssignment, pod_set: int = 0) -> dict[str, int]:
    """Where the pods of a pod set would stand."""
    return {"/".join(place.domain): place.pods for place in assignment.pod_sets[pod_set].places}


def test_it_fits() -> None:
    """By quota and on nodes: it is admitted to its places, and they are used."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/r 2")
    ask(c, "w", 4, within="rack")
    assert (judged(c, "w").mode, where(judged(c, "w"))) == (Mode.FIT, {"n1": 4})
    assert c.cycle() == ["run w"]
    assert (stands(c, "w"), c.state.active.places.used(0, ("n1",))) == ({"n1": 4}, {"gpu": 4000, "pods": 4})

    c.finish("w")
    assert c.state.active.places.used(0, ("n1",)) == {"gpu": 0, "pods": 0}


def test_no_places_on_empty_nodes() -> None:
    """Nobody has to go for a workload that never fits: it is set aside, however little runs."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/s 4")
    ask(c, "low", 1)
    c.rest()
    ask(c, "w", 5, priority=9, within="rack")
    found = judged(c, "w")
    assert (found.mode, found.reason) == (Mode.NO_FIT, "TopologyPlacementFailed")
    assert found.unplaced_if_empty is not None
    assert (found.unplaced_if_empty.fit, found.unplaced_if_empty.of, where(found)) == (4, 5, {})
    assert c.rest() == ["park w"]
    assert c.why("w") == "TopologyPlacementFailed"


def test_quota_is_there_in_pieces() -> None:
    """By quota it fits, and no rack has room: somebody has to go for it as if quota were short, and then it stands there."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/s 4")
    ask(c, "v1", 3)
    ask(c, "v2", 3)
    c.rest()
    assert (stands(c, "v1"), stands(c, "v2")) == ({"n1": 3}, {"n2": 3})
    ask(c, "w", 4, priority=9, within="rack")
    found = judged(c, "w")
    assert (found.mode, found.pod_sets[0].flavors["gpu"].grade, where(found)) == (Mode.PREEMPT, Grade.PREEMPT, {"n2": 4})
    assert [(each.kind, each.limit, each.asked) for each in found.pod_sets[0].obstacles] == [("no-places", 1, 4)]
    assert c.cycle() == ["preempt w", "evict v2 for w"]
    assert c.rest()[:2] == ["run w", "park v2"]
    assert stands(c, "w") == {"n2": 4}


def test_victims_make_room_on_one_node() -> None:
    """Who came last goes first, until a node is free: one victim is not enough, and who turns out not to be in the way stays."""
    for runs, gone in [([("x", 4), ("y", 3), ("z", 1)], ["y", "z"]), ([("y", 3), ("x", 4), ("z", 1)], ["x"])]:
        c = cluster_of(POLICY, n1="b/r 4", n2="b/s 4")
        for minute, (name, pods) in enumerate(runs):
            c.at(f"{minute}m")
            ask(c, name, pods, within="host")
            c.rest()
        ask(c, "w", 4, priority=9, within="host")
        assert c.cycle() == ["preempt w", *(f"evict {name} for w" for name in gone)]


def test_equals_do_not_go() -> None:
    """Where nobody may go, it waits; what it would have on empty nodes is kept from others in the cycle: x is set aside, as in Kueue."""
    queues = "cohort all {\n  queue q { owns 20 gpu }\n  queue r { owns 20 gpu }\n}\n"
    two = POLICY.split("queue q")[0] + queues
    c = cluster_of(two, n1="b/r 4", n2="b/s 2")
    ask(c, "v", 1, within="block")
    c.rest()
    assert stands(c, "v") == {"n2": 1}
    ask(c, "w", 6, within="block")
    ask(c, "x", 1, queue="r")
    found = judged(c, "w")
    assert (found.mode, where(found)) == (Mode.PREEMPT, {"n1": 4, "n2": 2}), "on empty nodes"
    assert c.cycle() == ["park w", "park x"]
    assert c.why("x") == "WaitingForQuota"
    c.finish("v")
    assert c.cycle() == ["run w", "park x"]


def test_pods_without_places() -> None:
    """A pod set that does not ask for places gets the flavor that gives none, and needs no node; one of both kinds is placed in part."""
    c = cluster_of(MIXED, n1="b/r 2")
    sets = [{"name": "x", "count": 2, "requests": {"gpu": "1"}, "anywhere": True}, {"name": "y", "count": 5, "requests": {"gpu": "1"}}]
    c.submit("w", "q", sets=sets)
    found = judged(c, "w")
    places = c.state.active.places
    assert pod_sets_to_place(places, c.workload("w"), found) == []  # it has some already
    assert (where(found), where(found, 1)) == ({"n1": 2}, {})
    assert places_held(places, c.workload("w"), found) == [PodsHeld(0, ("n1",), 2, {"gpu": 1000, "pods": 1})]
    assert c.cycle() == ["run w"]
    assert (c.flavors("w"), c.flavors("w", 1)) == ({"gpu": "a"}, {"gpu": "plain"})


def test_in_a_queue_of_placed_flavors_alone() -> None:
    """A pod set that says nothing of places gets some as well."""
    c = cluster_of(POLICY, n1="b/r 2", n2="b/r 3")
    c.submit("w", "q", pods=2)
    assert c.cycle() == ["run w"]
    assert stands(c, "w") == {"n1": 2}


def test_a_flavor_that_gives_no_places_is_tried_next() -> None:
    """Where a workload finds no places on the first flavor, the search goes on in the next cycle; the other one gives none."""
    c = cluster_of(MIXED, n1="b/r 4")
    ask(c, "w", 5)
    assert c.cycle() == ["next w"]
    assert c.why("w") == "TopologyPlacementFailed"
    assert c.cycle() == ["park w"]
    assert c.why("w") == "NoMatchingFlavor"


def test_fewer_pods_find_places() -> None:
    """A workload that may do with fewer pods is admitted with as many as find places."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/s 2")
    ask(c, "w", 6, within="rack", min_count=2)
    assert c.cycle() == ["run w"]
    assert stands(c, "w") == {"n1": 4}


def test_the_place_of_who_is_replaced() -> None:
    """A workload that takes the place of another one may stand where that one stands."""
    c = cluster_of(POLICY, n1="b/r 4", n2="b/s 4")
    ask(c, "full", 4)
    ask(c, "old", 3)
    c.rest()
    assert stands(c, "old") == {"n2": 3}
    c.submit("new", "q", sets=[{"count": 4, "requests": {"gpu": "1"}, "anywhere": True}], replaces="old")
    assert c.cycle() == ["end old for new", "run new"]
    assert stands(c, "new") == {"n2": 4}
