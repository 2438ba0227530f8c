"""Searches for victims by rules and for the moment at which time will have made room, against trying all there is to try."""

from core_states import state_of
from generators import Case, activation, cases, fact_of
from gpol.engine.default_core import new_core
from gpol.engine.definition.admission.nominate import Nominator
from gpol.engine.definition.preemption import lookahead
from gpol.engine.definition.preemption.search import Preemptor
from gpol.engine.definition.state.guard_values import GuardValues
from gpol.engine.definition.state.trial import Trial
from gpol.engine.outcome.nomination import Victim
from hypothesis import event, given

NO_FACT = -1
"""The cause by which nobody was admitted: everybody may be judged."""


def turning_moments(trial: Trial, preemptor: Preemptor) -> list[int]:
    """Every moment ahead at which a duration in any guard turns for anybody who runs, whether that could help or not."""
    state = trial.state
    guards = [rule.guard for rule in (*trial.graph.preempt, *trial.graph.protect)]
    moments: set[int] = set()
    for victim in state.in_order():
        if victim.admitted is not None:
            values = GuardValues(trial.policy, state.time, preemptor.workload, victim)
            moments.update(values.turning_points(guards))
    return sorted(moments)


def found_plainly(trial: Trial, preemptor: Preemptor) -> tuple[list[Victim], int | None]:
    """The victims by the search now; without any the first of all moments, the present one too, at which it has some later."""
    now = lookahead.present_search(trial, preemptor)
    with trial.charged(preemptor.workload.queue, preemptor.request):
        victims = now.run()
        if victims:
            return victims, None
        moments = [trial.state.time, *turning_moments(trial, preemptor)]
        return [], next((moment for moment in moments if now.at(moment).run()), None)


def assert_found_alike(trial: Trial, preemptor: Preemptor) -> None:
    """The same victims now, or the same moment and the same victims then."""
    found, now = lookahead.search(trial, preemptor), trial.state.time
    assert (found.victims, found.until) == found_plainly(trial, preemptor)
    event("victims" if found.victims else "nobody" if found.until is None else "later" if found.until > now else "next")
    if found.until is not None and any(moment < found.until for moment in turning_moments(trial, preemptor)):
        event("a moment too early")


@given(cases())
def test_nothing_left_out_would_have_been_found(case: Case) -> None:
    """After every fact, for every waiting workload and request: leaving out moments and searches that come too early changes nothing."""
    core = new_core()
    core.step(activation(case), case.graph)
    for number, step in enumerate(case.steps):
        core.step(fact_of(core, case, number, step))
        state = state_of(core)
        fact = state.cause
        for workload in state.in_order():
            if workload.admitted is None and workload.queue >= 0:
                trial = Trial(state)
                nominator = Nominator(trial, workload, (), None)
                nominator.nominate()
                for request in nominator.found:
                    for state.cause in (NO_FACT, fact):
                        assert_found_alike(trial, Preemptor(workload, request, [slot for slot, _ in request]))
        state.cause = fact
