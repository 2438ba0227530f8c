"""The plugin `gang`: a workload starts with as many pods as it needs, and those who run keep as many.

Volcano: pkg/scheduler/plugins/gang/gang.go.
"""

from collections.abc import Sequence
from functools import partial

from ...session.pods import Pod, SessionWorkload
from ..model.job_standing import (
    has_or_gets_room,
    has_room,
    is_valid_pod,
    pods_of_sub_job,
    policies_have,
    ready,
    roles_have,
    starts,
    starts_later,
    starves,
)
from ..model.plugin_votes import PluginVotes
from ..model.pod_group_facts import SubJob
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin

PERMIT, REJECT = 1, -1
"""What a plugin says of a question on which it may also have no opinion (0)."""


def open_gang(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `gang` says in a cycle."""
    return PluginVotes(
        job_valid=partial(gang_is_valid, cycle),
        job_order=partial(gang_order, cycle),
        job_ready=partial(gang_is_ready, cycle),
        job_promised=partial(gang_is_promised, cycle),
        job_starving=partial(gang_starves, cycle),
        sub_job_order=partial(sub_gang_order, cycle),
        sub_job_ready=partial(sub_gang_is_ready, cycle),
        sub_job_promised=partial(sub_gang_is_promised, cycle),
        preemptable=partial(gang_victims, cycle),
        reclaimable=partial(gang_victims, cycle),
    )


def gang_is_valid(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a workload has pods enough, of each role and of each policy, whatever their room."""
    if not roles_have(cycle, workload, lambda pod: is_valid_pod(cycle, pod)) or not policies_have(cycle, workload, None):
        return False
    return sum(is_valid_pod(cycle, pod) for pod in cycle.session.pods_of(workload)) >= workload.groups[0].minimum


def gang_is_ready(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a workload may start: enough pods have room, of each role and in each policy."""
    return (
        roles_have(cycle, workload, lambda pod: has_room(cycle, pod))
        and policies_have(cycle, workload, starts)
        and starts(cycle, cycle.session.pods_of(workload), workload.groups[0].minimum)
    )


def gang_is_promised(cycle: VolcanoCycle, workload: SessionWorkload) -> int:
    """Whether a workload could start once others have left."""
    promised = (
        roles_have(cycle, workload, lambda pod: has_or_gets_room(cycle, pod))
        and policies_have(cycle, workload, starts_later)
        and starts_later(cycle, cycle.session.pods_of(workload), workload.groups[0].minimum)
    )
    return PERMIT if promised else REJECT


def gang_starves(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """Whether a gang is not complete; roles do not matter here."""
    return starves(cycle, workload)


def sub_gang_is_ready(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> bool:
    """Whether a sub-job may start."""
    return starts(cycle, pods_of_sub_job(cycle, workload, sub_job), workload.groups[sub_job.group].minimum)


def sub_gang_is_promised(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> int:
    """Whether a sub-job could start once others have left."""
    pods = pods_of_sub_job(cycle, workload, sub_job)
    return PERMIT if starts_later(cycle, pods, workload.groups[sub_job.group].minimum) else REJECT


def gang_order(cycle: VolcanoCycle, left: SessionWorkload, right: SessionWorkload) -> int:
    """Workloads that could not start yet come first."""
    return _starting(cycle, left) - _starting(cycle, right)


def sub_gang_order(cycle: VolcanoCycle, workload: SessionWorkload, left: SubJob, right: SubJob) -> int:
    """Sub-jobs that could not start yet come first."""
    return sub_gang_is_ready(cycle, workload, left) - sub_gang_is_ready(cycle, workload, right)


def gang_victims(cycle: VolcanoCycle, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
    """The candidates that their gangs can do without, one after the other: those beyond the minimum."""
    left: dict[int, int] = {}
    victims = []
    for candidate in candidates:
        workload = cycle.session.workload_of(candidate)
        having = left.setdefault(workload.number, ready(cycle, cycle.session.pods_of(workload)))
        if having > workload.groups[0].minimum:
            left[workload.number] = having - 1
            victims.append(candidate)
    return victims


def _starting(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    return starts(cycle, cycle.session.pods_of(workload), workload.groups[0].minimum)
