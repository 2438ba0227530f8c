"""Where a submission belongs: its queue, and the priority that counts there."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..events import Operand, RuleRef, Why, WorkloadSubmitted
from ..graph import AdmissionRule, Condition, LocalQueue, PolicyGraph, Queue, Source
from .cycles.matching import all_hold
from .guards import Bench, fields, matches
from .state import Active
from .workload import Workload


@dataclass(frozen=True, slots=True)
class Rank:
    """The priority that counts, and whether the class it comes from is never evicted."""

    priority: int
    pinned: bool


def reference(name: str, source: Source | None) -> RuleRef | None:
    """A rule of the policy as events name it."""
    return None if source is None else RuleRef(name=name, file=source.file, line=source.line)


def matching_queues(graph: PolicyGraph, fact: WorkloadSubmitted) -> list[int]:
    """The nodes of the queues that a submission belongs to: the one it names, that of its local queue, or all whose match rules fit."""
    if fact.queue is not None:
        return [queue.node for queue in graph.queues if graph.nodes[queue.node].name == fact.queue]
    if fact.local_queue is not None:
        return [queue.node for queue in entered_by(graph, fact.local_queue)]
    return [queue.node for queue in graph.queues if _matches(queue, fact)]


def _matches(queue: Queue, fact: WorkloadSubmitted) -> bool:
    return any(all(_meets(condition, fact) for condition in conditions) for conditions in queue.matches)


def _meets(condition: Condition, fact: WorkloadSubmitted) -> bool:
    match condition.attribute:
        case "label":
            return condition.key in fact.labels and matches(fact.labels[condition.key], condition.pattern)
        case "kind":
            return matches(fact.workload_kind, condition.pattern)
        case name:
            return matches(str(getattr(fact, name)), condition.pattern)


def rank(graph: PolicyGraph, node: int, asked: int | str | None) -> Rank | None:
    """The priority of a workload in a queue: the class or number it asks for, the default, at most the queue's ceiling.

    None where it names a class that the policy does not have.
    """
    queue = graph.queue_at(node)
    if asked is None:
        value, pinned = queue.default_priority, queue.default_pinned
    elif isinstance(asked, int):
        value, pinned = asked, False
    else:
        known = next((priority for priority in graph.priorities if priority.name == asked), None)
        if known is None:
            return None
        value, pinned = known.value, known.never_evicted
    if queue.ceiling is not None and value > queue.ceiling:
        return Rank(queue.ceiling, pinned=False)
    return Rank(value, pinned)


def why_refused(active: Active, workload: Workload) -> Why | None:
    """The reason to reject a workload for good: no queue, two queues, an unknown priority, or a deny rule."""
    fact, graph = workload.fact, active.graph
    queues = matching_queues(graph, fact)
    if graph.settings.cycles is not None and not queues:
        return None  # it waits for its queue to come into being, as in Kueue
    if len(queues) != 1:
        names = sorted(graph.nodes[node].name for node in queues)
        reason = "MatchesSeveralQueues" if names else "NoMatchingQueue"
        asked = [Operand(name="workload.queue", value=fact.queue)] if fact.queue is not None else []
        return Why(reason=reason, operands=(*asked, *(Operand(name="queue", value=name) for name in names)))
    if rank(graph, queues[0], workload.asked_priority) is None:
        return Why(reason="UnknownPriority", operands=(Operand(name="workload.priority", value=str(workload.asked_priority)),))
    return admission_rule_why(active, workload, "deny", "Denied")


def admission_rule_why(active: Active, workload: Workload, action: str, reason: str) -> Why | None:
    """The first deny or hold rule, in order of name, that applies to a workload, as a reason."""
    return next(admission_rule_whys(active, workload, action, reason), None)


def admission_rule_whys(active: Active, workload: Workload, action: str, reason: str) -> Iterator[Why]:
    """Every deny or hold rule, in order of name, that applies to a workload, as a reason."""
    bench = Bench(active.graph, active.tree, active.shares, 0, workload)
    for rule in active.graph.admission:
        if rule.action == action and in_scope(active, rule, workload.queue) and bench.holds(rule.guard):
            operands = [Operand(name=str(field), value=bench.show(field)) for field in fields(rule.guard)]
            because = Operand(name="because", value=rule.because)
            yield Why(reason=reason, rule=reference(rule.name, rule.source), operands=(*operands, because))


def suspended(active: Active, workload: Workload) -> Why | None:
    """Why a workload's queue or local queue admits nobody, or not it; None where it does."""
    node = active.graph.nodes[workload.queue]
    queue = active.graph.queues[node.queue]
    if queue.stopped:
        return Why(reason="Suspended", rule=reference(node.name, node.source), operands=(Operand(name="queue", value="stopped"),))
    if queue.namespaces is not None and not all_hold(queue.namespaces, workload.fact.namespace_labels):
        because = Operand(name="because of", value="namespace")
        return Why(reason="Misconfigured", rule=reference(node.name, node.source), operands=(because,))
    if workload.fact.misconfigured:
        return Why(reason="Misconfigured", operands=(Operand(name="because of", value=workload.fact.misconfigured),))
    return stopped_locally(active, workload)


def stopped_locally(active: Active, workload: Workload) -> Why | None:
    """Why a workload's local queue admits nobody; None where it does."""
    local = local_queue(active.graph, workload)
    if local is None or not local.stopped:
        return None
    return Why(reason="Suspended", rule=reference(local.name, local.source), operands=(Operand(name="local queue", value="stopped"),))


def entered_by(graph: PolicyGraph, name: str | None) -> list[Queue]:
    """The queues to which a local queue of this name is the entry."""
    return [queue for queue in graph.queues if any(local.name == name for local in queue.local_queues)]


def local_queue(graph: PolicyGraph, workload: Workload) -> LocalQueue | None:
    """The local queue by which a workload came, if its queue has it."""
    queue = graph.queue_at(workload.queue)
    return next((local for local in queue.local_queues if local.name == workload.fact.local_queue), None)


def in_scope(active: Active, rule: AdmissionRule, node: int) -> bool:
    """Whether a rule's `for` covers a queue."""
    return rule.nodes is None or any(above in rule.nodes for above in active.tree.paths[node])
