"""What is left to do for a workload in pass `allocate`: its sub-jobs in order, and the pods of each that wait, in order.

Volcano: pkg/scheduler/actions/allocate/allocate.go (`organizeJobWorksheet`).
"""

from ...session.pods import Pod, PodStatus, SessionWorkload
from ..model.job_standing import pods_of_sub_job
from ..model.moving_heap import MovingHeap
from ..votes.tiers import PluginTiers


class Worksheet:
    """The sub-jobs of a workload that have pods left, by their index, and the pods."""

    def __init__(self, sub_jobs: MovingHeap[int], pods: dict[int, MovingHeap[Pod]]) -> None:
        self.sub_jobs = sub_jobs
        self.pods = pods

    def is_empty(self) -> bool:
        """Whether nothing is left to do."""
        return not self.sub_jobs

    def copy(self) -> "Worksheet":
        """The same, to try something with."""
        return Worksheet(self.sub_jobs.copy(), {index: self.pods[index].copy() for index in self.pods})

    def become(self, other: "Worksheet") -> None:
        """Go on with what another one has left."""
        self.sub_jobs, self.pods = other.sub_jobs, other.pods


def worksheet_of(tiers: PluginTiers, workload: SessionWorkload) -> Worksheet:
    """What is to be done for a workload: as many sub-jobs of each policy as it needs come first, then the order of plugins counts."""
    cycle = tiers.cycle
    sub_jobs = cycle.groups[workload.number].sub_jobs
    counted = dict.fromkeys((0, *cycle.groups[workload.number].policies), 0)
    unready = MovingHeap[int](lambda left, right: tiers.sub_job_before(workload, sub_jobs[left], sub_jobs[right]))
    for index, sub_job in enumerate(sub_jobs):
        if tiers.sub_job_is_ready(workload, sub_job):
            counted[sub_job.policy] += 1
        else:
            unready.push(index)
    needed: set[int] = set()
    while unready:
        index = unready.pop()
        policy = sub_jobs[index].policy
        if policy and counted[policy] < workload.groups[policy].minimum:
            needed.add(index)
            counted[policy] += 1

    def before(left: int, right: int) -> bool:
        if (left in needed) != (right in needed):
            return left in needed
        return tiers.sub_job_before(workload, sub_jobs[left], sub_jobs[right])

    sheet = Worksheet(MovingHeap(before), {})
    for index, sub_job in enumerate(sub_jobs):
        pods = MovingHeap(tiers.pod_before)
        waiting = [pod for pod in pods_of_sub_job(cycle, workload, sub_job) if pod.status is PodStatus.WAITING]
        for pod in sorted(waiting, key=lambda pod: cycle.pods[pod.number].uid):
            if not cycle.pods[pod.number].gated and not cycle.best_effort(pod):
                pods.push(pod)
        if pods:
            sheet.sub_jobs.push(index)
            sheet.pods[index] = pods
    return sheet
