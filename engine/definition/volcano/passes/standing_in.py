"""In which HyperNodes workloads stand when a cycle begins: found from their pods.

Volcano: pkg/scheduler/framework/session.go (`recoverAllocatedHyperNode`). The annotation that it writes is never read there.
"""

from ...session.pods import SessionWorkload
from ..model.job_standing import READY, has_wish, pods_of_sub_job
from ..model.pod_group_facts import SubJob
from ..model.volcano_cycle import VolcanoCycle


def begin_standing(cycle: VolcanoCycle) -> None:
    """Find out where each workload with a wish stands, and its sub-jobs: in the lowest HyperNode that has all its pods."""
    for workload in cycle.jobs:
        if not has_wish(cycle, workload):
            continue
        standing = cycle.sub_jobs_in[workload.number]
        for index, sub_job in enumerate(cycle.groups[workload.number].sub_jobs):
            if sub_job.network is not None:
                standing[index] = _lowest_with_all(cycle, _nodes(cycle, workload, sub_job))
        together = ""
        for name in standing:
            if name:
                together = cycle.hyper_nodes.common(together, name)
                if not together:
                    break
        cycle.allocated_in[workload.number] = together


def _nodes(cycle: VolcanoCycle, workload: SessionWorkload, sub_job: SubJob) -> set[int]:
    return {pod.node for pod in pods_of_sub_job(cycle, workload, sub_job) if pod.status in READY}


def _lowest_with_all(cycle: VolcanoCycle, nodes: set[int]) -> str:
    if not nodes:
        return ""
    by_name = cycle.hyper_nodes.by_name
    having = [by_name[name] for name in sorted(by_name) if nodes <= set(by_name[name].nodes)]
    return min(having, key=lambda each: (each.tier, each.name)).name if having else ""
