"""A cluster that never comes to rest: random facts, each possible at its moment, with the decisions that the core takes for them."""

from dataclasses import dataclass, field
from random import Random

from gpol.dsl.analysis.checker import check
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.event_parts import PodSet
from gpol.engine.events import AnyEvent
from gpol.engine.facts import (
    CapacityChanged,
    Fact,
    OperatorAction,
    PolicyActivated,
    TimeAdvanced,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from gpol.sim.drive.policy import Policy

POLICY = """
policy "faults" { use gpol.fair }
flavor h100 { gpu 8 }
queue owner { owns 6 gpu on h100 }
queue guest { owns nothing }
protect warm-up { where victim.running < 5s }
"""

_POLICY = Policy.of(check(POLICY, "faults.gpol"))

START = 1_767_323_045_000_000
"""2026-01-02T03:04:05Z."""

MOST_LIVE = 40


@dataclass
class Cluster:
    """A core and what happens to it. `batch` plays one more fact and returns it with its decisions."""

    random: Random
    core: Core = field(default_factory=new_core)

    def batches(self, count: int) -> list[list[AnyEvent]]:
        """Several batches, one after the other."""
        return [self.batch() for _ in range(count)]

    def batch(self) -> list[AnyEvent]:
        """The next fact and its decisions: the policy first, then whatever comes."""
        fact = self._fact()
        return [fact, *self.core.step(fact, _POLICY.graph if isinstance(fact, PolicyActivated) else None)]

    def _fact(self) -> Fact:
        if self.core.graph is None:
            return _POLICY.activation(START)
        time, wake = self.core.time + self.random.randrange(2_000_000), self.core.next_wake()
        if wake is not None and wake <= time:
            return TimeAdvanced(time=wake)
        live = list(self.core.view.workloads())
        chance = self.random.random()
        if not live or (chance < 0.5 and len(live) < MOST_LIVE):
            return WorkloadSubmitted(
                time=time,
                workload=f"job-{self.core.seq + 1}",
                queue=self.random.choice(("owner", "guest")),
                pod_sets=(PodSet(requests={"gpu": 1_000 * self.random.randrange(1, 5)}),),
            )
        workload = self.random.choice(live)
        if chance < 0.9:
            ends = WorkloadFinished if workload.admitted is not None else WorkloadCancelled
            return ends(time=time, workload=workload.name)
        if chance < 0.94:
            return WorkloadUpdated(time=time, workload=workload.name, priority=self.random.randrange(-2, 3))
        if chance < 0.97 and workload.admitted is not None:
            return OperatorAction(time=time, by="grace", action="evict", workload=workload.name, note="n" * self.random.randrange(2_000))
        return CapacityChanged(time=time, flavor="h100", capacity={"gpu": 1_000 * self.random.randrange(6, 12)})
