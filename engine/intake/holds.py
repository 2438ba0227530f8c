"""What keeps a workload from being nominated, whatever is free: its owner or an operator, its queue, a rule, a check, its own pods.

Kueue: pkg/cache/scheduler/clusterqueue.go (active), pkg/scheduler/scheduler.go (nominate), pkg/workload (IsAdmissible).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

from ..eligibility import all_hold
from ..guard import fields
from ..guard_truth import is_true, own_value
from ..outcome.decision import Hold
from ..policy_graph import AdmissionRule, PolicyGraph, covers
from ..workload import Workload

_NOT_QUEUED = ("owner", "operator", "local-queue-stopped", "hold-rule")
"""Where a policy decides in cycles, only these keep a workload out of its queue's line: others count when its turn comes."""


def holds(graph: PolicyGraph, workload: Workload) -> Iterator[Hold]:
    """All that holds a waiting workload, first the one that is told."""
    if workload.held_by_owner:
        yield Hold("owner")
    if workload.held_by_operator is not None:
        yield Hold("operator", workload.held_by_operator)
    queue = graph.queue_at(workload.queue)
    local = queue.local_queue(workload.fact.local_queue)
    if local is not None and local.stopped:
        yield Hold("local-queue-stopped", local.name)
    yield from _rules(graph, workload, "hold")
    if queue.stopped:
        yield Hold("queue-stopped")
    yield from _missing_flavors(graph, workload.queue)
    yield from turned_away(graph, workload)


def is_queued(graph: PolicyGraph, workload: Workload) -> bool:
    """Whether a waiting workload stands in its queue's line; else it is looked at by nobody until what holds it ends."""
    return not any(hold.kind in _NOT_QUEUED or not graph.settings.defers for hold in holds(graph, workload))


def turned_away(graph: PolicyGraph, workload: Workload) -> Iterator[Hold]:
    """Why the head of a queue is turned away: an admission check, its namespace, or what is wrong with its pods."""
    for name in sorted(workload.checks):
        if workload.checks[name] in ("Retry", "Rejected"):
            yield Hold("check", name)
    queue = graph.queue_at(workload.queue)
    if queue.namespaces is not None and not all_hold(queue.namespaces, workload.fact.namespace_labels):
        yield Hold("namespace")
    if workload.fact.misconfigured:
        yield Hold("misconfigured", workload.fact.misconfigured)


def is_inactive(graph: PolicyGraph, queue: int) -> bool:
    """Whether a queue takes no part: it is stopped, held as a whole, or a flavor that it serves is missing.

    It puts up nobody, and nobody is evicted from it for others; what runs there counts all the same.
    """
    return bool(graph.queue_at(queue).stopped or _held_whole(graph, queue)) or any(_missing_flavors(graph, queue))


def _held_whole(graph: PolicyGraph, queue: int) -> list[AdmissionRule]:
    """The rules that hold everything in a queue."""
    return [rule for rule in graph.admission if rule.action == "hold" and rule.guard is None and covers(rule, graph.path(queue))]


def _missing_flavors(graph: PolicyGraph, queue: int) -> Iterator[Hold]:
    """The flavors that a queue serves and nothing defines."""
    for group in graph.queue_at(queue).groups:
        for flavor in group.flavors:
            if graph.flavors[flavor].missing:
                yield Hold("missing-flavor", graph.flavors[flavor].name)


def first_rule(graph: PolicyGraph, workload: Workload, action: Literal["deny", "hold"]) -> Hold | None:
    """The first deny or hold rule, in order of name, that applies to a workload."""
    return next(_rules(graph, workload, action), None)


def _rules(graph: PolicyGraph, workload: Workload, action: Literal["deny", "hold"]) -> Iterator[Hold]:
    value = partial(own_value, graph, workload)
    for index, rule in enumerate(graph.admission):
        if rule.action == action and covers(rule, graph.path(workload.queue)) and is_true(rule.guard, value):
            yield Hold("hold-rule", rule.name, index, tuple(value(field) for field in fields(rule.guard)))


def released(graph: PolicyGraph, queue: int) -> PolicyGraph:
    """The policy as it would be if a queue were neither stopped nor held as a whole; who runs there may have to go for others then."""
    queues = tuple(replace(each, stopped="") if each.node == queue else each for each in graph.queues)
    held = _held_whole(graph, queue)
    return replace(graph, queues=queues, admission=tuple(rule for rule in graph.admission if rule not in held))
