"""What can be said of where a live workload stands, as data."""

from typing import Literal

from ..event_parts import Assignment, Charge, DeferralOutcome, FlavorObstacle, Limit, ObstacleKind, Operand, Part, RuleRef
from ..outcome.grounds import Unplaced
from ..outcome.nomination import CandidateOutcome


class Remedy(Part):
    """One change that would admit a waiting workload, other things being equal.

    It is worked out for the workload alone, as if it were next: what waits ahead of it may take the room first.
    `ends`: these running workloads end; in cycles those whom it evicts, if it can evict, else none of them can be left out.
    `limits`: each of these limits grows by its deficit. `flavor`: the queue, the workload or both (`by`) accept this flavor, which they do
    not now; `needs` says what of the workload has to change, where that is more than its list of flavors.
    `time`: nothing but time has to pass, until `until` (microseconds). `release`: all that holds it ends, such as a hold or a stop.
    It may have to evict others then: those in `evicting`.
    """

    kind: Literal["ends", "limits", "flavor", "time", "release"]
    workloads: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    flavor: str | None = None
    by: tuple[Literal["queue", "workload"], ...] = ()
    needs: tuple[str, ...] = ()
    until: int | None = None
    evicting: tuple[str, ...] = ()


class FlavorStanding(Part):
    """Why a flavor does not serve these resources of a pod set now, or that it would: a reason token and the limit that binds.

    `Preempt` is a flavor where somebody could go for it, and `NotTried` one that comes after a
    flavor which was good enough; `because` says in words what quota does not, `limits` has every limit that is short, and `borrows`
    says that its queue or cohort would use more than it owns.
    """

    pod_set: str
    resources: tuple[str, ...]
    flavor: str
    reason: str
    limit: Limit | None
    limits: tuple[Limit, ...] = ()
    because: tuple[str, ...] = ()
    borrows: bool = False


class RuleStanding(Part):
    """What a preempt rule could do for a waiting workload: `not triggered`, its victims are `not enough`, or will be `enough later`."""

    rule: RuleRef
    outcome: Literal["not triggered", "not enough", "enough later"]


class Keeper(Part):
    """A running workload whose eviction only time forbids: until when, and by which protect rule."""

    workload: str
    until: int
    protect: RuleRef | None


class CandidateStanding(Part):
    """A running workload that uses what a waiting one needs, and whether it could go for it.

    outcome: `taken`; `spared` (it fits without); `not reached` (others were enough); or why not: `not allowed` (by the line `rule`),
    `never evicted` (by its class), `replaced` (the waiting one takes its place), `queue inactive` (nobody is evicted from such),
    `not borrowing` (its queue, or a cohort on its path, uses no more than it owns, or would not once others have gone), `only without
    borrowing` (the waiting one would have to borrow, and may not evict it for that, by the line `rule`), `share`. Operands are what was
    compared, `usage` is what it uses of what is needed, and what would be free without it; `evicting` says that it has been told to stop.

    By preempt rules, under the rule by which it comes closest to going: `protected` (`rule` is the protect rule) and `guard` (the guard of
    the preempt rule `rule` is false), `until` then is the first moment at which time alone ends that (microseconds; None: time does
    not); `gave way` (it had the other one evicted before); `just admitted` (by the last fact); `out of reach` (the rule does not look in
    its queue); `not triggered` (no rule applies); `not enough` (it may go, but all who may free too little, or only with others later).
    """

    workload: str
    queue: str
    outcome: CandidateOutcome
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()
    usage: tuple[Charge, ...] = ()
    evicting: bool = False
    until: int | None = None


class CandidatesLeftOut(Part):
    """Candidates that are not listed: what came of them, how many they are, and what would be free without them."""

    outcome: CandidateOutcome
    count: int
    usage: tuple[Charge, ...]


class NodesThere(Part):
    """The nodes that are known where those of a flavor give none of a resource.

    `labels` are the label selector of the flavor, as a policy writes it, and `placed` says that it gives places. `count` nodes are of the
    flavor, `cordoned` of which count as gone, and `others` lack the labels.
    """

    labels: tuple[str, ...]
    placed: bool
    count: int
    cordoned: int
    others: int


class NodesLacking(Part):
    """So many nodes of a flavor lack a label, and so stand in no domain; `level` "": it is one of the flavor's own, with this value."""

    level: str
    label: str
    value: str = ""
    nodes: int


class PlaceHelp(Part):
    """What would give places on empty nodes. Each was tried alone, but for what is known of the nodes.

    `tolerating`: taints, all of them together. `other_nodes`: to choose no nodes. `within`: a wider level ("": none helps), `apart`: to
    name none within which all stand, where that is empty. `no_slices`; `pods`: other numbers of pods. `at_most`: what a pod may ask for,
    where no node has as much. Known of nodes: of the resources `unsaid` no node says how much it has, and without these there would be
    places if `unsaid_alone`; the policy neither counts nor ignores those in `uncounted`. `lacking` are the labels for want of which nodes
    are in no domain, `cordoned` how many nodes take no new pods.
    """

    tolerating: tuple[str, ...] = ()
    other_nodes: bool = False
    within: str = ""
    apart: bool = False
    no_slices: bool = False
    pods: tuple[int, ...] = ()
    at_most: tuple[Operand, ...] = ()
    unsaid: tuple[str, ...] = ()
    unsaid_alone: bool = False
    uncounted: tuple[str, ...] = ()
    lacking: tuple[NodesLacking, ...] = ()
    cordoned: int = 0


class Impediment(Part):
    """Why a pod set can never run on a flavor, while the policy and what exists stay as they are; `flavor` "" is any.

    `unknown flavor`: it names a flavor that the policy does not have. `not counted`: no flavor of the policy has the resource.
    `unplaced`: even if nothing ran there would be no places for it, as `places` says, and `helps` what would help. `no nodes`: the flavor
    has what its nodes have, and that is nothing, as `nodes` says. `no-level`: the topology of the flavor has the levels `levels`, and none
    of those in `lacking`, which it names. `other flavors`: it names others. `no flavor`: its queue may use none. `nothing asked`: it asks
    for nothing that the flavors of its queue give, `others`, and so gets none of them, nor places there; `resources` are what it asks for,
    `none_of` those of which it asks for 0. `exceeds`: more is asked for than `limit` says there may be at most. All others are told by
    `obstacle`. `others` are flavors that the queue serves. `exists` is how much there is, where another limit binds and that would not be
    enough either. `silent` are flavors of the queue that give places and of whose nodes none says how much it has of the resource.
    """

    kind: ObstacleKind | Literal["unknown flavor", "not counted", "no nodes", "other flavors", "no flavor", "nothing asked", "unplaced"]
    pod_set: str
    flavor: str = ""
    resource: str = ""
    limit: Limit | None = None
    exists: int | None = None
    obstacle: FlavorObstacle | None = None
    places: Unplaced | None = None
    helps: PlaceHelp | None = None
    others: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    nodes: NodesThere | None = None
    resources: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()


class HoldStanding(Part):
    """Something that keeps a workload from being looked at, as a reason token with its line and what it says."""

    reason: str
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()


class Standing(Part):
    """Where a workload stands at a moment. Times in microseconds, amounts in smallest units; `position` counts from 1 in its queue.

    In a policy that decides in cycles `reason` and `outcome` are of the last cycle that looked at it and said something new, `victims`
    whom it evicted then; all else is as things stand now. `outcome`: `no fit`, `no candidates` (nobody to evict, or not enough),
    `overtaken` (another took the room in that cycle), `overlapping` (its victims went for another), `deferred` (it fits once others'
    victims are gone), `preempting` (it waits for its own), `turned away` (something holds it). `parked`: it is looked at again when
    something may have become free.
    `now` says what could be done for it, were it the next, and held by nothing: `fits`, `evicts` (those who are `taken`), or `waits`.
    `never` says why it can never run while the policy and what exists stay as they are, whatever ends; empty where it can.
    `left_out` counts candidates that are not listed, by what came of them.
    `held` says that something holds it: `reason` is what. `evicts` says how others may be evicted for it: `by rules`, `in cycles` as Kueue
    does, or by `nothing`, as the policy has no preempt rules; None where that was not looked at.
    `places` says why it has no places on a flavor that gives places to pods.
    `also` is what would keep it from being looked at, were it not for `reason`.
    """

    workload: str
    state: Literal["running", "pending"]
    time: int
    queue: str
    priority: int
    asked_priority: int | str | None
    submitted: int
    evictions: int
    admitted: int | None = None
    assignments: tuple[Assignment, ...] = ()
    usage: tuple[Charge, ...] = ()
    reason: str
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()
    limit: Limit | None = None
    places: Unplaced | None = None
    position: int | None = None
    waiting: int | None = None
    parked: bool = False
    held: bool = False
    also: tuple[HoldStanding, ...] = ()
    outcome: DeferralOutcome | None = None
    victims: tuple[str, ...] = ()
    now: Literal["fits", "evicts", "waits", "cycle fits", "cycle evicts", "cycle waits"] | None = None
    flavors: tuple[FlavorStanding, ...] = ()
    rules: tuple[RuleStanding, ...] = ()
    keepers: tuple[Keeper, ...] = ()
    evicts: Literal["by rules", "in cycles", "nothing"] | None = None
    candidates: tuple[CandidateStanding, ...] = ()
    left_out: tuple[CandidatesLeftOut, ...] = ()
    never: tuple[Impediment, ...] = ()
    remedies: tuple[Remedy, ...] = ()
