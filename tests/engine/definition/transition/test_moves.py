"""Pods that go to other places for another workload, as recorded: the same state in both cores, also by what was just decided."""

from at_once import Cluster
from gpol.engine.core.core import ArrayCore
from gpol.engine.default_core import freeze
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.definition.transition.apply import carry_out
from gpol.engine.event_parts import MovedPods, PlacedPods
from gpol.engine.events import WorkloadMoved
from gpol.engine.explain.decisions import tell
from gpol.engine.outcome.decision import Relocation
from lost_places import AT_ONCE, add, ask, stands


def test_pods_stand_elsewhere_from_then_on() -> None:
    """The room they had is free, that which they take is used, and the charges stay; the told event does the same in both cores."""
    c = Cluster(AT_ONCE)
    add(c, n1="b/r 4", n2="b/r 4")
    ask(c, "a", 2, within="host")
    ask(c, "b", 4, within="host")
    held, before = c.workload("a"), freeze(c.core)
    assert (stands(c, "a"), stands(c, "b")) == ({"n1": 2}, {"n2": 4})
    c.finish("b")
    [given] = held.assignments
    there = (PlacedPods(domain=("n1",), pods=1), PlacedPods(domain=("n2",), pods=1))
    move = Relocation(
        "a", held.queue, held.priority, "c", (MovedPods(pod_set="main", pods=1, from_place=("n1",), to_place=("n2",)),),
        (given.model_copy(update={"places": there}),),
    )  # fmt: skip
    definition, tables = DefinitionCore(), ArrayCore()
    for event, graph in c.history:
        definition.apply(event, graph)
        tables.apply(event, graph)
    assert c.core.graph is not None
    [told] = tell(c.core.graph, [move], c.now, definition.state.cause)
    assert isinstance(told, WorkloadMoved)
    tables.apply(told)
    carry_out(definition.state, move)
    assert freeze(definition) == freeze(tables) != before
    used = [definition.state.active.places.used(0, (node,)).get("gpu", 0) for node in ("n1", "n2")]
    assert used == [1000, 1000]
    moved = definition.workload("a")
    assert moved is not None
    assert (moved.usage, moved.admitted) == (held.usage, held.admitted)
