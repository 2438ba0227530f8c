"""Cycles of a policy that decides by passes: when the next one is due, and what it decides."""

from collections.abc import Callable, Mapping

from ...elastic.pod_counts import is_elastic, running_pods
from ...outcome.decision import Deferral, Eviction, Outcome
from ...policy.pass_settings import VictimSearch
from ...policy.search_of import search_of
from ...workload import Workload, victim
from ..session.session import Session
from ..state.state import State
from ..transition.apply import carry_out
from .by_rescheduling import decide_by_rescheduling
from .by_scenarios import decide_by_scenarios
from .close_session import close_session
from .node_by_node import decide_node_by_node
from .open_session import SessionForm, open_session
from .pass_eviction import PassesDone

SEARCHES: Mapping[VictimSearch, Callable[[State, Session], PassesDone]] = {
    "by-scenarios": decide_by_scenarios,
    "node-by-node": decide_node_by_node,
    "by-rescheduling": decide_by_rescheduling,
}
"""What runs the passes of a policy, by its search for victims."""

FORMS: Mapping[VictimSearch, SessionForm] = {
    "by-scenarios": SessionForm(one_group=False, owns_what_is_said=False),
    "node-by-node": SessionForm(one_group=True, owns_what_is_said=True, root_queue=True),
    "by-rescheduling": SessionForm(one_group=True, owns_what_is_said=False),
}
"""How the session of each search is made."""

MOST_IDLE_PASSES = 1
"""After so many cycles in a row that changed nothing, cycles wait for the next fact: the next one would find what this one found."""


def next_pass_cycle(state: State) -> int | None:
    """When the next cycle is due: at once after a fact, then every period; None where it would have nothing to do."""
    passes = state.graph.settings.passes
    assert passes is not None
    waits = any(state.line(queue.node) for queue in state.graph.queues) or any(map(_lacks_surplus, state.in_order()))
    waits = waits or bool(_without_nodes(state))
    if state.idle >= MOST_IDLE_PASSES or not waits:
        return None
    return state.time if state.fresh else state.time + passes.period


def _lacks_surplus(workload: Workload) -> bool:
    """Whether a workload runs with fewer pods than it asks for."""
    return workload.admitted is not None and is_elastic(workload.fact) and running_pods(workload) < list(workload.remaining)


def run_passes(state: State) -> list[Outcome]:
    """Run one cycle at the present moment, and carry out what it decides."""
    lost: list[Outcome] = [Eviction(victim(each, "node-lost"), nodes=each.lost_nodes) for each in _without_nodes(state)]
    for outcome in lost:
        carry_out(state, outcome)
    decided = decide_passes(state)
    outcomes = [outcome for outcome in decided if not isinstance(outcome, Deferral) or _says_something(state, outcome)]
    for outcome in outcomes:
        carry_out(state, outcome)
    return [*lost, *outcomes]


def _without_nodes(state: State) -> list[Workload]:
    """Who runs and has lost a node with pods on it: it lacks pods that it needs, and goes."""
    return [each for each in state.in_order() if each.admitted is not None and each.lost_nodes]


def decide_passes(state: State) -> list[Outcome]:
    """What a cycle would decide at the present moment; nothing is carried out."""
    search = search_of(state.graph)
    session = open_session(state, FORMS[search])
    stood = [pod.node for pod in session.pods]
    return close_session(state, session, stood, SEARCHES[search](state, session))


def _says_something(state: State, deferral: Deferral) -> bool:
    """Whether a deferral tells something new: one that does not is not decided again."""
    before, now = state.workloads[deferral.workload].deferred, deferral.last
    return before is None or (before.reason, before.outcome) != (now.reason, now.outcome) or not set(now.victims) <= set(before.victims)
