"""From what passes did to a session back to decisions: who runs from now on and where, who has to go and for whom, and who waits for what.

Room that a pod was promised is promised for one cycle: the next one decides anew, when those who stop are gone. A workload starts with all
pods that have room, if these are as many as it needs.
"""

from collections.abc import Sequence
from itertools import groupby

from ...elastic.pod_counts import least_pods
from ...event_parts import DeferralOutcome, PlacedPods
from ...events import DeferralReason
from ...outcome.decision import Admission, Deferral, LastDeferral, Outcome, Resize
from ...outcome.nomination import Chosen, FlavorAssignment, Grade, PodSetFlavors, as_request
from ...workload import Workload
from ..session.pods import Pod, PodStatus, SessionWorkload
from ..session.session import Session
from ..state.state import State
from .open_session import FLAVOR
from .pass_eviction import PassesDone
from .running_workloads import decided_of_running


def close_session(state: State, session: Session, stood: Sequence[int], done: PassesDone) -> list[Outcome]:
    """The decisions of a cycle: who goes or gives up pods, then admissions, who gets more pods, and who waits.

    `stood` are the nodes of all pods before the cycle: those of pods that move are others by now.
    """
    gone, larger, admitted, waiting = list[Outcome](), list[Outcome](), list[Outcome](), list[Outcome]()
    for each in session.workloads:
        workload = state.workloads[each.name]
        if workload.admitted is not None:
            for outcome in decided_of_running(state, session, each, stood, done.evictions):
                (larger if isinstance(outcome, Resize) and outcome.victim is None else gone).append(outcome)
        elif _starts(session, workload, each):
            admitted.append(_admission(state, session, workload, each))
        else:
            waiting.append(_deferral(session, workload, each, done))
    return [*gone, *admitted, *larger, *waiting]


def _starts(session: Session, workload: Workload, each: SessionWorkload) -> bool:
    """Whether a workload has room for as many pods as it needs."""
    return _has_room_for(workload, session.pods_of(each, PodStatus.PLACED))


def _has_room_for(workload: Workload, pods: Sequence[Pod]) -> bool:
    """Whether pods are as many as a workload needs."""
    counts = [sum(pod.pod_set.name == pod_set.name for pod in pods) for pod_set in workload.fact.pod_sets]
    return bool(pods) and all(count >= least for count, least in zip(counts, least_pods(workload), strict=True))


# --- who runs ---------------------------------------------------------------------------------------------------------


def _admission(state: State, session: Session, workload: Workload, each: SessionWorkload) -> Admission:
    """The admission of a workload with the pods that have room now."""
    flavors = FlavorAssignment()
    for pod_set, _ in workload.pod_sets():
        pods = [pod for pod in session.pods_of(each, PodStatus.PLACED) if pod.pod_set.name == pod_set.name]
        requests = {resource: amount * len(pods) for resource, amount in sorted(pod_set.requests.items())}
        chosen = {resource: Chosen(FLAVOR, Grade.FIT, 0, -1) for resource in requests if state.active.slot(FLAVOR, resource) is not None}
        flavors.pod_sets.append(PodSetFlavors(pod_set.name, len(pods), requests, chosen, places=places_of(session, pods)))
        for index, resource in enumerate(session.resources):
            slot = state.active.slot(FLAVOR, resource)
            if slot is not None:
                flavors.usage[slot] = flavors.usage.get(slot, 0) + sum(pod.requests[index] for pod in pods)
    flavors.whole = dict(flavors.usage)
    queue, tree, request = workload.queue, state.active.tree, as_request(flavors.whole)
    used = tuple(tree.usage[queue][slot] for slot, _ in request)
    owned = tuple(tree.subtree[queue][slot] for slot, _ in request)
    beyond = {slot: min(amount, before + amount - own) for (slot, amount), before, own in zip(request, used, owned, strict=True)}
    return Admission(workload.name, queue, workload.priority, flavors, request, used, owned, as_request(beyond))


def places_of(session: Session, pods: Sequence[Pod]) -> tuple[PlacedPods, ...]:
    """The places of pods, in the order of the pods: how many stand on which node."""
    nodes = [pod.node for pod in sorted(pods, key=lambda pod: (pod.node, pod.number))]
    return tuple(PlacedPods(domain=(session.nodes[node].name,), pods=len(list(same))) for node, same in groupby(nodes))


# --- who waits --------------------------------------------------------------------------------------------------------


def _deferral(session: Session, workload: Workload, each: SessionWorkload, done: PassesDone) -> Deferral:
    """Why a workload waits: for room that others leave, or for want of quota or places."""
    evictions = done.evictions
    victims = sorted({session.workload_of(session.pods[pod]).name for pod in evictions if evictions[pod].workload == each.number})
    promised = _has_room_for(workload, session.pods_of(each, PodStatus.PROMISED, PodStatus.RESERVED, PodStatus.PLACED))
    outcome: DeferralOutcome = "let in" if each.number in done.let_in else "no room"
    if promised or victims:
        outcome = "preempting" if victims else "deferred"
    reason: DeferralReason = "WaitingForPreemptedWorkloads" if promised or victims else "WaitingForQuota"
    return Deferral(workload.name, workload.queue, LastDeferral(reason, outcome, parked=False, victims=tuple(victims)))
