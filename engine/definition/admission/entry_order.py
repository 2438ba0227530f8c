"""Whose turn it is among the workloads that queues put up: all at once by keys, or by a tournament, level by level up the tree.

Kueue: pkg/scheduler/scheduler.go (classicalIterator) and fair_sharing_iterator.go. Where Kueue leaves the order open (ties, and the
order of trees) it is that of identities, then of submissions, and of the names of the trees' roots.
"""

from collections.abc import Iterable

from ...outcome.nomination import Nomination, Value
from ..queue.line import directed, own_key
from ..state.trial import Trial

Entries = dict[int, Nomination]
"""What queues put up, by node."""


def in_turn_again(trial: Trial, nominations: Iterable[Nomination]) -> list[Nomination]:
    """Nominations of workloads that run, in the order of their turns."""
    return sorted(nominations, key=lambda nomination: _keys(trial, nomination.queue, nomination))


def next_entry(trial: Trial, entries: Entries) -> Nomination | None:
    """The nomination whose turn it is; None where there is none."""
    if not entries:
        return None
    if trial.graph.settings.flat:
        heads = [entries[queue] for queue in sorted(entries)]
        return min(heads, key=lambda head: _keys(trial, head.queue, head), default=None)
    roots = (node for node in (0, *sorted(trial.graph.nodes[0].children)) if trial.tree.parent[node] < 0)
    winners = (best_below(trial, root, entries) for root in roots)
    return next((winner for winner in winners if winner is not None), None)


def best_below(trial: Trial, node: int, entries: Entries) -> Nomination | None:
    """The best nomination at or below a node: each child puts up its own best, and they are compared with that child charged."""
    if trial.graph.nodes[node].is_queue:
        return entries.get(node)
    ranked = []
    for child in trial.graph.nodes[node].children:
        if trial.tree.parent[child] == node:
            best = entries.get(child) if trial.graph.nodes[child].queue >= 0 else best_below(trial, child, entries)
            if best is not None:
                with trial.charged(best.queue, best.flavors.request):
                    ranked.append((_keys(trial, child, best), best))
    return min(ranked, key=lambda entry: entry[0])[1] if ranked else None


def _keys(trial: Trial, node: int, nomination: Nomination) -> tuple[object, ...]:
    """The place of a nomination among those that are compared with it at a node, the best is the least."""
    workload = trial.state.workloads[nomination.workload]
    keys = [directed(_key(trial, node, nomination, key.field), key.descending) for key in trial.graph.settings.queue_order]
    return (*keys, workload.fact.uid, workload.number)


def _key(trial: Trial, node: int, nomination: Nomination, name: str) -> Value:
    match name:
        case "borrowing" if trial.graph.settings.flat:
            return nomination.flavors.level
        case "borrowing":
            return int(trial.tree.borrows(node, sorted(nomination.flavors.usage)))
        case "share":
            return trial.shares.of(node)
        case _:
            return own_key(trial.state.workloads[nomination.workload], name)
