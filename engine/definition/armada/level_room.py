"""Room on nodes by level of priority: what is free for somebody who takes no notice of those below it.

Armada: `AllocatableByPriority` in internal/scheduler/internaltypes/node.go. While a round lasts, a pod that is evicted and may return has
the status `STOPPING`, and one whose room is given to another for good is `DONE`.
"""

from bisect import bisect_left
from collections.abc import Sequence

from ..session.pods import Pod, PodStatus
from ..session.session import Session

UNDISTURBED = 0
"""The level of those who disturb nobody: they take only room that is not even offered to evicted pods."""


class RoomByLevel:
    """The rooms of all nodes of a session, at `UNDISTURBED` and at each priority.

    `levels` are the priorities: that with index i is level i + 1. A pod takes room at its level and at those below it; one that may not be
    evicted takes it at all levels. Pods that were already told to stop when the round began count as gone, as in Armada.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        live = [pod for pod in session.pods if pod.status is not PodStatus.DONE]
        self.levels = sorted({session.workload_of(pod).priority for pod in live})
        self._gone = {pod.number for pod in live if pod.status is PodStatus.STOPPING}
        self._rooms: list[list[list[int]] | None] = [None] * len(session.nodes)
        self.overfull = tuple(min(self.at(node.number, UNDISTURBED), default=0) < 0 for node in session.nodes)
        """By node: whether it had less than what was on it when the round began. It takes nobody else, and all who were evicted return."""

    def level_of(self, pod: Pod) -> int:
        """The level of a pod."""
        return 1 + bisect_left(self.levels, self.session.workload_of(pod).priority)

    def priority_of(self, level: int) -> int:
        """The priority of a level; that of `UNDISTURBED` is below all others (Armada: `MinPriority`)."""
        return self.levels[level - 1] if level else min([-2, *(priority - 1 for priority in self.levels)])

    def at(self, node: int, level: int) -> Sequence[int]:
        """What is free on a node at a level; below 0 where it is oversubscribed there."""
        rooms = self._rooms[node]
        if rooms is None:
            rooms = self._rooms[node] = self._counted(node)
        return rooms[level]

    def fits(self, pod: Pod, node: int, level: int) -> bool:
        """Whether a pod has room on a node at a level."""
        return all(asked <= free for asked, free in zip(pod.requests, self.at(node, level), strict=True))

    def oversubscribed(self, node: int) -> list[int]:
        """The levels at which a node is oversubscribed."""
        return [level for level in range(1, len(self.levels) + 1) if min(self.at(node, level), default=0) < 0]

    def move(self, pod: Pod, status: PodStatus, node: int) -> None:
        """Give a pod another status and node."""
        self._forget(pod.node, node)
        self.session.move(pod, status, node)

    def undo(self, mark: int) -> None:
        """Take back everything since a mark of the session's log."""
        moved = self.session.changed(mark)
        self._forget(*(pod.node for pod in moved))
        self.session.undo(mark)
        self._forget(*(pod.node for pod in moved))

    def _forget(self, *nodes: int) -> None:
        for node in nodes:
            if node >= 0:
                self._rooms[node] = None

    def _counted(self, node: int) -> list[list[int]]:
        rooms = [list(self.session.nodes[node].capacity) for _ in range(len(self.levels) + 1)]
        for pod in self.session.pods_on(node):
            for room in rooms[: self._reach(pod)]:
                for index, amount in enumerate(pod.requests):
                    room[index] -= amount
        return rooms

    def _reach(self, pod: Pod) -> int:
        """At how many levels, from the lowest up, a pod takes room."""
        if pod.number in self._gone:
            return 0
        if pod.status is PodStatus.STOPPING:
            return 1
        return 1 + (self.level_of(pod) if self.session.workload_of(pod).preemptible else len(self.levels))
