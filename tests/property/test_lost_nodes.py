"""Laws of histories in which nodes are lost: gangs stay in one domain, slices whole, no node holds more than it has, replay is the same."""

from at_once import Cluster
from gpol.engine.default_core import freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.events import WorkloadEvicted, WorkloadPlaced
from hypothesis import given
from hypothesis import strategies as st
from in_cycles import Cycles
from lost_places import AT_ONCE, IN_CYCLES, add, ask
from place_laws import PlaceLaws

NODES = ("n1", "n2", "n3", "n4", "n5", "n6")
WISHES: list[dict[str, object]] = [
    {"within": "rack"},
    {"within": "block"},
    {"near": "rack"},
    {"within": "block", "slices": [{"level": "rack", "size": 2}]},
    {"near": "block", "slices": [{"level": "rack", "size": 4}, {"level": "host", "size": 2}]},
    {"anywhere": True},
]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.tuples(st.sampled_from(WISHES), st.integers(1, 2), st.integers(0, 2))),
        st.tuples(st.sampled_from(["lose", "lose", "back", "finish"]), st.integers(0, 5)),
    ),
    max_size=16,
)


class _History:
    """A cluster in which workloads come and go, and so do nodes."""

    def __init__(self, c: Cluster | Cycles) -> None:
        self.c, self.there, self.laws, self.taken = c, dict.fromkeys(NODES, True), PlaceLaws(), 0
        for number, name in enumerate(NODES):
            self._add(number, name)

    def _add(self, number: int, name: str) -> None:
        add(self.c, **{name: f"b/r{number % 2 + 1} {2 + number % 3}"})

    def take(self, kind: str, given: object, number: int) -> None:
        """Play a step; one that cannot be is left out."""
        if kind == "ask":
            wish, half, priority = given  # type: ignore[misc]
            slices = wish.get("slices")
            ask(self.c, f"w{number}", (slices[0]["size"] if slices else 2) * half, priority=priority, **wish)
        elif kind == "finish":
            running = [each.name for each in self.c.core.view.workloads() if each.admitted is not None]
            if running:
                self.c.finish(running[int(given) % len(running)])  # type: ignore[call-overload]
        else:
            name = NODES[int(given)]  # type: ignore[call-overload]
            if self.there[name] == (kind == "lose"):
                self.there[name] = not self.there[name]
                self._change(name)
        if isinstance(self.c, Cycles):
            self.c.rest()

    def _change(self, name: str) -> None:
        if self.there[name]:
            self._add(NODES.index(name), name)
            return
        self.c.fact("NodeRemoved", node=name)
        for workload in self.c.core.view.workloads() if isinstance(self.c, Cycles) else ():
            if any(place.domain == (name,) for given in workload.assignments for place in given.places):
                self.c.update(workload.name, lost_nodes=[name])


def _check(history: _History) -> None:
    """The laws of places hold, and places are told in the order of their paths."""
    c = history.c
    history.laws.follow(c.core, c.history[history.taken :])
    history.taken = len(c.history)
    for workload in (each for each in c.core.view.workloads() if each.admitted is not None):
        [assigned] = workload.assignments
        assert [place.domain for place in assigned.places] == sorted({place.domain for place in assigned.places}, key=_path(c))


def _path(c: Cluster | Cycles):  # type: ignore[no-untyped-def]
    return lambda domain: (c.core.machines[domain[0]].labels["rack"], domain)


def _replays(c: Cluster | Cycles) -> None:
    """What was decided is decided again, byte for byte, by a core that goes on from its own bytes before each fact."""
    core, told = DefinitionCore(), list[bytes]()
    for event, graph in c.history:
        if event.is_decision:
            assert event.payload() == told.pop(0)
            continue
        assert not told
        core = DefinitionCore(thaw(freeze(core), core.graph).state)  # type: ignore[attr-defined]
        told = [decision.payload() for decision in core.step(event, graph)]  # type: ignore[arg-type]
    assert freeze(core) == freeze(c.core)


@given(steps)
def test_at_once_gangs_slices_and_nodes_are_kept(taken: list[tuple[str, object]]) -> None:
    """After every fact, whatever nodes come and go."""
    history = _History(Cluster(AT_ONCE))
    for number, (kind, given_) in enumerate(taken):
        history.take(kind, given_, number)
        _check(history)
    _replays(history.c)


@given(steps)
def test_in_cycles_gangs_slices_and_nodes_are_kept(taken: list[tuple[str, object]]) -> None:
    """Once cycles rest, where each lost node is told of by itself."""
    history = _History(Cycles(IN_CYCLES))
    for number, (kind, given_) in enumerate(taken):
        history.take(kind, given_, number)
        _check(history)
    _replays(history.c)


def test_the_histories_move_and_evict() -> None:
    """Both happen in a history such as these."""
    history = _History(Cluster(AT_ONCE))
    history.take("ask", ({"within": "rack"}, 1, 0), 0)
    for number in range(6):
        history.take("lose", number, number)
    events = [event for event, _ in history.c.history]
    assert any(isinstance(event, WorkloadPlaced) for event in events)
    assert any(isinstance(event, WorkloadEvicted) for event in events)
