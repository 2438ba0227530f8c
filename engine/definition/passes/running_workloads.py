"""What passes did to workloads that run: who has to go, who gives up surplus pods, and who gets more of them.

A workload that is left with fewer pods than it needs goes whole. One that loses pods and gets others in one cycle does so by two decisions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from ...elastic.pod_counts import changes_between, least_pods, resized, running_pods
from ...event_parts import Assignment, PlacedPods
from ...outcome.decision import Eviction, Outcome, Resize
from ...outcome.nomination import SurplusTaken, Victim
from ...workload import Workload, victim
from ..admission.growth import growth_of
from ..session.pods import NO_NODE, Pod, PodStatus, SessionWorkload
from ..session.session import Session
from ..state.state import State
from ..state.trial import Trial
from .pass_eviction import PassEviction


def decided_of_running(
    state: State, session: Session, each: SessionWorkload, stood: Sequence[int], evictions: Mapping[int, PassEviction]
) -> list[Outcome]:
    """The decisions about one workload that runs, in the order in which they are carried out; `stood` are the nodes of all pods before."""
    workload = state.workloads[each.name]
    pods_of, counts = [_of_pod_set(session, each, name) for name in _names(workload)], running_pods(workload)
    ran = [pods[:count] for pods, count in zip(pods_of, counts, strict=True)]
    gone = [[pod for pod in pods if pod.number in evictions] for pods in ran]
    new = [[pod for pod in pods[count:] if pod.status is PodStatus.PLACED] for pods, count in zip(pods_of, counts, strict=True)]
    found: list[Outcome] = []
    if any(gone):
        by = evictions[next(pod.number for pods in gone for pod in pods)]
        left = [len(pods) - len(lost) for pods, lost in zip(ran, gone, strict=True)]
        if any(count < least for count, least in zip(left, least_pods(workload), strict=True)):
            return [_eviction(state, session, workload, by)]
        lost = [[stood[pod.number] for pod in pods] for pods in gone]
        smaller = _after(state, session, workload, lost, [[] for _ in gone])
        found.append(_shrinking(state, session, workload, smaller, by))
        workload = smaller
    if any(new) and all(given.places for given in workload.assignments if given.count):
        more = [[pod.node for pod in pods] for pods in new]
        found.append(growth_of(Trial(state), workload, _after(state, session, workload, [[] for _ in new], more)))
    return found


def _names(workload: Workload) -> list[str]:
    return [pod_set.name for pod_set in workload.fact.pod_sets]


def _of_pod_set(session: Session, each: SessionWorkload, name: str) -> list[Pod]:
    """The pods of a pod set, in their order: those that ran come first."""
    return [pod for pod in session.pods_of(each) if pod.pod_set.name == name]


def _after(state: State, session: Session, workload: Workload, gone: Sequence[Sequence[int]], new: Sequence[Sequence[int]]) -> Workload:
    """A workload without pods on some nodes and with others: of each pod set a node for each of these pods."""
    counts = [count - len(lost) + len(more) for count, lost, more in zip(running_pods(workload), gone, new, strict=True)]
    given = {each.pod_set: each for each in workload.assignments}
    changed = zip(_names(workload), gone, new, strict=True)
    places = {name: _places(session, given[name], lost, more) for name, lost, more in changed if lost or more}
    return resized(workload, state.active.slot_index, counts, places)


def _places(session: Session, given: Assignment, gone: Sequence[int], new: Sequence[int]) -> tuple[PlacedPods, ...]:
    """The places of a pod set without pods on some nodes and with others, in order."""
    pods = Counter({place.domain[-1]: place.pods for place in given.places})
    pods.subtract(session.nodes[node].name for node in gone if node != NO_NODE)
    pods.update(session.nodes[node].name for node in new)
    return tuple(PlacedPods(domain=(name,), pods=pods[name]) for name in sorted(pods) if pods[name] > 0)


# --- as decisions -----------------------------------------------------------------------------------------------------


def _eviction(state: State, session: Session, workload: Workload, by: PassEviction) -> Eviction:
    if by.workload < 0:
        return Eviction(victim(workload, by.kind))
    beneficiary = state.workloads[session.workloads[by.workload].name]
    return Eviction(victim(workload, by.kind), beneficiary.name, beneficiary.queue, beneficiary.priority)


def _shrinking(state: State, session: Session, workload: Workload, smaller: Workload, by: PassEviction) -> Resize:
    changes = changes_between(workload.assignments, smaller.assignments, dict(zip(_names(workload), running_pods(workload), strict=True)))
    left = SurplusTaken(smaller.assignments, smaller.usage, changes)
    taken = Victim(workload.name, workload.queue, by.kind, workload.priority, workload.usage, left=left)
    beneficiary = None if by.workload < 0 else state.workloads[session.workloads[by.workload].name].name
    return Resize(
        workload.name,
        workload.queue,
        workload.priority,
        changes,
        smaller.assignments,
        smaller.usage,
        victim=taken,
        beneficiary=beneficiary,
    )
