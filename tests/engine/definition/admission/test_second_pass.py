"""Places for workloads that run: of lost nodes, and those that come later, where everything is decided at once and in cycles."""

from collections.abc import Callable
from typing import Literal

import pytest
from at_once import Cluster
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.default_core import freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.errors import FactError
from gpol.engine.events import WorkloadEvicted, WorkloadPlaced
from in_cycles import Cycles
from lost_places import AT_ONCE, FOR_NODES, IN_CYCLES, add, ask, on_lost_nodes, stands

FAIR = 'policy "t" { use kueue.fair }\n'


def lose(c: Cluster | Cycles, name: str, *nodes: str) -> list[str]:
    """A workload has lost nodes: what is decided at once, or in the next cycles."""
    decided = c.update(name, lost_nodes=nodes)
    return decided + (c.rest() if isinstance(c, Cycles) else [])


def running(c: Cluster | Cycles, **nodes: str) -> Cluster | Cycles:
    """The cluster with nodes, and a workload of three pods in one rack."""
    add(c, **nodes)
    ask(c, "a", 3, within="rack")
    if isinstance(c, Cycles):
        c.rest()
    return c


BOTH = pytest.mark.parametrize("made", [lambda: Cluster(AT_ONCE), lambda: Cycles(IN_CYCLES)], ids=["at once", "in cycles"])
Made = Callable[[], Cluster | Cycles]

# --- lost nodes -------------------------------------------------------------------------------------------------------


@BOTH
def test_pods_of_a_lost_node_go_elsewhere(made: Made) -> None:
    """They stay in the rack in which all have to stand, the others stay where they are, and nothing is charged for it."""
    c = running(made(), n1="b/r 2", n2="b/r 2", n3="b/r 2", n4="b/s 8")
    held = c.workload("a").usage
    assert stands(c, "a") == {"n1": 2, "n2": 1}
    assert lose(c, "a", "n1") == ["place a"]
    assert stands(c, "a") == {"n2": 1, "n3": 2}
    assert (c.workload("a").lost_nodes, c.workload("a").usage) == ((), held)
    placed = next(event for event, _ in c.history if isinstance(event, WorkloadPlaced))
    assert (placed.reason, [(each.name, each.value) for each in placed.why.operands]) == ("NodeLost", [("lost node", "n1")])


@BOTH
def test_who_finds_no_other_places_is_evicted(made: Made) -> None:
    """Nobody goes for it, though its priority is higher; it is told why there is no room."""
    c = made()
    add(c, n1="b/r 3", n2="b/r 3")
    ask(c, "a", 3, priority=5, within="host")
    ask(c, "low", 3, within="host")
    if isinstance(c, Cycles):
        c.rest()
    c.fact("NodeChanged", node="n1", labels={"block": "b", "rack": "r", "pool": "f"}, capacity={"gpu": "3", "pods": 110}, cordoned=True)
    c.update("low", hold=None)
    assert stands(c, "a") == {"n1": 3}
    lose(c, "a", "n1")
    evicted = next(event for event, _ in c.history if isinstance(event, WorkloadEvicted) and event.workload == "a")
    assert (evicted.reason, evicted.preemption, evicted.beneficiary) == ("NodeLost", "node-lost", None)
    assert [(each.name, each.value) for each in evicted.why.operands] == [
        ("lost node", "n1"),
        ("no other place", "f for main: room for 0 of 3 pods within one host; 1 of 1 places takes none (gpu 1)"),
    ]


@BOTH
def test_a_policy_may_evict_at_once_or_wait(made: Made) -> None:
    """Evicting looks for no places; waiting decides nothing until the policy does something about it."""
    c = running(made(), n1="b/r 2", n2="b/r 2", n3="b/r 2")
    on_lost_nodes(c, "wait")
    assert lose(c, "a", "n1") == []
    assert stands(c, "a") == {"n1": 2, "n2": 1}
    assert [(each.name, each.value) for each in c.standing("a").operands] == [("lost node", "n1")]
    on_lost_nodes(c, "evict")
    if isinstance(c, Cycles):
        c.rest()
    evicted = next(event for event, _ in c.history if isinstance(event, WorkloadEvicted))
    assert [(each.name, each.value) for each in evicted.why.operands] == [("lost node", "n1")]
    assert c.workload("a").evictions == 1


@BOTH
def test_what_cannot_have_been_lost_is_refused(made: Made) -> None:
    """A node without pods of it, one that is named twice, and any node of a workload that waits."""
    c = running(made(), n1="b/r 2", n2="b/r 2")
    ask(c, "waits", 9, within="rack")
    with pytest.raises(FactError, match="has no pods on `n9`, so it cannot have lost it; it has some on `n1`, `n2`"):
        c.update("a", lost_nodes=["n1", "n9"])
    with pytest.raises(FactError, match="names `n1` twice"):
        c.update("a", lost_nodes=["n1", "n1"])
    with pytest.raises(FactError, match="`waits` does not run, so it has lost no nodes"):
        c.update("waits", lost_nodes=["n1"])
    assert "place a" not in lose(c, "a")


def test_a_node_that_leaves_is_lost_to_all_who_have_pods_there() -> None:
    """Where everything is decided at once they move in the order in which they were submitted, before anybody else is looked at."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 4", n2="b/s 2", n3="b/r 2")
    for name in ("a", "b", "d", "waits"):
        ask(c, name, 2, within="host")
    assert [stands(c, name) for name in ("a", "b", "d", "waits")] == [{"n3": 2}, {"n2": 2}, {"n1": 2}, {"n1": 2}]
    ask(c, "e", 2, within="host")
    c.finish("waits")
    assert stands(c, "e") == {"n1": 2}
    c.finish("d")
    assert c.fact("NodeRemoved", node="n3") == ["place a"]
    assert c.fact("NodeRemoved", node="n1") == ["evict a", "evict e"]
    assert c.waiting() == ["a", "e"]


def test_a_node_that_is_there_again_is_lost_no_more() -> None:
    """Where the policy waits, the pods stand there still."""
    c = Cluster(AT_ONCE)
    running(c, n1="b/r 2", n2="b/r 2")
    on_lost_nodes(c, "wait")
    c.fact("NodeRemoved", node="n1")
    assert c.workload("a").lost_nodes == ("n1",)
    add(c, n1="b/r 2")
    assert c.workload("a").lost_nodes == ()


def test_in_cycles_a_node_that_leaves_is_lost_only_where_that_is_said() -> None:
    """As in Kueue, where others see whether the pods there have ended."""
    c = Cycles(IN_CYCLES)
    running(c, n1="b/r 2", n2="b/r 2", n3="b/r 2")
    c.fact("NodeRemoved", node="n1")
    assert (c.workload("a").lost_nodes, c.rest()) == ((), [])


def test_several_lost_nodes_at_once() -> None:
    """All of their pods move, and none of these nodes takes any."""
    c = Cluster(AT_ONCE)
    running(c, n1="b/r 2", n2="b/r 1")
    assert stands(c, "a") == {"n1": 2, "n2": 1}
    add(c, n3="b/r 1", n4="b/r 2", n5="b/s 9")
    assert c.update("a", lost_nodes=["n1", "n2"]) == ["place a"]
    assert stands(c, "a") == {"n3": 1, "n4": 2}
    c.update("a", lost_nodes=["n3", "n4"])
    assert stands(c, "a") == {"n1": 2, "n2": 1}


def test_the_more_important_gets_its_places_first() -> None:
    """Both lose their node, and there is room for one: whoever is first by the policy moves, though it came later."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 4")
    ask(c, "low", 2, within="host")
    ask(c, "high", 2, priority=5, within="host")
    add(c, n2="b/r 2")
    assert c.fact("NodeRemoved", node="n1") == ["place high", "evict low"]


def test_pods_that_are_done_keep_their_places() -> None:
    """They free quota, but nobody says on which node they stood: the places of all four pods move with the node."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 2", n2="b/r 2")
    ask(c, "a", 4, within="rack")
    c.update("a", reclaimable={"main": 3})
    add(c, n3="b/r 2")
    assert c.fact("NodeRemoved", node="n1") == ["place a"]
    assert stands(c, "a") == {"n2": 2, "n3": 2}


def test_of_several_lost_nodes_cycles_look_at_the_first() -> None:
    """As in Kueue: the pods of the others stay, and what it was said to have lost is forgotten. Of a set on the others alone none move."""
    first, second = Cycles(IN_CYCLES), Cycles(IN_CYCLES)
    for k in (first, second):
        add(k, n1="b/r 2", n2="b/r 1", n3="b/s 1", n4="b/s 2")
        ask(k, "a", 6, anywhere=True)
        k.rest()
        assert stands(k, "a") == {"n1": 2, "n2": 1, "n3": 1, "n4": 2}
        add(k, n5="b/s 8")
    assert lose(first, "a", "n1", "n4") == ["place a"]
    assert stands(first, "a") == {"n2": 1, "n3": 1, "n4": 2, "n5": 2}
    second.fact("NodeRemoved", node="n4")
    assert lose(second, "a", "n1", "n4")[0] == "evict a for -"  # what stays stands on a node that is gone


def test_a_place_that_is_taken_within_the_cycle_is_looked_for_again() -> None:
    """Two who have lost a node would both go to the same one; the second finds another, and a head finds what is left."""
    c = Cycles(IN_CYCLES)
    add(c, n1="b/r 2", n2="b/r 2")
    for name in ("a", "b"):
        ask(c, name, 2, within="host")
    c.rest()
    add(c, n3="b/r 2", n4="b/s 2", n5="b/s 2")
    ask(c, "d", 2, within="host")
    c.update("a", lost_nodes=sorted(stands(c, "a")))
    c.update("b", lost_nodes=sorted(stands(c, "b")))
    assert c.cycle() == ["place a", "place b", "run d"]
    assert len({*stands(c, "a"), *stands(c, "b"), *stands(c, "d")}) == 3


@pytest.mark.parametrize("header", ["", FAIR])
def test_who_runs_has_its_turn_before_the_head_of_its_queue(header: str) -> None:
    """The last place goes to the pods of the lost node, though the head has the higher priority."""
    c = Cycles(header + IN_CYCLES.replace("evicts its own of lower priority", "owns 0 cpu on f").replace("gpu as", "gpu, cpu as"))
    add(c, n1="b/r 2")
    ask(c, "a", 2, within="host")
    c.rest()
    ask(c, "head", 2, priority=9, within="host")
    c.rest()
    c.update("a", lost_nodes=["n1"])
    add(c, n2="b/r 2")
    assert "place a" in c.rest()
    assert stands(c, "a") == {"n2": 2}


def test_a_stopped_queue_moves_nobody_in_cycles() -> None:
    """Its workloads keep what they have until it is open again."""
    c = Cycles(IN_CYCLES)
    running(c, n1="b/r 2", n2="b/r 2", n3="b/r 2")
    c.activate(IN_CYCLES.replace("  evicts", "  stopped\n  evicts"))
    assert lose(c, "a", "n1") == []
    c.activate(IN_CYCLES)
    assert c.rest() == ["place a"]


def test_a_workload_that_lost_its_node_may_be_replaced_in_the_same_cycle() -> None:
    """Its successor ends it, so that it neither gets other places nor goes for want of them."""
    c = Cycles(IN_CYCLES)
    add(c, n1="b/r 4")
    ask(c, "old", 2)
    c.rest()
    c.submit("new", "q", sets=[{"name": "other", "count": 1, "requests": {}}], replaces="old")
    c.update("old", lost_nodes=["n1"])
    c.fact("NodeRemoved", node="n1")
    assert [each for each in c.rest() if "old" in each] == ["end old for new"]


def test_a_leader_stays_with_its_workers_at_once() -> None:
    """It was alone on its node; the pods of its group have a rack, and it goes there. In cycles, as in Kueue, it may end elsewhere."""
    sets = [
        {"name": "leader", "requests": {"gpu": "3"}, "group": "g", "within": "rack"},
        {"name": "main", "count": 2, "requests": {"gpu": "2"}, "group": "g", "within": "rack"},
    ]
    for c in (Cluster(AT_ONCE), Cycles(IN_CYCLES)):
        add(c, n1="b/r 3", n2="b/r 4")
        c.submit("a", "q", sets=sets)
        if isinstance(c, Cycles):
            c.rest()
        assert (stands(c, "a", "leader"), stands(c, "a")) == ({"n1": 1}, {"n2": 2})
        add(c, n3="b/r 6", n4="b/s 3")
        lose(c, "a", "n1")
        assert stands(c, "a", "leader") == ({"n3": 1} if isinstance(c, Cluster) else {"n4": 1})


# --- places that come later -------------------------------------------------------------------------------------------


def test_pods_get_places_once_their_check_has_provided_nodes() -> None:
    """They are admitted without; with the check alone ready, and no node there, they wait on."""
    c = Cycles(FOR_NODES)
    ask(c, "a", 3, within="rack")
    assert c.rest() == ["run a"]
    assert [(each.places, each.delayed) for each in c.workload("a").assignments] == [((), True)]
    assert [each.value for each in c.standing("a").operands] == ["until prov is ready"]
    add(c, n1="b/r 2")
    assert c.rest() == []
    c.update("a", checks={"prov": "Ready"})
    assert c.rest() == []
    assert [each.value for each in c.standing("a").operands] == ["until there is room for them"]
    add(c, n2="b/r 2")
    assert c.rest() == ["place a"]
    assert (stands(c, "a"), c.workload("a").assignments[0].delayed) == ({"n1": 2, "n2": 1}, False)
    placed = next(event for event, _ in c.history if isinstance(event, WorkloadPlaced))
    assert (placed.reason, [(each.name, each.value) for each in placed.why.operands]) == ("NodesProvided", [("ready check", "prov")])


def test_others_may_go_so_that_pods_get_the_places_that_come_later() -> None:
    """Whoever runs there with lower priority makes room, as for one that waits for quota too."""
    c = Cycles(FOR_NODES)
    add(c, n1="b/r 2")
    ask(c, "low", 2, within="host")
    c.rest()
    c.update("low", checks={"prov": "Ready"})
    assert c.rest() == ["place low"]
    ask(c, "high", 2, priority=5, within="host")
    assert c.rest() == ["run high"]
    c.update("high", checks={"prov": "Ready"})
    assert c.cycle() == ["evict low for high"]
    assert "place high" in c.rest()
    assert stands(c, "high") == {"n1": 2}


def test_a_flavor_that_the_check_is_not_about_gives_places_at_once() -> None:
    """Only pods on the flavor for which nodes are provided wait."""
    text = FOR_NODES.replace("flavor f {", "flavor e {\n  gpu as owned\n  placed in fabric\n}\nflavor f {").replace(
        "  owns", "  owns 2 gpu on e\n  owns"
    )
    c = Cycles(text)
    add(c, n1="b/r 2")
    ask(c, "a", 2, within="rack")
    assert c.rest() == ["run a"]
    assert stands(c, "a") == {"n1": 2}


def adopt(c: Cluster | Cycles, **placement: object) -> list[str]:
    """A workload of two pods runs already, as an outside system has it."""
    c.submit("a", "q", sets=[{"count": 2, "requests": {"gpu": "1"}, "anywhere": True}], hold=True)
    given = {"pod_set": "main", "count": 2, "flavors": {"gpu": "f"}, "usage": {"gpu": 2000}, **placement}
    return c.fact("WorkloadAdopted", workload="a", queue="q", since=0, placements=[given])


@pytest.mark.parametrize(
    ("made", "places", "message"),
    [
        (Cluster, [(["n1"], 9)], "are 2, and 9 have places; give a place to each of them"),
        (Cluster, [(["n1"], 1)], "are 2, and 1 have places; give a place to each of them"),
        (Cluster, [(["n1"], 1), (["n1"], 1)], "have a place `n1` twice; name each place once"),
        (Cycles, [(["n1"], 1), (["n1"], 1)], "have a place `n1` twice; name each place once"),
        (Cycles, [(["b", "n1"], 2)], "have a place `b, n1`; a place of their flavor is the name of a node"),
    ],
)
def test_places_that_cannot_be_are_refused(made: type[Cluster] | type[Cycles], places: list[tuple[list[str], int]], message: str) -> None:
    """An outside system says where pods stand. In cycles gpol need not know the node, and the number of pods is what Kueue goes by."""
    c = made(AT_ONCE if made is Cluster else IN_CYCLES)
    with pytest.raises(FactError, match=message):
        adopt(c, places=[{"domain": domain, "pods": pods} for domain, pods in places])
    assert c.workload("a").admitted is None
    assert c.fact("WorkloadCancelled", workload="a") == []
    assert adopt(c, places=[{"domain": ["n1"], "pods": 2}]) == (["evict a"] if made is Cluster else [])


@pytest.mark.parametrize(("what", "decided"), [("replace", ["place a"]), ("evict", ["evict a", "run a"]), ("wait", [])])
def test_who_is_adopted_on_a_node_that_is_not_there_has_lost_it(what: Literal["replace", "evict", "wait"], decided: list[str]) -> None:
    """At once its pods get places on nodes that are there, or whatever the policy says of lost nodes; one pod stays where it is."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 2", n2="b/r 2")
    on_lost_nodes(c, what)
    assert adopt(c, places=[{"domain": ["n2"], "pods": 1}, {"domain": ["n0"], "pods": 1}]) == decided
    assert stands(c, "a") == {"replace": {"n2": 2}, "evict": {"n1": 2}, "wait": {"n2": 1, "n0": 1}}[what]
    if what == "wait":
        assert c.workload("a").lost_nodes == ("n0",)
        add(c, n0="b/r 2")
        assert c.workload("a").lost_nodes == ()


def test_adopted_pods_may_wait_for_their_places() -> None:
    """At once they get them as soon as there is room; in cycles once the check that provides nodes is ready."""
    once, cycles = Cluster(AT_ONCE), Cycles(FOR_NODES)
    assert adopt(once, delayed=True) == []
    once.fact("NodeAdded", node="n1", labels={"block": "b", "rack": "r", "pool": "f"}, capacity={"gpu": "2", "pods": 9})
    assert once.decided[0].kind == "WorkloadPlaced"
    adopt(cycles, delayed=True)
    add(cycles, n1="b/r 2")
    assert cycles.rest() == []
    cycles.update("a", checks={"prov": "Ready"})
    assert cycles.rest() == ["place a"]


@BOTH
def test_what_cannot_be_delayed_is_refused(made: Made) -> None:
    """Pods that have places, and pods on a flavor that gives none."""
    c = made()
    with pytest.raises(FactError, match="the pods of pod set `main` of workload `a` have places, and are to get them later"):
        adopt(c, delayed=True, places=[{"domain": ["n1"], "pods": 2}])
    plain = Cycles("flavor f { gpu as owned }\nqueue q { owns 8 gpu }\n")
    with pytest.raises(FactError, match="are to get places later, on a flavor that gives none; leave `delayed` out"):
        adopt(plain, delayed=True)


# --- histories --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [lambda: Cluster(AT_ONCE), lambda: Cycles(FOR_NODES)], ids=["at once", "in cycles"])
def test_replay_is_the_same_byte_for_byte(made: Made) -> None:
    """Decided again, applied as recorded, and gone on with from a snapshot at any event, in either core."""
    c = made()
    add(c, n1="b/r 2", n2="b/r 2")
    ask(c, "a", 3, within="rack")
    if isinstance(c, Cycles):
        c.rest()
        c.update("a", checks={"prov": "Ready"})
        c.rest()
    add(c, n3="b/r 2")
    lose(c, "a", "n1")
    assert any(isinstance(event, WorkloadPlaced) for event, _ in c.history)
    c.fact("WorkloadUpdated", workload="a", lost_nodes=["n2"]) if isinstance(c, Cycles) else None
    again, applied, tables = DefinitionCore(), DefinitionCore(), ArrayCore(kernels=PLAIN)
    told: list[bytes] = []
    for event, graph in c.history:
        applied.apply(event, graph)
        frozen = applied.freeze()
        assert freeze(thaw(frozen, applied.graph)) == frozen
        applied = DefinitionCore(applied.copy().state)
        if event.is_decision:
            assert event.payload() == told.pop(0)
            continue
        assert told == []
        told = [decision.payload() for decision in again.step(event, graph)]  # type: ignore[arg-type]
        assert [decision.payload() for decision in tables.step(event, graph)] == told  # type: ignore[arg-type]
    assert applied.freeze() == again.freeze() == tables.freeze() == freeze(c.core)
