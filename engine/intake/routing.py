"""Where a workload belongs: its queue, and the priority that counts there."""

from collections.abc import Hashable

from ..facts import WorkloadSubmitted
from ..guard import matches
from ..policy.doors import Condition, SaidText
from ..policy_graph import PolicyGraph, Queue
from ..workload import NOWHERE, Workload


def matching_queues(graph: PolicyGraph, fact: WorkloadSubmitted) -> list[int]:
    """The nodes of the queues that a submission belongs to: the one it names, that of its local queue, or all whose match rules fit."""
    if fact.queue is not None:
        named = queue_named(graph, fact.queue)
        return [] if named is None else [named]
    if fact.local_queue is not None:
        return [queue.node for queue in entered_by(graph, fact.local_queue)]
    said: list[SaidText] = [
        ("namespace", None, fact.namespace),
        ("user", None, fact.user),
        ("group", None, fact.group),
        ("kind", None, fact.workload_kind),
        *(("label", key, text) for key, text in sorted(fact.labels.items())),
    ]
    found = [graph.queues[place] for place in graph.doors.places(said)]
    return [queue.node for queue in found if _matches(queue, fact)]


def said_of_queue(fact: WorkloadSubmitted) -> Hashable:
    """All that `matching_queues` reads of a submission: those that say the same of it belong to the same queues."""
    return fact.queue, fact.local_queue, fact.namespace, fact.user, fact.group, fact.workload_kind, *sorted(fact.labels.items())


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


def queue_named(graph: PolicyGraph, name: str) -> int | None:
    """The node of the queue of this name; None where there is none."""
    return graph.doors.named.get(name)


def entered_by(graph: PolicyGraph, name: str | None) -> list[Queue]:
    """The queues to which a local queue of this name is the entry."""
    if name is None:
        return []
    return [graph.queues[place] for place in graph.doors.by_local_queue.get(name, ())]


def effective_priority(graph: PolicyGraph, node: int, asked: int | str | None) -> tuple[int, bool] | None:
    """The priority of a workload in a queue, and whether its class is never evicted: the class or number it asks for, the default, at
    most the queue's ceiling. None where it names a class that the policy does not have.
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
        return queue.ceiling, False
    return value, pinned


def only_queue(graph: PolicyGraph, fact: WorkloadSubmitted) -> int:
    """The node of the one queue that a submission matches; NOWHERE where it matches none, or several."""
    queues = matching_queues(graph, fact)
    return queues[0] if len(queues) == 1 else NOWHERE


def route(graph: PolicyGraph, workload: Workload) -> None:
    """Find the queue of a waiting workload, and the priority that counts there."""
    workload.queue = only_queue(graph, workload.fact)
    set_priority(graph, workload)


def set_priority(graph: PolicyGraph, workload: Workload) -> None:
    """Work out the priority that counts in a workload's queue; one whose priority class is unknown there belongs to no queue."""
    if workload.queue != NOWHERE:
        counts = effective_priority(graph, workload.queue, workload.asked_priority)
        if counts is None:
            workload.queue = NOWHERE
        else:
            workload.priority, workload.pinned = counts[0] + workload.boost, counts[1]
