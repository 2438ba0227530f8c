"""Who is not even nominated: workloads of queues that put up nobody, those that are turned away, those that are not queued at all.

Kueue: pkg/cache/scheduler/clusterqueue.go (active), pkg/scheduler/scheduler.go (nominate), pkg/workload (IsAdmissible).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...events import Operand, Why
from ..route import admission_rule_why, admission_rule_whys, in_scope, reference, stopped_locally
from ..state import Active
from ..workload import Workload
from .matching import all_hold, holds

NAMESPACE = "namespace"
"""The detail of a workload that comes from a namespace which its queue does not admit."""


def inactive(policy: Active, node: int) -> str:
    """Why a queue takes no part: it is stopped, held as a whole, or a flavor that it serves is missing; empty where it does.

    It puts up nobody, and nobody is evicted from it for others; what runs there counts all the same.
    """
    known = policy.inactive.get(node)
    if known is None:
        known = policy.inactive[node] = _why_inactive(policy, node)
    return known


def _why_inactive(policy: Active, node: int) -> str:
    queue = policy.graph.queue_at(node)
    if queue.stopped:
        return "stopped"
    for rule in policy.graph.admission:
        if rule.action == "hold" and rule.guard is None and in_scope(policy, rule, node):
            return rule.because
    return next(_missing(policy, node), "")


def _missing(policy: Active, node: int) -> Iterator[str]:
    """The flavors that a queue serves and nothing defines."""
    queue = policy.graph.queue_at(node)
    flavors = [policy.graph.flavors[flavor] for group in queue.groups for flavor in group.flavors]
    yield from (f"flavor {flavor.name} is missing" for flavor in flavors if flavor.missing)


def inadmissible(policy: Active, workload: Workload) -> tuple[str, str]:
    """Why a head is turned away before it is nominated, as a reason and a detail; empty where it is not."""
    failed = _failed(workload)
    if failed:
        return "PendingEvaluation", f"admission check {failed[0]}"
    if _of_another_namespace(policy, workload):
        return "Misconfigured", NAMESPACE
    if workload.fact.misconfigured:
        return "Misconfigured", workload.fact.misconfigured
    return "", ""


def _failed(workload: Workload) -> list[str]:
    return [name for name in sorted(workload.checks) if workload.checks[name] in ("Retry", "Rejected")]


def _of_another_namespace(policy: Active, workload: Workload) -> bool:
    queue = policy.graph.queue_at(workload.queue)
    return queue.namespaces is not None and not all_hold(queue.namespaces, workload.fact.namespace_labels)


def aside(policy: Active, workload: Workload) -> Why | None:
    """Why a workload is not queued at all: it is on hold, or its local queue is stopped; None where it is."""
    held = next(_holds(workload), None) or stopped_locally(policy, workload)
    return held or admission_rule_why(policy, workload, "hold", "OnHold")


def _holds(workload: Workload) -> Iterator[Why]:
    if workload.held_by_owner:
        yield Why(reason="OnHold", operands=(Operand(name="held by", value="its owner"),))
    if workload.held_by_operator is not None:
        yield Why(reason="OnHold", operands=(Operand(name="operator", value=workload.held_by_operator),))


# --- all of it, for explanations ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Barrier:
    """Something that keeps a workload from being nominated, whatever is free.

    `known`: without it all else is as it is now; of a flavor that is missing, or of pods that are wrong, nobody knows what they will be.
    """

    why: Why
    known: bool = True


def barriers(policy: Active, workload: Workload) -> list[Barrier]:
    """All barriers of a waiting workload, the one that it is told first; none of one that is queued and may be nominated."""
    local = stopped_locally(policy, workload)
    stopped = [local] if local is not None else []
    held = [*_holds(workload), *stopped, *admission_rule_whys(policy, workload, "hold", "OnHold")]
    return [*(Barrier(why) for why in held), *_of_queue(policy, workload.queue), *_of_workload(policy, workload)]


def released(policy: Active, node: int) -> Active:
    """The policy as it would be if a queue were neither stopped nor held as a whole: it puts up its own, who may have to go for others."""
    graph = policy.graph
    queues = tuple(replace(queue, stopped="") if queue.node == node else queue for queue in graph.queues)
    held = [rule for rule in graph.admission if rule.action == "hold" and rule.guard is None and in_scope(policy, rule, node)]
    return replace(policy, graph=replace(graph, queues=queues, admission=tuple(rule for rule in graph.admission if rule not in held)))


def _of_queue(policy: Active, node: int) -> Iterator[Barrier]:
    """Why its queue takes no part, but for hold rules: those are told of each workload."""
    place = policy.graph.nodes[node]
    rule = reference(place.name, place.source)
    if policy.graph.queues[place.queue].stopped:
        yield Barrier(Why(reason="Suspended", rule=rule, operands=(Operand(name="queue", value="stopped"),)))
    for missing in _missing(policy, node):
        yield Barrier(Why(reason="Suspended", rule=rule, operands=(Operand(name="queue", value=missing),)), known=False)


def _of_workload(policy: Active, workload: Workload) -> Iterator[Barrier]:
    """Why it is turned away when its turn comes."""
    for check in _failed(workload):
        says = Operand(name="it says", value=workload.checks[check])
        yield Barrier(Why(reason="PendingEvaluation", operands=(Operand(name="because of", value=f"admission check {check}"), says)))
    because = Operand(name="because of", value=NAMESPACE)
    if _of_another_namespace(policy, workload):
        place = policy.graph.nodes[workload.queue]
        rule = reference(place.name, place.source)
        yield Barrier(Why(reason="Misconfigured", rule=rule, operands=(because, *_conditions(policy, workload))))
    if workload.fact.misconfigured:
        because = Operand(name="because of", value=workload.fact.misconfigured)
        yield Barrier(Why(reason="Misconfigured", operands=(because,)), known=False)


def _conditions(policy: Active, workload: Workload) -> Iterator[Operand]:
    """The conditions of the queue that the workload's namespace does not meet, and what it says instead."""
    queue = policy.graph.queue_at(workload.queue)
    for condition in queue.namespaces or ():
        if not holds(condition, workload.fact.namespace_labels):
            wanted = f"{condition.operator} {', '.join(condition.values)}".strip()
            has = workload.fact.namespace_labels.get(condition.key)
            said = "not there" if has is None else f"`{has}`"
            yield Operand(name=f"namespace label {condition.key}", value=f"{said}, has to be {wanted}")
