"""One cycle of Volcano's passes over a session: what they remember of PodGroups, and what they tried and decided.

Volcano: pkg/scheduler/framework/session.go, statement.go. Between a mark and `undo` or `commit` lies what Volcano calls a statement.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...session.pods import HOLDING, Pod, PodAmounts, PodStatus, SessionWorkload
from ...session.session import Session
from .hyper_node_map import HyperNodeMap
from .pod_group_facts import PodGroupFacts, VolcanoPodFacts, VolcanoQueueFacts
from .queue_figures import QueueEntitlement
from .volcano_settings import NodeShard, VolcanoSettings


@dataclass(frozen=True, slots=True)
class VolcanoEviction:
    """That a pod was told to stop, by which pass, and for which pod (by their numbers)."""

    victim: int
    by: str
    beneficiary: int


@dataclass(frozen=True, slots=True)
class LastTry:
    """What the last trial that was taken back had for a pod, and whether pods were to stop for it."""

    status: PodStatus
    node: int
    after_eviction: bool


VictimOrder = Callable[[Sequence[Pod], Pod], Iterable[Pod]]
"""Some victims, and the pod for which they would be evicted; the same victims in order."""

CycleMark = tuple[int, int]
"""A point to which `undo` goes back: in the log of the session, and in the list of evictions."""


class VolcanoCycle:
    """A cycle. `groups`, `pods` and `queues` stand in the order of the session's workloads, pods and quota nodes.

    Passes read and change `phases` (of PodGroups), `allocated_in` (the HyperNode of each workload; empty: none), `sub_jobs_in` (the same by
    sub-job), `no_node_for` (pods of a workload that found no node, in order), `looked_at` (pods for which nodes were looked for) and
    `evictions`.
    """

    def __init__(
        self,
        session: Session,
        settings: VolcanoSettings,
        groups: Sequence[PodGroupFacts],
        pods: Sequence[VolcanoPodFacts],
        queues: Sequence[VolcanoQueueFacts],
        hyper_nodes: HyperNodeMap,
        now: int = 0,
        shard: NodeShard | None = None,
    ) -> None:
        self.session = session
        self.settings = settings
        self.groups = tuple(groups)
        self.pods = tuple(pods)
        self.queues = tuple(queues)
        self.hyper_nodes = hyper_nodes
        self.shard = shard
        self.now = now
        """The moment of the cycle in microseconds; only plugin `sla` goes by it."""
        self.keeps_apart = any(each.apart for each in self.pods)
        self.phases = [group.phase for group in groups]
        self.allocated_in = ["" for _ in groups]
        self.sub_jobs_in = [["" for _ in group.sub_jobs] for group in groups]
        self.no_node_for: list[dict[int, None]] = [{} for _ in groups]
        self.evictions: list[VolcanoEviction] = []
        self.looked_at: set[int] = set()
        self.came = tuple(pod.status for pod in session.pods)
        """The statuses with which the pods came. One that came as `PLACED` is what Volcano calls bound."""
        self.total = tuple(sum(node.capacity[index] for node in session.nodes) for index in range(len(session.resources)))
        self.jobs = sorted((workload for workload in session.workloads if workload.queue >= 0), key=lambda workload: workload.name)
        """The workloads that are PodGroups of a queue that is there, in the order of their names."""
        self.ordered_victims: VictimOrder = _as_they_come
        """Puts victims for a pod in the order in which they are taken; set by whoever knows the order."""
        self.queue_figures: Callable[[], dict[int, QueueEntitlement]] | None = None
        """What the queue plugin knows of each queue now, where there is one."""
        self.job_shares: Callable[[], dict[int, Fraction]] | None = None
        """The dominant share of each workload now, where the plugin `drf` is there."""
        self._last_tries: dict[int, LastTry] = {}
        self._after_eviction: set[int] = set()
        self._unseen: set[int] = set()
        self._seen: dict[int, tuple[int, list[Pod]]] = {}
        predicates = settings.plugin("predicates")
        self._hears_of_changes = predicates is not None
        self.asks_predicates = predicates is not None and "Predicate" in predicates.enabled
        """Whether plugin `predicates` is asked which nodes a pod may have; without it every node will do."""

    # --- what is tried ----------------------------------------------------------------------------------------------

    def mark(self) -> CycleMark:
        """Where a trial begins."""
        return self.session.mark(), len(self.evictions)

    def undo(self, mark: CycleMark) -> None:
        """Take a trial back (`Discard`). What it had for each pod is remembered: see `nominations`."""
        for pod in self.session.changed(mark[0]):
            self._last_tries[pod.number] = LastTry(pod.status, pod.node, pod.number in self._after_eviction)
            if pod.status is PodStatus.STOPPING:
                self._unseen.add(pod.number)
        self.session.undo(mark[0])
        del self.evictions[mark[1] :]

    def commit(self, mark: CycleMark) -> None:
        """Carry a trial out (`Commit`): pods that have their room start."""
        for pod in self.session.changed(mark[0]):
            self._last_tries.pop(pod.number, None)
            if pod.status is PodStatus.RESERVED:
                self.session.move(pod, PodStatus.PLACED, pod.node)

    def reserve(self, pod: Pod, node: int) -> None:
        """Keep free room for a pod (`Allocate`)."""
        self.session.move(pod, PodStatus.RESERVED, node)

    def promise(self, pod: Pod, node: int, after_eviction: bool) -> None:
        """Let a pod wait for room (`Pipeline`)."""
        if after_eviction:
            self._after_eviction.add(pod.number)
        else:
            self._after_eviction.discard(pod.number)
        self.session.move(pod, PodStatus.PROMISED, node)

    def evict(self, victim: Pod, by: str, beneficiary: Pod) -> None:
        """Tell a pod to stop (`Evict`)."""
        self.session.move(victim, PodStatus.STOPPING, victim.node)
        self.evictions.append(VolcanoEviction(victim.number, by, beneficiary.number))

    def last_try(self, pod: Pod) -> LastTry | None:
        """What the last trial that was taken back had for a pod."""
        return self._last_tries.get(pod.number)

    def forget_try(self, pod: Pod, before: LastTry | None) -> None:
        """Let the last trial of a pod be what it was before, after one that was only made to compare."""
        if before is None:
            self._last_tries.pop(pod.number, None)
        else:
            self._last_tries[pod.number] = before

    def nominations(self) -> Iterator[tuple[int, int]]:
        """The pods for which others are to stop, and their nodes, whether the trial was kept or not (`TaskSchedulingReason`)."""
        for workload in self.jobs:
            for pod in self.session.pods_of(workload, PodStatus.RESERVED, PodStatus.WAITING, PodStatus.PROMISED):
                last = self._last_tries.get(pod.number, LastTry(pod.status, pod.node, pod.number in self._after_eviction))
                if last.status is PodStatus.PROMISED and last.after_eviction and not self.pods[pod.number].gated:
                    yield pod.number, last.node

    # --- what is there ----------------------------------------------------------------------------------------------

    def is_bound(self, pod: Pod) -> bool:
        """Whether a pod came with its node, but did not run yet."""
        return pod.status is PodStatus.PLACED and self.came[pod.number] is PodStatus.PLACED

    def seen_on(self, node: int) -> list[Pod]:
        """The pods on a node as Kubernetes' own plugins see them: promised ones count, and those stopped in this cycle do not.

        They hear of changes through the plugin `predicates`; without it they see what was there when the cycle began. A pod whose eviction
        was taken back is not seen any more: the plugin fails for it (predicates.go, `AllocateFunc`), as no pass looked for its volumes.
        """
        changes = self.session.changes_on[node]
        if node not in self._seen or self._seen[node][0] != changes:
            self._seen[node] = changes, [pod for pod in self.session.pods_on(node) if self._is_seen(pod)]
        return self._seen[node][1]

    def _is_seen(self, pod: Pod) -> bool:
        came = self.came[pod.number]
        if not self._hears_of_changes:
            return came in _CAME_ON_NODE
        return pod.number not in self._unseen and (pod.status in HOLDING or came is PodStatus.STOPPING)

    def seen_used(self, node: int) -> PodAmounts:
        """What the pods that are seen on a node (`seen_on`) take there."""
        return _sum(self.seen_on(node), len(self.session.resources))

    def best_effort(self, pod: Pod) -> bool:
        """Whether a pod asks for nothing but to be counted."""
        return not any(amount for name, amount in zip(self.session.resources, pod.requests, strict=True) if name != "pods")

    def allocated(self, workload: SessionWorkload) -> PodAmounts:
        """What the pods of a workload hold, promised room included."""
        return _sum(self.session.pods_of(workload, *sorted(HOLDING)), len(self.session.resources))


_CAME_ON_NODE = frozenset({PodStatus.PLACED, PodStatus.RUNNING, PodStatus.STOPPING})


def _as_they_come(victims: Sequence[Pod], beneficiary: Pod) -> Iterable[Pod]:
    return victims


def _sum(pods: Sequence[Pod], resources: int) -> PodAmounts:
    return tuple(sum(pod.requests[index] for pod in pods) for index in range(resources))


def fits(requests: PodAmounts, room: PodAmounts) -> bool:
    """Whether room is enough: cpu and memory, the first two, are always compared, others where they are asked for (`LessEqual`, `Zero`).

    Amounts here are whole units, so the original's tolerance of 0.1 decides nothing.
    """
    return all(asked <= room[index] or (index >= 2 and not asked) for index, asked in enumerate(requests))
