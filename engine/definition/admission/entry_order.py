"""In which order a cycle goes through what was nominated: all at once by keys, or by a tournament in each tree.

Kueue: pkg/scheduler/scheduler.go (classicalIterator) and fair_sharing_iterator.go. Where Kueue leaves the order open (ties, and the
order of trees) it is that of identities, and of the names of the trees' roots.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heapreplace
from itertools import pairwise

from ...graph import OrderKey
from ..order import directed
from .candidates import Cluster
from .nominate import Nomination

_Entry = tuple[tuple[object, ...], int]
"""How a nomination ranks among those of a cohort, the best is the least, and its queue."""


def in_turn(cluster: Cluster, nominations: list[Nomination]) -> Iterator[Nomination]:
    """Yield nominations in their order. Between two of them charges of the first one's queue may change, and no others."""
    cycles = cluster.graph.settings.cycles
    assert cycles is not None
    if cycles.flat:
        yield from sorted(nominations, key=lambda nomination: _flat_keys(cluster, nomination))
        return
    trees: dict[int, list[Nomination]] = {}
    for nomination in nominations:
        trees.setdefault(cluster.tree.paths[nomination.workload.queue][-1], []).append(nomination)
    for root in sorted(trees):
        yield from _Tournament(cluster, root, trees[root]).played()


def _flat_keys(cluster: Cluster, nomination: Nomination) -> tuple[object, ...]:
    keys = [_flat_key(nomination, key) for key in cluster.graph.settings.queue_order]
    return (*keys, nomination.workload.fact.uid, nomination.workload.number)


def _flat_key(nomination: Nomination, key: OrderKey) -> int:
    if key.field == "borrowing":
        return -nomination.plan.level if key.descending else nomination.plan.level
    return directed(nomination.workload, key)


class _Tournament:
    """The tournament of a tree: each node puts up the best of its children's, each ranked by that child with it charged.

    A rank depends on its nomination and on what is charged on the path from its queue up to that child. So when the charges of one queue
    change, only what the nodes above it put up has to be ranked again; each cohort keeps what its children put up in a heap, and those
    of the winner are the first in all of theirs.
    """

    def __init__(self, cluster: Cluster, root: int, nominations: list[Nomination]) -> None:
        self.cluster, self.root = cluster, root
        self.left = {nomination.workload.queue: nomination for nomination in nominations}
        self.entries: dict[int, list[_Entry]] = {}
        self._gather(root)

    def played(self) -> Iterator[Nomination]:
        """Yield the winners, one after the other."""
        while (winner := self._put_up(self.root)) is not None:
            queue = winner.workload.queue
            del self.left[queue]
            yield winner
            for child, cohort in pairwise(self.cluster.tree.paths[queue]):
                self._rank_again(child, cohort)

    def _gather(self, node: int) -> None:
        """Let all below a cohort put up their best, from the bottom up."""
        if self.cluster.graph.nodes[node].is_queue:
            return
        children = self.cluster.graph.nodes[node].children
        for child in children:
            self._gather(child)
        self.entries[node] = [entry for child in children if (entry := self._entry(child)) is not None]
        heapify(self.entries[node])

    def _put_up(self, node: int) -> Nomination | None:
        if self.cluster.graph.nodes[node].is_queue:
            return self.left.get(node)
        entries = self.entries[node]
        return self.left[entries[0][1]] if entries else None

    def _entry(self, child: int) -> _Entry | None:
        """What a child puts up, as its cohort compares it; None where there is nobody."""
        best = self._put_up(child)
        if best is None:
            return None
        queue = best.workload.queue
        with self.cluster.charged(queue, best.plan.usage):
            return _keys(self.cluster, child, best), queue

    def _rank_again(self, child: int, cohort: int) -> None:
        """Replace what a child had put up, the first of its cohort."""
        entry = self._entry(child)
        if entry is None:
            heappop(self.entries[cohort])
        else:
            heapreplace(self.entries[cohort], entry)


def _keys(cluster: Cluster, node: int, nomination: Nomination) -> tuple[object, ...]:
    workload = nomination.workload
    keys = [_key(cluster, node, nomination, key) for key in cluster.graph.settings.queue_order]
    return (*keys, workload.fact.uid, workload.number)


def _key(cluster: Cluster, node: int, nomination: Nomination, key: OrderKey) -> object:
    match key.field:
        case "borrowing":
            borrows = int(cluster.tree.borrows(node, sorted(nomination.plan.usage)))
            return -borrows if key.descending else borrows
        case "share":
            level, share = cluster.policy.shares.of(node)
            return (-level, -share) if key.descending else (level, share)
        case _:
            return directed(nomination.workload, key)
