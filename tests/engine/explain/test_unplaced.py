"""Why a workload has no places: as data of bounded size in decisions and standings, and in words."""

from collections.abc import Callable
from typing import Any

import pytest
from gpol.engine.events import WorkloadDeferred
from gpol.engine.explain.unplaced import instead_of, placed_told, unplaced, unplaced_told
from gpol.engine.explain.wording import impediment_told
from gpol.engine.outcome.grounds import KeptOffPlaces, LayerFit, Unplaced
from gpol.engine.outcome.nomination import FlavorAssignment, Mode, NoPlaces
from placing import add_nodes
from policy_texts import FABRIC

AT_ONCE = (
    'policy "p" { use test.bare }\n'
    + FABRIC
    + """flavor a {
  gpu from nodes where pool = "a"
  placed in fabric
}
queue q {
  owns 32 gpu on a
}
queue r {
  owns nothing
}
"""
)
IN_CYCLES = (
    FABRIC
    + """flavor a {
  gpu as owned
  label pool = "a"
  placed in fabric
}
queue q {
  owns 32 gpu on a
}
"""
)


OWN = """preempt own {
  evict from the same queue
  where victim.priority < workload.priority
  order by victim.admitted desc
}
"""


def sets(gpu: str, pods: int, **wish: object) -> list[dict[str, object]]:
    """One pod set with a wish for places."""
    return [{"count": pods, "requests": {"gpu": gpu}, **wish}]


def test_a_rack_that_is_too_full(cluster: Callable[[str], Any]) -> None:
    """Quota is there, and no rack has room: how many have, where most do, and what keeps pods off all other nodes."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1", "n2"], r2=["n3", "spot4"])
    c.submit("one", "q", sets=sets("5", 1))
    assert [place.domain for place in c.standing("one").assignments[0].places] == [("n1",)]
    c.submit("w", "q", sets=sets("8", 2, within="rack"))
    found = c.standing("w")
    assert (found.reason, found.limit, found.now) == ("TopologyPlacementFailed", None, "waits")
    assert found.places == Unplaced(
        kind="no-room",
        pod_sets=("main",),
        flavor="a",
        level="rack",
        together=True,
        fit=1,
        of=2,
        closest=("r1",),
        closest_fit=1,
        places=4,
        kept_off=(
            KeptOffPlaces(cause="resource", detail="gpu", places=1),
            KeptOffPlaces(cause="taint", detail="spot:NoSchedule", places=1),
        ),
    )
    assert unplaced_told(found.places) == (
        "a for main: room for 1 of 2 pods within one rack; closest is r1 with room for 1; "
        "2 of 4 places take none (gpu 1, taint spot:NoSchedule 1)"
    )
    assert [(each.workload, [charge.amount for charge in each.usage]) for each in found.candidates] == [("one", [5000])]
    [flavor] = found.flavors
    assert (flavor.reason, flavor.because[0]) == ("TopologyPlacementFailed", "there are places for 1 of 2")
    assert c.remedy("w", "ends").workloads == ("one",)
    assert c.finish("one") == ["run w"]


def test_no_rack_is_large_enough(cluster: Callable[[str], Any]) -> None:
    """What finds no places even if nothing ran is told so, with what to do."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1", "n2"], r2=["n3", "spot4"])
    c.submit("w", "q", sets=sets("8", 3, within="rack"))
    found = c.standing("w")
    assert (found.reason, found.places.if_empty) == ("TopologyPlacementFailed", True)
    [never] = found.never
    assert (never.kind, never.pod_set, never.flavor, never.places) == ("unplaced", "main", "a", found.places)
    cause, remedy = impediment_told(never)
    assert cause.startswith("there are no places on a for main: room for 2 of 3 pods within one rack, even if nothing ran; closest is r1")
    assert (
        remedy == "let pods stand in more than one rack, submit 2 pods, or add nodes to a"
    )  # the taint tolerated, r2 would have room for two


def test_a_held_one_is_told_as_well(cluster: Callable[[str], Any]) -> None:
    """What would be lacking if nothing held it."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1"], r2=["n2"])
    c.submit("w", "q", sets=sets("8", 2, within="rack"), hold=True)
    assert c.standing("w").places.fit == 1


@pytest.mark.parametrize(
    ("wish", "kind", "cause", "remedy"),
    [
        (
            {"within": "block"},
            "no-level",
            "it names block, which is no level of the topology of a",
            "ask for rack or host, or add block to the topology",
        ),
        (
            {"within": "Rack", "slices": [{"level": "Rack", "size": 2}, {"level": "räck", "size": 1}]},
            "no-level",
            "it names Rack and räck, which are no levels of the topology of a",
            "ask for rack or host, or add Rack and räck to the topology",
        ),
        (
            {"within": "host", "slices": [{"level": "rack", "size": 1}]},
            "unplaced",
            "there are no places on a for main: slices within rack are not below host",
            "let pods stand within one rack, or ask for no slices",
        ),
    ],
)
def test_levels_that_do_not_fit(cluster: Callable[[str], Any], wish: dict[str, object], kind: str, cause: str, remedy: str) -> None:
    """A level that is not there, and slices that are wider than the whole."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1"])
    c.submit("w", "q", sets=sets("1", 2, **wish))
    [never] = c.standing("w").never
    assert never.kind == kind
    assert [told.startswith(start) for told, start in zip(impediment_told(never), (cause, remedy), strict=True)] == [True, True]


def test_a_level_that_is_not_there_is_named_beside_the_flavor(cluster: Callable[[str], Any]) -> None:
    """What keeps it off the flavor is told with the name of the level, not only what can never run."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1"])
    c.submit("w", "q", sets=sets("1", 2, near="pod"))
    assert c.standing("w").flavors[0].because == ("its topology has no level pod",)


def test_nodes_of_no_flavor(cluster: Callable[[str], Any]) -> None:
    """Nodes that lack the labels of a placed flavor are counted, and nobody is told to write an amount: a placed flavor has none."""
    c = cluster(AT_ONCE)
    for node in ("n1", "n2"):
        c.fact("NodeAdded", node=node, labels={"Pool": "a", "rack": "r"}, capacity={"gpu": "8"})
    c.submit("w", "q", sets=sets("1", 1, within="rack"))
    [never] = c.standing("w").never
    assert never.kind == "no nodes"
    assert impediment_told(never) == (
        'it asks for 1 gpu on a, which has what its nodes have, and no node is of it: 2 nodes lack label pool = "a"',
        'correct the labels of the nodes or of the flavor, or add nodes with label pool = "a" '
        "(`--nodes` of `gpol simulate`, or NodeAdded by `gpol run`)",
    )


def test_pods_that_ask_for_nothing_get_no_place(cluster: Callable[[str], Any]) -> None:
    """The queue may use the flavor; pods that ask for nothing, or for what the policy ignores, get none of it, and no place there."""
    c = cluster(AT_ONCE.replace("use test.bare", "use test.bare\n  ignore cpu\n"))
    add_nodes(c, r1=["n1"])
    c.submit("nothing", "q", sets=[{"count": 2, "requests": {}, "within": "rack"}])
    c.submit("ignored", "q", sets=[{"count": 2, "requests": {"cpu": "1"}, "within": "rack"}])
    c.submit("zero", "q", sets=[{"count": 2, "requests": {"gpu": "0"}, "within": "rack"}])
    c.submit("both", "q", sets=[{"count": 2, "requests": {"cpu": "1", "gpu": "0"}, "within": "rack"}])
    told = [impediment_told(never) for name in ("nothing", "ignored", "zero", "both") for never in c.standing(name).never]
    rest, remedy = "and so gets none of what a has, nor a place there", "let each pod ask for something that a has, or for no places"
    asked = ("no resource", "cpu alone", "0 gpu", "cpu alone and 0 gpu")
    assert told == [(f"it asks for {what}, {rest}", remedy) for what in asked]


def test_a_head_that_is_deferred(cycles: Callable[[str], Any]) -> None:
    """In cycles the decision itself says why there are no places; one that fits by quota alone says nothing of a limit."""
    c = cycles(IN_CYCLES)
    add_nodes(c, r1=["n1", "n2"])
    c.submit("one", "q", sets=sets("8", 1))
    assert c.rest() == ["run one"]
    c.submit("w", "q", sets=sets("8", 2, within="rack"))
    assert c.rest() == ["park w"]
    decision = c.last("w")
    assert isinstance(decision, WorkloadDeferred)
    assert (decision.reason, decision.why.limit) == ("WaitingForQuota", None)
    assert decision.why.places is not None
    assert (decision.why.places.fit, decision.why.places.of, decision.why.places.if_empty) == (1, 2, False)
    assert c.standing("w").places == decision.why.places
    c.submit("never", "q", sets=sets("8", 3, within="rack"))
    assert c.rest() == ["park never"]
    assert (c.last("never").reason, c.last("never").why.places.if_empty) == ("TopologyPlacementFailed", True)
    assert c.last("one").why.places is None


def test_nodes_of_no_flavor_in_cycles(cycles: Callable[[str], Any]) -> None:
    """Nodes that lack the labels of the flavor are no places of it: what can never run says which flavor needs nodes."""
    c = cycles(IN_CYCLES)
    c.fact("NodeAdded", node="n1", labels={"Pool": "a", "rack": "r"}, capacity={"gpu": "8"})
    c.submit("w", "q", sets=sets("1", 1, within="rack"))
    c.rest()
    assert [impediment_told(never) for never in c.standing("w").never] == [
        (
            "there are no places on a for main: no node of a that takes pods is in any rack",
            "add nodes that have the labels of a and are in a rack",
        )
    ]


def test_a_policy_without_places_after_one_with_them(cycles: Callable[[str], Any]) -> None:
    """What was said of places stays with who was deferred and who runs."""
    c = cycles(IN_CYCLES)
    add_nodes(c, r1=["n1"])
    c.submit("w", "q", sets=sets("8", 2, within="rack"))
    c.rest()
    c.activate(IN_CYCLES.replace("  placed in fabric\n", "").replace(FABRIC, ""))
    assert c.standing("w").places is None


def test_nothing_of_what_has_places() -> None:
    """An assignment that fits, or none at all, lacks no places."""
    failure = NoPlaces("no-room", ("main",), 0, fit=1, of=2)
    graph: Any = None
    assert unplaced(graph, None) is None
    assert unplaced(graph, FlavorAssignment()) is None
    assert unplaced(graph, FlavorAssignment(mode=Mode.FIT, unplaced=failure)) is None


def test_many_causes_are_bounded(cluster: Callable[[str], Any]) -> None:
    """Only the causes with most places are told apart; the places of all others are added up."""
    c = cluster(AT_ONCE)
    for number in range(12):
        taints = [{"key": f"t{number:02}", "effect": "NoSchedule"}]
        c.fact("NodeAdded", node=f"n{number}", labels={"pool": "a", "rack": "r"}, capacity={"gpu": "8"}, taints=taints)
    c.submit("w", "q", sets=sets("1", 1))
    told = c.standing("w").places
    assert ([each.detail for each in told.kept_off], told.others) == ([f"t{number:02}:NoSchedule" for number in range(8)], 4)
    causes = ", ".join(f"taint t{number:02}:NoSchedule 1" for number in range(8))
    assert unplaced_told(told).endswith(f"12 of 12 places take none ({causes}, other 4)")


@pytest.mark.parametrize(
    ("fields", "told", "remedy"),
    [
        ({"kind": "no-level", "level": "block"}, "its topology has no level block", "ask for a level that the topology of a has"),
        (
            {"kind": "no-domains", "level": "rack"},
            "no node of a that takes pods is in any rack",
            "add nodes that have the labels of a and are in a rack",
        ),
        ({"level": "rack", "fit": 0, "of": 1}, "room for 0 of 1 pod near one another by rack", "add nodes to a"),
        ({"fit": 2, "of": 2}, "room for 2 pods, and none for all that is to stand with them", "add nodes to a"),
        (
            {"fit": 1, "of": 2, "size": 4, "layers": (LayerFit(level="rack", fit=1, of=2), LayerFit(level="host", fit=3, of=4))},
            "room for 1 of 2 slices of 4 pods, 1 of 2 in slices within rack, 3 of 4 in slices within host",
            "add nodes to a",
        ),
        (
            {"of": 2, "places": 3, "kept_off": (KeptOffPlaces(cause="selector", places=1),), "size": 2},
            "room for 0 of 2 slices of 2 pods; 1 of 3 places takes none (node selector 1)",
            "add nodes to a",
        ),
        (
            {"of": 1, "places": 1, "kept_off": (KeptOffPlaces(cause="affinity", places=1),)},
            "room for 0 of 1 pod; 1 of 1",
            "add nodes to a",
        ),
    ],
)
def test_in_words(fields: dict[str, Any], told: str, remedy: str) -> None:
    """Each cause in one line, and what to do instead: where nothing was tried, only what nobody has to try."""
    of = Unplaced.model_validate({"kind": "no-room", "pod_sets": ("first", "rest"), "flavor": "a", **fields})
    assert unplaced_told(of).startswith(f"a for first and rest: {told}")
    assert instead_of(of, None).startswith(remedy)


def test_where_pods_stand() -> None:
    """The first few places with the number of their pods, and how many more there are."""
    domains = ((("r1", "n1"), 1), (("n2",), 3), (("n3",), 1))
    assert placed_told(domains, 3) == "r1/n1, n2 (3), n3"
    assert placed_told(domains, 1) == "r1/n1 and 2 more"


# --- slices that do not come out even -----------------------------------------------------------------------------------

IN_SLICES = {"within": "rack", "slices": [{"level": "host", "size": 2}]}


def test_pods_that_make_up_no_whole_slices(cluster: Callable[[str], Any]) -> None:
    """However much room there is, it is told that the pods are no whole number of slices, and what number would do."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1", "n2"])
    assert c.submit("w", "q", sets=sets("1", 5, **IN_SLICES)) == []
    found = c.standing("w")
    assert (found.reason, found.places) == (
        "TopologyPlacementFailed",
        Unplaced(kind="uneven-slices", pod_sets=("main",), flavor="a", of=2, size=2, left_over=1, if_empty=True),
    )
    assert [each.because for each in found.flavors] == [("there are no places",)]
    assert [impediment_told(never) for never in found.never] == [
        (
            "there are no places on a for main: 5 pods are no whole number of slices of 2",
            "ask for no slices, submit 4 or 6 pods, or choose a slice size that divides 5",
        )
    ]
    assert c.submit("even", "q", sets=sets("1", 6, **IN_SLICES)) == ["run even"]


def test_fewer_pods_than_one_slice(cluster: Callable[[str], Any]) -> None:
    """No whole slice can be left out of less than one."""
    c = cluster(AT_ONCE)
    add_nodes(c, r1=["n1"])
    c.submit("w", "q", sets=sets("1", 1, **IN_SLICES))
    [never] = c.standing("w").never
    assert impediment_told(never)[1] == "ask for no slices, submit 2 pods, or choose a slice size that divides 1"


def test_in_cycles_slices_that_do_not_come_out_even(cycles: Callable[[str], Any]) -> None:
    """The decision is Kueue's, and says why."""
    c = cycles(IN_CYCLES)
    add_nodes(c, r1=["n1", "n2"])
    c.submit("w", "q", sets=sets("1", 5, **IN_SLICES))
    assert c.rest() == ["park w"]
    assert (c.last("w").reason, unplaced_told(c.last("w").why.places)) == (
        "TopologyPlacementFailed",
        "a for main: 5 pods are no whole number of slices of 2",
    )


# --- evictions that free quota and no places ----------------------------------------------------------------------------


def test_evictions_would_free_quota_and_no_places(cluster: Callable[[str], Any]) -> None:
    """At once: an eviction would free the quota that is short, and the places stay with somebody whom nobody evicts."""
    c = cluster(AT_ONCE.replace("owns 32 gpu on a", "owns 26 gpu on a\n  borrows nothing") + OWN)
    add_nodes(c, r1=["n1", "n2"], r2=["n3", "n4"])
    for name in ("r1", "r2"):
        c.submit(f"stays-{name}", "q", sets=sets("5", 1, node_selector={"rack": name}), priority=9)
    c.submit("low", "q", sets=sets("8", 1, node_selector={"rack": "r1"}))
    assert c.submit("w", "q", sets=sets("8", 2, within="rack"), priority=5) == []
    found = c.standing("w")
    assert (found.limit.resource, found.now) == ("gpu", "waits")
    [flavor] = found.flavors
    assert flavor.because == (
        "an eviction would free the quota, but there would still be no places on a for main: room for 1 of 2 pods within one rack; "
        "closest is r1 with room for 1; 2 of 4 places take none (gpu 2)",
    )


def test_in_cycles_evictions_would_free_quota_and_no_places(cycles: Callable[[str], Any]) -> None:
    """In cycles the flavor itself is good enough for an eviction, as in Kueue; it is told that there would be no places."""
    c = cycles(IN_CYCLES.replace("owns 32 gpu on a", "owns 26 gpu on a\n  evicts its own of lower priority"))
    add_nodes(c, r1=["n1", "n2"], r2=["n3", "n4"])
    for name in ("r1", "r2"):
        c.submit(f"stays-{name}", "q", sets=sets("5", 1, node_selector={"rack": name}, anywhere=True), priority=9)
    c.submit("low", "q", sets=sets("8", 1, node_selector={"rack": "r1"}, anywhere=True))
    c.rest()
    c.submit("w", "q", sets=sets("8", 2, within="rack"), priority=5)
    c.rest()
    assert c.standing("w").now == "waits"
    [flavor] = c.standing("w").flavors
    assert flavor.because[-1] == (
        "an eviction would free the quota, but there would still be no places on a for main: room for 1 of 2 pods within one rack; "
        "closest is r1 with room for 1; 2 of 4 places take none (gpu 2)"
    )


# --- places that are reserved -------------------------------------------------------------------------------------------


def test_whoever_waits_sees_reserved_places_as_taken(cluster: Callable[[str], Any]) -> None:
    """One reserves its places until a protection ends; for the next in line they are not there, though there is quota for both."""
    c = cluster(AT_ONCE + OWN + "protect warm-up { where victim.running < 10m }\n")
    add_nodes(c, r1=["n1"], r2=["n2"])
    c.submit("low", "q", sets=sets("2", 1, node_selector={"rack": "r1"}))
    assert c.submit("first", "q", sets=sets("8", 1, node_selector={"rack": "r1"}), priority=9) == []
    assert c.standing("first").reason == "WaitingForProtectedWorkloads"
    assert c.submit("w", "q", sets=sets("6", 1, node_selector={"rack": "r1"})) == []
    found = c.standing("w")
    assert (found.reason, found.now) == ("TopologyPlacementFailed", "waits")
    assert unplaced_told(found.places) == "a for main: room for 0 of 1 pod; 2 of 2 places take none (gpu 1, node selector 1)"
    assert [(each.name, each.value) for each in found.operands] == [("room is reserved for", "first")]
