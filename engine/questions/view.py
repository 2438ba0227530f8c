"""The state of the definition, to be read from outside."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from ..definition.state.state import State
from ..nodes.inventory import Machine
from ..workload import Workload


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """See `gpol.engine.cores.View`."""

    state: State

    @property
    def submissions(self) -> int:
        return self.state.submissions

    @property
    def cause(self) -> int:
        return self.state.cause

    def names(self) -> Sequence[str]:
        return [workload.name for workload in self.state.in_order()]

    def workloads(self) -> Sequence[Workload]:
        return [copy(workload) for workload in self.state.in_order()]

    def workload(self, name: str) -> Workload | None:
        known = self.state.workloads.get(name)
        return None if known is None else copy(known)

    def machine_flavors(self) -> Sequence[int]:
        return [self.state.machines[name].flavor for name in sorted(self.state.machines)]

    def machines(self) -> Mapping[str, Machine]:
        return {name: self.state.machines[name] for name in sorted(self.state.machines)}

    def capacity(self, slot: int) -> int:
        return self.state.active.tree.capacity[slot]

    def owned(self, node: int, slot: int) -> int:
        return self.state.active.tree.subtree[node][slot]

    def used(self, node: int, slot: int) -> int:
        return self.state.active.tree.total[node][slot]

    def consumed(self, local_queue: str) -> Mapping[str, int]:
        known = self.state.consumed.get(local_queue)
        return {} if known is None else known.amounts
