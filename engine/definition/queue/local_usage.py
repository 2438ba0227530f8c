"""How much each local queue has used lately: it orders workloads in queues that admit by usage.

Kueue: admission fair sharing (pkg/cache/queue/afs). An admission counts at once, the rest is sampled.
"""

from ...policy_graph import PolicyGraph
from ...workload import Workload
from ..quota.decayed_usage import Consumed, Rank, rank
from ..state.state import State


def usage_rank(state: State, graph: PolicyGraph, workload: Workload) -> Rank | None:
    """The decayed usage of the local queue by which a workload came; None where its queue does not admit by usage."""
    usage, queue = graph.settings.usage, graph.queue_at(workload.queue)
    local = queue.local_queue(workload.fact.local_queue)
    if usage is None or not queue.by_usage or local is None:
        return None
    return rank(state.consumed.get(local.name, Consumed()), local, usage)


def _locals(graph: PolicyGraph) -> dict[str, int]:
    """The local queues of queues that admit by usage, with the nodes of these."""
    return {local.name: queue.node for queue in graph.queues if queue.by_usage for local in queue.local_queues}


def settle_usage(state: State, workload: Workload) -> None:
    """Bring the usage of a workload's local queue up to date, before what it holds changes."""
    local = workload.fact.local_queue
    if local is not None and local in _locals(state.graph):
        _advance(state, local)


def charge_admission(state: State, workload: Workload) -> None:
    """Count an admission in its local queue's usage."""
    usage, local = state.graph.settings.usage, workload.fact.local_queue
    if usage is not None and local is not None and local in _locals(state.graph):
        state.consumed[local].charge(_amounts(state.graph, [workload]), usage)


def sample(state: State, now: int) -> None:
    """Bring the usage of all local queues up to date whose last sample is old enough."""
    usage = state.graph.settings.usage
    if usage is None:
        return
    for local in sorted(_locals(state.graph)):
        if local in state.consumed and now - state.consumed[local].updated >= usage.sampling:
            _advance(state, local)


def _advance(state: State, local: str) -> None:
    usage = state.graph.settings.usage
    assert usage is not None
    holders = [each for each in state.running(_locals(state.graph)[local]) if each.fact.local_queue == local]
    state.consumed.setdefault(local, Consumed(updated=state.time)).advance(state.time, _amounts(state.graph, holders), usage)


def _amounts(graph: PolicyGraph, workloads: list[Workload]) -> dict[str, int]:
    amounts: dict[str, int] = {}
    for workload in workloads:
        for slot, amount in workload.usage:
            resource = graph.slots[slot].resource
            amounts[resource] = amounts.get(resource, 0) + amount
    return amounts
