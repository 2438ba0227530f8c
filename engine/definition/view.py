"""The state of the definition, to be read from outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..cores import LiveWorkload
from ..policy_graph import PolicyGraph
from .queue.holds import is_queued
from .state.state import State
from .state.workload import NOWHERE, Workload


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """See `gpol.engine.cores.View`."""

    state: State

    @property
    def graph(self) -> PolicyGraph | None:
        return self.state.policy.graph if self.state.policy is not None else None

    @property
    def submissions(self) -> int:
        return self.state.submissions

    @property
    def cause(self) -> int:
        return self.state.cause

    def names(self) -> Sequence[str]:
        return [workload.name for workload in self.state.in_order()]

    def workloads(self) -> Sequence[LiveWorkload]:
        return [self._live(workload) for workload in self.state.in_order()]

    def workload(self, name: str) -> LiveWorkload | None:
        known = self.state.workloads.get(name)
        return None if known is None else self._live(known)

    def _live(self, workload: Workload) -> LiveWorkload:
        waits = workload.admitted is None and workload.queue != NOWHERE
        return LiveWorkload(
            name=workload.name,
            number=workload.number,
            fact=workload.fact,
            queue=workload.queue,
            priority=workload.priority,
            asked_priority=workload.asked_priority,
            pinned=workload.pinned,
            submitted=workload.submitted,
            queued=workload.queued,
            evictions=workload.evictions,
            remaining=tuple(workload.remaining),
            admitted=workload.admitted,
            usage=workload.usage,
            assignments=workload.assignments,
            evicting=workload.evicting,
            checks=workload.checks,
            in_line=waits and is_queued(self.state.active, workload),
            parked=workload.parked,
            deferral=workload.deferred,
        )

    def machine_flavors(self) -> Sequence[int]:
        return [self.state.machines[name].flavor for name in sorted(self.state.machines)]

    def capacity(self, slot: int) -> int:
        return self.state.active.tree.capacity[slot]

    def used(self, node: int, slot: int) -> int:
        return self.state.active.tree.total[node][slot]

    def consumed(self, local_queue: str) -> Mapping[str, int]:
        known = self.state.consumed.get(local_queue)
        return {} if known is None else known.amounts
