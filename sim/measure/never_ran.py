"""Who never ran in a history that was played: who was rejected, who can never run as things stand, who waits; alike ones together."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import compress

import numpy as np

from ...engine.cores import Core, PlayedBatch, PlayedChunk, Probe, View
from ...engine.event_parts import Operand, PodSet, RuleRef
from ...engine.events import AnyDecision, WorkloadRejected, WorkloadReplaced
from ...engine.explain.never import idle, impediments, with_helps
from ...engine.explain.pending import standing as standing_of
from ...engine.explain.standing import Impediment, Standing
from ...engine.facts import Fact, WorkloadAdopted, WorkloadCancelled, WorkloadFinished
from ...engine.outcome.history import E_KIND, FINISHING, REJECTING, REPLACING
from ...engine.workload import Workload
from ..drive.given_facts import PlayedStretch
from ..report.wording import MOST_NAMES, rejection_grounds

_MOST_HELPED = 5
"""Of how many groups, the greatest first, it is tried what would give them places. That takes long."""


@dataclass(slots=True)
class RejectedGroup:
    """Workloads that were rejected alike: for the same reason, by the same rule, with the same operands but for what a guard compared."""

    reason: str
    rule: RuleRef | None
    operands: tuple[Operand, ...]
    count: int = 0
    workloads: list[str] = field(default_factory=list)


@dataclass(slots=True)
class WaitingGroup:
    """Workloads of a queue ("": of none, and they name none) that wait and never ran. `never`: why none of them can as things stand."""

    queue: str
    never: tuple[Impediment, ...]
    count: int = 0
    workloads: list[str] = field(default_factory=list)


class NeverRan:
    """Counts rejections as they are played, and keeps the names of live workloads that were `adopted`: they ran without an admission."""

    def __init__(self) -> None:
        self.rejections: dict[tuple[str, RuleRef | None, tuple[Operand, ...]], RejectedGroup] = {}
        self.adopted: set[str] = set()

    def take(self, played: PlayedBatch | PlayedChunk | PlayedStretch) -> None:
        """Take in what was played; nobody is adopted in a chunk or in a stretch."""
        if self.adopted and isinstance(played, PlayedStretch):
            self.adopted.difference_update(_ended(played))
        for fact, decisions in [played] if isinstance(played, tuple) else _rejecting(played):
            self._adopt(fact, decisions)
            for decision in decisions:
                if isinstance(decision, WorkloadRejected):
                    self._add(decision)

    def _adopt(self, fact: Fact, decisions: list[AnyDecision]) -> None:
        """Keep who is adopted, and let go who is over."""
        if isinstance(fact, WorkloadAdopted):
            self.adopted.add(fact.workload)
        elif isinstance(fact, WorkloadFinished | WorkloadCancelled):
            self.adopted.discard(fact.workload)
        for decision in decisions if self.adopted else ():
            if isinstance(decision, WorkloadRejected | WorkloadReplaced):
                self.adopted.discard(decision.workload)

    def _add(self, decision: WorkloadRejected) -> None:
        rule, said = rejection_grounds(decision)
        group = self.rejections.setdefault((decision.reason, rule, said), RejectedGroup(decision.reason, rule, said))
        group.count += 1
        if len(group.workloads) < MOST_NAMES:
            group.workloads.append(decision.workload)

    def rejected(self) -> list[RejectedGroup]:
        """The rejected ones in groups, the greatest first, and then in the order of their first ones."""
        return sorted(self.rejections.values(), key=lambda group: -group.count)


def _ended(stretch: PlayedStretch) -> Iterator[str]:
    """The workloads that are over by an event of a stretch."""
    ends = np.isin(stretch.events[:, E_KIND], (FINISHING, REPLACING, REJECTING)).tolist()
    return (name for name in compress(stretch.workloads, ends) if name is not None)


def _rejecting(chunk: PlayedChunk | PlayedStretch) -> Iterator[PlayedBatch]:
    """The batches that reject: the fact stands right before its rejection."""
    for row in np.flatnonzero(chunk.events[:, E_KIND] == REJECTING).tolist():
        yield chunk.batch(row - 1)


def never_admitted(core: Core, adopted: Collection[str] = ()) -> list[WaitingGroup]:
    """The workloads that wait and never ran: first those that can never run as things stand, then the others, by queue; the most first.

    Who was admitted and waits was evicted; who was `adopted` may wait without that.
    """
    view, graph = core.view, core.graph
    waiting = [each for each in view.workloads() if each.admitted is None and each.evictions == 0 and each.name not in adopted]
    if graph is None or not waiting:
        return []
    probe = core.probe
    alone = idle(probe, view)
    judged: dict[tuple[object, ...], tuple[Impediment, ...]] = {}
    groups: dict[tuple[int, tuple[Impediment, ...]], WaitingGroup] = {}
    for each in waiting:
        asked = (each.queue, each.remaining, each.fact.replaces, *(_asked(pod_set) for pod_set in each.fact.pod_sets))
        if asked not in judged:
            judged[asked] = _judged(probe, alone, view, each)
        known = judged[asked]
        queue = graph.nodes[each.queue].name if each.queue >= 0 else each.fact.local_queue or each.fact.queue or ""
        group = groups.setdefault((each.queue, known), WaitingGroup(queue, known))
        group.count += 1
        if len(group.workloads) < MOST_NAMES:
            group.workloads.append(each.name)
    found = sorted(groups.values(), key=lambda group: (not group.never, -group.count))
    for group in found[:_MOST_HELPED]:
        group.never = with_helps(alone, view, group.workloads[0], group.never)
    return found


def first_standing(core: Core, group: WaitingGroup) -> Standing | None:
    """Where the first workload of a group stands, briefly."""
    return standing_of(core, group.workloads[0], briefly=True)


def _asked(pod_set: PodSet) -> tuple[object, ...]:
    """All that a pod set asks for, to be compared."""
    return tuple(tuple(said.items()) if isinstance(said, dict) else said for _, said in pod_set)


def _judged(probe: Probe, alone: Probe, view: View, workload: Workload) -> tuple[Impediment, ...]:
    """Why a workload can never run as things stand; nothing of one that belongs to no queue."""
    return impediments(alone, view, probe.nominate(workload.name)) if workload.queue >= 0 else ()
