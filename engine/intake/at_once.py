"""What a fact decides by itself, before anything is weighed against anything: who is refused, drained, or evicted by an operator."""

from collections.abc import Callable, Iterable

from ..facts import Fact, OperatorAction, PolicyActivated, WorkloadAdopted, WorkloadSubmitted
from ..outcome.decision import Eviction, Outcome
from ..policy_graph import PolicyGraph
from ..workload import Workload, victim
from .draining import drained
from .rejection import rejection


def decided_at_once(
    graph: PolicyGraph, fact: Fact, workload: Callable[[str], Workload], everybody: Callable[[], list[Workload]]
) -> list[Outcome]:
    """The decisions; `workload` gives a live one by name, `everybody` all of them in the order of their submissions."""
    match fact:
        case WorkloadSubmitted():
            return _rejections(graph, [workload(fact.workload)])
        case PolicyActivated():
            live = everybody()
            waiting = [each for each in live if each.admitted is None]
            return [*_rejections(graph, waiting), *drained(graph, [each for each in live if each.admitted is not None])]
        case WorkloadAdopted():
            return drained(graph, [workload(fact.workload)])
        case OperatorAction(action="evict"):
            return [Eviction(victim(workload(fact.workload), "operator"), operator=fact.by, note=fact.note)]
        case _:
            return []


def _rejections(graph: PolicyGraph, waiting: Iterable[Workload]) -> list[Outcome]:
    found = (rejection(graph, each) for each in waiting)
    return [each for each in found if each is not None]
