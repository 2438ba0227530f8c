"""Pass `allocate`: a gang starts whole, keeps room that others will leave, or leaves no trace."""

from gpol.engine.definition.session.pods import PodStatus
from gpol.engine.definition.volcano.model.pod_group_facts import GroupPhase
from small_clusters import USUAL, Asked, Gang, cluster, plugin, ran


def test_a_gang_starts_whole() -> None:
    """Two pods that need a node each start; with room for one only, none does."""
    gang = Gang("g", (Asked(4), Asked(4)), minimum=2)
    assert ran(cluster({"a": 4, "b": 5}, [gang], ("allocate",))) == {"g-0": ("placed", "b"), "g-1": ("placed", "a")}
    assert set(ran(cluster({"a": 4, "b": 3}, [gang], ("allocate",))).values()) == {("waiting", "")}


def test_pods_beyond_the_minimum_start_as_far_as_there_is_room() -> None:
    """Of three pods, of which one is enough, two find room."""
    gang = Gang("g", (Asked(4), Asked(4), Asked(4)))
    found = ran(cluster({"a": 8}, [gang], ("allocate",)))
    assert [state for state, _ in found.values()] == ["placed", "placed", "waiting"]


def test_a_gang_that_waits_for_room_keeps_it() -> None:
    """One pod finds room now, the other one when a pod that stops is gone: both keep it, and neither starts."""
    leaving = Gang("old", (Asked(4, on="b"),), queue="r", phase=GroupPhase.RUNNING)
    cycle = cluster({"a": 4, "b": 4}, [leaving, Gang("g", (Asked(4), Asked(4)), minimum=2)], ("allocate",))
    cycle.session.move(cycle.session.pods[0], PodStatus.STOPPING, 1)
    found = ran(cycle)
    assert (found["g-0"], found["g-1"]) == (("reserved", "a"), ("promised", "b"))


def test_the_workload_of_higher_priority_comes_first() -> None:
    """The later one gets the only node by its priority; without the plugin the older one does."""
    gangs = [Gang("low", (Asked(4),), priority=1), Gang("high", (Asked(4),), priority=9)]
    assert ran(cluster({"a": 4}, gangs, ("allocate",)))["high-0"] == ("placed", "a")
    without = ((plugin("gang"), plugin("predicates")),)
    assert ran(cluster({"a": 4}, gangs, ("allocate",), without))["low-0"] == ("placed", "a")


def test_each_role_has_its_own_minimum() -> None:
    """Two pods are enough, but of each role one is needed: that of the second role finds no node, so nothing starts."""
    pods = (Asked(1, role="m"), Asked(1, role="m"), Asked(9, role="w"))
    free = Gang("g", pods, minimum=2)
    bound = Gang("g", pods, minimum=2, roles=(("m", 1), ("w", 1)))
    assert ran(cluster({"a": 4}, [free], ("allocate",)))["g-0"][0] == "placed"
    assert {state for state, _ in ran(cluster({"a": 4}, [bound], ("allocate",))).values()} == {"waiting"}


def test_another_pod_of_a_role_that_found_no_node_is_not_tried() -> None:
    """Volcano takes pods of one role as equal: the small one would fit, and is not tried; without a role it is."""
    for role, state in (("w", "waiting"), ("", "placed")):
        gang = Gang("g", (Asked(9, role=role), Asked(1, role=role)))
        assert ran(cluster({"a": 4}, [gang], ("allocate",)))["g-1"][0] == state


def test_a_pod_goes_where_it_was_promised_a_node() -> None:
    """The emptier node would be the better one."""
    assert ran(cluster({"a": 4, "b": 8}, [Gang("g", (Asked(1),))], ("allocate",)))["g-0"] == ("placed", "b")
    promised = Gang("g", (Asked(1, promised="a"),))
    assert ran(cluster({"a": 4, "b": 8}, [promised], ("allocate",)))["g-0"] == ("placed", "a")


def test_selectors_and_the_number_of_pods_keep_pods_off_where_the_plugin_is_asked() -> None:
    """Without `predicates` neither counts."""
    gang = Gang("g", (Asked(1, selector=(("node", "b"),)),))
    full = Gang("old", (Asked(1, on="a"), Asked(1, on="b")), phase=GroupPhase.RUNNING)
    assert ran(cluster({"a": 8, "b": 4}, [gang], ("allocate",)))["g-0"] == ("placed", "b")
    assert ran(cluster({"a": 8, "b": 4}, [full, Gang("g", (Asked(1),))], ("allocate",), most_pods=1))["g-0"][0] == "waiting"
    without = (USUAL[0], (plugin("nodeorder"),))
    assert ran(cluster({"a": 8, "b": 4}, [gang], ("allocate",), without))["g-0"] == ("placed", "a")


def test_pending_groups_wait_for_pass_enqueue_where_there_is_one() -> None:
    """Where there is none, pass `allocate` lets them in."""
    gang = Gang("g", (Asked(1),), phase=GroupPhase.PENDING, least=Asked(99))
    tiers = (USUAL[0], (plugin("overcommit"), plugin("predicates")))
    assert ran(cluster({"a": 4}, [gang], ("enqueue", "allocate"), tiers))["g-0"][0] == "waiting"
    assert ran(cluster({"a": 4}, [gang], ("allocate",), tiers))["g-0"][0] == "placed"
