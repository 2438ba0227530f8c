"""Laws of histories in cycles over nodes: those of `tests/fuzz/place_laws.py`, and replay."""

from collections.abc import Iterator

from cores_by_name import CORES
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.default_core import freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from hypothesis import given
from hypothesis import strategies as st
from in_cycles import Cycles
from place_laws import PlaceLaws
from placing import FABRIC

Step = tuple[str, object]

FLAVORS = "".join(f"flavor {name} {{\n  gpu, cpu as owned\n  placed in fabric\n}}\n" for name in "ab")
QUEUES = """cohort all {
  queue q {
    owns 12 gpu on a
    owns 40 cpu on a
    owns 4 gpu on b
    owns 40 cpu on b
    evicts its own of lower priority
    reclaims from anyone
  }
  queue r {
    owns 9 gpu on b
    owns 40 cpu on b
    only b
    evicts its own of lower priority
    reclaims from lower priority
  }
  queue s {
    owns nothing
  }
}
"""


@st.composite
def asked(draw: st.DrawFn) -> list[dict[str, object]]:
    """The pod sets of a workload: workers, and maybe a leader with them or pods beside them."""
    wish = draw(st.sampled_from(["within", "near", "anywhere", ""]))
    said: dict[str, object] = {"": {}, "anywhere": {"anywhere": True}}.get(wish, {wish: draw(st.sampled_from(["block", "rack", "host"]))})
    size = draw(st.integers(1, 2))
    if draw(st.booleans()):
        said["slices"] = [{"level": "host", "size": size}]
    requests = {"gpu": str(draw(st.integers(0, 2))), "cpu": "1"}
    workers: dict[str, object] = {"count": size * draw(st.integers(1, 3)), "requests": requests, **said}
    if draw(st.integers(0, 2)):
        return [workers]
    group = draw(st.sampled_from(["", "g"]))
    return [{"name": "leader", "requests": {"cpu": "1"}, "group": group, **(said if group else {})}, {**workers, "group": group}]


submissions = st.tuples(st.just("submit"), st.tuples(st.sampled_from("qrs"), st.integers(0, 2), asked()))
steps = st.lists(st.one_of(submissions, submissions, st.tuples(st.sampled_from(["cycle", "finish"]), st.integers(0, 3))), max_size=18)
nodes = st.lists(st.tuples(st.sampled_from(["a/r", "a/s", "b/r"]), st.integers(1, 5), st.integers(1, 6)), min_size=1, max_size=5)


def played(profile: str, known: list[tuple[str, int, int]], told: list[Step]) -> Iterator[Cycles]:
    """A cluster after each step of a history; nodes have GPUs and take so many pods."""
    c = Cycles(f'policy "p" {{ use {profile} }}\n{FABRIC}{FLAVORS}{QUEUES}')
    for number, (path, gpu, pods) in enumerate(known):
        block, rack = path.split("/")
        labels, capacity = {"block": block, "rack": rack}, {"gpu": str(gpu), "cpu": "7", "pods": pods}
        c.fact("NodeAdded", node=f"n{number}", labels=labels, capacity=capacity)
    for number, (what, said) in enumerate([*told, ("cycle", 0), ("cycle", 0)]):
        if what == "submit":
            assert isinstance(said, tuple)
            queue, priority, sets = said
            c.submit(f"w{number}", queue, sets=sets, priority=priority)
        elif what == "cycle" and c.core.next_wake() is not None:
            c.cycle()
        elif what == "finish" and c.running():
            assert isinstance(said, int)
            c.finish(c.running()[said % len(c.running())])
        yield c


@given(profile=st.sampled_from(["kueue.classical", "kueue.fair"]), known=nodes, told=steps)
def test_laws_of_places(profile: str, known: list[tuple[str, int, int]], told: list[Step]) -> None:
    """All pods of who runs have places, as near one another as they are to stand, on nodes of which each has enough; and what is used
    there is what they use, under each flavor."""
    laws, taken = PlaceLaws(), 0
    for c in played(profile, known, told):
        laws.follow(c.core, c.history[taken:])
        taken = len(c.history)
    laws.finish(c.history, CORES["definition"])


@given(profile=st.sampled_from(["kueue.classical", "kueue.fair"]), known=nodes, told=steps)
def test_replay_of_places(profile: str, known: list[tuple[str, int, int]], told: list[Step]) -> None:
    """A core from a snapshot, one that was told the recorded events, and the core over arrays decide on as the original does."""
    *_, c = played(profile, known, told)
    again, arrays = DefinitionCore(), ArrayCore(kernels=PLAIN)
    decisions = [event for event, _ in c.history]
    for event, graph in c.history:
        again.apply(event, graph)
        arrays.apply(event, graph)
    resumed = thaw(freeze(c.core), c.graph)
    assert freeze(again) == freeze(arrays) == freeze(resumed) == freeze(c.core)
    wake = c.core.next_wake()
    if wake is not None:
        before = len(decisions)
        c.cycle()
        fact, *decided = [event for event, _ in c.history][before:]
        for other in (again, arrays, resumed):
            assert other.step(fact) == decided  # type: ignore[arg-type]
