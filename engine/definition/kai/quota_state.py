"""What KAI's queues are due and hold, in one cycle."""

from collections.abc import Iterator, Sequence
from typing import overload

from ..session.pods import Pod, PodAmounts
from ..session.session import Session
from .quota.shares import COUNTED, Bounds, CountedAmounts, QueueStanding

CPU, MEMORY, GPU, PODS = range(4)
"""The resources of a session under KAI, in their order."""

MEASURED = range(COUNTED)
"""The resources by which queues are measured."""


class KaiQuotas(Sequence[QueueStanding]):
    """The quota tree of a cycle: a sequence of where each node stands now.

    `shares` are the fair shares by node, as they were when the cycle began, `held` what each node holds now, `allocatable` what it may hold
    before others may take it back, and `totals` what the cluster has of each resource.
    """

    def __init__(self, session: Session, shares: Sequence[PodAmounts]) -> None:
        self.session = session
        self.nodes = session.quota_nodes
        self.shares = shares
        self.held = session.held
        self.allocatable: tuple[Bounds, ...] = tuple(each.allocatable for each in self)
        self.totals = tuple(sum(node.capacity[resource] for node in session.nodes) for resource in MEASURED)

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, number: int) -> QueueStanding: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[QueueStanding, ...]: ...

    def __getitem__(self, number: int | slice) -> QueueStanding | tuple[QueueStanding, ...]:
        if isinstance(number, slice):
            return tuple(self)[number]
        node = self.nodes[number]
        return QueueStanding(
            number,
            node.parent or -1,  # KAI has no root above all queues
            node.owned[:COUNTED],
            node.limit[:COUNTED],
            self.shares[number][:COUNTED],
            tuple(self.session.held[number][:COUNTED]),
            tuple(self.session.held_for_good[number][:COUNTED]),
        )

    def __iter__(self) -> Iterator[QueueStanding]:
        return (self[number] for number in range(len(self)))


def counted(pods: Sequence[Pod]) -> CountedAmounts:
    """What some pods ask for of the resources that count."""
    return tuple(sum(pod.requests[resource] for pod in pods) for resource in MEASURED)
