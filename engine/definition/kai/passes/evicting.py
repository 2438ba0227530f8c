"""Consolidate, reclaim and preempt: the passes that make room for one workload after the other by stopping or moving others.

KAI: actions/consolidation, actions/reclaim, actions/preempt. They differ in four things, see `EvictingPass`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...session.pods import HOLDING, Pod, PodStatus
from ..kai_cycle import KaiCycle
from ..order.workload_line import Line
from ..quota.limits import over_quota
from ..quota.reclaim_tests import Taker, can_reclaim, keeps_victim, may_reclaim
from ..quota.shares import CountedAmounts
from ..quota_state import GPU, counted
from ..search.scenario import VictimScenario, by_workload
from ..search.solver import ScenarioSearch, solve
from ..search.trying import Accepts
from ..settings import KaiPass
from ..views import WorkloadView, ready
from .allocate import waits


@dataclass(frozen=True, slots=True)
class EvictingPass:
    """Who stands in line, for whom a search is worth it, who may be a victim for a workload, and what solutions will do.

    `accepting` is asked at the start of each search for a test of its solutions, so that the test knows how things stood then.
    """

    takes_part: Callable[[WorkloadView], bool]
    worth_it: Callable[[KaiCycle, WorkloadView], bool]
    may_lose: Callable[[KaiCycle, WorkloadView, WorkloadView], bool]
    accepting: Callable[[KaiCycle], Accepts]


def evict_for_others(cycle: KaiCycle, by: KaiPass) -> None:
    """Run one of the passes: each workload in line that waits and is ready gets one search."""
    rules = EVICTING_PASSES[by]
    if by is KaiPass.CONSOLIDATE and cycle.settings.most_consolidated == 0:
        return
    line = Line(cycle, (view for view in cycle.views if waits(view) and ready(view) and _may_evict(cycle, view) and rules.takes_part(view)))
    while line:
        view = line.pop()
        if rules.worth_it(cycle, view):
            _search_for(cycle, by, rules, view)


def _search_for(cycle: KaiCycle, by: KaiPass, rules: EvictingPass, view: WorkloadView) -> None:
    accepts = rules.accepting(cycle)
    candidates: list[WorkloadView] = []
    known = False

    def line() -> Line:
        nonlocal candidates, known
        if not known:
            candidates = [other for other in cycle.views if _is_candidate(other) and rules.may_lose(cycle, view, other)]
            if by is KaiPass.CONSOLIDATE and cycle.settings.most_consolidated > 0:
                candidates = candidates[: cycle.settings.most_consolidated + 1]  # KAI counts so; it takes any, we the first
            known = True
        return Line(cycle, candidates, victims=True)

    waiting = tuple(other.workload.number for other in cycle.views if waits(other))
    solved = solve(ScenarioSearch(cycle, view, line, waiting, accepts))
    if solved is not None and solved[0]:
        solution = solved[1]
        cycle.decide(solution.scenario.victims, solution.victims, by, view)


def _may_evict(cycle: KaiCycle, view: WorkloadView) -> bool:
    return cycle.terms.may_evict(view.workload.number, view.workload.created)


def _is_candidate(view: WorkloadView) -> bool:
    return view.workload.preemptible and any(pod.status in HOLDING for pod in view.pods)


# --- consolidate ----------------------------------------------------------------------------------------------------


def _enough_gpus(cycle: KaiCycle, view: WorkloadView) -> bool:
    """Whether there are as many GPUs free in all, now or later, as it asks for next."""
    asked = sum(pod.requests[GPU] for pod in view.pods_to_place(cycle.tentative))
    return sum(cycle.gpus_free_later(node.number) for node in cycle.session.nodes) >= asked


def _other(cycle: KaiCycle, view: WorkloadView, other: WorkloadView) -> bool:
    return other.workload.number != view.workload.number


def _all_moved(scenario: VictimScenario) -> bool:
    """Whether every victim found a place."""
    return all(pod.status is not PodStatus.STOPPING for pod in scenario.victims)


# --- reclaim --------------------------------------------------------------------------------------------------------


def _taker(cycle: KaiCycle, view: WorkloadView) -> Taker:
    return Taker(view.workload.queue, counted(view.pods_to_place(cycle.tentative)), view.workload.preemptible)


def _may_reclaim(cycle: KaiCycle, view: WorkloadView) -> bool:
    return can_reclaim(cycle.quotas, _taker(cycle, view))


def _of_other_queue(cycle: KaiCycle, view: WorkloadView, other: WorkloadView) -> bool:
    """Whether a victim is of another queue, and one of KAI's strategies could take from that queue."""
    return other.workload.queue != view.workload.queue and keeps_victim(cycle.quotas, _taker(cycle, view), other.workload.queue)


def _stays_fair(cycle: KaiCycle) -> Accepts:
    """The test of what is reclaimed: by the queues as they stand before any victim stops (KAI: OnJobSolutionStart)."""
    before = tuple(cycle.quotas)

    def test(scenario: VictimScenario) -> bool:
        return may_reclaim(before, _taker(cycle, scenario.claimant), lost_by_queue(cycle, scenario), cycle.settings.saturation)

    return test


def lost_by_queue(cycle: KaiCycle, scenario: VictimScenario) -> dict[int, list[CountedAmounts]]:
    """What the queues of the victims lose: of each its surplus pods one by one, then the rest together.

    KAI: proportion.go, getVictimResources and splitVictimTasks.
    """
    lost: dict[int, list[CountedAmounts]] = {}
    for batch in by_workload(scenario.batches):
        workload = cycle.session.workloads[batch.workload]
        core: list[Pod] = []
        chunks: list[list[Pod]] = []
        for number, group in enumerate(workload.groups):
            pods = [pod for pod in batch.pods if pod.group == number]
            core += pods[: group.minimum]
            chunks += [[pod] for pod in pods[group.minimum :]]
        for chunk in (*chunks, core):
            gone = [pod for pod in chunk if not (cycle.settings.moves_victims and pod.status in HOLDING)]
            if gone:
                lost.setdefault(workload.queue, []).append(counted(gone))
    return lost


# --- preempt --------------------------------------------------------------------------------------------------------


def _within_what_it_owns(cycle: KaiCycle, view: WorkloadView) -> bool:
    """Whether a workload that may not be evicted keeps within what its queues own."""
    asked = counted(view.pods_to_place(cycle.tentative))
    return over_quota(cycle.quotas, view.workload.queue, asked, view.workload.preemptible) is None


def _below_it(cycle: KaiCycle, view: WorkloadView, other: WorkloadView) -> bool:
    """Whether a victim is of the same queue and of lower priority."""
    return other.workload.queue == view.workload.queue and other.workload.priority < view.workload.priority


EVICTING_PASSES: Mapping[KaiPass, EvictingPass] = {
    KaiPass.CONSOLIDATE: EvictingPass(lambda view: view.workload.preemptible, _enough_gpus, _other, lambda cycle: _all_moved),
    KaiPass.RECLAIM: EvictingPass(lambda view: True, _may_reclaim, _of_other_queue, _stays_fair),
    KaiPass.PREEMPT: EvictingPass(lambda view: True, _within_what_it_owns, _below_it, lambda cycle: lambda scenario: True),
}
