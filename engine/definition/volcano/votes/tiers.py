"""The votes of all plugins, put together tier by tier.

Volcano: pkg/scheduler/framework/session_plugins.go. Orders: the first plugin that knows a difference decides. Victims: within a tier those
in which all agree; the first tier that leaves any is final, and tiers after it are not asked. Votes: one no decides, and a tier with a yes
ends the asking. Other questions: all have to agree (whether a queue has too much: one is enough).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...session.pods import Pod, SessionWorkload
from ..model.hyper_node_map import HyperNodeDomain
from ..model.job_standing import has_policies
from ..model.moving_heap import MovingHeap
from ..model.plugin_votes import CALLBACK_OF, OpenPlugin, PluginVotes
from ..model.pod_group_facts import SubJob
from ..model.volcano_cycle import VolcanoCycle

Functions = list[list[Callable[..., Any]]]
"""The functions of one name, tier by tier."""


class PluginTiers:
    """The plugins of a cycle. `open_plugins` are those that are known, by name; others say nothing, as in the original."""

    def __init__(self, cycle: VolcanoCycle, open_plugins: Mapping[str, OpenPlugin]) -> None:
        self.cycle = cycle
        cycle.ordered_victims = self.taken_victims
        opened: list[list[tuple[frozenset[str], PluginVotes]]] = []
        for tier in cycle.settings.tiers:
            known = [plugin for plugin in tier if plugin.name in open_plugins]
            opened.append([(plugin.enabled, open_plugins[plugin.name](cycle, plugin)) for plugin in known])
        self._functions: dict[str, Functions] = {
            name: [[each for enabled, votes in tier if (each := _function(name, enabled, votes)) is not None] for tier in opened]
            for name in CALLBACK_OF
        }

    def of(self, name: str) -> list[Callable[..., Any]]:
        """The functions of one name that are on, of all tiers, in order."""
        return [function for tier in self._functions[name] for function in tier]

    # --- orders ------------------------------------------------------------------------------------------------------

    def job_difference(self, left: SessionWorkload, right: SessionWorkload) -> int:
        """Which of two workloads comes first as far as plugins know (0: they know no difference)."""
        return self._first("job_order", left, right)

    def job_before(self, left: SessionWorkload, right: SessionWorkload) -> bool:
        """Whether a workload comes before another one: by plugins, by age, by name."""
        known = self.job_difference(left, right)
        return known < 0 if known else (left.created, left.name) < (right.created, right.name)

    def queue_before(self, left: int, right: int) -> bool:
        """Whether a queue comes before another one: by plugins, by age, by name."""
        known = self._first("queue_order", left, right)
        nodes = self.cycle.session.quota_nodes
        return known < 0 if known else (nodes[left].created, nodes[left].name) < (nodes[right].created, nodes[right].name)

    def victim_queue_before(self, left: int, right: int, beneficiary: int) -> bool:
        """Whether victims of one queue go before those of another one: by plugins, else the queue that comes last."""
        known = self._first("victim_queue_order", left, right, beneficiary)
        return known < 0 if known else not self.queue_before(left, right)

    def pod_before(self, left: Pod, right: Pod) -> bool:
        """Whether a pod comes before another one: by plugins, by its number in its role, by age, by uid (`CompareTask`)."""
        known = self._first("pod_order", left, right)
        if known:
            return known < 0
        one, other = self.cycle.pods[left.number], self.cycle.pods[right.number]
        if one.index is None or other.index is None or one.index == other.index:
            return (left.created, one.uid) < (right.created, other.uid)
        return one.index < other.index

    def sub_job_before(self, workload: SessionWorkload, left: SubJob, right: SubJob) -> bool:
        """Whether a sub-job comes before another one of its workload: by plugins, by the number in its label, by name."""
        known = self._first("sub_job_order", workload, left, right)
        return known < 0 if known else (left.match_index, left.name) < (right.match_index, right.name)

    def victims_in_order(self, victims: Sequence[Pod], beneficiary: Pod) -> MovingHeap[Pod]:
        """Victims as they are taken (`BuildVictimsPriorityQueue`): of the queue to go first, of its last workload, the last pod."""
        session = self.cycle.session
        queue = session.workload_of(beneficiary).queue

        def before(left: Pod, right: Pod) -> bool:
            one, other = session.workload_of(left), session.workload_of(right)
            if one is other:
                return not self.pod_before(left, right)
            if one.queue != other.queue:
                return self.victim_queue_before(one.queue, other.queue, queue)
            known = self.job_difference(one, other)
            return known > 0 if known else not self.pod_before(left, right)

        return MovingHeap(before, victims)

    def taken_victims(self, victims: Sequence[Pod], beneficiary: Pod) -> Iterator[Pod]:
        """Victims one after the other, as they are taken."""
        heap = self.victims_in_order(victims, beneficiary)
        while heap:
            yield heap.pop()

    # --- victims -----------------------------------------------------------------------------------------------------

    def victims(self, name: str, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Who of the candidates may be evicted for a pod; `name` is `preemptable` or `reclaimable`.

        Where plugins of a tier agree on nobody, the next one of the tier begins anew, as in the original: nobody is as good as not asked.
        """
        for tier in self._functions[name]:
            agreed: list[Pod] = []
            for function in tier:
                named: list[Pod] = function(pod, candidates)
                if not named:
                    agreed = []
                    break
                numbers = {each.number for each in named}
                agreed = [each for each in agreed if each.number in numbers] if agreed else named
            if agreed:
                return agreed
        return []

    # --- questions ---------------------------------------------------------------------------------------------------

    def job_is_valid(self, workload: SessionWorkload) -> bool:
        """Whether a workload can be looked at at all."""
        return self._all("job_valid", workload)

    def job_is_ready(self, workload: SessionWorkload) -> bool:
        """Whether a workload may start."""
        return self._all("job_ready", workload)

    def job_is_promised(self, workload: SessionWorkload) -> bool:
        """Whether what was tried for a workload is worth keeping: it could start once others have left."""
        return self._vote("job_promised", workload)

    def job_starves(self, workload: SessionWorkload) -> bool:
        """Whether others may be evicted for a workload: the first tier that has an opinion says."""
        for tier in self._functions["job_starving"]:
            if tier:
                return all(function(workload) for function in tier)
        return False

    def job_may_enter(self, workload: SessionWorkload) -> bool:
        """Whether a pending PodGroup is let in."""
        return self._vote("job_enqueueable", workload)

    def tell_entered(self, workload: SessionWorkload) -> None:
        """Tell all plugins that a PodGroup was let in."""
        for function in self.of("job_enqueued"):
            function(workload)

    def sub_job_is_ready(self, workload: SessionWorkload, sub_job: SubJob) -> bool:
        """Whether a sub-job may start; without policies that is the whole workload."""
        if not has_policies(self.cycle, workload):
            return self.job_is_ready(workload)
        return self._all("sub_job_ready", workload, sub_job)

    def sub_job_is_promised(self, workload: SessionWorkload, sub_job: SubJob) -> bool:
        """Whether a sub-job could start once others have left; without policies that is the whole workload."""
        if not has_policies(self.cycle, workload):
            return self.job_is_promised(workload)
        return self._vote("sub_job_promised", workload, sub_job)

    def overused(self, queue: int) -> bool:
        """Whether a queue has too much to get more."""
        return any(function(queue) for function in self.of("overused"))

    def preemptive(self, queue: int, pod: Pod) -> bool:
        """Whether a queue may take room from other queues for a pod."""
        return self._all("preemptive", queue, pod)

    def allocatable(self, queue: int, pod: Pod) -> bool:
        """Whether a queue may give one more pod room."""
        return self._all("allocatable", queue, pod)

    # --- nodes and HyperNodes ----------------------------------------------------------------------------------------

    def node_scores(self, pod: Pod, nodes: Sequence[int], allocated_in: str) -> dict[int, Fraction | int]:
        """The sum of the scores of each node for a pod."""
        found: dict[int, Fraction | int] = dict.fromkeys(nodes, 0)
        for function in self.of("node_scores"):
            scores = function(pod, nodes, allocated_in)
            for node in nodes:
                found[node] += scores.get(node, 0)
        return found

    def hyper_node_scores(self, workload: SessionWorkload, sub_job: SubJob, names: Sequence[str]) -> dict[str, Fraction]:
        """The sum of the scores of each HyperNode for a sub-job."""
        found = {name: Fraction(0) for name in names}
        for function in self.of("hyper_node_scores"):
            scores = function(workload, sub_job, names)
            for name in names:
                found[name] += scores.get(name, 0)
        return found

    def gradients_for_job(self, workload: SessionWorkload, within: HyperNodeDomain) -> list[list[HyperNodeDomain]]:
        """The HyperNodes to try for a workload, those of the lowest tier first; without a plugin that says so, only `within`."""
        for function in self.of("gradients_for_job"):
            found: list[list[HyperNodeDomain]] = function(workload, within)
            return found
        return [[within]]

    def gradients_for_sub_job(self, workload: SessionWorkload, sub_job: SubJob, within: HyperNodeDomain) -> list[list[HyperNodeDomain]]:
        """The HyperNodes to try for a sub-job."""
        for function in self.of("gradients_for_sub_job"):
            found: list[list[HyperNodeDomain]] = function(workload, sub_job, within)
            return found
        return [[within]]

    # --- how it is put together --------------------------------------------------------------------------------------

    def _first(self, name: str, *arguments: object) -> int:
        for tier in self._functions[name]:
            for function in tier:
                known: int = function(*arguments)
                if known:
                    return known
        return 0

    def _all(self, name: str, *arguments: object) -> bool:
        return all(function(*arguments) for function in self.of(name))

    def _vote(self, name: str, *arguments: object) -> bool:
        for tier in self._functions[name]:
            votes = [function(*arguments) for function in tier]
            if any(vote < 0 for vote in votes):
                return False
            if any(vote > 0 for vote in votes):
                return True
        return True


def _function(name: str, enabled: frozenset[str], votes: PluginVotes) -> Callable[..., Any] | None:
    callback = CALLBACK_OF[name]
    if callback and callback not in enabled:
        return None
    function: Callable[..., Any] | None = getattr(votes, name)
    return function
