"""The pass `allocate`: room for workloads that were let in, one at a time, of the queue that comes first.

Volcano: pkg/scheduler/actions/allocate/allocate.go. What is tried for a workload is carried out once it may start. Where it could start
only when others have left, its room is kept for the rest of the cycle, and nothing starts. Else it is taken back.
"""

from dataclasses import dataclass

from ...session.pods import PodStatus, SessionWorkload
from ..model.job_standing import has_hard_wish, has_policies, is_pending
from ..model.moving_heap import MovingHeap
from ..model.pod_group_facts import GroupPhase
from ..votes.tiers import PluginTiers
from .in_hyper_nodes import InHyperNodes
from .pods_in_turn import PodsInTurn
from .worksheets import Worksheet, worksheet_of


@dataclass(frozen=True, slots=True)
class _Work:
    """The workloads of each queue, and what is left to do for each."""

    of_queue: dict[int, MovingHeap[SessionWorkload]]
    sheets: dict[int, Worksheet]


def allocate(tiers: PluginTiers) -> None:
    """Give room to one workload of the first queue at a time, until no queue has any left."""
    cycle = tiers.cycle
    work = _work(tiers)
    queues = MovingHeap(tiers.queue_before, work.of_queue)
    in_hyper_nodes = InHyperNodes(tiers)
    while queues:
        queue = queues.pop()
        if tiers.overused(queue) or not work.of_queue[queue]:
            continue
        workload = work.of_queue[queue].pop()
        sheet = work.sheets[workload.number]
        if has_hard_wish(cycle, workload) or has_policies(cycle, workload):
            if in_hyper_nodes.allocate(workload, sheet) and not sheet.is_empty():
                work.of_queue[queue].push(workload)
        elif _whole(tiers, workload, sheet):
            work.of_queue[queue].push(workload)
        queues.push(queue)


def _whole(tiers: PluginTiers, workload: SessionWorkload, sheet: Worksheet) -> bool:
    """Give room to a workload without sub-jobs, wherever it is; whether it started and has pods left."""
    cycle = tiers.cycle
    sub_job = cycle.groups[workload.number].sub_jobs[0]
    pods = sheet.pods[0]
    mark = cycle.mark()
    kept = PodsInTurn(tiers).give_room(workload, sub_job, pods, range(len(cycle.session.nodes)))
    if not kept or not tiers.job_is_ready(workload):
        return False
    cycle.commit(mark)
    return bool(pods)


def _work(tiers: PluginTiers) -> _Work:
    cycle = tiers.cycle
    work = _Work({}, {})
    for workload in cycle.jobs:
        if is_pending(cycle, workload):
            if "enqueue" in cycle.settings.passes:
                continue
            cycle.phases[workload.number] = GroupPhase.INQUEUE
        if not tiers.job_is_valid(workload):
            continue
        if not any(pod.status is PodStatus.WAITING for pod in cycle.session.pods_of(workload)):
            continue
        sheet = worksheet_of(tiers, workload)
        if not sheet.is_empty():
            work.of_queue.setdefault(workload.queue, MovingHeap(tiers.job_before)).push(workload)
            work.sheets[workload.number] = sheet
    return work
