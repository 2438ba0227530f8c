"""What is learned of a workload of a cluster: the facts between what the core knows of it and what it is. The parts that systems share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...engine.eligibility import all_hold
from ...engine.facts import Fact, WorkloadCancelled, WorkloadFinished
from ...engine.policy_graph import PolicyGraph
from ...engine.workload import NOWHERE, Workload

_MILLI = 1000
"""gpol counts a resource that is called `gpu` in thousandths."""


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


def in_policy_names(amounts: Mapping[str, int], graph: PolicyGraph, names: Mapping[str, str]) -> dict[str, int]:
    """Amounts by the policy's names of resources. `names` says what those are called in the cluster, where that is another name."""
    known = {slot.resource for slot in graph.slots} | set(graph.ignored)
    ours = {theirs: name for name, theirs in names.items() if name in known}
    found = {ours.get(name, name): amounts[name] * (_MILLI if ours.get(name) == "gpu" else 1) for name in amounts}
    return {name: found[name] for name in sorted(found)}


def in_cluster_names(amounts: Mapping[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Amounts by what resources are called in the cluster, whichever policy they were counted by: `in_policy_names` backwards."""
    found = {names.get(name, name): amount // _MILLI if name == "gpu" and name in names else amount for name, amount in amounts.items()}
    return {name: found[name] for name in sorted(found)}
