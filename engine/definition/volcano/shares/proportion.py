"""The plugin `proportion`: queues divide the cluster by weight, up to what their pods ask for and what they may have at most.

Volcano: pkg/scheduler/plugins/proportion/proportion.go.
"""

from collections.abc import Sequence
from fractions import Fraction

from ....event_parts import POD_COUNT
from ...session.pods import Pod, SessionWorkload
from ..model.plugin_votes import PluginVotes
from ..model.queue_figures import QueueEntitlement
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import VolcanoPlugin
from .queue_books import PERMIT, REJECT, QueueBooks
from .resource_rows import (
    LEAST,
    ResourceAmount,
    add,
    at_most,
    exceeding,
    is_within,
    minus,
    number,
    over,
    plus,
    times,
    with_more,
)

MOST_ROUNDS = 100_000
"""Rounds after which no more is divided. Each round divides half of the rest at least, or ends; so it is never reached."""


def open_proportion(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `proportion` says in a cycle."""
    proportion = Proportion(cycle)
    cycle.queue_figures = proportion.figures
    return PluginVotes(
        queue_order=proportion.queue_order,
        reclaimable=proportion.victims,
        overused=proportion.overused,
        allocatable=proportion.allocatable,
        preemptive=proportion.allocatable,
        job_enqueueable=proportion.enqueueable,
        job_enqueued=proportion.enqueued,
    )


class Proportion:
    """The queues that have PodGroups, and what each deserves."""

    def __init__(self, cycle: VolcanoCycle) -> None:
        self.books = QueueBooks(cycle)
        self.nodes = cycle.session.quota_nodes
        guaranteed = [0] * len(cycle.total)
        for node in self.nodes:
            add(guaranteed, node.guaranteed)
        for queue in self.books.with_jobs:
            node = self.nodes[queue]
            guarantee: list[int | None] = list(node.guaranteed)
            real = with_more(exceeding(cycle.total, guaranteed), guarantee)
            self.books.open(queue, guarantee, at_most(real, flat_limit(node.limit)), [0] * len(cycle.total))
        self.books.count_jobs(ancestors=False)
        self._divide(cycle)

    def _divide(self, cycle: VolcanoCycle) -> None:
        """Divide the cluster in rounds: each gives the rest to the queues that can use more, by weight. Sums go by number of queue."""
        rest: list[ResourceAmount] = list(cycle.total)
        unmet = list(self.books.with_jobs)
        size = range(len(rest))
        for round_number in range(MOST_ROUNDS):
            if not unmet:
                break
            before = list(rest)
            weights = {queue: self.nodes[queue].weight[0] for queue in unmet}
            whole = sum(weights.values())
            more: list[ResourceAmount] = [0 for _ in size]
            less: list[ResourceAmount] = [0 for _ in size]
            still = []
            for queue in unmet:
                book = self.books.books[queue]
                old = [number(each) for each in book.deserved]
                ratio = over(weights[queue], whole)
                new = [self._one(queue, index, plus(old[index], times(rest[index], ratio))) for index in size]
                book.deserved = new
                met = is_within(book.request, new) or (round_number > 0 and new == old)
                still += [] if met else [queue]
                for index in size:
                    if new[index] > old[index]:
                        more[index] = plus(more[index], minus(new[index], old[index]))
                    else:
                        less[index] = plus(less[index], minus(old[index], new[index]))
            unmet = still
            for index in size:
                back = plus(rest[index], less[index])
                rest[index] = minus(back, more[index]) if back > more[index] else 0
            if rest == before or all(rest[index] < LEAST for index in size if cycle.session.resources[index] != POD_COUNT):
                break

    def _one(self, queue: int, index: int, amount: Fraction) -> Fraction:
        """What a queue deserves of one resource: no more than it may have and asks for, no less than it is guaranteed."""
        book = self.books.books[queue]
        real = book.real[index]
        most = book.request[index] if real is None else min(real, book.request[index])
        return max(min(amount, Fraction(most)), Fraction(book.guarantee[index] or 0))

    # --- what it says -----------------------------------------------------------------------------------------------

    def share(self, queue: int) -> Fraction:
        """The greatest part of what it deserves that a queue has of any resource."""
        return self.books.greatest_share(queue)

    def queue_order(self, left: int, right: int) -> int:
        """By priority, then the queue with the lesser share."""
        known = self.books.priority_order(left, right)
        if known:
            return known
        one, other = self.share(left), self.share(right)
        return 0 if one == other else -1 if one < other else 1

    def overused(self, queue: int) -> bool:
        """Whether a queue has all that it deserves, of every resource."""
        return is_within(self.books.books[queue].deserved, self.books.allocated(queue))

    def allocatable(self, queue: int, pod: Pod) -> bool:
        """Whether a queue is open and stays within what it deserves; the same says whether it may take from others."""
        return self.books.is_open(queue) and self.books.may_have(queue, self.books.books[queue].deserved, pod.requests)

    def victims(self, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Candidates of queues that have more than they deserve of some resource, one after the other."""
        left: dict[int, list[int]] = {}
        found = []
        for candidate in candidates:
            queue = self.books.session.workload_of(candidate).queue
            if queue not in self.books.books:
                continue
            allocated = left.setdefault(queue, list(self.books.allocated(queue)))
            if not is_within(allocated, self.books.books[queue].deserved):
                add(allocated, candidate.requests, -1)
                found.append(candidate)
        return found

    def enqueueable(self, workload: SessionWorkload) -> int:
        """Whether a PodGroup is let in."""
        if not self.books.is_open(workload.queue):
            return REJECT
        if self.books.cycle.groups[workload.number].min_resources is None:
            return PERMIT
        return PERMIT if self.books.lets_in(workload.queue, workload) else REJECT

    def enqueued(self, workload: SessionWorkload) -> None:
        """A PodGroup was let in."""
        self.books.let_in((workload.queue,), workload)

    def figures(self) -> dict[int, QueueEntitlement]:
        """What it knows of each queue."""
        return self.books.figures({queue: self.share(queue) for queue in self.books.with_jobs}, with_real=False)


def flat_limit(limit: Sequence[int | None]) -> list[int | None]:
    """The most that a queue may have: of cpu and memory, 0 is no limit."""
    return [each if index > 1 or each else None for index, each in enumerate(limit)]
