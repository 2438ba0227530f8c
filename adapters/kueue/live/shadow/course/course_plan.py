"""What a course does beside its steps, and where one has failed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ......engine.events import WorkloadAdmitted, WorkloadEvicted, WorkloadReplaced
from ..decision_difference import KueueDifference
from ..watch.script import AT_END, ScriptStep
from ..watch.seen_workload import SeenWorkload
from .outside_facts import MissedDecision


class RunCycles(NamedTuple):
    """Let cycles run at this place, until gpol decides what `seen` shows (None: until it rests)."""

    seen: SeenWorkload | None


class TakeBack(NamedTuple):
    """Let a workload take part again that was set aside, as it keeps others waiting."""

    workload: str


class SetAside(NamedTuple):
    """Set a workload aside, which Kueue passes over; without a difference it may be right not to look at it."""

    workload: str
    difference: KueueDifference | None


class Sleep(NamedTuple):
    """Let a workload that Kueue has refused have no part until a step was taken: when there is room again, Kueue looks at those whom it has
    refused a second later than at all others."""

    workload: str
    until: int


class TakeAdmission(NamedTuple):
    """Take the admission that a step shows, this one or a later one, as it is."""

    step: ScriptStep
    difference: KueueDifference


class TakePreemption(NamedTuple):
    """Take the evictions that some steps show, this one or later ones, as they are.

    They are for `preemptor`, for whom gpol evicts others, who go on running; empty where gpol evicts nobody for it.
    """

    steps: tuple[ScriptStep, ...]
    preemptor: str
    difference: KueueDifference


PlannedAction = TakeBack | Sleep | RunCycles | SetAside | TakeAdmission | TakePreemption
"""What a course may do beside its steps."""

_RANKS: dict[type[PlannedAction], int] = {TakeBack: 0, Sleep: 0, RunCycles: 1, SetAside: 2, TakeAdmission: 2, TakePreemption: 3}
"""In which order actions of one place are done: who is to have no part in the cycle of a preemption is taken out of it before."""


@dataclass(frozen=True, slots=True)
class CoursePlan:
    """What a course does beside its steps.

    `actions` are done at a step, once its facts were played, and before Kueue's own decision is looked for. Evictions in `accepted` are
    those that both decide, by victim and step, though gpol evicts for another workload. Admissions in `regiven` are those that both decide
    in one cycle, by workload and step, on different flavors. Workloads in `passed` end before Kueue looks at them. At the steps in `late`,
    cycles run later than Kueue's own did. From the step `unchecked` on, whatever Kueue did is taken as it is.
    """

    actions: Mapping[int, tuple[PlannedAction, ...]] = field(default_factory=dict)
    accepted: Mapping[tuple[str, int], KueueDifference] = field(default_factory=dict)
    regiven: Mapping[tuple[str, int], KueueDifference] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    late: frozenset[int] = frozenset()
    unchecked: int = AT_END + 1

    def with_action(self, serial: int, action: PlannedAction) -> "CoursePlan":
        """The plan with one more action."""
        actions = sorted((*self.actions.get(serial, ()), action), key=lambda each: _RANKS[type(each)])
        return replace(self, actions={**self.actions, serial: tuple(actions)})

    def without_cycles(self, serial: int) -> "CoursePlan":
        """The plan without the cycles at a step."""
        kept = tuple(action for action in self.actions.get(serial, ()) if not isinstance(action, RunCycles))
        return replace(self, actions={**self.actions, serial: kept})

    def has_cycles(self) -> list[int]:
        """The places at which cycles run, in order."""
        return sorted(serial for serial, actions in self.actions.items() if any(isinstance(each, RunCycles) for each in actions))


NO_PLAN = CoursePlan()
"""Nothing beside the steps."""


class OddDecision(NamedTuple):
    """A decision of gpol that Kueue is not seen to make; `shown` is the step where it makes another one about the same workload.

    `subject` is the workload for whose sake it is; `ends` whether that one is over before long.
    """

    decision: WorkloadAdmitted | WorkloadEvicted | WorkloadReplaced
    subject: str
    ends: bool
    shown: ScriptStep | None = None


class EarlyDecision(NamedTuple):
    """A decision that gpol has made at a place, and that a later step shows. `in_added_cycles`: in cycles that the plan adds."""

    serial: int
    decided: OddDecision
    in_added_cycles: bool


class CourseFailure(NamedTuple):
    """Where a course failed: the step (None: behind the last one), what Kueue did there that gpol did not, and what gpol did instead.

    `at_action`: it was in an action of the plan. `is_late`: Kueue decided before facts that were played already, as the step's time shows.
    `is_met`: gpol did decide what Kueue did, and something else as well.
    """

    serial: int
    step: ScriptStep | None
    missed: MissedDecision | None
    odd: tuple[OddDecision, ...]
    at_action: bool = False
    is_late: bool = False
    is_met: bool = False
