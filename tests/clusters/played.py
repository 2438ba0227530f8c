"""What small clusters for tests share, whichever way they decide: facts are played on a core, and decisions come back in short words."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from gpol.dsl.analysis.profiles import shipped, shipped_names
from gpol.engine.default_core import new_core
from gpol.engine.events import AnyDecision, AnyEvent
from gpol.engine.explain.pending import standing
from gpol.engine.explain.standing import Standing
from gpol.engine.facts import FACT, Fact, PolicyActivated
from gpol.engine.policy_graph import PolicyGraph
from gpol.engine.workload import Workload

PROFILES = {name: shipped(name) or "" for name in shipped_names()}
"""The profiles that policies may use."""


class PlayedCluster(ABC):
    """A core under a policy, and a clock. Each method plays a fact and returns what was decided, such as `["run b"]`.

    `history` has every event with the graph that goes with it; `decided` has the last fact's decisions in full.
    """

    def __init__(self, text: str) -> None:
        self.core, self.now, self.history, self.decided = new_core(), 0, list[tuple[AnyEvent, PolicyGraph | None]](), list[AnyDecision]()
        self.activate(text)

    @abstractmethod
    def compiled(self, text: str) -> PolicyGraph:
        """The graph of a policy in the file `t.gpol`."""

    @abstractmethod
    def word(self, decision: AnyDecision) -> str:
        """A decision in short."""

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> list[str]:
        """Any fact at all."""
        self.decided = self.core.step(fact, graph)
        self.history += [(fact, graph), *((decision, None) for decision in self.decided)]
        return [self.word(decision) for decision in self.decided]

    def fact(self, kind: str, **fields: object) -> list[str]:
        """A fact of a kind, now."""
        return self.play(FACT.validate_python({"kind": kind, "time": self.now, **fields}))

    def activate(self, text: str) -> list[str]:
        """Another policy decides from now on."""
        graph = self.compiled(text)
        return self.play(PolicyActivated(time=self.now, file="t.gpol", text=text, digest=graph.digest), graph)

    def submit(
        self, name: str, queue: str | None, gpu: str = "1", pods: int = 1, on: Sequence[str] = (), sets: object = None, **said: object
    ) -> list[str]:
        """A workload of `pods` pods with `gpu` GPUs each, on one of the flavors `on`; or of the pod sets `sets`."""
        pod_sets = sets if sets is not None else [{"count": pods, "requests": {"gpu": gpu}, "flavors": list(on)}]
        return self.fact("WorkloadSubmitted", workload=name, queue=queue, pod_sets=pod_sets, **said)

    def finish(self, name: str) -> list[str]:
        """A running workload ends."""
        return self.fact("WorkloadFinished", workload=name)

    def update(self, name: str, **fields: object) -> list[str]:
        """A workload changes."""
        return self.fact("WorkloadUpdated", workload=name, **fields)

    def operator(self, action: str, name: str, note: str = "") -> list[str]:
        """The operator Olga acts."""
        return self.fact("OperatorAction", by="olga", action=action, workload=name, note=note)

    def workload(self, name: str) -> Workload:
        """A live workload."""
        found = self.core.view.workload(name)
        assert found is not None
        return found

    def standing(self, name: str) -> Standing:
        """Where a live workload stands."""
        found = standing(self.core, name)
        assert found is not None
        return found

    def running(self) -> list[str]:
        """The names of all that runs, in order of submission."""
        return [workload.name for workload in self.core.view.workloads() if workload.admitted is not None]

    def flavors(self, name: str, pod_set: int = 0) -> dict[str, str]:
        """The flavors of a running workload's pod set, by resource."""
        return self.workload(name).assignments[pod_set].flavors
