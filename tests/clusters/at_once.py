"""A small cluster under a policy that decides at once, to play facts on, and what it decides in short words."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from gpol.dsl import compile_policy
from gpol.dsl.analysis.profiles import shipped
from gpol.engine.default_core import new_core
from gpol.engine.events import AnyDecision, AnyEvent, WorkloadEvicted
from gpol.engine.explain.pending import standing
from gpol.engine.explain.standing import Standing
from gpol.engine.facts import FACT, Fact, PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.units import parse_duration

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
def compiled(text: str) -> PolicyGraph:
    """The graph of a policy in the file `t.gpol`, which may use `test.bare` or the default profile."""
    return compile_policy(text, "t.gpol", {"test.bare": BARE, "gpol.fair": shipped("gpol.fair") or ""})


WORDS = {"WorkloadAdmitted": "run", "WorkloadReplaced": "end", "WorkloadEvicted": "evict", "WorkloadRejected": "reject"}


class Cluster:
    """A core under a policy, and a clock. Each method plays a fact and returns what was decided, such as `["evict a", "run b"]`.

    `history` has every event with the graph that goes with it; `decided` has the last fact's decisions in full.
    """

    def __init__(self, text: str) -> None:
        self.core, self.now, self.history, self.decided = new_core(), 0, list[tuple[AnyEvent, PolicyGraph | None]](), list[AnyDecision]()
        self.activate(text)

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> list[str]:
        """Any fact at all."""
        self.decided = self.core.step(fact, graph)
        self.history += [(fact, graph), *((decision, None) for decision in self.decided)]
        return [f"{WORDS[decision.kind]} {decision.workload}" for decision in self.decided]

    def fact(self, kind: str, **fields: object) -> list[str]:
        """A fact of a kind, now."""
        return self.play(FACT.validate_python({"kind": kind, "time": self.now, **fields}))

    def activate(self, text: str) -> list[str]:
        """Another policy decides from now on."""
        graph = compiled(text)
        return self.play(PolicyActivated(time=self.now, file="t.gpol", text=text, digest=graph.digest), graph)

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

    def submit(
        self, name: str, queue: str | None, gpu: str = "1", pods: int = 1, on: Sequence[str] = (), sets: object = None, **said: object
    ) -> list[str]:
        """A workload of `pods` pods with `gpu` GPUs each, on one of the flavors `on`; or of the pod sets `sets`."""
        pod_sets = sets if sets is not None else [{"count": pods, "requests": {"gpu": gpu}, "flavors": list(on)}]
        return self.fact("WorkloadSubmitted", workload=name, queue=queue, pod_sets=pod_sets, **said)

    def finish(self, name: str) -> list[str]:
        """A running workload ends."""
        return self.fact("WorkloadFinished", workload=name)

    def cancel(self, name: str) -> list[str]:
        """A workload is withdrawn."""
        return self.fact("WorkloadCancelled", workload=name)

    def update(self, name: str, **fields: object) -> list[str]:
        """A workload changes."""
        return self.fact("WorkloadUpdated", workload=name, **fields)

    def operator(self, action: str, name: str, note: str = "") -> list[str]:
        """The operator Olga acts."""
        return self.fact("OperatorAction", by="olga", action=action, workload=name, note=note)

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

    def standing(self, name: str) -> Standing:
        """Where a live workload stands."""
        found = standing(self.core, name)
        assert found is not None
        return found

    def remedy(self, name: str, kind: str) -> Any:
        """The one remedy of a kind for a waiting workload."""
        [found] = [remedy for remedy in self.standing(name).remedies if remedy.kind == kind]
        return found

    def running(self) -> list[str]:
        """The names of all that runs, in order of submission."""
        return [workload.name for workload in self.core.view.workloads() if workload.admitted is not None]

    def waiting(self) -> list[str]:
        """The names of all that waits, in order of submission."""
        return [workload.name for workload in self.core.view.workloads() if workload.admitted is None]

    def flavor_of(self, name: str, pod_set: int = 0) -> dict[str, str]:
        """The flavors of a running workload's pod set, by resource."""
        workload = self.core.view.workload(name)
        assert workload is not None
        return workload.assignments[pod_set].flavors
