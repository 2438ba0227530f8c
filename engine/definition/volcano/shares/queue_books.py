"""What the plugins `proportion` and `capacity` keep of each queue in common, and whether they let a PodGroup in.

What a queue has allocated is what its pods hold in the session, with room that is promised. All else is counted once, as the cycle begins.
Volcano: `queueAttr` in pkg/scheduler/plugins/proportion/proportion.go and plugins/capacity/capacity.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ...session.pods import PodStatus, SessionWorkload
from ..model.job_standing import READY
from ..model.pod_group_facts import GroupPhase
from ..model.queue_figures import QueueEntitlement
from ..model.volcano_cycle import VolcanoCycle
from ..votes.overcommit import without_gated
from .resource_rows import ResourceAmount, ResourceRow, add, is_within_where_asked, named, number, share_of

PERMIT, REJECT = 1, -1


@dataclass(slots=True)
class QueueBook:
    """The figures of a queue. `real` is the most that it may have (`realCapability`), `guarantee` what no one else may use.

    `request` is what all its pods that run or wait ask for; `inqueue` what PodGroups that were let in still wait for of their
    `minResources`; `elastic` what PodGroups have above these.
    """

    queue: int
    guarantee: list[int | None]
    real: list[int | None]
    deserved: Sequence[ResourceAmount | None]
    request: list[int] = field(default_factory=list)
    inqueue: list[int] = field(default_factory=list)
    elastic: list[int] = field(default_factory=list)


class QueueBooks:
    """The books of all queues that have one, by the numbers of their quota nodes."""

    def __init__(self, cycle: VolcanoCycle) -> None:
        self.cycle = cycle
        self.session = cycle.session
        self.resources = cycle.session.resources
        self.books: dict[int, QueueBook] = {}
        self._shares: dict[int, tuple[int, Fraction]] = {}
        """The share of a queue, and after how many moves of pods it was worked out."""
        self.with_jobs = sorted({workload.queue for workload in cycle.jobs})

    def open(self, queue: int, guarantee: list[int | None], real: list[int | None], deserved: Sequence[int | None]) -> QueueBook:
        """Begin the book of a queue."""
        self.books[queue] = QueueBook(queue, guarantee, real, deserved, *([0] * len(self.resources) for _ in range(3)))
        return self.books[queue]

    def count_jobs(self, ancestors: bool) -> None:
        """Count what the PodGroups of each queue ask for and wait for; with `ancestors` also in the queues above it."""
        for workload in self.cycle.jobs:
            reached = self.session.paths[workload.queue] if ancestors else (workload.queue,)
            for queue in (each for each in reached if each in self.books):
                self._count(self.books[queue], workload)

    def _count(self, book: QueueBook, workload: SessionWorkload) -> None:
        for pod in self.session.pods_of(workload, *READY, PodStatus.WAITING):
            add(book.request, pod.requests)
        group = self.cycle.groups[workload.number]
        held = self.cycle.allocated(workload)
        least = group.min_resources or (0,) * len(held)
        add(book.elastic, [max(has - needs, 0) for has, needs in zip(held, least, strict=True)])
        runs = group.phase is GroupPhase.RUNNING and len(self.session.pods_of(workload, *READY)) >= workload.groups[0].minimum
        if group.min_resources is not None and (group.phase is GroupPhase.INQUEUE or runs):
            lacking = tuple(max(needs - has, 0) for has, needs in zip(held, least, strict=True))
            add(book.inqueue, without_gated(self.cycle, workload, lacking))

    # --- what is asked ----------------------------------------------------------------------------------------------

    def is_open(self, queue: int) -> bool:
        """Whether a queue takes anything."""
        return self.cycle.queues[queue].open

    def allocated(self, queue: int) -> list[int]:
        """What the pods of a queue, and of those below it, hold."""
        return self.session.held[queue]

    def future(self, queue: int, asked: Sequence[int]) -> list[int]:
        """What they would hold with more."""
        return [has + more for has, more in zip(self.session.held[queue], asked, strict=True)]

    def may_have(self, queue: int, limit: ResourceRow, asked: Sequence[int]) -> bool:
        """Whether a queue stays within a limit in what is asked for."""
        return is_within_where_asked(self.future(queue, asked), limit, asked, self.resources)

    def greatest_share(self, queue: int) -> Fraction:
        """The greatest part of what it deserves that a queue has of any resource; it deserves the same throughout a cycle."""
        changes = self.session.changes
        if queue not in self._shares or self._shares[queue][0] != changes:
            deserved, allocated = self.books[queue].deserved, self.allocated(queue)
            shares = (share_of(allocated[index], number(deserved[index])) for index in named(deserved))
            self._shares[queue] = changes, max(shares, default=Fraction(0))
        return self._shares[queue][1]

    def priority_order(self, left: int, right: int) -> int:
        """The queue of higher priority comes first."""
        return self.session.quota_nodes[right].priority - self.session.quota_nodes[left].priority

    def lets_in(self, queue: int, workload: SessionWorkload) -> bool:
        """Whether a queue has room for what a PodGroup needs at least, beside what others were let in with."""
        book, needs = self.books[queue], self.cycle.groups[workload.number].min_resources or ()
        later = [
            need + has + waits - spare
            for need, has, waits, spare in zip(needs, self.allocated(queue), book.inqueue, book.elastic, strict=True)
        ]
        return is_within_where_asked(later, book.real, needs, self.resources)

    def let_in(self, queues: Sequence[int], workload: SessionWorkload) -> None:
        """Count a PodGroup that was let in."""
        needs = self.cycle.groups[workload.number].min_resources
        if needs is not None:
            for queue in queues:
                add(self.books[queue].inqueue, without_gated(self.cycle, workload, needs))

    def figures(self, shares: dict[int, Fraction], with_real: bool) -> dict[int, QueueEntitlement]:
        """All that is known of the queues, with their shares; with or without the most that they may have."""
        return {
            queue: QueueEntitlement(
                share=shares[queue],
                deserved=tuple(map(number, book.deserved)),
                real=tuple(each or 0 for each in book.real) if with_real else None,
                allocated=tuple(self.allocated(queue)),
                request=tuple(book.request),
                inqueue=tuple(book.inqueue),
            )
            for queue, book in sorted(self.books.items())
        }
