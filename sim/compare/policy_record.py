"""What a comparison needs of the events of one history: what became of each job, who was evicted for whom, and who takes turns."""

from collections import Counter
from typing import NamedTuple

from ...engine.events import AnyDecision, WorkloadEvicted
from ...engine.facts import Fact, TimeAdvanced, WorkloadSubmitted
from ...engine.policy_graph import PolicyGraph
from ..drive.driver import OnEvict
from ..impact.workload_fates import Fate
from ..measure.measure import Measure
from ..report.run_record import RunRecord


class JobOutcome(NamedTuple):
    """What became of a job in one history: its queue, its state at the end, and how long it was in line, in microseconds, up to the end.

    `lost` is GPU-time that evictions made vain, in thousandths of a GPU times microseconds.
    """

    queue: str
    state: str
    wait: int
    evictions: int
    lost: int

    @property
    def ran(self) -> bool:
        """Whether it was admitted at any time."""
        return self.evictions > 0 or self.state in ("running", "finished", "replaced")


class EvictionPath(NamedTuple):
    """Whose workloads were evicted for whose: the queues, the kind of the eviction and the rule or line (empty: there is none).

    `beneficiary_queue` is empty where nobody was to profit, such as where a node was lost.
    """

    queue: str
    beneficiary_queue: str
    preemption: str
    rule: str


class PolicyRecord:
    """Takes every batch of one history in order. `since` is when anything but time happened last, and `turns` how often time alone has
    evicted each workload since then.

    `in_turns` counts by queue the evictions of workloads that time alone had evicted before without anything else in between: where a
    system comes to rest at once, there are none.
    """

    def __init__(self, on_evict: OnEvict, graph: PolicyGraph) -> None:
        self.run = RunRecord(on_evict, self._over)
        self.jobs: dict[str, JobOutcome] = {}
        self.evictions: Counter[EvictionPath] = Counter()
        self.turns: Counter[str] = Counter()
        self.in_turns: Counter[str] = Counter()
        self.since = 0
        self._graph = graph
        self._queues: dict[str, str] = {}
        """The queue of each job that is not over. Its fate knows it only once it was admitted."""

    def take(self, fact: Fact, decisions: list[AnyDecision], measure: Measure) -> None:
        """Take in a batch that the measure has counted."""
        if isinstance(fact, WorkloadSubmitted):
            self._queues[fact.workload] = measure.queue_of(fact, self._graph)
        by_time = isinstance(fact, TimeAdvanced)
        if not by_time:
            self.since = fact.time
            self.turns.clear()
        for decision in decisions:
            if isinstance(decision, WorkloadEvicted):
                self._evicted(decision, measure)
                if by_time:
                    self.turns[decision.workload] += 1
                    self.in_turns[decision.queue] += self.turns[decision.workload] > 1
        self.run.take(fact, decisions, measure)

    def _evicted(self, decision: WorkloadEvicted, measure: Measure) -> None:
        other = measure.live.get(decision.beneficiary) if decision.beneficiary is not None else None
        rule = decision.why.rule
        path = EvictionPath(decision.queue, other.queue if other is not None else "", decision.preemption, rule.name if rule else "")
        self.evictions[path] += 1

    def _over(self, fate: Fate) -> None:
        name = fate.submission[0]
        self.jobs[name] = JobOutcome(self._queues.pop(name), fate.state, fate.wait, fate.evictions, fate.lost)
