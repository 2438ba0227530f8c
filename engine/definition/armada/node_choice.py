"""Which node a pod gets in a round of Armada, and who makes room for it.

Armada: internal/scheduler/nodedb/nodedb.go (`SelectNodeForJobWithTxn` and what it calls), nodeiteration.go and encoding.go.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from ...nodes.inventory import Machine
from ...nodes.kept_off import kept_off
from ..session.pods import Pod, PodStatus
from ..session.session import Session
from .level_room import UNDISTURBED, RoomByLevel

Wants = tuple[object, ...]
"""What a pod asks of nodes; pods that want the same are alike."""


@dataclass(frozen=True, slots=True)
class ChosenNode:
    """A node for a pod, the evicted pods who may not return because of it, and the highest level at which anybody is disturbed."""

    node: int
    displaced: tuple[Pod, ...] = ()
    level: int = UNDISTURBED


def wants_of(pod: Pod) -> Wants:
    """What a pod asks of nodes."""
    pod_set = pod.pod_set
    return pod.requests, tuple(sorted(pod_set.node_selector.items())), pod_set.affinity, pod_set.tolerations


class NodeChoice:
    """Chooses nodes. `packing` are indices of resources, each with a size in which it is counted, by which nodes are compared."""

    def __init__(self, session: Session, room: RoomByLevel, packing: Sequence[tuple[int, int]]) -> None:
        self.session = session
        self.room = room
        self._packing = tuple(packing)
        # Armada looks through the nodes of each kind by themselves.
        labels = [level.label for tree in session.trees for level in tree.topology.levels if level.label is not None]
        kinds: dict[str, list[int]] = {}
        for node in session.nodes:
            kinds.setdefault(_kind(node.machine, labels), []).append(node.number)
        self._kinds = [kinds[kind] for kind in sorted(kinds)]
        self._allowed: dict[Wants, frozenset[int]] = {}

    def choose(self, pod: Pod, offered: Sequence[Pod], among: Collection[int] | None) -> ChosenNode | None:
        """A node for a pod that waits, one of `among` (None: any); `offered` are the evicted pods in the order in which they return."""
        node = self._best(pod, UNDISTURBED, among)
        if node is not None:
            return ChosenNode(node)
        own = self.room.level_of(pod)
        if self._best(pod, own, among) is None:
            return None
        return self._by_fairness(pod, own, offered, among) or self._by_urgency(pod, own, among)

    def _by_fairness(self, pod: Pod, own: int, offered: Sequence[Pod], among: Collection[int] | None) -> ChosenNode | None:
        """The node from which those are kept who would return last: they are taken in that order until one node has room."""
        allowed = self._allowed_nodes(pod)
        free: dict[int, list[int]] = {}
        displaced: dict[int, list[Pod]] = {}
        for last in reversed(offered):
            node = last.node
            # Not even by fairness is anybody displaced by who has a lower priority.
            if last.status is not PodStatus.STOPPING or self.room.level_of(last) > own:
                continue
            if node not in allowed or (among is not None and node not in among):
                continue
            room = free.setdefault(node, list(self.room.at(node, UNDISTURBED)))
            displaced.setdefault(node, []).append(last)
            for index, amount in enumerate(last.requests):
                room[index] += amount
            if all(asked <= there for asked, there in zip(pod.requests, room, strict=True)):
                level = max(self.room.level_of(each) for each in displaced[node])
                return ChosenNode(node, tuple(displaced[node]), level)
        return None

    def _by_urgency(self, pod: Pod, own: int, among: Collection[int] | None) -> ChosenNode:
        """A node at the lowest level at which there is one, at the latest the pod's own: it is oversubscribed at those below."""
        found = ((self._best(pod, level, among), level) for level in range(UNDISTURBED + 1, own + 1))
        return next(ChosenNode(node, level=level) for node, level in found if node is not None)

    def _best(self, pod: Pod, level: int, among: Collection[int] | None) -> int | None:
        """The fullest node on which a pod has room at a level."""
        allowed = self._allowed_nodes(pod)
        orders = [self._by_room(kind, pod, level) for kind in self._kinds]
        for node in merge(*orders, key=lambda node: (self._exact(node, level), self.session.nodes[node].name)):
            if node in allowed and (among is None or node in among) and self.room.fits(pod, node, level):
                return node
        return None

    def _by_room(self, kind: Sequence[int], pod: Pod, level: int) -> Iterator[int]:
        """The nodes of a kind that have room for a pod at a level, by what is free, rounded down, least first.

        A node that has less, rounded down, than the search has come to is passed over, though it may have room: as in Armada, where an
        index finds nodes by rounded amounts.
        """
        asked = [pod.requests[index] for index, _ in self._packing]
        reached = list(asked)
        for rounded, node in sorted((self._rounded(node, level), node) for node in kind):
            if rounded < reached:
                continue
            exact = self._exact(node, level)
            short = next((at for at, amount in enumerate(asked) if exact[at] < amount), None)
            if short is None:
                yield node
            else:
                reached = max(reached, [*rounded[:short], *asked[short:]])

    def _exact(self, node: int, level: int) -> list[int]:
        room = self.room.at(node, level)
        return [room[index] for index, _ in self._packing]

    def _rounded(self, node: int, level: int) -> list[int]:
        # Go divides towards 0; below 0 that makes no difference, as nobody asks for so little.
        room = self.room.at(node, level)
        return [room[index] // size * size for index, size in self._packing]

    def _allowed_nodes(self, pod: Pod) -> frozenset[int]:
        wants = wants_of(pod)
        if wants not in self._allowed:
            open_ = [node for node in self.session.nodes if not node.machine.cordoned and not self.room.overfull[node.number]]
            tolerations = pod.pod_set.tolerations
            self._allowed[wants] = frozenset(node.number for node in open_ if kept_off(node.machine, pod.pod_set, tolerations) is None)
        return self._allowed[wants]


def _kind(machine: Machine, labels: Sequence[str]) -> str:
    """What nodes of one kind have in common: their taints, and their labels for the levels of topologies.

    Armada: internal/scheduler/internaltypes/node_type.go, with all taints indexed, and the labels by which gangs are held together.
    """
    return repr((sorted(map(repr, machine.taints)), [machine.labels.get(label) for label in labels]))
