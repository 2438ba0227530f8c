"""A small cluster that was decided about: who is admitted, who waits, and who was evicted for whom."""

from itertools import count
from typing import Any

from gpol.adapters.live.decider import Numbered
from gpol.adapters.volcano.extender.committed_answers import CommittedAnswers
from gpol.adapters.volcano.extender.evicted_groups import EvictedGroups
from gpol.dsl.analysis.checker import check
from gpol.engine.cores import Core
from gpol.engine.default_core import new_core
from gpol.engine.events import AnyEvent
from gpol.engine.facts import FACT, Fact
from gpol.sim.drive.policy import Policy

NO_JOURNAL: Any = None
"""Nothing is looked up where all was followed from the start."""

POLICY = """policy "lab" { use gpol.fair }
flavor h100 { gpu 16 }
cohort all {
  queue nlp { owns 8 gpu }
  queue vision { owns 8 gpu }
  queue idle { owns nothing }
}
"""


def fact(kind: str, time: int, **fields: Any) -> Fact:
    """A fact."""
    return FACT.validate_python({"kind": kind, "time": time, **fields})


def submitted(time: int, workload: str, queue: str, gpus: int, **more: Any) -> Fact:
    """A PodGroup that asks for so many gpus; its uid is `uid-NAME`."""
    name = workload.partition("/")[2]
    fields = {"uid": f"uid-{name}", "pod_sets": [{"requests": {"gpu": str(gpus)}}], **more}
    return fact("WorkloadSubmitted", time, workload=workload, queue=queue, **fields)


class Lab:
    """A core under the policy, and the answers that followed it from the start."""

    def __init__(self, core: Core | None = None) -> None:
        self.core = core or new_core()
        self._times = count(1_000_000, 1_000_000)
        policy = Policy.of(check(POLICY, "lab.gpol"))
        activation = policy.activation(next(self._times))
        self.batches: list[list[AnyEvent]] = [[activation, *self.core.step(activation, policy.graph)]]
        self.evicted = EvictedGroups(NO_JOURNAL, [])
        self.answers = CommittedAnswers(self.core, self.evicted.now())

    def play(self, kind: str, workload: str, **fields: Any) -> None:
        """Play a fact."""
        self.step(fact(kind, next(self._times), workload=workload, **fields))

    def submit(self, workload: str, queue: str, gpus: int, **more: Any) -> None:
        """Submit a PodGroup."""
        self.step(submitted(next(self._times), workload, queue, gpus, **more))

    def step(self, given: Fact) -> None:
        """Play a fact, and let the answers follow."""
        decisions = self.core.step(given)
        self.batches.append([given, *decisions])
        first = self.core.seq - len(decisions)
        numbered = [Numbered(first + place, event) for place, event in enumerate((given, *decisions))]
        self.evicted.take(numbered)
        self.answers.take(numbered, self.evicted.now())


def lab() -> Lab:
    """`b/guest` borrowed in `nlp` and was evicted for `a/owner` of `vision`; `b/low` in `nlp` runs on; `b/asks` waits, `b/held` is held."""
    made = Lab()
    made.submit("b/low", "nlp", 8)
    made.submit("b/guest", "nlp", 4)
    made.submit("a/owner", "vision", 8)
    made.submit("b/asks", "nlp", 8)
    made.submit("b/held", "nlp", 1, hold=True)
    return made
