"""From what passes did to a session back to decisions: who runs from now on and where, who has to go and for whom, and who waits for what.

Room that a pod was promised is
promised for one cycle: the next one decides anew, when those who stop are gone.
"""

from collections.abc import Sequence
from itertools import groupby

from ...event_parts import DeferralOutcome, PlacedPods
from ...events import DeferralReason
from ...outcome.decision import Admission, Deferral, Eviction, LastDeferral, Outcome
from ...outcome.nomination import Chosen, FlavorAssignment, Grade, PodSetFlavors, as_request
from ...workload import Workload, victim
from ..session.pods import Pod, PodStatus, SessionWorkload
from ..session.session import Session
from ..state.state import State
from .open_session import FLAVOR
from .pass_eviction import PassesDone, PassEviction


def close_session(state: State, session: Session, done: PassesDone) -> list[Outcome]:
    """The decisions of a cycle: evictions by name, then admissions, then who waits."""
    evictions = done.evictions
    admitted, waiting, evicted = list[Outcome](), list[Deferral](), list[Eviction]()
    for each in session.workloads:
        workload = state.workloads[each.name]
        pods = session.pods_of(each)
        if workload.admitted is not None:
            gone = [pod for pod in pods if pod.number in evictions]
            if gone:
                evicted.append(_eviction(state, session, workload, evictions[gone[0].number]))
        elif any(pod.status is PodStatus.PLACED for pod in pods):
            admitted.append(_admission(state, session, workload, each))
        else:
            waiting.append(_deferral(session, workload, each, done))
    return [*sorted(evicted, key=lambda each: each.victim.workload), *admitted, *waiting]


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


# --- who goes ---------------------------------------------------------------------------------------------------------


def _eviction(state: State, session: Session, workload: Workload, by: PassEviction) -> Eviction:
    if by.workload < 0:
        return Eviction(victim(workload, by.kind))
    beneficiary = state.workloads[session.workloads[by.workload].name]
    return Eviction(victim(workload, by.kind), beneficiary.name, beneficiary.queue, beneficiary.priority)


# --- who waits --------------------------------------------------------------------------------------------------------


def _deferral(session: Session, workload: Workload, each: SessionWorkload, done: PassesDone) -> Deferral:
    """Why a workload waits: for room that others leave, or for want of quota or places."""
    evictions = done.evictions
    victims = sorted({session.workload_of(session.pods[pod]).name for pod in evictions if evictions[pod].workload == each.number})
    promised = any(pod.status is PodStatus.PROMISED for pod in session.pods_of(each))
    outcome: DeferralOutcome = "let in" if each.number in done.let_in else "no room"
    if promised or victims:
        outcome = "preempting" if victims else "deferred"
    reason: DeferralReason = "WaitingForPreemptedWorkloads" if promised or victims else "WaitingForQuota"
    return Deferral(workload.name, workload.queue, LastDeferral(reason, outcome, parked=False, victims=tuple(victims)))
