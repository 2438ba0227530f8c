"""How much each local queue has used lately, by its name: it orders workloads in queues that admit by usage.

Kueue: admission fair sharing (pkg/cache/queue/afs). An admission counts at once, the rest is sampled.
"""

from collections.abc import Mapping

from ..facts import UsageReported
from ..policy_graph import PolicyGraph
from ..workload import Running, Workload
from .decayed_usage import Consumed, Rank, rank

Books = dict[str, Consumed]
"""What local queues have used, by their names; they outlive a change of policy."""


def usage_rank(graph: PolicyGraph, books: Mapping[str, Consumed], workload: Workload) -> Rank | None:
    """The decayed usage of the local queue by which a workload came; None where its queue does not admit by usage."""
    usage, queue = graph.settings.usage, graph.queue_at(workload.queue)
    local = queue.local_queue(workload.fact.local_queue)
    if usage is None or not queue.by_usage or local is None:
        return None
    return rank(books.get(local.name, Consumed()), local, usage)


def _locals(graph: PolicyGraph) -> dict[str, int]:
    """The local queues of queues that admit by usage, with the nodes of these."""
    return {local.name: queue.node for queue in graph.queues if queue.by_usage for local in queue.local_queues}


def settle_usage(graph: PolicyGraph, books: Books, workload: Workload, now: int, running: Running) -> None:
    """Bring the usage of a workload's local queue up to date, before what it holds changes."""
    local = workload.fact.local_queue
    if local is not None and local in _locals(graph):
        _advance(graph, books, local, now, running)


def charge_admission(graph: PolicyGraph, books: Books, workload: Workload) -> None:
    """Count an admission in its local queue's usage."""
    usage, local = graph.settings.usage, workload.fact.local_queue
    if usage is not None and local is not None and local in _locals(graph):
        books[local].charge(_amounts(graph, [workload]), usage)


def report_usage(books: Books, fact: UsageReported) -> None:
    """Take over what an outside system has counted."""
    as_of = fact.time if fact.as_of is None else fact.as_of
    books.setdefault(fact.local_queue, Consumed()).report(fact.consumed, as_of)


def sample(graph: PolicyGraph, books: Books, now: int, running: Running) -> None:
    """Bring the usage of all local queues up to date whose last sample is old enough."""
    usage = graph.settings.usage
    if usage is None:
        return
    for local in sorted(_locals(graph)):
        if local in books and now - books[local].updated >= usage.sampling:
            _advance(graph, books, local, now, running)


def _advance(graph: PolicyGraph, books: Books, local: str, now: int, running: Running) -> None:
    usage = graph.settings.usage
    assert usage is not None
    holders = [each for each in running(_locals(graph)[local]) if each.fact.local_queue == local]
    books.setdefault(local, Consumed(updated=now)).advance(now, _amounts(graph, holders), usage)


def _amounts(graph: PolicyGraph, workloads: list[Workload]) -> dict[str, int]:
    amounts: dict[str, int] = {}
    for workload in workloads:
        for slot, amount in workload.usage:
            resource = graph.slots[slot].resource
            amounts[resource] = amounts.get(resource, 0) + amount
    return amounts
