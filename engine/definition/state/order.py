"""Orders: keys to sort by, always ending in the number of the submission, so that no two workloads tie."""

from ..events import PodSet
from ..expr import VICTIM_FIELDS, Field, Type
from ..graph import OrderKey, PolicyGraph, PreemptRule
from .guards import comparisons, own_value
from .state import Shape, SortKey
from .workload import Workload

_DYNAMIC = ("queue.share",)
"""Victim keys that belong to the victim's queue, not to the victim: equal within a queue, changing while victims are taken."""

_SHAPE_PATHS = ("priority", "pods", "queue", "queue.share")
"""Workload fields that all workloads of a shape share (resources as well)."""


def line_key(graph: PolicyGraph, workload: Workload) -> SortKey:
    """The place of a waiting workload in its queue: `order workloads by`, then the earlier submission."""
    return (*(directed(workload, key) for key in graph.settings.workload_order), workload.number)


def victim_key(rule: PreemptRule, victim: Workload) -> SortKey:
    """The place of a running workload among the victims of its own queue: the rule's order, then the later submission."""
    return (*(directed(victim, key) for key in rule.order if _path(key) not in _DYNAMIC), -victim.number)


def victim_field(key: OrderKey) -> Field:
    """The field that a key of a victim order reads."""
    return Field("victim", _path(key), VICTIM_FIELDS.get(_path(key), Type.AMOUNT))


def directed(workload: Workload, key: OrderKey) -> int:
    """A key of the workload itself, negative where greater is better."""
    value = _plain(workload, _path(key))
    return -value if key.descending else value


def _path(key: OrderKey) -> str:
    return key.field.removeprefix("victim.")


def _plain(workload: Workload, name: str) -> int:
    match name:
        case "priority":
            return workload.priority
        case "submitted":
            return workload.queued
        case "admitted":
            return workload.admitted or 0
        case "pods":
            return workload.pods
        case "evictions":
            return workload.evictions
        case resource:
            return workload.total(resource)


def shape_of(workload: Workload, shape_is_name: bool) -> Shape:
    """What makes a workload equal to others of its queue in every refusal."""
    if shape_is_name:
        return (workload.name,)
    demand = tuple(
        (pod_set.name, pod_set.flavors, count, tuple(sorted(pod_set.requests.items())), *_placing(pod_set))
        for pod_set, count in zip(workload.fact.pod_sets, workload.remaining, strict=True)
    )
    return (workload.priority, demand, workload.fact.replaces)


def _placing(pod_set: PodSet) -> tuple[object, ...]:
    """What a pod set says of where and how it may be placed; empty for the most."""
    if not (pod_set.node_selector or pod_set.affinity or pod_set.tolerations or pod_set.group or pod_set.min_count is not None):
        return ()
    conditions = tuple(tuple((item.key, item.operator, item.values) for item in term) for term in pod_set.affinity)
    tolerations = tuple((item.key, item.operator, item.value, item.effect) for item in pod_set.tolerations)
    return (tuple(sorted(pod_set.node_selector.items())), conditions, tolerations, pod_set.group, pod_set.min_count)


def victim_shape(read: tuple[Field, ...], victim: Workload) -> Shape:
    """What makes a running workload equal to others of its queue for a rule that reads these fields: evict one, or the next."""
    return (victim.usage, victim.pinned, *(own_value(victim, field) for field in read))


def guards_tell_apart(graph: PolicyGraph) -> bool:
    """Whether some preempt or protect guard reads a field in which two workloads of one shape may differ."""
    resources = [resource for group in graph.groups for resource in group]
    guards = [rule.guard for rule in graph.preempt] + [rule.guard for rule in graph.protect]
    for guard in guards:
        for comparison in comparisons(guard):
            for side in (comparison.left, comparison.right):
                subject, path = getattr(side, "subject", None), getattr(side, "path", "")
                if subject == "workload" and path not in _SHAPE_PATHS and path not in resources:
                    return True
    return False
