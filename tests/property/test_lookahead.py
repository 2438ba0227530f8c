"""Searches for victims by rules and for the moment at which time will have made room, against trying all there is to try."""

from unittest.mock import patch

from core_states import state_of
from generators import Case, activation, cases, fact_of
from gpol.engine.default_core import new_core
from gpol.engine.definition.admission import nominate
from gpol.engine.definition.preemption import lookahead
from gpol.engine.definition.preemption.rules import Found, Preemptor, RuleSearch
from gpol.engine.definition.state.guard_values import GuardValues
from gpol.engine.definition.state.trial import Trial
from gpol.engine.outcome.nomination import Request, Victim
from gpol.engine.workload import Workload
from hypothesis import event, given

NO_FACT = -1
"""The cause by which nobody was admitted: everybody may be judged."""


def turning_moments(trial: Trial, preemptor: Preemptor) -> list[int]:
    """Every moment ahead at which a duration in any guard turns for anybody who runs, whether that could help or not."""
    state = trial.state
    guards = [rule.guard for rule in (*trial.graph.preempt, *trial.graph.protect)]
    moments: set[int] = set()
    values = GuardValues(trial.policy, state.time, preemptor.workload)
    for victim in state.in_order():
        if victim.admitted is not None:
            moments.update(values.turning_points(guards, victim))
    return sorted(moments)


def found_plainly(trial: Trial, preemptor: Preemptor) -> tuple[list[Victim], int | None]:
    """The victims by the search now; without any the first of all moments, the present one too, at which it has some later."""
    now = RuleSearch.present(trial, preemptor)
    with trial.charged(preemptor.workload.queue, preemptor.request):
        victims = now.run()
        if victims:
            return victims, None
        moments = [trial.state.time, *turning_moments(trial, preemptor)]
        return [], next((moment for moment in moments if now.at(moment).run()), None)


def requests_of(trial: Trial, workload: Workload) -> list[Request]:
    """For what victims are looked for while a workload is nominated."""
    asked: list[Request] = []

    def search(trial: Trial, preemptor: Preemptor) -> Found:
        asked.append(preemptor.request)
        return lookahead.search(trial, preemptor)

    with patch.dict(nominate.SEARCHES, rules=search):
        nominate.nominate(trial, workload)
    return list(dict.fromkeys(asked))


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
                for request in requests_of(trial, workload):
                    for state.cause in (NO_FACT, fact):
                        assert_found_alike(trial, Preemptor(workload, request, [slot for slot, _ in request]))
        state.cause = fact
