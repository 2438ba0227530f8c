"""The law that nobody takes turns for ever under the default profile, `gpol.fair`, which decides every fact at once."""

from dataclasses import dataclass
from fractions import Fraction

from core_states import state_of
from generators import SECOND, Case, activation, fact_of, gpus, places
from gpol.dsl import compile_policy
from gpol.dsl.analysis.profiles import shipped
from gpol.dsl.print.formatter import print_tree
from gpol.dsl.syntax import tree
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.events import WorkloadAdmitted, WorkloadEvicted
from gpol.engine.facts import Fact, TimeAdvanced, WorkloadSubmitted
from hypothesis import given
from hypothesis import strategies as st

PROFILE = shipped("gpol.fair") or ""
INFINITE = Fraction(10**9)


@st.composite
def trees(draw: st.DrawFn, several: bool) -> str:
    """A policy with every rule of the default profile: queues and cohorts that compete for one flavor, or for two."""
    capacity = draw(st.integers(2, 10))
    room = {"a100": capacity, "h100": capacity if several else 0}
    tops = draw(places(room, "", 2))
    items: list[tree.Item] = [tree.Header("policy", tree.Text("generated"), (tree.Use("gpol.fair"),))]
    exists = tree.CapacityStatement(tree.Name("gpu"), gpus(capacity).number)
    items += [tree.FlavorItem(tree.Name(flavor), (exists,)) for flavor in ("a100", "h100")]
    items += [tree.PriorityItem(tree.Name(name), tree.Number(str(value)), False) for name, value in (("low", 0), ("high", 10))]
    return print_tree(tree.File((*items, *tops))).replace("at most normal", "at most low")


_submissions = st.tuples(
    st.just("submit"),
    st.integers(0, 11),
    st.integers(1, 2),
    st.sampled_from([1, 1, 2, 3, 4]),
    st.sampled_from([None, "low", "high"]),
    st.sampled_from([("a100",), ("h100",), ()]),
)
_others = st.tuples(st.sampled_from(["finish", "finish", "cancel", "evict", "release"]), st.integers(0, 30))
_steps = st.sampled_from([True, True, True, True, False]).flatmap(lambda submits: _submissions if submits else _others)


@st.composite
def histories(draw: st.DrawFn, several: bool) -> Case:
    """A policy and a history in which many workloads wait."""
    text = draw(trees(several))
    graph = compile_policy(text, "generated.gpol", {"gpol.fair": PROFILE})
    steps = draw(st.lists(st.tuples(st.just(SECOND), _steps), min_size=10, max_size=30))
    if not several:
        steps = [(later, (*step[:5], ("a100",)) if step[0] == "submit" else step) for later, step in steps]
    return Case(text, graph, tuple(steps))


@dataclass(frozen=True, slots=True)
class Step:
    """An eviction and what was compared for it: shares by name, an infinite one as a great number."""

    eviction: WorkloadEvicted
    shares: dict[str, Fraction]

    @classmethod
    def of(cls, eviction: WorkloadEvicted) -> "Step":
        """What the eviction says of itself."""
        shown = {operand.name: operand.value for operand in eviction.why.operands if "share" in operand.name}
        return cls(eviction, {name: INFINITE if value == "infinite" else Fraction(value) for name, value in shown.items()})


def assert_downhill(core: Core, step: Step) -> None:
    """What each rule of the profile leaves behind, so that its victim cannot simply take the place back."""
    eviction, rule = step.eviction, step.eviction.why.rule
    assert rule is not None
    assert eviction.beneficiary is not None
    served, victim = core.view.workload(eviction.beneficiary), core.view.workload(eviction.workload)
    assert served is not None
    assert victim is not None
    match rule.name:
        case "fair-share":
            after, before = step.shares["victim.queue.share_after"], step.shares["victim.queue.share"]
            assert step.shares["workload.queue.share"] <= after <= before
            assert after < before or before == INFINITE
        case "reclaim-owned":
            assert served.queue != victim.queue
        case "make-room":
            assert served.queue == victim.queue
            assert served.priority > victim.priority
        case other:
            raise AssertionError(other)


def looked_at(core: Core, fact: Fact) -> int:
    """Play a fact, then look again at the same moment until nothing is due; how many looks that took, at most 100."""
    decisions = core.step(fact)
    for looks in range(100):
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted) and decision.beneficiary is not None:
                assert_downhill(core, Step.of(decision))
            if isinstance(decision, WorkloadAdmitted) and decision.why.rule is not None and decision.why.rule.name == "reclaim-owned":
                queue = state_of(core).workloads[decision.workload].queue
                if not any(isinstance(later, WorkloadAdmitted) and later.queue == decision.queue for later in decisions):
                    assert not core.probe.borrows(queue, [0])
        if core.next_wake() != core.time:
            return looks
        decisions = core.step(TimeAdvanced(time=core.time))
    return 100


def above(core: Core) -> bool:
    """Whether somebody had to go for one that had to go for it: that would be a circle."""
    return any(name in state_of(core).superiors(name) for name in state_of(core).gave_way)


@given(histories(several=True))
def test_several_flavors_come_to_rest(case: Case) -> None:
    """Law 7: under `gpol.fair` every history comes to rest after each fact, whatever workloads ask for, and nobody stands above itself.

    Why it must. A rule evicts nobody for one that had to go for it, directly or through others, until anything but time and submissions
    changes the cluster. So who went for whom never makes a circle. Suppose some were evicted again and again with no new facts. Of these
    one stands above all others, since there is no circle; those it goes for are admitted again and again, so they are evicted again and
    again as well, and stand above it: there is no such workload.
    """
    core = new_core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        core.step(fact_of(core, case, number, step))
        for _ in range(100):
            assert not above(core)
            if core.next_wake() is None:
                break
            core.step(TimeAdvanced(time=core.time))
        assert core.next_wake() is None


BOTH = """policy "both" { use gpol.fair }
flavor a { gpu 10 }
flavor b { gpu 5 }
cohort all {
  queue small { owns 1 gpu on a }
  queue great {
    owns 2 gpu on a
    owns 2 gpu on b
    weight 1/2
  }
}
"""


def test_owners_and_borrowers_of_two_flavors() -> None:
    """An owner that borrows elsewhere takes its own back, a smaller share takes it again, a third fills the rest: it ends."""
    graph = compile_policy(BOTH, "both.gpol", {"gpol.fair": PROFILE})
    core = new_core()
    core.step(activation(Case(BOTH, graph, ())).model_copy(update={"file": "both.gpol"}), graph)
    wanted = (
        ("g1", "great", 0, {"a": 3, "b": 2}),
        ("s", "small", 2, {"b": 4}),
        ("g2", "great", 2, {"a": 6, "b": 1}),
        ("g3", "great", 0, {"b": 1}),
    )
    for second, (name, queue, priority, asked) in enumerate(wanted):
        pods = tuple(
            PodSet(name=f"on-{flavor}", requests={"gpu": count * 1000}, flavors=(flavor,)) for flavor, count in sorted(asked.items())
        )
        core.step(WorkloadSubmitted(time=second * SECOND, workload=name, queue=queue, priority=priority, pod_sets=pods))
        for _ in range(10):
            if core.next_wake() is not None:
                core.step(TimeAdvanced(time=core.time))
        assert core.next_wake() is None


@given(histories(several=False))
def test_the_default_profile_comes_to_rest(case: Case) -> None:
    """Law 7: under `gpol.fair` every history of workloads that compete for one flavor comes to rest after each fact, in a few looks.

    Why it must. Each rule goes one way only. `fair-share` takes from a side whose share stays at least what the other side's
    becomes: of the two shares the smaller one grows, to no more than what is left of the greater one, so that the shares, sorted from
    the smallest one, grow as words in a dictionary do; and whom it was taken from would have to be the smaller side to take it back.
    Admissions into free room make a share greater as well. `reclaim-owned` ends with its queue within what it owns, where no rule of
    another queue reaches it, and `make-room` puts a higher priority in the place of a lower one. There are finitely many such states.

    It is said of one flavor. A workload that needs several may have the smaller share in all and yet borrow where an owner takes back:
    see `test_several_flavors_come_to_rest`.
    """
    core = new_core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        assert looked_at(core, fact_of(core, case, number, step)) <= len(core.view.names()) + 2
        assert core.next_wake() is None


EVEN = """policy "even" { use gpol.fair }
flavor a100 { gpu 2 }
queue x { owns nothing }
queue y { owns nothing }
"""


def looks_under(guard: str) -> int:
    """How many looks two equal borrowers need who want all there is, under a guard of `fair-share`."""
    profile = PROFILE.replace("where workload.queue.share <= victim.queue.share_after", f"where {guard}")
    assert guard in profile
    graph = compile_policy(EVEN, "even.gpol", {"gpol.fair": profile})
    steps = tuple((SECOND, ("submit", queue, 1, 2, None, ("a100",))) for queue in (0, 1))
    case = Case(EVEN, graph, steps)
    core = new_core()
    core.step(activation(case), case.graph)
    return max(_looks(core, fact_of(core, case, number, step)) for number, step in enumerate(steps))


def _looks(core: Core, fact: Fact) -> int:
    core.step(fact)
    for looks in range(100):
        if core.next_wake() != core.time:
            return looks
        core.step(TimeAdvanced(time=core.time))
    return 100


def test_the_law_can_fail() -> None:
    """Two that want the same room never come to rest where the share before counts instead of the one after; by the profile they do."""
    assert looks_under("workload.queue.share <= victim.queue.share_after") == 0
    assert looks_under("workload.queue.share <= victim.queue.share and victim.running >= 0s") == 100
