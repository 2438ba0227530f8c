"""The pass `preempt`: room for workloads at the cost of others of the same queue, then for single pods within their own workload.

Volcano: pkg/scheduler/actions/preempt/preempt.go. The second part does not ask whether the gang can start, and takes idle room as well.
"""

from collections.abc import Callable

from ...session.pods import Pod, PodStatus, SessionWorkload
from ..model.job_standing import has_wish, is_pending
from ..model.moving_heap import MovingHeap
from ..model.volcano_cycle import VolcanoCycle, fits
from ..place.best_node import by_score
from ..place.candidates_on import candidates_on, would_be_enough
from ..place.kept_apart import is_kept_apart
from ..place.predicates import FailedNodes, by_shard, could_have, may_have
from ..votes.tiers import PluginTiers
from .spared_victims import take_least_missed

PREEMPT = "preempt"


def preempt(tiers: PluginTiers) -> None:
    """Look at the workloads that starve, queue by queue. Those that wish for HyperNodes are left out."""
    cycle = tiers.cycle
    starving = [workload for workload in cycle.jobs if _takes_part(tiers, workload)]
    of_queue: dict[int, MovingHeap[SessionWorkload]] = {}
    for workload in starving:
        of_queue.setdefault(workload.queue, MovingHeap(tiers.job_before)).push(workload)
    pods = {workload.number: waiting_pods(tiers, workload) for workload in starving}
    attempt = _Preemption(tiers)
    queues = MovingHeap(tiers.queue_before, sorted(of_queue))
    while queues:
        queue = queues.pop()
        while of_queue[queue]:
            workload = of_queue[queue].pop()
            attempt.between_workloads(workload, pods[workload.number])
        for workload in starving:
            if workload.queue == queue:
                attempt.within_workload(workload)


def _takes_part(tiers: PluginTiers, workload: SessionWorkload) -> bool:
    cycle = tiers.cycle
    if is_pending(cycle, workload) or not tiers.job_is_valid(workload) or not tiers.job_starves(workload):
        return False
    return not has_wish(cycle, workload)


def waiting_pods(tiers: PluginTiers, workload: SessionWorkload) -> MovingHeap[Pod]:
    """The pods of a workload that wait, in order, without those that a scheduling gate holds."""
    cycle = tiers.cycle
    waiting = sorted(cycle.session.pods_of(workload, PodStatus.WAITING), key=lambda pod: cycle.pods[pod.number].uid)
    return MovingHeap(tiers.pod_before, [pod for pod in waiting if not cycle.pods[pod.number].gated])


class _Preemption:
    """The attempts of one pass; what nodes were no good for a role is remembered throughout."""

    def __init__(self, tiers: PluginTiers) -> None:
        self._tiers = tiers
        self._cycle = tiers.cycle
        self._failed = FailedNodes()

    def between_workloads(self, workload: SessionWorkload, pods: MovingHeap[Pod]) -> None:
        """Try the pods of a workload while it starves; keep it if the workload can start once others have left."""
        tiers, cycle = self._tiers, self._cycle
        mark = cycle.mark()
        while pods and tiers.job_starves(workload):
            pod = pods.pop()

            def others(candidate: Pod, pod: Pod = pod) -> bool:
                other = cycle.session.workload_of(candidate)
                return self._may_yield(pod, candidate) and other.queue == workload.queue and other is not workload

            self._try(pod, others)
        if tiers.job_is_promised(workload):
            cycle.commit(mark)
        else:
            cycle.undo(mark)

    def within_workload(self, workload: SessionWorkload) -> None:
        """Give each pod that waits room at the cost of pods of its own workload, until one finds none."""
        cycle = self._cycle
        pods = waiting_pods(self._tiers, workload)
        while pods:
            pod = pods.pop()

            def own(candidate: Pod, pod: Pod = pod) -> bool:
                return self._may_yield(pod, candidate) and candidate.workload == workload.number

            mark = cycle.mark()
            if not self._try(pod, own):
                cycle.undo(mark)
                break
            cycle.commit(mark)

    def _may_yield(self, pod: Pod, candidate: Pod) -> bool:
        cycle = self._cycle
        if candidate.status is not PodStatus.RUNNING and not cycle.is_bound(candidate):
            return False
        return not cycle.best_effort(pod) or cycle.best_effort(candidate)

    def _try(self, pod: Pod, accepts: Callable[[Pod], bool]) -> bool:
        """Promise a pod room on the best node where it finds any, with those evicted who are in its way; whether it found it.

        Where it may not stand with another pod, no eviction helps: the original looks at pods as they were before it.
        """
        cycle, tiers = self._cycle, self._tiers
        if not self._is_eligible(pod):
            return False
        cycle.looked_at.add(pod.number)
        found = self._failed.nodes_for(cycle, pod, range(len(cycle.session.nodes)), could_have)
        if cycle.settings.topology_aware_preemption:
            return any(take_least_missed(tiers, pod, nodes, accepts, PREEMPT) for nodes in by_shard(cycle, found))
        together = [node for node in found if not (cycle.asks_predicates and is_kept_apart(cycle, pod, node))]
        in_order = [node for nodes in by_shard(cycle, together) for node in by_score(tiers, pod, nodes)]
        return any(self._on_node(pod, node, accepts) for node in in_order)

    def _on_node(self, pod: Pod, node: int, accepts: Callable[[Pod], bool]) -> bool:
        cycle, tiers = self._cycle, self._tiers
        victims = tiers.victims("preemptable", pod, candidates_on(cycle, node, accepts))
        if not would_be_enough(cycle, pod, node, victims):
            return False
        mark = cycle.mark()
        waiting = tiers.victims_in_order(victims, pod)
        evicted = False
        while waiting and not finds_room(tiers, pod, node):
            victim = waiting.pop()
            evicted = evicted or not cycle.best_effort(victim)
            cycle.evict(victim, PREEMPT, pod)
        if not finds_room(tiers, pod, node):
            cycle.undo(mark)
            return False
        cycle.promise(pod, node, evicted)
        return True

    def _is_eligible(self, pod: Pod) -> bool:
        """Whether others may be evicted for a pod: its policy lets it, and no node that it was promised before would take it now.

        The original cannot tell whether the node would while no pass has looked for nodes for the pod; then they may be evicted.
        """
        cycle = self._cycle
        facts = cycle.pods[pod.number]
        if not facts.evicts:
            return False
        if facts.nominated < 0 or (cycle.asks_predicates and pod.number not in cycle.looked_at):
            return True
        return not may_have(cycle, pod, facts.nominated)


def finds_room(tiers: PluginTiers, pod: Pod, node: int) -> bool:
    """Whether a pod may have a node, which has room for it once those who stop are gone, and its queue lets it (`preemptorFitsOnNode`)."""
    cycle: VolcanoCycle = tiers.cycle
    queue = cycle.session.workload_of(pod).queue
    return tiers.allocatable(queue, pod) and fits(pod.requests, cycle.session.free_later(node)) and may_have(cycle, pod, node)
