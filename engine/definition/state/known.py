"""What of the state decides which facts are possible."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...intake.capacity import Machine
from ...policy_graph import PolicyGraph
from ...workload import Workload
from .state import State


@dataclass(frozen=True, slots=True)
class KnownState:
    """See `gpol.engine.intake.check.Known`."""

    state: State

    @property
    def time(self) -> int:
        return self.state.time

    @property
    def graph(self) -> PolicyGraph | None:
        return None if self.state.policy is None else self.state.policy.graph

    @property
    def machines(self) -> Mapping[str, Machine]:
        return self.state.machines

    def workload(self, name: str) -> Workload | None:
        return self.state.workloads.get(name)

    def running(self) -> Iterable[Workload]:
        return (workload for workload in self.state.in_order() if workload.admitted is not None)
