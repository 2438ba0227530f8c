"""What waiting workloads of a queue have in common that ask for the same: a refusal of one is a refusal of the other."""

from ..event_parts import as_json
from ..guard import Type, fields
from ..policy_graph import PolicyGraph
from ..workload import Shape, Workload

_SHARED = ("priority", "pods", "queue", "queue.share")
"""Workload fields that all workloads of a shape share (resources as well)."""


def shape_of(workload: Workload, tells_apart: bool) -> Shape:
    """The shape of a waiting workload: its name alone, where guards tell workloads apart that ask for the same."""
    if tells_apart:
        return workload.name
    demand = [(left, as_json(pod_set, exclude={"count"})) for pod_set, left in workload.pod_sets()]
    return repr((workload.priority, demand, workload.fact.replaces and (workload.fact.namespace, workload.fact.replaces)))


def tells_apart(graph: PolicyGraph) -> bool:
    """Whether some preempt or protect guard reads a field in which two workloads of one shape may differ."""
    guards = [*(rule.guard for rule in graph.preempt), *(rule.guard for rule in graph.protect)]
    read = [field for guard in guards for field in fields(guard) if field.subject == "workload"]
    return any(field.path not in _SHARED and field.type is not Type.AMOUNT for field in read)
