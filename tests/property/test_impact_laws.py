"""The law of impact: the same policy changes nothing, whatever made the history."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cycle_cases import PROFILES, cycle_cases
from cycle_cases import Case as CycleCase
from cycle_cases import history as cycle_history
from generators import BARE, Case, cases, fact_of
from gpol.engine.default_core import new_core
from gpol.engine.events import AnyEvent
from gpol.engine.facts import PolicyActivated
from gpol.journal.journal import Journal
from gpol.sim.drive.policy import Policy
from gpol.sim.impact.closed_impact import closed_impact
from gpol.sim.impact.open_impact import open_impact
from hypothesis import given
from hypothesis import strategies as st


@contextmanager
def journal_of(batches: Sequence[Sequence[AnyEvent]]) -> Iterator[Journal]:
    """A journal of a history, open to read."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "history.db"
        with Journal.create(place) as journal:
            journal.append(batches)
        with Journal.open(place) as journal:
            yield journal


def at_once(case: Case) -> tuple[Policy, list[list[AnyEvent]]]:
    """A history in which nobody plays the moments at which time alone decides, but by accident; and its policy, activated twice."""
    policy = Policy(case.graph, "generated.gpol", case.text, (("test.bare", BARE),))
    core = new_core()
    batches: list[list[AnyEvent]] = [[policy.activation(0), *core.step(policy.activation(0), case.graph)]]
    for number, step in enumerate(case.steps):
        fact = fact_of(core, case, number, step)
        batches.append([fact, *core.step(fact)])
        if number == len(case.steps) // 2:
            again = policy.activation(core.time)
            batches.append([again, *core.step(again, case.graph)])
    return policy, batches


def in_cycles(case: CycleCase) -> tuple[Policy, list[list[AnyEvent]]]:
    """A history with the cycles that are due, in which the one policy may be activated again; and the policy."""
    graph = case.graph(0)
    policy = Policy(graph, "cycles.gpol", case.texts[0], tuple(sorted(PROFILES.items())))
    batches: list[list[AnyEvent]] = []
    for core, fact, _ in cycle_history(case, graphs=(graph, graph)):
        fact = policy.activation(fact.time) if isinstance(fact, PolicyActivated) else fact
        batches.append([fact, *core.step(fact, graph)])
    return policy, batches


@given(cases(), st.sampled_from(["restart", "resume"]))
def test_the_same_policy_changes_nothing(case: Case, on_evict: str) -> None:
    """In a closed loop the history is the same to the last decision, and nobody is affected."""
    policy, batches = at_once(case)
    with journal_of(batches) as journal:
        found = closed_impact(journal, policy, "resume" if on_evict == "resume" else "restart", explain=False)

    assert found.nothing_changes
    assert (found.parting, found.affected, found.worse, found.better) == (None, (), 0, 0)
    assert found.same_decisions == sum(len(batch) - 1 for batch in batches)
    assert found.before == found.after


@given(cycle_cases())
def test_the_same_policy_changes_nothing_in_cycles(case: CycleCase) -> None:
    """The same where decisions fall in cycles, with workloads that were adopted, told to stop, or grew."""
    policy, batches = in_cycles(case)
    with journal_of(batches) as journal:
        found = closed_impact(journal, policy, explain=False)

    assert found.nothing_changes
    assert (found.parting, found.affected) == (None, ())
    assert found.before == found.after


@given(cases())
def test_the_same_policy_decides_every_moment_alike(case: Case) -> None:
    """In an open loop no moment is decided otherwise, and the policy has words for all that was recorded."""
    policy, batches = at_once(case)
    with journal_of(batches) as journal:
        found = open_impact(journal, policy)

    assert found.nothing_changes
    assert (found.moments, found.shown, found.first) == (len(batches), (), None)


@given(cycle_cases())
def test_the_same_policy_decides_every_moment_alike_in_cycles(case: CycleCase) -> None:
    """The same where decisions fall in cycles."""
    policy, batches = in_cycles(case)
    with journal_of(batches) as journal:
        assert open_impact(journal, policy).nothing_changes
