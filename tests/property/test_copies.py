"""A copy of a core decides on as the original does, and neither disturbs the other."""

from cycle_cases import Case as CycleCase
from cycle_cases import cycle_cases, history
from generators import Case, activation, cases, fact_of
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.events import AnyEvent
from gpol.engine.facts import FACT, Fact, TimeAdvanced
from gpol.engine.policy_graph import PolicyGraph
from hypothesis import given
from hypothesis import strategies as st

Played = list[tuple[Fact, PolicyGraph]]


def at_once(case: Case) -> Played:
    """The facts of a case that decides at once, each with the policy that it may activate."""
    core = new_core()
    facts: Played = [(activation(case), case.graph)]
    core.step(*facts[0])
    for number, step in enumerate(case.steps):
        facts.append((fact_of(core, case, number, step), case.graph))
        core.step(*facts[-1])
    return facts


def in_cycles(case: CycleCase) -> Played:
    """The facts of a case that decides in cycles, the cycles' own among them."""
    facts: Played = []
    for core, fact, graph in history(case):
        core.step(fact, graph)
        facts.append((fact, graph))
    return facts


def play(core: Core, facts: Played) -> list[tuple[bytes, int | None]]:
    """What a core decides about facts, each decision with the wake after it."""
    return [(event.payload(), core.next_wake()) for fact, graph in facts for event in told(core, fact, graph)]


def told(core: Core, fact: Fact, graph: PolicyGraph) -> list[AnyEvent]:
    """A fact and its decisions."""
    return [fact, *core.step(fact, graph)]


def disturb(core: Core) -> None:
    """Take a core somewhere else: everybody is cancelled, but for two that get another priority, and much time passes."""
    live = sorted(core.view.names())
    for name in live[2:]:
        core.step(_said(core, "WorkloadCancelled", name))
    for name in live[:2]:
        core.step(_said(core, "WorkloadUpdated", name, priority=77))
    for later in (1, 1_000, 10_000_000, 60_000_000):
        core.step(TimeAdvanced(time=core.time + later))


def _said(core: Core, kind: str, workload: str, **more: object) -> Fact:
    return FACT.validate_python({"kind": kind, "time": core.time, "workload": workload, **more})


def assert_apart(facts: Played, cut: int) -> None:
    """A copy made at a cut, the original, and a core that was never copied decide all that follows alike, whatever another copy did."""
    expected = play(new_core(), facts)
    core = new_core()
    before = play(core, facts[:cut])
    copy, strayed = core.copy(), core.copy()
    disturb(strayed)
    assert before + play(copy, facts[cut:]) == expected
    disturb(copy)
    assert before + play(core, facts[cut:]) == expected


@given(cases(), st.data())
def test_copies_that_decide_at_once_go_apart(case: Case, data: st.DataObject) -> None:
    """Deciding at once, a copy goes on as the original does, and what it does leaves the original alone."""
    facts = at_once(case)
    assert_apart(facts, data.draw(st.integers(1, len(facts))))


@given(cycle_cases(), st.data())
def test_copies_that_decide_in_cycles_go_apart(case: CycleCase, data: st.DataObject) -> None:
    """Deciding in cycles, a copy goes on as the original does, and what it does leaves the original alone."""
    facts = in_cycles(case)
    assert_apart(facts, data.draw(st.integers(1, len(facts))))


@given(cases())
def test_a_core_that_has_not_begun_can_be_copied(case: Case) -> None:
    """A policy that a copy takes is not the original's."""
    core = new_core()
    core.copy().step(activation(case), case.graph)
    assert (core.seq, core.graph) == (0, None)
