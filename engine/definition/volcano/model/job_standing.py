"""How far a workload is: how many of its pods are ready, wait for room, and whether it may start, by the minimums of its gang.

Volcano: pkg/scheduler/api/job_info.go, sub_job_info.go.
"""

from collections.abc import Callable, Sequence

from ...session.pods import NO_NODE, Pod, PodStatus, SessionWorkload
from .pod_group_facts import GroupPhase, NetworkWish, SubJob
from .volcano_cycle import VolcanoCycle

READY = (PodStatus.RESERVED, PodStatus.PLACED, PodStatus.RUNNING)
"""Statuses that Volcano calls allocated. Pods that succeeded count as ready, too."""


def is_pending(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a PodGroup was not let in yet (`IsPending`)."""
    return cycle.phases[workload.number] is GroupPhase.PENDING


def is_ready_pod(cycle: VolcanoCycle, pod: Pod) -> bool:
    """Whether a pod has its room, or has succeeded (`ReadyTaskNum`)."""
    return pod.status in READY or (pod.status is PodStatus.DONE and cycle.pods[pod.number].succeeded)


def ready(cycle: VolcanoCycle, pods: Sequence[Pod]) -> int:
    """How many pods are ready (`ReadyTaskNum`)."""
    return sum(is_ready_pod(cycle, pod) for pod in pods)


def promised(pods: Sequence[Pod]) -> int:
    """How many pods wait for room on a node (`WaitingTaskNum`)."""
    return sum(pod.status is PodStatus.PROMISED for pod in pods)


def waiting_for_nothing(cycle: VolcanoCycle, pods: Sequence[Pod]) -> int:
    """How many pods wait that ask for nothing (`PendingBestEffortTaskNum`)."""
    return sum(pod.status is PodStatus.WAITING and cycle.best_effort(pod) for pod in pods)


def starts(cycle: VolcanoCycle, pods: Sequence[Pod], minimum: int) -> bool:
    """Whether enough pods are ready (`IsReady`)."""
    return ready(cycle, pods) + waiting_for_nothing(cycle, pods) >= minimum


def starts_later(cycle: VolcanoCycle, pods: Sequence[Pod], minimum: int) -> bool:
    """Whether enough pods are ready or were promised room (`IsPipelined`)."""
    return promised(pods) + ready(cycle, pods) + waiting_for_nothing(cycle, pods) >= minimum


def starves(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a gang lacks pods (`IsStarving`)."""
    pods = cycle.session.pods_of(workload)
    return promised(pods) + ready(cycle, pods) < workload.groups[0].minimum


# --- minimums by role ------------------------------------------------------------------------------------------------


def roles_count(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether minimums by role are looked at: not where they are more than the gang's own minimum together."""
    return workload.groups[0].minimum >= sum(minimum for _, minimum in cycle.groups[workload.number].least_by_role)


def by_role(cycle: VolcanoCycle, workload: SessionWorkload, counts: Callable[[Pod], bool]) -> dict[str, int]:
    """How many pods of each role count."""
    found: dict[str, int] = {}
    for pod in cycle.session.pods_of(workload):
        if counts(pod):
            role = cycle.pods[pod.number].role
            found[role] = found.get(role, 0) + 1
    return found


def roles_have(cycle: VolcanoCycle, workload: SessionWorkload, counts: Callable[[Pod], bool]) -> bool:
    """Whether each role has as many pods that count as it needs."""
    if not roles_count(cycle, workload):
        return True
    found = by_role(cycle, workload, counts)
    return all(found.get(role, 0) >= minimum for role, minimum in cycle.groups[workload.number].least_by_role)


def has_room(cycle: VolcanoCycle, pod: Pod) -> bool:
    """Whether a pod counts for its role as ready: also one that waits and asks for nothing (`getJobAllocatedRoles`)."""
    return is_ready_pod(cycle, pod) or (pod.status is PodStatus.WAITING and cycle.best_effort(pod))


def has_or_gets_room(cycle: VolcanoCycle, pod: Pod) -> bool:
    """The same, or it was promised room (`CheckTaskPipelined`)."""
    return has_room(cycle, pod) or pod.status is PodStatus.PROMISED


def is_valid_pod(cycle: VolcanoCycle, pod: Pod) -> bool:
    """Whether a pod counts at all: it waits, has room or was promised it, or has succeeded (`ValidTaskNum`)."""
    return pod.status in (PodStatus.WAITING, PodStatus.PROMISED) or is_ready_pod(cycle, pod)


# --- sub-jobs --------------------------------------------------------------------------------------------------------


def has_policies(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a PodGroup divides its pods into sub-jobs (`ContainsSubJobPolicy`)."""
    return bool(cycle.groups[workload.number].policies)


def pods_of_sub_job(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> list[Pod]:
    """The pods of a sub-job."""
    return [pod for pod in cycle.session.pods_of(workload) if pod.group == sub_job.group]


def policies_have(
    cycle: VolcanoCycle, workload: SessionWorkload, counts: Callable[[VolcanoCycle, Sequence[Pod], int], bool] | None
) -> bool:
    """Whether each policy has as many sub-jobs that count as it needs; None: all that are there count."""
    sub_jobs = cycle.groups[workload.number].sub_jobs
    for policy in cycle.groups[workload.number].policies:
        minimum = workload.groups[policy].minimum
        of_it = [sub_job for sub_job in sub_jobs if sub_job.policy == policy]
        if counts is not None:
            of_it = [
                sub_job
                for sub_job in of_it
                if counts(cycle, pods_of_sub_job(cycle, workload, sub_job), workload.groups[sub_job.group].minimum)
            ]
        if len(of_it) < minimum:
            return False
    return True


# --- wishes for HyperNodes -------------------------------------------------------------------------------------------


def hard_tier_of_job(cycle: VolcanoCycle, workload: SessionWorkload) -> int | None:
    """The highest tier in which all pods of a workload are to stand together; None: it does not matter.

    One that only wishes it goes the same way, up to the top HyperNode (`convertSoftToHardTopology`).
    """
    return _hard_tier(cycle.groups[workload.number].network, cycle.hyper_nodes.tiers[-1] if cycle.hyper_nodes.tiers else 0)


def hard_tier_of_sub_job(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> int | None:
    """The same of a sub-job. One that only wishes it goes no higher than the whole workload may."""
    of_job = hard_tier_of_job(cycle, workload)
    top = cycle.hyper_nodes.tiers[-1] if cycle.hyper_nodes.tiers else 0
    return _hard_tier(sub_job.network, top if of_job is None else of_job)


def _hard_tier(wish: NetworkWish | None, soft_tier: int) -> int | None:
    if wish is None:
        return None
    return wish.highest_tier if wish.hard else soft_tier


def has_hard_wish(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a workload or a sub-job of it is to stand together (`ContainsHardTopology`)."""
    return hard_tier_of_job(cycle, workload) is not None or any(
        hard_tier_of_sub_job(cycle, workload, sub_job) is not None for sub_job in cycle.groups[workload.number].sub_jobs
    )


def has_wish(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a workload or a sub-job of it says anything of HyperNodes (`ContainsNetworkTopology`)."""
    group = cycle.groups[workload.number]
    return group.network is not None or any(sub_job.network is not None for sub_job in group.sub_jobs)


# --- going on after a pod found no node ------------------------------------------------------------------------------


def failed_roles(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> set[str]:
    """The roles of which a pod of a sub-job found no node (`FitFailedRoles`)."""
    return {cycle.pods[pod].role for pod in cycle.no_node_for[workload.number] if cycle.session.pods[pod].group == sub_job.group}


def goes_on(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> bool:
    """Whether other pods are still tried after one found no node: only where the gang can become ready (`NeedContinueAllocating`)."""
    pods = cycle.session.pods_of(workload)
    minimum = workload.groups[0].minimum
    if minimum == len(pods):
        return False
    if workload.groups[sub_job.group].minimum >= len(pods_of_sub_job(cycle, workload, sub_job)):
        return False
    if has_policies(cycle, workload):
        return True
    failed = failed_roles(cycle, workload, sub_job)
    if not roles_count(cycle, workload):
        left = sum(pod.status is PodStatus.WAITING and cycle.pods[pod.number].role not in failed for pod in pods)
        return ready(cycle, pods) + left >= minimum
    having = by_role(cycle, workload, lambda pod: has_room(cycle, pod))
    return all(having.get(role, 0) >= least for role, least in cycle.groups[workload.number].least_by_role if role in failed)


# --- how it ends -----------------------------------------------------------------------------------------------------


def phase_at_end(cycle: VolcanoCycle, workload: SessionWorkload) -> GroupPhase:
    """The phase that a PodGroup has when the cycle is over (`getGroupPhase`). Pods placed in this cycle do not count yet."""
    pods = cycle.session.pods_of(workload)
    if any(pod.status is PodStatus.RUNNING for pod in pods) and _unschedulable(cycle, workload):
        return GroupPhase.UNKNOWN
    completed = sum(pod.status is PodStatus.DONE for pod in pods)
    scheduled = completed + sum(pod.status is PodStatus.RUNNING or cycle.is_bound(pod) or _stops_on_node(pod) for pod in pods)
    if scheduled >= workload.groups[0].minimum:
        return GroupPhase.COMPLETED if scheduled == completed else GroupPhase.RUNNING
    phase = cycle.phases[workload.number]
    return phase if phase is GroupPhase.INQUEUE else GroupPhase.PENDING


def _unschedulable(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether the plugin `gang` says so at the end of the cycle; pods that stop may still make up the gang."""
    pods = cycle.session.pods_of(workload)
    minimum = workload.groups[0].minimum
    if cycle.settings.plugin("gang") is None or not pods or starts(cycle, pods, minimum):
        return False
    stopping = sum(_stops_on_node(pod) for pod in pods)
    if stopping and not any(pod.status in (PodStatus.WAITING, PodStatus.PROMISED) for pod in pods):
        scheduled = sum(pod.status in (PodStatus.RUNNING, PodStatus.DONE) or cycle.is_bound(pod) for pod in pods)
        return scheduled + stopping < minimum
    return True


def _stops_on_node(pod: Pod) -> bool:
    return pod.status is PodStatus.STOPPING and pod.node != NO_NODE
