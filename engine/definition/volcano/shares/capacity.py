"""The plugin `capacity`: each queue says what it deserves, what it may have at most, and what no one else may use.

With `Hierarchy` queues are a tree below `root`, which the session's quota nodes have; without it they stand side by side.
Volcano: pkg/scheduler/plugins/capacity/capacity.go.
"""

from collections.abc import Sequence
from fractions import Fraction

from ...session.pods import Pod, SessionWorkload
from ..model.plugin_votes import PluginVotes
from ..model.queue_figures import QueueEntitlement
from ..model.volcano_cycle import VolcanoCycle
from ..model.volcano_settings import HIERARCHY, VolcanoPlugin
from .capacity_tree import ancestors_of, in_order_of_tree, is_tree, level_in_common, open_tree
from .proportion import flat_limit
from .queue_books import PERMIT, REJECT, QueueBooks
from .resource_rows import (
    ResourceRow,
    add,
    at_least,
    at_most,
    exceeding,
    in_common,
    is_empty,
    is_partly_above,
    is_partly_within,
    is_within,
    with_more,
)

ANCESTORS = "ancestorReclaimLevel"
"""The argument that says how many levels of queues above a queue are looked at where room is taken from others."""


def open_capacity(cycle: VolcanoCycle, plugin: VolcanoPlugin) -> PluginVotes:
    """What `capacity` says in a cycle. Where the queues are no tree and should be, it refuses everything, and has no order."""
    capacity = Capacity(cycle, plugin)
    cycle.queue_figures = capacity.figures
    return PluginVotes(
        queue_order=capacity.queue_order if capacity.ready else None,
        victim_queue_order=capacity.victim_queue_order if capacity.ready and capacity.in_tree else None,
        reclaimable=capacity.victims,
        allocatable=capacity.allocatable,
        preemptive=capacity.preemptive,
        job_enqueueable=capacity.enqueueable,
        job_enqueued=capacity.enqueued,
    )


class Capacity:
    """The queues and their quotas. `ready` is false where they should be a tree and are none, or one that is no leaf has PodGroups."""

    def __init__(self, cycle: VolcanoCycle, plugin: VolcanoPlugin) -> None:
        self.cycle, self.session = cycle, cycle.session
        self.nodes = cycle.session.quota_nodes
        self.resources = cycle.session.resources
        self.in_tree = HIERARCHY in plugin.enabled
        self.levels = max(plugin.number(ANCESTORS, 0), 0) if self.in_tree else 0
        self.books = QueueBooks(cycle)
        self.ready = True
        if self.in_tree:
            self.ready = is_tree(self.nodes) and all(not self.nodes[queue].children for queue in self.books.with_jobs)
            if self.ready:
                open_tree(cycle, self.books)
        else:
            self._open_flat()
        if self.ready:
            self.books.count_jobs(ancestors=self.in_tree)
        self.at_first = {queue: self._share(queue) for queue in sorted(self.books.books)}
        """The shares with which the cycle began: those of queues above others are not worked out anew."""

    def _open_flat(self) -> None:
        guaranteed = [0] * len(self.cycle.total)
        for node in self.nodes:
            add(guaranteed, node.guaranteed)
        for queue in self.books.with_jobs:
            node = self.nodes[queue]
            guarantee: list[int | None] = [amount or None for amount in node.guaranteed]
            real = at_most(with_more(exceeding(self.cycle.total, guaranteed), guarantee), flat_limit(node.limit))
            deserved = at_least(at_most(_native(node.owned), real), guarantee)
            self.books.open(queue, guarantee, real, deserved)

    # --- orders -----------------------------------------------------------------------------------------------------

    def share(self, queue: int) -> Fraction:
        """The share of a queue: that of now or, of one above others, that with which the cycle began."""
        return self.at_first[queue] if self.nodes[queue].children else self._share(queue)

    def _share(self, queue: int) -> Fraction:
        """The greatest part of what it deserves that a queue has of any resource; 1 where it deserves nothing."""
        if is_empty(self.books.books[queue].deserved, self.resources):
            return Fraction(1)
        return self.books.greatest_share(queue)

    def queue_order(self, left: int, right: int) -> int:
        """By priority, then by share. In a tree, the shares of the two queues that are just below the lowest one above both."""
        known = self.books.priority_order(left, right)
        if known or not self.in_tree:
            return known or self._share_order(left, right)
        return self._share_order(*in_order_of_tree(self.session, left, right))

    def _share_order(self, left: int, right: int) -> int:
        one, other = self.share(left), self.share(right)
        if one != other:
            return -1 if one < other else 1
        empty = [is_empty(self.books.books[queue].deserved, self.resources) for queue in (left, right)]
        return int(empty[0]) - int(empty[1])

    def victim_queue_order(self, left: int, right: int, beneficiary: int) -> int:
        """Victims of near relatives go first."""
        one, other = (level_in_common(self.session, queue, beneficiary) for queue in (left, right))
        return 0 if one == other else -1 if one > other else 1

    # --- more room --------------------------------------------------------------------------------------------------

    def allocatable(self, queue: int, pod: Pod) -> bool:
        """Whether a queue is open, and with those above it stays within what it may have at most. It may borrow what others deserve."""
        if not self.books.is_open(queue) or not self.ready or (self.in_tree and self.nodes[queue].children):
            return False
        return all(self.books.may_have(each, self.books.books[each].real, pod.requests) for each in self._with_ancestors(queue))

    def preemptive(self, queue: int, pod: Pod) -> bool:
        """Whether a queue may take room from others: it stays within what it, or a queue near above it, deserves of something."""
        if not self.ready or not self.books.is_open(queue):
            return False
        if not self.books.may_have(queue, self.books.books[queue].real, pod.requests):
            return False
        asking = [queue, *(each for level in range(1, self.levels + 1) if (each := self._ancestor(queue, level)) is not None)]
        return any(
            is_partly_within(self.books.future(each, pod.requests), self.books.books[each].deserved, pod.requests, self.resources)
            for each in asking
        )

    def enqueueable(self, workload: SessionWorkload) -> int:
        """Whether a PodGroup is let in, by its queue and all above it."""
        queue = workload.queue
        if not self.ready or (self.in_tree and self.nodes[queue].children) or not self.books.is_open(queue):
            return REJECT
        if self.cycle.groups[workload.number].min_resources is None:
            return PERMIT
        return PERMIT if all(self.books.lets_in(each, workload) for each in self._with_ancestors(queue)) else REJECT

    def enqueued(self, workload: SessionWorkload) -> None:
        """A PodGroup was let in."""
        self.books.let_in([each for each in self._with_ancestors(workload.queue) if each in self.books.books], workload)

    def _with_ancestors(self, queue: int) -> list[int]:
        return [queue, *reversed(ancestors_of(self.session, queue))] if self.in_tree else [queue]

    def _ancestor(self, queue: int, level: int) -> int | None:
        """The queue so many levels above one; the root does not count."""
        path = self.session.paths[queue]
        return path[level] if level < len(path) - 2 else None

    # --- room of others ---------------------------------------------------------------------------------------------

    def victims(self, pod: Pod, candidates: Sequence[Pod]) -> list[Pod]:
        """Candidates of queues that have more than they deserve, in the order in which victims are taken, one after the other."""
        reclaimer = self.session.workload_of(pod).queue
        if not self.ready or reclaimer not in self.books.books:
            return []
        left: dict[int, list[int]] = {}
        found = []
        for candidate in self.cycle.ordered_victims(candidates, pod):
            queue = self.session.workload_of(candidate).queue
            if queue not in self.books.books or not self._has_to_do_with(candidate, pod):
                continue
            allocated = left.setdefault(queue, list(self.books.allocated(queue)))
            book = self.books.books[queue]
            without = [has - asked for has, asked in zip(allocated, candidate.requests, strict=True)]
            if not is_within(book.guarantee, without) or not self._has_too_much(candidate, pod, queue, allocated):
                continue
            above = self._ancestors_asked(reclaimer, queue)
            for each in above:
                left.setdefault(each, list(self.books.allocated(each)))
            if not all(self._may_lose(candidate, left[each], self.books.books[each].deserved) for each in above):
                continue
            for each in (queue, *above):
                add(left[each], candidate.requests, -1)
            found.append(candidate)
        return found

    def _has_to_do_with(self, candidate: Pod, pod: Pod) -> bool:
        """Whether a candidate holds something that a pod asks for; that both are pods does not count."""
        return any(self.resources[index] != "pods" for index in in_common(candidate.requests, pod.requests))

    def _has_too_much(self, candidate: Pod, pod: Pod, queue: int, allocated: ResourceRow) -> bool:
        """Whether the queue of a candidate has too much.

        One that deserves nothing of what the candidate holds has; but not where the pod's queue deserves nothing either, and is near it.
        """
        deserved = self.books.books[queue].deserved
        if not in_common(candidate.requests, deserved):
            reclaimer = self.session.workload_of(pod).queue
            return not self._are_near(reclaimer, queue) or bool(in_common(pod.requests, self.books.books[reclaimer].deserved))
        return self._may_lose(candidate, allocated, deserved)

    def _may_lose(self, candidate: Pod, allocated: ResourceRow, deserved: ResourceRow) -> bool:
        if not in_common(candidate.requests, deserved):
            return True
        return is_partly_above(allocated, deserved, candidate.requests, self.resources)

    def _are_near(self, one: int, other: int) -> bool:
        """Whether two queues have a queue above both within the levels that count."""
        above = [{self._ancestor(queue, level) for level in range(1, self.levels + 1)} - {None} for queue in (one, other)]
        return bool(above[0] & above[1])

    def _ancestors_asked(self, reclaimer: int, queue: int) -> list[int]:
        """The queues above a candidate's queue that must have too much as well: those that are not so many levels above the pod's."""
        found = []
        for level in range(1, self.levels + 1):
            above = self._ancestor(queue, level)
            if above is not None and above != self._ancestor(reclaimer, level):
                found.append(above)
        return found

    def figures(self) -> dict[int, QueueEntitlement]:
        """What it knows of each queue."""
        return self.books.figures({queue: self.share(queue) for queue in sorted(self.books.books)}, with_real=True)


def _native(row: Sequence[int | None]) -> list[int | None]:
    """A row of a queue; cpu and memory have a number even where nothing is said."""
    return [0 if each is None and index < 2 else each for index, each in enumerate(row)]
