"""The line of workloads: heaps of workloads in leaf queues, in heaps of queues level by level (KAI: actions/utils/job_order_by_queue.go).

A queue's place is put right only when it stands at the top of its heap and a workload below it was popped or pushed since.
"""

from collections.abc import Iterable

from ...session.pods import PodAmounts
from ...session.quota_nodes import ROOT
from ..kai_cycle import KaiCycle
from ..views import WorkloadView, readiness, total
from .heap import LazyHeap
from .queues import Contender, queue_sooner


class QueueInLine:
    """A queue with workloads in line: they stand in `views` where it is a leaf, else in the queues in `below`.

    `stale`: it may stand wrong among its siblings, as a workload below it was popped or pushed.
    """

    __slots__ = ("below", "parent", "queue", "stale", "views")

    def __init__(self, queue: int, views: LazyHeap[WorkloadView] | None, below: LazyHeap["QueueInLine"] | None) -> None:
        self.queue = queue
        self.views = views
        self.below = below
        self.stale = False
        self.parent: QueueInLine | None = None

    def __len__(self) -> int:
        return len(self.views) if self.views is not None else len(self.below or ())


class Line:
    """Workloads in the order in which KAI turns to them; of `victims` the last comes first, without what was popped before."""

    def __init__(self, cycle: KaiCycle, views: Iterable[WorkloadView], victims: bool = False) -> None:
        self._cycle = cycle
        self._victims = victims
        self._top: LazyHeap[QueueInLine] = LazyHeap(self._queue_sooner)
        self._queues: dict[int, QueueInLine] = {}
        self._popped: dict[int, PodAmounts] = {}
        for view in views:
            self.push(view)

    def __bool__(self) -> bool:
        return len(self._top) > 0

    def push(self, view: WorkloadView) -> None:
        """Put a workload in line. One whose queue has queues below it takes no part."""
        number = view.workload.queue
        nodes = self._cycle.session.quota_nodes
        if number < 0 or nodes[number].children:
            return
        leaf = self._queues.get(number)
        if leaf is None:
            leaf = QueueInLine(number, LazyHeap(self._view_sooner), None)
            self._views_of(leaf).push(view)
            self._link(leaf)
        else:
            self._views_of(leaf).push(view)
        _mark(leaf)

    def pop(self) -> WorkloadView:
        """The next workload."""
        heap = self._top
        while True:
            queue = heap.top()
            if queue.stale:
                heap.settle_top()
                queue.stale = False
            elif queue.below is None:
                break
            else:
                heap = queue.below
        view = self._views_of(queue).pop()
        if self._victims:
            self._popped[queue.queue] = total([self._popped.get(queue.queue, ()), view.started_amounts()])
        self._after_pop(queue)
        return view

    def _views_of(self, queue: QueueInLine) -> LazyHeap[WorkloadView]:
        assert queue.views is not None
        return queue.views

    def _link(self, queue: QueueInLine) -> None:
        """Hang a new queue below its parent, and that one, if it is new, below its own."""
        self._queues[queue.queue] = queue
        above = self._cycle.session.quota_nodes[queue.queue].parent
        if above == ROOT:
            self._top.push(queue)
            return
        parent = self._queues.get(above)
        if parent is None:
            parent = QueueInLine(above, None, LazyHeap(self._queue_sooner))
            queue.parent = parent
            self._below(parent).push(queue)
            self._link(parent)
        else:
            queue.parent = parent
            self._below(parent).push(queue)

    def _below(self, queue: QueueInLine) -> LazyHeap[QueueInLine]:
        assert queue.below is not None
        return queue.below

    def _after_pop(self, queue: QueueInLine) -> None:
        """Take out queues that are empty, and note that the others may stand wrong."""
        while not len(queue):
            heap = self._top if queue.parent is None else self._below(queue.parent)
            heap.pop()
            del self._queues[queue.queue]
            if queue.parent is None:
                return
            queue = queue.parent
        _mark(queue)

    # --- what comes first -------------------------------------------------------------------------------------------

    def _view_sooner(self, left: WorkloadView, right: WorkloadView) -> bool:
        return _workload_order(left) > _workload_order(right) if self._victims else _workload_order(left) < _workload_order(right)

    def _queue_sooner(self, left: QueueInLine, right: QueueInLine) -> bool:
        if not len(left):
            return not self._victims
        if not len(right):
            return self._victims
        found = queue_sooner(self._cycle.settings.queue_keys, self._contender(left), self._contender(right))
        return not found if self._victims else found

    def _contender(self, queue: QueueInLine) -> Contender:
        """A queue with the workload that stands first below it."""
        leaf = queue
        while leaf.below is not None:
            leaf = leaf.below.top()
        first = self._views_of(leaf).top()
        if self._victims:
            gives = total([self._popped.get(leaf.queue, ()), first.started_amounts()])
            return Contender(self._cycle.quotas, queue.queue, (), gives)
        return Contender(self._cycle.quotas, queue.queue, first.asks(self._cycle.tentative), ())


def _mark(queue: QueueInLine | None) -> None:
    while queue is not None:
        queue.stale = True
        queue = queue.parent


def _workload_order(view: WorkloadView) -> tuple[int, int, int, str]:
    """Within a queue: priority, then who has not got its minimum, then the older one (KAI: JobOrderFn)."""
    return -view.workload.priority, readiness(view), view.workload.created, view.workload.name
