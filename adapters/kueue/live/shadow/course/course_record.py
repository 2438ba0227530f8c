"""The facts that a course plays, with the differences that some of them write down."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ......engine.cores import Core
from ......engine.events import AnyDecision
from ......engine.facts import (
    Fact,
    OperatorAction,
    TimeAdvanced,
    UsageReported,
    WorkloadAdopted,
    WorkloadCancelled,
    WorkloadFinished,
    WorkloadSubmitted,
    WorkloadUpdated,
)
from ......engine.policy_graph import PolicyGraph
from ..decision_difference import KueueDifference
from ..watch.seen_workload import SeenWorkload
from .outside_facts import SHADOW, told_to_stop


class PlayedFact(NamedTuple):
    """A fact that was played, and the graph that goes with a policy."""

    fact: Fact
    graph: PolicyGraph | None


class CourseRecord:
    """Plays facts into a core, and keeps them: `played`. `marks` are differences, each with the place of its fact in `played`."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.played: list[PlayedFact] = []
        self.marks: list[tuple[KueueDifference, int]] = []
        self._asleep: dict[str, int] = {}

    def play(self, fact: Fact, graph: PolicyGraph | None = None) -> Iterable[AnyDecision]:
        """Play a fact, and return what follows from it. Raises FactError, with nothing kept, for one that cannot have happened."""
        decisions = self.core.step(fact, graph)
        self.played.append(PlayedFact(fact, graph))
        return decisions

    @property
    def made_room(self) -> list[int]:
        """When something happened that may have made room for others, in order."""
        return [played.fact.time for played in self.played if _makes_room(played.fact)]

    def mark(self, difference: KueueDifference | None, place: int) -> None:
        """Note which fact writes a difference down."""
        if difference is not None:
            self.marks.append((difference, place))

    def end(self, name: str) -> None:
        """A workload is not there any more."""
        known = self.core.view.workload(name)
        if known is not None:
            self.play((WorkloadFinished if known.admitted is not None else WorkloadCancelled)(time=self.core.time, workload=name))

    def set_aside(self, name: str, note: str, difference: KueueDifference | None = None) -> None:
        """Let a workload that waits, and that nobody holds, take no part in cycles. A difference is written down in any case."""
        known = self.core.view.workload(name)
        if difference is not None or (known is not None and known.admitted is None and known.held_by_operator is None):
            self.mark(difference, len(self.played))
            self._act("hold", name, difference.text[:4096] if difference is not None else note)

    def take_back(self, name: str, note: str) -> None:
        """Let a workload that was set aside take part again."""
        known = self.core.view.workload(name)
        if known is not None and known.held_by_operator == SHADOW:
            self._act("release", name, note)

    def let_sleep(self, name: str, until: int) -> None:
        """Let a workload that waits, and that nobody holds, take no part in cycles until a step was taken."""
        known = self.core.view.workload(name)
        if known is not None and known.admitted is None and known.held_by_operator is None:
            self._act("hold", name, "Kueue looks at it again in a second")
            self._asleep[name] = until

    def wake(self, serial: int) -> None:
        """Let those take part again who have slept until a step that was taken now."""
        for name in [name for name, until in self._asleep.items() if until <= serial]:
            del self._asleep[name]
            self.take_back(name, "Kueue looks at it again")

    def note(self, name: str, difference: KueueDifference) -> None:
        """Write a difference down about a workload that waits, which takes part in cycles again if it did not."""
        self.mark(difference, len(self.played))
        self._act("release", name, difference.text[:4096])

    def stop(self, name: str, note: str, difference: KueueDifference | None) -> None:
        """Kueue has told a workload to stop; where it should not have, `difference` says so."""
        self.mark(difference, len(self.played))
        for fact in told_to_stop(name, self.core.time, difference.text if difference is not None else note):
            self.play(fact)

    def give(self, seen: SeenWorkload) -> None:
        """A workload that waits holds what Kueue gave it."""
        if self.play(seen.adopted(self.core.time, evicting=False)):  # the policy has told it to stop at once
            self.play(seen.adopted(self.core.time, evicting=True))

    def _act(self, action: Literal["hold", "release"], name: str, note: str) -> None:
        self._asleep.pop(name, None)
        self.play(OperatorAction(time=self.core.time, by=SHADOW, action=action, workload=name, note=note))


def _makes_room(fact: Fact) -> bool:
    match fact:
        case WorkloadUpdated():  # it has stopped, or some of its pods are done
            return fact.requeued is not None or fact.reclaimable is not None
        case OperatorAction():
            return fact.action == "evict"
        case _:
            return not isinstance(fact, TimeAdvanced | UsageReported | WorkloadAdopted | WorkloadSubmitted)
