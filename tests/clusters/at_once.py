"""A small cluster under a policy that decides at once, to play facts on, and what it decides in short words."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from gpol.dsl import compile_policy
from gpol.engine.events import AnyDecision, WorkloadEvicted
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import parse_duration
from played import PROFILES, PlayedCluster

BARE = """profile "test.bare" {
  share borrowed
  order queues by submitted asc
  order workloads by priority desc, submitted asc
  queueing best effort
  when borrowing take flavor
  when evicting take flavor
}
"""
"""A profile without rules, for policies that bring their own: `use test.bare`."""


@cache
def _compiled(text: str) -> PolicyGraph:
    """The graph of a policy in the file `t.gpol`, which may use `test.bare` or a profile of gpol."""
    return compile_policy(text, "t.gpol", {**PROFILES, "test.bare": BARE})


WORDS = {
    "WorkloadAdmitted": "run",
    "WorkloadReplaced": "end",
    "WorkloadEvicted": "evict",
    "WorkloadRejected": "reject",
    "WorkloadPlaced": "place",
    "WorkloadMoved": "move",
    "WorkloadResized": "resize",
}


class Cluster(PlayedCluster):
    """A cluster whose policy decides at once, in words such as `evict a`."""

    compiled = staticmethod(_compiled)

    def word(self, decision: AnyDecision) -> str:
        """A decision in short."""
        return f"{WORDS[decision.kind]} {decision.workload}"

    def tick(self, when: str) -> list[str]:
        """Let time pass with one fact, whatever time alone may decide on the way."""
        self.now = parse_duration(when)
        return self.fact("TimeAdvanced")

    def at(self, when: str) -> list[str]:
        """Let time pass, with a fact whenever time alone may decide something, and one at the end."""
        decided, end = [], parse_duration(when)
        while (wake := self.core.next_wake()) is not None and wake < end:
            self.now = wake
            decided += self.fact("TimeAdvanced")
        self.now = end
        return decided + self.fact("TimeAdvanced")

    def cancel(self, name: str) -> list[str]:
        """A workload is withdrawn."""
        return self.fact("WorkloadCancelled", workload=name)

    def capacity(self, flavor: str, **amounts: str) -> list[str]:
        """A flavor now has these amounts."""
        return self.fact("CapacityChanged", flavor=flavor, capacity=amounts)

    def node(self, kind: str, name: str, labels: Mapping[str, str], gpu: str) -> list[str]:
        """A machine is `Added` or `Changed`."""
        return self.fact(f"Node{kind}", node=name, labels=labels, capacity={"gpu": gpu})

    def victims(self, name: str) -> list[str]:
        """Who was evicted for a workload because of the last fact, each with its rule, such as `a by reclaim`."""
        evictions = [decision for decision in self.decided if isinstance(decision, WorkloadEvicted) and decision.beneficiary == name]
        return [f"{eviction.workload} by {eviction.why.rule.name}" for eviction in evictions if eviction.why.rule is not None]

    def remedy(self, name: str, kind: str) -> Any:
        """The one remedy of a kind for a waiting workload."""
        [found] = [remedy for remedy in self.standing(name).remedies if remedy.kind == kind]
        return found

    def waiting(self) -> list[str]:
        """The names of all that waits, in order of submission."""
        return [workload.name for workload in self.core.view.workloads() if workload.admitted is None]
