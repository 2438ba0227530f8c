"""Orders within a queue: who is looked at first, and who asks for the same as another one."""

from ...outcome.nomination import Value
from ...policy_graph import PolicyGraph
from ...workload import SortKey, Workload


def line_key(graph: PolicyGraph, workload: Workload) -> SortKey:
    """The place of a waiting workload in its queue: `order workloads by`, then its identity outside, then the earlier submission."""
    keys = (directed(own_key(workload, key.field), key.descending) for key in graph.settings.workload_order)
    return (*keys, workload.fact.uid, workload.number)


def directed(value: Value, descending: bool) -> object:
    """The value of a key, negative where greater is better."""
    if isinstance(value, tuple):
        infinite, share = value
        return (-infinite, -share) if descending else value
    assert isinstance(value, int)
    return -value if descending else value


def own_key(workload: Workload, name: str) -> int:
    """The value of a key that is the workload's own."""
    match name:
        case "priority":
            return workload.priority
        case "submitted":
            return workload.queued
        case "pods":
            return workload.pods
        case "evictions":
            return workload.evictions
        case resource:
            return workload.total(resource)
