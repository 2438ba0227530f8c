"""Room for the pods of a workload, one after the other, each on the node that is best for it then.

Volcano: pkg/scheduler/actions/allocate/allocate.go (`allocateResourcesForTasks`).
"""

from collections.abc import Sequence

from ...session.pods import Pod, SessionWorkload
from ..model.job_standing import failed_roles, goes_on
from ..model.moving_heap import MovingHeap
from ..model.pod_group_facts import SubJob
from ..model.volcano_cycle import fits
from ..place.best_node import best_with_room, place
from ..place.predicates import FailedNodes, may_have_with_room
from ..votes.tiers import PluginTiers


class PodsInTurn:
    """One attempt to give the pods of a sub-job room."""

    def __init__(self, tiers: PluginTiers) -> None:
        self._tiers = tiers
        self._cycle = tiers.cycle
        self._failed = FailedNodes()

    def give_room(self, workload: SessionWorkload, sub_job: SubJob, pods: MovingHeap[Pod], nodes: Sequence[int]) -> bool:
        """Give pods room on some nodes until the sub-job may start; pods that were tried are taken out.

        Whether it may start, now or once others have left; else all is taken back.
        """
        cycle, tiers = self._cycle, self._tiers
        if not nodes:
            return False
        mark = cycle.mark()
        stands_in = cycle.sub_jobs_in[workload.number][cycle.groups[workload.number].sub_jobs.index(sub_job)]
        while pods:
            pod = pods.pop()
            if not tiers.allocatable(workload.queue, pod):
                continue
            role = cycle.pods[pod.number].role
            if role and role in failed_roles(cycle, workload, sub_job):
                cycle.no_node_for[workload.number][pod.number] = None
                continue
            cycle.looked_at.add(pod.number)
            found = self._nodes_for(pod, nodes)
            if not found:
                cycle.no_node_for[workload.number][pod.number] = None
                if goes_on(cycle, workload, sub_job):
                    continue
                break
            node = best_with_room(tiers, pod, found, stands_in if sub_job.network is not None else "")
            if node is None or not place(cycle, pod, node):
                continue
            if sub_job.network is not None:
                stands_in = self._stands_in(node, stands_in)
            if tiers.sub_job_is_ready(workload, sub_job):
                break
        if tiers.sub_job_is_ready(workload, sub_job) or tiers.sub_job_is_promised(workload, sub_job):
            return True
        cycle.undo(mark)
        return False

    def _nodes_for(self, pod: Pod, nodes: Sequence[int]) -> list[int]:
        """The nodes that a pod may have; the one alone that it was promised before, where it may have that."""
        cycle = self._cycle
        nominated = cycle.pods[pod.number].nominated
        if nominated in nodes and fits(pod.requests, cycle.session.free_later(nominated)):
            found = self._failed.nodes_for(cycle, pod, [nominated], may_have_with_room)
            if found:
                return found
        return self._failed.nodes_for(cycle, pod, nodes, may_have_with_room)

    def _stands_in(self, node: int, before: str) -> str:
        """The HyperNode in which a sub-job stands with one more node (`getNewAllocatedHyperNode`)."""
        lowest = self._cycle.hyper_nodes.lowest_of(node)
        return self._cycle.hyper_nodes.common(lowest, before) if lowest else before
