"""Who never runs: workloads of no queue or of several, of an unknown priority, or denied by a rule."""

from ..outcome.decision import Rejection
from ..policy_graph import PolicyGraph
from ..workload import Workload
from .holds import first_rule
from .routing import effective_priority, matching_queues


def rejection(graph: PolicyGraph, workload: Workload) -> Rejection | None:
    """Why a workload never runs: no queue, two queues, an unknown priority, or a deny rule; None where it may."""
    fact = workload.fact
    queues = tuple(matching_queues(graph, fact))
    if graph.settings.defers and not queues:
        return None  # it waits for its queue to come into being, as in Kueue
    if len(queues) != 1:
        return Rejection(workload.name, "several-queues" if queues else "no-queue", queues, named_queue=fact.queue)
    if effective_priority(graph, queues[0], workload.asked_priority) is None:
        return Rejection(workload.name, "unknown-priority", queues, priority=str(workload.asked_priority))
    denied = first_rule(graph, workload, "deny")
    return None if denied is None else Rejection(workload.name, "denied", queues, rule=denied.rule, values=denied.values)
