"""Everything that one cycle decides over: nodes, quota nodes, workloads and pods, and one log of what is tried.

Passes change it by `move` alone; `undo` takes back everything since a mark, exactly. What passes decided is what differs from the statuses
and nodes with which the pods came.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...nodes.domains import DomainTree
from ...nodes.inventory import Machine
from .pods import HOLDING, NO_NODE, ON_NODE, Pod, PodAmounts, PodStatus, SessionWorkload
from .quota_nodes import QuotaNode, path

Move = tuple[int, PodStatus, int, tuple[int, ...], int]
"""A line of the log: a pod, and the status, the node, the nodes that it leaves and how often it was overpaid, as they were before."""


@dataclass(frozen=True, slots=True)
class SessionNode:
    """A machine by its index: `name` is its name, `capacity` what pods may take there."""

    number: int
    name: str
    machine: Machine
    capacity: PodAmounts


class Session:
    """A cycle. `resources` are the names behind all amounts; `trees` are the domains of each topology (leaves are single nodes).

    By node, in the order of `nodes`: what pods take there now (`used`, with those that stop or are stuck), what those that stop will free
    (`stopping`), and what pods wait for there (`promised`). By quota node: what workloads below it hold (`held`), and what of it workloads
    hold that may not be evicted (`held_for_good`).
    """

    def __init__(
        self,
        resources: Sequence[str],
        nodes: Sequence[SessionNode],
        quota_nodes: Sequence[QuotaNode],
        workloads: Sequence[SessionWorkload],
        pods: Sequence[Pod],
        trees: Sequence[DomainTree] = (),
    ) -> None:
        self.resources = tuple(resources)
        self.nodes = tuple(nodes)
        self.quota_nodes = tuple(quota_nodes)
        self.workloads = tuple(workloads)
        self.pods = tuple(pods)
        self.trees = tuple(trees)
        self.paths = tuple(tuple(path(self.quota_nodes, node.number)) for node in self.quota_nodes)
        nothing = [0] * len(self.resources)
        self.used = [list(nothing) for _ in self.nodes]
        self.stopping = [list(nothing) for _ in self.nodes]
        self.promised = [list(nothing) for _ in self.nodes]
        self.held = [list(nothing) for _ in self.quota_nodes]
        self.held_for_good = [list(nothing) for _ in self.quota_nodes]
        self._pods_on: list[dict[int, None]] = [{} for _ in self.nodes]
        self._log: list[Move] = []
        self.changes = 0
        """How often a pod was moved, or a move undone: what was worked out from where pods are holds while it stays the same."""
        self.changes_on = [0 for _ in self.nodes]
        """The same of the pods of each node."""
        for pod in self.pods:
            self._count(pod, 1)

    # --- what is there ----------------------------------------------------------------------------------------------

    def free(self, node: int) -> PodAmounts:
        """What is free on a node now; below 0 where more is used than there is."""
        return tuple(has - used for has, used in zip(self.nodes[node].capacity, self.used[node], strict=True))

    def free_later(self, node: int) -> PodAmounts:
        """What is free on a node once those who stop are gone and those who were promised room have it."""
        sums = zip(self.free(node), self.stopping[node], self.promised[node], strict=True)
        return tuple(free + stopping - promised for free, stopping, promised in sums)

    def pods_on(self, node: int) -> list[Pod]:
        """The pods on a node, those that are promised room there included, in the order of their numbers."""
        return [self.pods[pod] for pod in sorted(self._pods_on[node])]

    def pods_of(self, workload: SessionWorkload, *statuses: PodStatus) -> list[Pod]:
        """The pods of a workload in some statuses (none named: in any), in their order."""
        return [self.pods[pod] for pod in workload.pods if not statuses or self.pods[pod].status in statuses]

    def workload_of(self, pod: Pod) -> SessionWorkload:
        """Whose pod it is."""
        return self.workloads[pod.workload]

    # --- what is tried ----------------------------------------------------------------------------------------------

    def move(self, pod: Pod, status: PodStatus, node: int, leaving: tuple[int, ...] = (), overpaid: int = 0) -> None:
        """Give a pod another status and node (`NO_NODE`: none), the other nodes where it stops, and say how often it was overpaid."""
        self._log.append((pod.number, pod.status, pod.node, pod.leaving, pod.overpaid))
        self._set(pod, status, node, leaving, overpaid)

    def mark(self) -> int:
        """A point in the log to which `undo` goes back."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back everything since a mark, last first."""
        while len(self._log) > mark:
            pod, status, node, leaving, overpaid = self._log.pop()
            self._set(self.pods[pod], status, node, leaving, overpaid)

    def changed(self, mark: int = 0) -> list[Pod]:
        """The pods that were moved since a mark, each once, in the order of their first moves."""
        return [self.pods[pod] for pod in dict.fromkeys(pod for pod, *_ in self._log[mark:])]

    def _set(self, pod: Pod, status: PodStatus, node: int, leaving: tuple[int, ...], overpaid: int) -> None:
        self.changes += 1
        self._count(pod, -1)
        pod.status, pod.node, pod.leaving, pod.overpaid = status, node, leaving, overpaid
        self._count(pod, 1)

    def _count(self, pod: Pod, sign: int) -> None:
        """Let a pod be counted (`sign` 1), or no more (-1)."""
        for node in pod.leaving:
            _add(self.used[node], pod.requests, sign)
            _add(self.stopping[node], pod.requests, sign)
        if pod.node != NO_NODE and pod.status is not PodStatus.DONE:
            sums = []
            if pod.status in ON_NODE:
                sums.append(self.used[pod.node])
            if pod.status is PodStatus.STOPPING:
                sums.append(self.stopping[pod.node])
            if pod.status is PodStatus.PROMISED:
                sums.append(self.promised[pod.node])
            for each in sums:
                _add(each, pod.requests, sign)
            self.changes_on[pod.node] += 1
            if sign > 0:
                self._pods_on[pod.node][pod.number] = None
            else:
                del self._pods_on[pod.node][pod.number]
        workload = self.workloads[pod.workload]
        times = (pod.status in HOLDING) - pod.overpaid
        if times and workload.queue >= 0:
            for node in self.paths[workload.queue]:
                _add(self.held[node], pod.requests, sign * times)
                if not workload.preemptible:
                    _add(self.held_for_good[node], pod.requests, sign * times)


def _add(sums: list[int], amounts: PodAmounts, sign: int) -> None:
    for index, amount in enumerate(amounts):
        sums[index] += sign * amount
