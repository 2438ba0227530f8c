"""KAI's rounds: one session after the other until the state repeats, and what each changed, in the form in which KAI was recorded.

Between two rounds Binding becomes Running; Pipelined and Releasing become Pending without a node, but a task of a job that is deleted stays
Releasing. Nothing else carries over. KAI: pkg/scheduler/actions/integration_tests/integration_tests_utils (runSchedulerOneRound).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...engine.definition.kai.kai_cycle import NOBODY, KaiCycle
from ...engine.definition.kai.kai_passes import PASSES
from ...engine.definition.kai.settings import KaiPass, KaiSettings
from ...engine.definition.session.pods import NO_NODE, Pod, PodAmounts, PodStatus
from ...engine.definition.session.quota_nodes import ROOT
from ...engine.definition.session.session import Session
from .case_jobs import CaseJob, TaskState
from .case_session import KaiCase

MOST_ROUNDS = 8
"""How many rounds are played at most."""

PlayedPass = Callable[[KaiCycle], None]
"""A pass over a cycle."""

ACTIONS: Mapping[str, PlayedPass] = {
    "allocate": PASSES[KaiPass.ALLOCATE],
    "consolidation": PASSES[KaiPass.CONSOLIDATE],
    "reclaim": PASSES[KaiPass.RECLAIM],
    "preempt": PASSES[KaiPass.PREEMPT],
    "stalegangeviction": PASSES[KaiPass.BROKEN],
}
"""KAI's actions by its own names, in the order of its default configuration."""

WORDS = {
    PodStatus.WAITING: "Pending",
    PodStatus.PROMISED: "Pipelined",
    PodStatus.PLACED: "Binding",
    PodStatus.RUNNING: "Running",
    PodStatus.STOPPING: "Releasing",
    PodStatus.STUCK: "StuckInReleasing",
}
"""KAI's words for what a pass may make of a pod."""

_DEFAULT = KaiSettings()

Round = tuple[dict[str, Any], list[TaskState]]
"""What a round did, as it is told, and how the tasks stand after it."""


def play_rounds(case: KaiCase, passes: Mapping[str, PlayedPass] = ACTIONS, most: int = MOST_ROUNDS) -> dict[str, Any]:
    """All rounds of a cluster until the state repeats, and how they end: at rest, in a cycle, or unfinished after the `most` rounds."""
    states = case.first_states()
    seen = [states]
    rounds: list[dict[str, Any]] = []
    told: dict[str, list[int]] | None = None
    while len(rounds) < most:
        done, after = play_round(case, states, passes)
        if done["fairShare"] == told:
            del done["fairShare"]
        else:
            told = done["fairShare"]
        rounds.append(done)
        states = between_rounds(case, after)
        if states in seen:
            first = seen.index(states)
            if first == len(rounds) - 1:
                return {"rounds": rounds, "end": "rest"}
            return {"rounds": rounds, "end": "cycle", "cycle": [first, len(rounds) - first]}
        seen.append(states)
    return {"rounds": rounds, "end": "unfinished"}


def play_round(
    case: KaiCase, states: Sequence[TaskState], passes: Mapping[str, PlayedPass] = ACTIONS, settings: KaiSettings = _DEFAULT
) -> Round:
    """One session: what each pass changed, whom it evicted for whom, and the fair shares at its start."""
    session = case.session(states)
    cycle = KaiCycle(session, case.terms, settings)
    actions: list[dict[str, Any]] = []
    evicted: dict[str, list[str]] = {}
    after = list(states)
    for action, run in passes.items():
        mark, before = session.mark(), dict(cycle.evictions)
        run(cycle)
        for number, eviction in cycle.evictions.items():
            if before.get(number) != eviction:
                whom = "" if eviction.workload == NOBODY else session.workloads[eviction.workload].name
                evicted[session.pods[number].name] = [action, whom]
        changed = {}
        for pod in session.changed(mark):
            state = _state(session, pod)
            if state != after[pod.number] and not state[0] == after[pod.number][0] == "Pending":
                changed[pod.name] = list(state)
                after[pod.number] = state
        if changed:
            actions.append({"action": action, "tasks": _sorted(changed)})
    return {"actions": actions, "evicted": _sorted(evicted), "fairShare": shares_told(case, cycle.quotas.shares)}, after


def _state(session: Session, pod: Pod) -> TaskState:
    return WORDS[pod.status], "" if pod.node == NO_NODE else session.nodes[pod.node].name


def _sorted(named: dict[str, Any]) -> dict[str, Any]:
    return {name: named[name] for name in sorted(named)}


def shares_told(case: KaiCase, shares: Sequence[PodAmounts]) -> dict[str, list[int]]:
    """The fair share of each queue and department: GPUs, milli-CPUs, bytes."""
    told = {node.name: shares[node.number] for node in case.quota_nodes if node.number != ROOT}
    return {name: [told[name][2], told[name][0], told[name][1]] for name in sorted(told)}


def between_rounds(case: KaiCase, states: Sequence[TaskState]) -> list[TaskState]:
    """How the tasks stand at the start of the next round."""
    return [_next(job, state) for job, state in zip(case.job_of(), states, strict=True)]


def _next(job: CaseJob, state: TaskState) -> TaskState:
    status, node = state
    if status == "Binding":
        return "Running", node
    if status == "Pipelined" or (status == "Releasing" and not job.deleted):
        return "Pending", ""
    return state
