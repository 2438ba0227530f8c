"""A scenario: a workload, and victims that would stop for it (KAI: actions/common/solvers/scenario)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...session.pods import Pod
from ..views import WorkloadView


@dataclass(frozen=True, slots=True)
class VictimBatch:
    """Pods of one workload that come as victims together; `workload` is its number."""

    workload: int
    pods: tuple[Pod, ...]


@dataclass(slots=True)
class VictimScenario:
    """Who would stop so that the next pods of `claimant` have room: `recorded` victims of a smaller part of it, and `added` ones."""

    claimant: WorkloadView
    recorded: tuple[VictimBatch, ...] = ()
    added: list[VictimBatch] = field(default_factory=list)

    @property
    def batches(self) -> list[VictimBatch]:
        """All victims, in the order in which they came."""
        return [*self.recorded, *self.added]

    @property
    def victims(self) -> list[Pod]:
        """The pods that would stop. One of `recorded` can come once more with others of its workload: KAI evicts it twice."""
        return [pod for batch in self.batches for pod in batch.pods]

    @property
    def fingerprint(self) -> tuple[tuple[int, ...], ...]:
        """What makes two scenarios the same."""
        waiting = tuple(sorted(pod.number for pod in self.claimant.pods_to_place()))
        return waiting, _numbers(self.recorded), _numbers(self.added)


def by_workload(batches: Iterable[VictimBatch]) -> list[VictimBatch]:
    """The pods of each workload as one batch, in the order of their first pods."""
    pods: dict[int, list[Pod]] = {}
    for batch in batches:
        pods.setdefault(batch.workload, []).extend(batch.pods)
    return [VictimBatch(workload, tuple(pods[workload])) for workload in pods]


def _numbers(batches: Iterable[VictimBatch]) -> tuple[int, ...]:
    return tuple(sorted(pod.number for batch in batches for pod in batch.pods))
