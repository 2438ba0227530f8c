"""What the tests of deciding in cycles share: a small cluster, and what its cycles decide in short words."""

from collections.abc import Callable, Sequence
from functools import cache

import pytest
from gpol.dsl import compile_policy
from gpol.dsl.profiles import shipped
from gpol.engine.events import (
    FACT,
    AnyDecision,
    AnyEvent,
    PolicyActivated,
    TimeAdvanced,
    WorkloadDeferred,
    WorkloadEvicted,
    WorkloadReplaced,
)
from gpol.engine.graph import PolicyGraph
from gpol.engine.reference import Core
from gpol.engine.reference.state import Active
from gpol.engine.reference.whereabouts import Standing
from gpol.engine.reference.workload import Workload
from gpol.engine.units import parse_duration

PROFILES = {name: shipped(name) or "" for name in ("kueue.classical", "kueue.fair", "gpol.fair")}


@cache
def compiled(text: str) -> PolicyGraph:
    """The graph of a policy in the file `t.gpol`; one that says nothing of a header decides as `kueue.classical`."""
    header = "" if "policy " in text else 'policy "t" { use kueue.classical }\n'
    return compile_policy(header + text, "t.gpol", PROFILES)


class Cycles:
    """A core under a policy, and a clock. Facts decide nothing but rejections; cycles do.

    `history` has every event with the graph that goes with it, `decided` the last fact's decisions in full.
    """

    def __init__(self, text: str) -> None:
        self.core, self.now, self.decided = Core(), 0, list[AnyDecision]()
        self.history: list[tuple[AnyEvent, PolicyGraph | None]] = []
        self.activate(text)

    def fact(self, kind: str, **fields: object) -> list[str]:
        """A fact of a kind, now."""
        return self._play(FACT.validate_python({"kind": kind, "time": self.now, **fields}), None)

    def _play(self, fact: object, graph: PolicyGraph | None) -> list[str]:
        self.decided = self.core.step(fact, graph)  # type: ignore[arg-type]
        self.history += [(fact, graph), *((decision, None) for decision in self.decided)]  # type: ignore[list-item]
        return [word(decision) for decision in self.decided]

    def activate(self, text: str) -> list[str]:
        """Another policy decides from now on."""
        graph = compiled(text)
        return self._play(PolicyActivated(time=self.now, file="t.gpol", text=text, digest=graph.digest), graph)

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

    def operator(self, action: str, name: str) -> list[str]:
        """The operator Olga acts."""
        return self.fact("OperatorAction", operator="olga", action=action, workload=name)

    def cycle(self) -> list[str]:
        """The next cycle that is due; it is an error where none is."""
        wake = self.core.next_wake()
        assert wake is not None, "no cycle is due"
        self.now = wake
        return self._play(TimeAdvanced(time=wake), None)

    def rest(self) -> list[str]:
        """Cycles until none is due, all that they decided; at most 50."""
        decided: list[str] = []
        for _ in range(50):
            if self.core.next_wake() is None:
                return decided
            decided += self.cycle()
        raise AssertionError("no rest after 50 cycles")

    def at(self, when: str) -> None:
        """Let the clock show a later time; what is due until then is left out."""
        self.now = parse_duration(when)

    @property
    def policy(self) -> Active:
        """The active policy with its tree."""
        assert self.core.state.active is not None
        return self.core.state.active

    def node(self, name: str) -> int:
        """The index of a queue or cohort."""
        return self.policy.name_index[name]

    def workload(self, name: str) -> Workload:
        """A live workload."""
        return self.core.state.workloads[name]

    def standing(self, name: str) -> Standing:
        """Where a live workload stands."""
        found = self.core.standing(name)
        assert found is not None
        return found

    def why(self, name: str) -> str:
        """The reason of the last decision about a workload, of those of the last fact."""
        return next(decision.why.reason for decision in self.decided if decision.workload == name)

    def running(self) -> list[str]:
        """The names of all that runs, in order of submission."""
        return [name for name, workload in self.core.state.workloads.items() if workload.admitted is not None]

    def flavors(self, name: str, pod_set: int = 0) -> dict[str, str]:
        """The flavors of a running workload's pod set, by resource."""
        return self.workload(name).assignments[pod_set].flavors


def word(decision: AnyDecision) -> str:
    """A decision in short: `run a`, `evict a for b`, `end a for b` where b takes its place.

    What is deferred: `next a`, `park a`, or `preempt a` for who waits for its victims."""
    match decision:
        case WorkloadEvicted():
            return f"evict {decision.workload} for {decision.beneficiary or '-'}"
        case WorkloadReplaced():
            return f"end {decision.workload} for {decision.by}"
        case WorkloadDeferred():
            waits = "preempt" if decision.preempting else "next" if decision.waits == "next" else "park"
            return f"{waits} {decision.workload}"
        case _:
            return f"{'run' if decision.kind == 'WorkloadAdmitted' else 'reject'} {decision.workload}"


@pytest.fixture
def cycles() -> Callable[[str], Cycles]:
    """Makes clusters: `cycles(text)` starts at time 0 under the policy `text`, called `t.gpol`."""
    return Cycles
