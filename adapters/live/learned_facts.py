"""What is learned of a workload of a cluster: the facts between what the core knows of it and what it is. The parts that systems share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...engine.eligibility import all_hold
from ...engine.facts import Fact, WorkloadCancelled, WorkloadFinished
from ...engine.policy_graph import PolicyGraph
from ...engine.workload import NOWHERE, Workload


@dataclass(frozen=True, slots=True)
class Learned:
    """The facts about one workload at a moment, in order; `problem` is why gpol cannot decide about it, empty where it can."""

    facts: tuple[Fact, ...] = ()
    problem: str = ""


def gone(known: Workload | None, now: int) -> tuple[Fact, ...]:
    """The facts about a workload that is no longer there."""
    return (WorkloadCancelled(time=now, workload=known.name),) if known is not None else ()


def finished(known: Workload | None, now: int) -> Iterator[Fact]:
    """The facts about a workload that has ended by itself."""
    if known is not None:
        yield (WorkloadFinished if known.admitted is not None else WorkloadCancelled)(time=now, workload=known.name)


def is_let_in_otherwise(graph: PolicyGraph, known: Workload, labels: Mapping[str, str]) -> bool:
    """Whether the labels that a namespace has now let a workload of it into its queue and those that are known did not, or the reverse."""
    namespaces = graph.queue_at(known.queue).namespaces if known.queue != NOWHERE else None
    return namespaces is not None and all_hold(namespaces, dict(labels)) != all_hold(namespaces, known.fact.namespace_labels)
