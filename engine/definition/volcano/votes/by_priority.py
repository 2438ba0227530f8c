"""The plugins `priority` and `conformance`: who comes first by priority, who yields to it, and who never does.

Volcano: pkg/scheduler/plugins/priority/priority.go, plugins/conformance/conformance.go.
"""

from collections.abc import Sequence
from functools import partial

from ...session.pods import Pod, SessionWorkload
from ..model.job_standing import pods_of_sub_job, promised, ready
from ..model.plugin_votes import PluginVotes
from ..model.pod_group_facts import SubJob
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin


def open_priority(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `priority` says in a cycle."""
    return PluginVotes(
        job_order=partial(job_priority_order, cycle),
        job_starving=partial(wants_all_its_pods, cycle),
        sub_job_order=partial(sub_job_priority_order, cycle),
        pod_order=partial(pod_priority_order, cycle),
        preemptable=partial(lower_priority_victims, cycle),
    )


def open_conformance(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `conformance` says in a cycle."""
    return PluginVotes(preemptable=partial(uncritical_victims, cycle), reclaimable=partial(uncritical_victims, cycle))


def pod_priority_order(cycle: VolcanoCycle, left: Pod, right: Pod) -> int:
    """The pod of higher priority comes first."""
    return right.priority - left.priority


def job_priority_order(cycle: VolcanoCycle, left: SessionWorkload, right: SessionWorkload) -> int:
    """The workload of higher priority comes first."""
    return right.priority - left.priority


def sub_job_priority_order(cycle: VolcanoCycle, workload: SessionWorkload, left: SubJob, right: SubJob) -> int:
    """The sub-job of higher priority comes first: that of its highest pod, no less than 0."""
    return _sub_job_priority(cycle, workload, right) - _sub_job_priority(cycle, workload, left)


def lower_priority_victims(cycle: VolcanoCycle, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
    """The candidates of workloads of lower priority and, in the same workload, of lower priority themselves."""
    own = cycle.session.workload_of(pod)
    victims = []
    for candidate in candidates:
        other = cycle.session.workload_of(candidate)
        lower = candidate.priority < pod.priority if other is own else other.priority < own.priority
        if lower:
            victims.append(candidate)
    return victims


def wants_all_its_pods(cycle: VolcanoCycle, workload: SessionWorkload) -> bool:
    """A workload starves while any of its pods has no room."""
    pods = cycle.session.pods_of(workload)
    return ready(cycle, pods) + promised(pods) < len(pods)


def uncritical_victims(cycle: VolcanoCycle, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
    """The candidates that do not belong to the system."""
    return [candidate for candidate in candidates if not cycle.pods[candidate.number].critical]


def _sub_job_priority(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> int:
    return max([0, *(pod.priority for pod in pods_of_sub_job(cycle, workload, sub_job))])
