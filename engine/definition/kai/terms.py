"""What KAI is told beside a session: how long broken gangs may run and who may not evict yet."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkloadTerms:
    """What is said of one workload; durations are in microseconds.

    `grace` is how long it may run with fewer pods than its minimum (below 0: for ever), and `broken` how long it has done so.
    `succeeded`: a pod of it has ended well; then it is not taken for broken. `delay` after its creation it may not evict anybody.
    KAI: StalenessGracePeriod, StalenessInfo, PreemptionDelay of a PodGroup, PodGroupInfo.IsStale and IsWithinPreemptionDelay.
    """

    grace: int = 0
    broken: int = 0
    succeeded: bool = False
    delay: int = 0


@dataclass(frozen=True, slots=True)
class KaiTerms:
    """What is said of a whole cycle: the time `now` on the clock of the session, and the terms of each workload, by its number."""

    workloads: tuple[WorkloadTerms, ...]
    now: int = 0

    def may_evict(self, workload: int, created: int) -> bool:
        """Whether a workload has waited long enough to evict others; `created` is when it came."""
        return created + self.workloads[workload].delay <= self.now
