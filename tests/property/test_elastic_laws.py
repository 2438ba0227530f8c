"""Laws of elastic workloads where everything is decided at once: amounts, minimums, rest, replay, and both cores."""

from collections.abc import Iterator

from at_once import Cluster
from gpol.engine.core.core import ArrayCore
from gpol.engine.core.kernel_set import PLAIN
from gpol.engine.default_core import freeze, thaw
from gpol.engine.definition.core import DefinitionCore
from gpol.engine.elastic.pod_counts import is_elastic, least_pods, running_pods
from gpol.engine.event_parts import asked_by_one
from gpol.engine.events import WorkloadEvicted, WorkloadResized
from gpol.engine.facts import TimeAdvanced
from hypothesis import given, settings
from hypothesis import strategies as st
from placing import FABRIC

Step = tuple[str, object]

GPUS = 12

QUEUES = """cohort all {
  queue x { owns 4 gpu on f }
  queue y {
    owns 3 gpu on f
    weight 2
  }
  queue z {
    owns nothing
    queueing strict fifo
  }
}
"""

COUNTED = f"flavor f {{ gpu {GPUS} }}\n"
PLACED = f'{FABRIC}flavor f {{\n  gpu from nodes where pool = "f"\n  placed in fabric\n}}\n'
PROTECT = "protect young { where victim.running < 2s }\n"

HEADERS = ("use gpol.fair", "use gpol.fair\n  shrink before evicting")

REST = 40
"""So often time may decide something at one moment, by workloads that the fact before has just admitted."""


@st.composite
def asked(draw: st.DrawFn) -> list[dict[str, object]]:
    """One or two pod sets, most of them elastic."""
    sets: list[dict[str, object]] = []
    for name in ("main", "other")[: draw(st.sampled_from([1, 1, 2]))]:
        count = draw(st.integers(1, 6))
        wish = draw(st.sampled_from(["", "near", "within"]))
        said: dict[str, object] = {wish: draw(st.sampled_from(["block", "rack", "host"]))} if wish else {}
        least = draw(st.one_of(st.none(), st.integers(1, count)))
        sets.append({"name": name, "count": count, "minimum": least, "requests": {"gpu": str(draw(st.integers(1, 2)))}, "said": said})
    return sets


submissions = st.tuples(st.just("submit"), st.tuples(st.sampled_from("xyz"), st.integers(0, 2), asked()))
changes = st.tuples(st.sampled_from(["finish", "tick", "evict", "release", "done", "capacity"]), st.integers(0, 5))
steps = st.lists(st.one_of(submissions, submissions, changes), max_size=14)


def played(header: str, placed: bool, told: list[Step]) -> Iterator[Cluster]:
    """A cluster after each step of a history."""
    c = Cluster(f'policy "p" {{ {header} }}\n{PLACED if placed else COUNTED}{QUEUES}{PROTECT}')
    for number in range(4 if placed else 0):
        labels = {"block": "ab"[number // 2], "rack": f"r{number // 2}", "pool": "f"}
        c.fact("NodeAdded", node=f"n{number}", labels=labels, capacity={"gpu": "3", "pods": 9})
    for number, (what, said) in enumerate(told):
        c.now += 700_000
        if what == "submit":
            assert isinstance(said, tuple)
            queue, priority, sets = said
            sets = [{**{key: each[key] for key in each if key != "said"}, **(each["said"] if placed else {})} for each in sets]
            c.submit(f"w{number}", queue, sets=sets, priority=priority)
            yield c
            continue
        assert isinstance(said, int)
        names = c.running() if what in ("finish", "evict", "done") else [w.name for w in c.core.view.workloads() if w.held_by_operator]
        name = names[said % len(names)] if names else ""
        match what:
            case "tick":
                c.fact("TimeAdvanced")
            case "capacity" if not placed:
                c.capacity("f", gpu=str(GPUS - said))
            case "finish" if name:
                c.finish(name)
            case "evict" | "release" if name:
                c.operator(what, name)
            case "done" if name:
                left = c.workload(name).remaining
                c.update(name, reclaimable={"main": c.workload(name).fact.pod_sets[0].count - left[0] + (left[0] > 1)})
        yield c


def check_amounts(c: Cluster) -> None:
    """What a running workload is charged is what its pods ask for; it has its minimum of each pod set, and no more than it asks for."""
    for workload in c.core.view.workloads():
        if workload.admitted is None:
            continue
        pods = running_pods(workload)
        assert all(least <= count <= most for least, count, most in zip(least_pods(workload), pods, workload.remaining, strict=True))
        asks = sum(asked_by_one(each, "gpu") * count for each, count in zip(workload.fact.pod_sets, pods, strict=True))
        assert sum(amount for _, amount in workload.usage) == asks
        if not is_elastic(workload.fact):
            assert pods == list(workload.remaining)


def check_decisions(c: Cluster) -> None:
    """A resize gives pods to a pod set or takes some, tells where they stand, and says what runs from then on."""
    for decision in c.decided:
        if isinstance(decision, WorkloadResized):
            counts = {each.pod_set: each.count for each in decision.assignments}
            assert decision.changes
            for change in decision.changes:
                assert (change.added > 0) != (change.taken > 0)
                assert counts[change.pod_set] >= change.added
                assert sum(place.pods for place in change.places) in (0, change.added + change.taken)


@given(st.sampled_from([*HEADERS, "use test.bare", "use gpol.fair\n  preempt by nothing"]), st.booleans(), steps)
def test_amounts_minimums_and_rest(header: str, placed: bool, told: list[Step]) -> None:
    """After each fact: every charge is that of the pods, minimums are whole, nodes are not overfull, and time alone comes to rest."""
    for c in played(header, placed, told):
        check_amounts(c)
        check_decisions(c)
        if placed:
            used: dict[str, int] = {}
            for workload in c.core.view.workloads():
                for each, pod_set in zip(workload.assignments, workload.fact.pod_sets, strict=False):
                    for place in each.places:
                        used[place.domain[-1]] = used.get(place.domain[-1], 0) + place.pods * pod_set.requests["gpu"]
            assert all(amount <= 3000 for amount in used.values())
        other = c.core.copy()
        for _ in range(REST):
            if not other.step(TimeAdvanced(time=c.now)):
                break
        else:
            raise AssertionError("time alone goes on deciding at one moment")


@given(st.sampled_from([*HEADERS, "use test.bare"]), st.booleans(), steps)
def test_nobody_who_waits_evicts_for_what_was_just_added(header: str, placed: bool, told: list[Step]) -> None:
    """Where a fact only makes workloads grow, looking again at the same moment evicts nobody."""
    for c in played(header, placed, told):
        if c.decided and all(isinstance(each, WorkloadResized) for each in c.decided):
            again = c.core.copy().step(TimeAdvanced(time=c.now))
            assert not any(isinstance(each, WorkloadEvicted) for each in again)


@settings(deadline=None)
@given(st.sampled_from([*HEADERS, "use test.bare"]), st.booleans(), steps)
def test_replay_and_both_cores(header: str, placed: bool, told: list[Step]) -> None:
    """Events that are applied, snapshots and both cores give the same state, byte for byte, and decide the same."""
    c = None
    for c in played(header, placed, told):
        assert freeze(thaw(freeze(c.core), c.core.graph)) == freeze(c.core)
    if c is None:
        return
    definition, tables, follower = DefinitionCore(), ArrayCore(kernels=PLAIN), DefinitionCore()
    for event, graph in c.history:
        follower.apply(event, graph)
        if not event.is_decision:
            decided = definition.step(event, graph)  # type: ignore[arg-type]  # a fact
            assert tables.step(event, graph) == decided  # type: ignore[arg-type]
    assert freeze(follower) == freeze(c.core) == freeze(definition) == freeze(tables)
