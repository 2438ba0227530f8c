"""In which order a cycle goes through what was nominated: all at once by keys, or by a tournament in each tree.

Kueue: pkg/scheduler/scheduler.go (classicalIterator) and fair_sharing_iterator.go. Where Kueue leaves the order open (ties, and the
order of trees) it is that of identities, and of the names of the trees' roots.
"""

from collections.abc import Iterator

from ...graph import OrderKey
from ..order import directed
from .candidates import Cluster
from .nominate import Nomination


def in_turn(cluster: Cluster, nominations: list[Nomination]) -> Iterator[Nomination]:
    """Yield nominations in their order. The tree may change between two of them, and a tournament takes note of it."""
    cycles = cluster.graph.settings.cycles
    assert cycles is not None
    if cycles.flat:
        yield from sorted(nominations, key=lambda nomination: _flat_keys(cluster, nomination))
        return
    left = {nomination.workload.queue: nomination for nomination in nominations}
    while left:
        root = min(cluster.tree.paths[queue][-1] for queue in left)
        best = _winner(cluster, root, left)
        del left[best.workload.queue]
        yield best


def _flat_keys(cluster: Cluster, nomination: Nomination) -> tuple[object, ...]:
    keys = [_flat_key(nomination, key) for key in cluster.graph.settings.queue_order]
    return (*keys, nomination.workload.fact.uid, nomination.workload.number)


def _flat_key(nomination: Nomination, key: OrderKey) -> int:
    if key.field == "borrowing":
        return -nomination.plan.level if key.descending else nomination.plan.level
    return directed(nomination.workload, key)


def _winner(cluster: Cluster, root: int, left: dict[int, Nomination]) -> Nomination:
    """The nomination that wins in a tree: each node puts up the best of its children, compared with it charged."""
    ranks: dict[tuple[int, int], tuple[object, ...]] = {}
    for queue in sorted(left):
        if cluster.tree.paths[queue][-1] == root:
            with cluster.charged(queue, left[queue].plan.usage):
                for node in cluster.tree.paths[queue][:-1]:
                    ranks[node, queue] = _keys(cluster, node, left[queue])

    def best(node: int) -> Nomination | None:
        if cluster.graph.nodes[node].queue >= 0:
            return left.get(node)
        entries = [(ranks[child, found.workload.queue], found) for child in cluster.graph.nodes[node].children if (found := best(child))]
        return min(entries, key=lambda entry: entry[0])[1] if entries else None

    winner = best(root)
    assert winner is not None
    return winner


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
