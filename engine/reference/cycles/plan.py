"""What is found for a workload: a verdict on each flavor, the flavors chosen, and what stands in the way.

Grades, reasons and their severity are Kueue's (pkg/scheduler/flavorassigner).
"""

from dataclasses import dataclass, field, replace
from enum import IntEnum

from ...graph import Group, PolicyGraph
from .levels import Amounts


class Grade(IntEnum):
    """How well a flavor serves a request; better is greater."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


class Mode(IntEnum):
    """What can be done for a workload now; better is greater. With DEFERRED_FIT it fits once others' victims are gone."""

    NO_FIT = 0
    PREEMPT = 1
    DEFERRED_FIT = 2
    FIT = 3


MODES = {Grade.NO_FIT: Mode.NO_FIT, Grade.FIT: Mode.FIT}

NO_MATCH, EXCEEDS, WAITING = "NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForQuota"
_SEVERITY = ("", "TopologyPlacementFailed", WAITING, EXCEEDS, NO_MATCH)

Verdict = tuple[Grade, int]
"""A grade and the level from which the quota would come."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a flavor does not serve a resource at once.

    kind: unavailable, missing, taint, affinity, other-flavor, replaces, exceeds, short. Amounts in smallest units: `assumed` by earlier
    pod sets, `asked` here, `limit` (the most there could be, or what is available), `deficit`. With `replaces` the workload whose
    place is taken runs on the flavor `detail` ("": on none, for this resource).
    """

    kind: str
    flavor: str = ""
    resource: str = ""
    detail: str = ""
    assumed: int = 0
    asked: int = 0
    limit: int = 0
    deficit: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A flavor that was tried for resources of a pod set: what came of it and why; `reason` is a token where it does not fit."""

    flavor: str
    resources: tuple[str, ...]
    grade: Grade
    level: int
    obstacles: tuple[Obstacle, ...]
    reason: str

    @property
    def mode(self) -> Mode:
        """What the grade allows to do."""
        return MODES.get(self.grade, Mode.PREEMPT)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The flavor of a resource. `tried` is the index in the queue's list at which the search stopped, -1 at its end."""

    flavor: int
    mode: Mode
    level: int
    tried: int


@dataclass(slots=True)
class PodSetPlan:
    """What a pod set gets: pods, amounts by resource, flavors by resource (none: it cannot be served), and what stood in the way."""

    name: str
    count: int
    requests: dict[str, int]
    flavors: dict[str, Chosen] = field(default_factory=dict)
    obstacles: tuple[Obstacle, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    failed: bool = False

    @property
    def mode(self) -> Mode:
        """The worst of its resources."""
        if self.failed:
            return Mode.NO_FIT
        if not self.obstacles:
            return Mode.FIT
        return min((chosen.mode for chosen in self.flavors.values()), default=Mode.NO_FIT)


@dataclass(slots=True)
class Plan:
    """Flavors for a whole workload, as far as they were found.

    `whole` is all that it would be charged, by slot, and `usage` that without what a workload holds whose place it takes; `level` the
    highest of all resources, `needing` the slots on which somebody else has to go.
    """

    pod_sets: list[PodSetPlan]
    usage: Amounts
    whole: Amounts
    level: int
    mode: Mode
    reason: str = ""

    needing: set[int] = field(default_factory=set)

    def nominated(self) -> dict[tuple[str, str], int]:
        """The flavor of each resource of each pod set."""
        return {(plan.name, resource): plan.flavors[resource].flavor for plan in self.pod_sets for resource in sorted(plan.flavors)}

    def deferred(self) -> "Plan":
        """The same plan, which has to wait for others' victims."""
        return replace(self, mode=Mode.DEFERRED_FIT)


def better(left: Verdict, right: Verdict, rather: str) -> bool:
    """Whether a verdict is preferred to another. What cannot be done now comes last, whatever the queue would rather do."""
    (grade, level), (other_grade, other_level) = left, right
    if grade is Grade.NO_FIT or other_grade is Grade.NO_FIT:
        return grade is not Grade.NO_FIT
    if (grade is Grade.NO_CANDIDATES) != (other_grade is Grade.NO_CANDIDATES):
        return grade is not Grade.NO_CANDIDATES
    if rather == "evict":
        return (level, -grade) < (other_level, -other_grade)
    return (-grade, level) < (-other_grade, other_level)


def more_severe(left: str, right: str) -> str:
    """The more severe of two reasons."""
    return left if _SEVERITY.index(left) >= _SEVERITY.index(right) else right


def reason_of(plan: Plan, groups: tuple[Group, ...], graph: PolicyGraph) -> str:
    """Why nothing fits: within a group the least severe reason of its flavors, over groups and pod sets the most severe."""
    overall = ""
    for pod_set in plan.pod_sets:
        if pod_set.mode is not Mode.NO_FIT:
            continue
        if not pod_set.attempts:
            overall = more_severe(overall, NO_MATCH)
            continue
        mildest: dict[int, str] = {}
        for attempt in pod_set.attempts:
            if attempt.mode is not Mode.NO_FIT:
                continue
            for index, group in enumerate(groups):
                if attempt.flavor in [graph.flavors[flavor].name for flavor in group.flavors]:
                    known = mildest.get(index, attempt.reason)
                    mildest[index] = attempt.reason if more_severe(known, attempt.reason) == known else known
        for index in sorted(mildest):
            overall = more_severe(overall, mildest[index])
    return overall
