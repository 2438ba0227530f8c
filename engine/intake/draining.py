"""Queues and local queues that a policy drains: who runs there is evicted at once, for nobody, and waits until the queue is open again."""

from collections.abc import Iterable

from ..outcome.decision import Eviction, Outcome
from ..policy_graph import PolicyGraph
from ..workload import Workload, victim


def drained(graph: PolicyGraph, running: Iterable[Workload]) -> list[Outcome]:
    """Who of those that run is in a queue or local queue that the policy drains, and has not been told to stop already."""
    found: list[Outcome] = []
    for workload in (each for each in running if not each.evicting):
        queue = graph.queue_at(workload.queue)
        local = queue.local_queue(workload.fact.local_queue)
        if queue.stopped == "drain":
            found.append(Eviction(victim(workload, "stopped")))
        elif local is not None and local.stopped == "drain":
            found.append(Eviction(victim(workload, "stopped"), local_queue=local.name))
    return found
