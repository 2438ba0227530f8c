"""What would be done for a workload: flavors for each pod set, victims where it needs them, and what stands in the way.

Typed numbers and indices only: flavors, slots, nodes and rules are indices into the policy graph, amounts are in the smallest unit.
`gpol.engine.explain` turns them into words. Grades, modes and reasons are Kueue's (pkg/scheduler/flavorassigner) where it has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from typing import Literal, NamedTuple

from ..event_parts import Assignment, EvictionKind, KeptOffCause, ObstacleKind, PlacedPods, PlacesFailure, PodSetChange

Request = tuple[tuple[int, int], ...]
"""(slot, amount) pairs in ascending order of slot, amounts above 0, in the smallest unit."""

Share = tuple[int, Fraction]
"""(0, share); or one that is infinite, and still compares with others of its kind: (1, unweighted share) for a node of weight 0 that
has something, (2, borrowed worth by weight) for one that borrows where so little exists that nothing can be lent."""

ComparedShares = tuple[Share, Share, Share]
"""What fair sharing compares: the preemptor's side with it running, the victim's side before and after."""

Value = int | str | Share
"""The value of a field: a number in the smallest unit, a text, or a share."""

FlavorReason = Literal["", "TopologyPlacementFailed", "WaitingForQuota", "ExceedsMaxQuota", "PodTooLarge", "NoMatchingFlavor"]
"""Why a flavor, or a whole workload, fits nowhere; from the mildest to the most severe. Empty: it does fit, or others could go."""


def as_request(amounts: Mapping[int, int]) -> Request:
    """Amounts by slot as a request: in order of slot, and those above 0 only."""
    return tuple((slot, amounts[slot]) for slot in sorted(amounts) if amounts[slot] > 0)


class Grade(IntEnum):
    """How well a flavor serves a request; better is greater. Below NO_VICTIMS the flavor is of no use."""

    NO_MATCH = 0
    EXCEEDS = 1
    MAY_NOT_EVICT = 2
    NO_VICTIMS = 3
    PROTECTED = 4
    PREEMPT = 5
    RECLAIM = 6
    FIT = 7

    @property
    def mode(self) -> "Mode":
        """What the grade allows to do."""
        return Mode.FIT if self is Grade.FIT else Mode.NO_FIT if self < Grade.NO_VICTIMS else Mode.PREEMPT


class Mode(IntEnum):
    """What can be done for a workload now; better is greater. With DEFERRED_FIT it fits once the victims of others are gone."""

    NO_FIT = 0
    PREEMPT = 1
    DEFERRED_FIT = 2
    FIT = 3


Verdict = tuple[Grade, int]
"""A grade, and the level from which the quota would come: 0 from the queue itself, above 0 it would borrow."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a flavor does not serve a resource at once.

    `exceeds` and `short` are about quota: `assumed` was asked for by earlier pod sets, `asked` here, `limit` is the most there could be,
    or what is available. With `too-large` one pod asks for `asked`, and the largest node of the flavor has `limit`; without a resource it
    takes several resources to say that no node is large enough. With `taint` the `index` is that of the flavor's taint. With
    `other-flavor` it is that of the flavor on which the workload runs whose place is taken (-1: on none, for this resource). With
    `no-places` there is room for `limit` of `asked` slices or pods.
    """

    kind: ObstacleKind
    flavor: int = -1
    resource: str = ""
    index: int = -1
    assumed: int = 0
    asked: int = 0
    limit: int = 0

    @property
    def by_quota(self) -> bool:
        """Whether an amount is missing, and not the flavor the wrong one."""
        return self.kind in ("exceeds", "short")


class LayerRoom(NamedTuple):
    """How many slices of a layer fit into the best domain, of how many."""

    level: str
    fit: int
    of: int


@dataclass(frozen=True, slots=True)
class NoPlaces:
    """Why pod sets, which are placed together, have no places in the topology of a flavor.

    `no-room`: of `of` slices (of `size` pods each, 1: single pods) `fit` have room in the best domain of `level`, or in all ("": of no
    level); `asked` is the level within or near which they are to stand; `layers` say more of slices within slices. `closest` is the domain
    that comes closest, of the level at which the search ended, with room for `closest_fit`. Of `nodes`, the lowest domains, `kept_off` take
    no pod at all: a cause, what it is about, and how many. `uneven-slices` has the same, as `left_over` pods are in no whole
    slice. `no-level`: the topology has no `level`; `no-domains`: no node is in one; `slice-above`: that of slices is not below `asked`.
    `place-gone`: pods that are to stay stand at `asked`, which is no place of the topology any more or, with `level`, in no domain of it,
    which would have to be known; `slices-broken`: with the places that were found, slices of `level` would not stand together.
    """

    kind: PlacesFailure
    pod_sets: tuple[str, ...] = ()
    flavor: int = -1
    level: str = ""
    asked: str = ""
    fit: int = 0
    of: int = 0
    size: int = 1
    layers: tuple[LayerRoom, ...] = ()
    nodes: int = 0
    kept_off: tuple[tuple[KeptOffCause, str, int], ...] = ()
    closest: tuple[str, ...] = ()
    closest_fit: int = 0
    left_over: int = 0

    def about(self, pod_sets: tuple[str, ...], flavor: int) -> "NoPlaces":
        """The same of these pod sets on a flavor."""
        return replace(self, pod_sets=pod_sets, flavor=flavor)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A flavor that was tried for resources of a pod set: what came of it, and why it does not fit where it does not."""

    flavor: int
    resources: tuple[str, ...]
    grade: Grade
    level: int
    obstacles: tuple[Obstacle, ...]
    reason: FlavorReason


@dataclass(frozen=True, slots=True)
class Chosen:
    """The flavor of a resource. `tried` is the index in the queue's list at which the search stopped, -1 at its end."""

    flavor: int
    grade: Grade
    level: int
    tried: int


@dataclass(slots=True)
class PodSetFlavors:
    """What a pod set gets: pods, amounts by resource, the flavor of each resource (none: it cannot be served), what stood in the way; and
    where its pods stand, on a flavor that gives places; `delayed`: that is found once checks have provided nodes."""

    name: str
    count: int
    requests: dict[str, int]
    flavors: dict[str, Chosen] = field(default_factory=dict)
    obstacles: tuple[Obstacle, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    failed: bool = False
    places: tuple[PlacedPods, ...] = ()
    delayed: bool = False

    @property
    def mode(self) -> Mode:
        """The worst of its resources."""
        if self.failed:
            return Mode.NO_FIT
        if not self.obstacles:
            return Mode.FIT
        return min((chosen.grade.mode for chosen in self.flavors.values()), default=Mode.NO_FIT)


@dataclass(slots=True)
class FlavorAssignment:
    """Flavors for a whole workload, as far as they were found.

    `whole` is all that it would be charged, by slot, and `usage` that without what a workload holds whose place it takes. `level` is the
    highest of all resources, `needing` the slots on which somebody else has to go. `unplaced` is why it has no places though it fits by
    quota, `unplaced_if_empty` why it has none on empty nodes.
    """

    pod_sets: list[PodSetFlavors] = field(default_factory=list)
    usage: dict[int, int] = field(default_factory=dict)
    whole: dict[int, int] = field(default_factory=dict)
    level: int = 0
    mode: Mode = Mode.FIT
    reason: FlavorReason = ""
    needing: set[int] = field(default_factory=set)
    unplaced: NoPlaces | None = None
    unplaced_if_empty: NoPlaces | None = None

    @property
    def request(self) -> Request:
        """The amounts of `usage` above 0. Below 0 is what a smaller slice gives back; that is free only when the old one ends."""
        return as_request(self.usage)

    @property
    def grade(self) -> Grade:
        """The worst of all resources of all pod sets."""
        if self.mode is Mode.NO_FIT:
            return Grade.NO_MATCH
        return min((chosen.grade for pod_set in self.pod_sets for chosen in pod_set.flavors.values()), default=Grade.FIT)

    def nominated(self) -> dict[tuple[str, str], int]:
        """The flavor of each resource of each pod set."""
        return {(pods.name, resource): pods.flavors[resource].flavor for pods in self.pod_sets for resource in sorted(pods.flavors)}


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """Who would have gone instead: `key` is the index of the first key of the rule's order that differs (-1: none), `value` its value."""

    workload: str
    key: int
    value: Value


@dataclass(frozen=True, slots=True)
class SurplusTaken:
    """What a victim has that gives up surplus pods and runs on: its assignments and what it is charged from then, and which pods go."""

    assignments: tuple[Assignment, ...]
    usage: Request
    changes: tuple[PodSetChange, ...]


@dataclass(frozen=True, slots=True)
class Victim:
    """A workload that has to go, and what was compared when it was picked.

    By a preempt rule: its index, the values of `rule.compared`, and for the first victim the runner-up. By fair sharing: the
    shares of the preemptor's side with it running, and of the victim's side before and after. `evicting`: it was told to go before.
    `left`: it does not go, and gives up surplus alone.
    """

    workload: str
    queue: int
    kind: EvictionKind
    priority: int
    usage: Request
    rule: int = -1
    values: tuple[Value, ...] = ()
    runner_up: RunnerUp | None = None
    shares: ComparedShares | None = None
    evicting: bool = False
    left: SurplusTaken | None = None


CandidateOutcome = Literal[
    "taken", "spared", "not reached", "share", "only without borrowing", "not borrowing", "not allowed", "never evicted", "replaced",
    "queue inactive", "not enough", "just admitted", "gave way", "protected", "guard", "out of reach", "not triggered",
]  # fmt: skip
"""What came of a running workload that uses what another one needs; see `gpol.engine.explain.standing`."""

Note = tuple[CandidateOutcome, ComparedShares | None]
"""What came of a running workload at which a search for victims looked, and the shares where these were compared."""


@dataclass(frozen=True, slots=True)
class ProtectedVictim:
    """A victim that only time keeps: it may go from `until` on; `protect` is the index of the rule that keeps it longest (-1: none)."""

    workload: str
    until: int
    protect: int


@dataclass(frozen=True, slots=True)
class KeptCandidate:
    """A running workload that uses what a nomination lacks, and why no preempt rule takes it now.

    Of several rules the one under which it comes closest to going: `rule` and `protect` are indices (-1: none). `until` is the first moment
    at which time alone ends what keeps it, None if time does not. `values` are those of the fields in the guard that keeps it.
    """

    workload: str
    outcome: CandidateOutcome
    rule: int = -1
    protect: int = -1
    until: int | None = None
    values: tuple[Value, ...] = ()


@dataclass(slots=True)
class Nomination:
    """What would be done for a workload of a queue: flavors, the victims that it needs, the one whose place it takes.

    Where there are no victims now, `until` is the first moment at which time alone will have made room for all of it, on these flavors or
    on others: for `request_then`. `later` is the first moment at which there will be room for some part of it.

    `again` says why a workload that runs is nominated again: it has lost nodes, or nodes have been provided. It asks for places alone.
    """

    workload: str
    queue: int
    flavors: FlavorAssignment
    victims: tuple[Victim, ...] = ()
    until: int | None = None
    request_then: Request = ()
    later: int | None = None
    replaced: str | None = None
    again: Literal["", "node-lost", "nodes-provided"] = ""

    @property
    def fits(self) -> bool:
        """Whether it can be admitted as things stand."""
        return self.flavors.mode is Mode.FIT

    @property
    def runs(self) -> bool:
        """Whether it leads to an admission: it fits, or there are victims."""
        return self.fits or bool(self.victims)

    @property
    def possible(self) -> bool:
        """Whether it leads to an admission, now or once protections end."""
        return self.runs or self.until is not None
