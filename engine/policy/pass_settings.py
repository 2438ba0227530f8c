"""How a policy decides by passes: the list of passes in a cycle, what queues are entitled to, shares, places, and searches for victims.

Each choice is a name out of a closed list. Which names go together is said in `gpol.dsl.analysis.passes.pass_words`.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

PassName = Literal["enqueue", "allocate", "consolidate", "reclaim", "preempt", "backfill", "balance", "end-broken-gangs"]
"""What a cycle does, one after the other. enqueue: it lets workloads in whose pods may be created. allocate: it places what fits without
evictions. consolidate, reclaim, preempt, balance: they evict or move, each by its rule. backfill: it places pods that ask for nothing.
end-broken-gangs: it evicts what runs with fewer pods than it needs."""

EVICTING: tuple[PassName, ...] = ("consolidate", "reclaim", "preempt", "balance")
"""The passes that need a rule."""


@dataclass(frozen=True, slots=True)
class Entitlement:
    """What a queue may count on of each resource, level by level of the quota tree.

    owned: what it owns. weight: everything is divided by weight, in rounds, to nobody more than it asks for and may use and to nobody less
    than it is guaranteed (Volcano: plugin `proportion`). owned-first: each gets what it owns and asks for, and the rest goes by weight
    (KAI: resource_division.go); in whole units with `whole_units`, and to queues of high priority before all others with `by_priority`.
    demand: shares by weight, and what somebody does not ask for goes to the others, in at most `rounds`, until at most `remainder` of
    everything is not given (Armada: context/scheduling.go); both are 0 elsewhere.
    """

    way: Literal["owned", "weight", "owned-first", "demand"]
    whole_units: bool = False
    by_priority: bool = False
    rounds: int = 0
    remainder: Fraction = Fraction(0)


NothingDue = Literal["", "0", "1", "x1000"]
"""What a use of something counts of which nothing is due: nothing, 1, or a thousand times itself. Empty: not said, as `used` needs none."""


@dataclass(frozen=True, slots=True)
class PassShare:
    """How far a queue is: the greatest part, over all resources, of what exists (used), of what it is entitled to or owns, or its cost.

    The cost is the greatest part of what exists over the queue's weight, each resource counted as often as `weights` says; resources that
    are not in `weights` do not count, unless it is empty: then each counts once.
    """

    of: Literal["used", "entitlement", "owned", "cost"]
    nothing_due: NothingDue = ""
    weights: tuple[tuple[str, Fraction], ...] = ()


PASS_QUEUE_KEYS = (
    "over-entitlement",
    "starved",
    "saturated",
    "queue-priority",
    "priority",
    "unentitled",
    "share-with",
    "share",
    "entitlement",
    "created",
    "large-first",
)
"""Keys of `order queues by` in passes; ties go by name.

over-entitlement: 1 if it holds more than it is entitled to of every resource. starved: 1 if it owns enough for its next workload.
saturated: 1 if it has all that it asks for of some resource, or asks for one that is used up. queue-priority: its own priority. priority:
that of its next workload. unentitled: 1 if it holds something of which nothing is due. share-with: its share with its next workload.
entitlement: its share of what it is entitled to there is, smaller first. created: how old it is. large-first: queues that stay within their
entitlement with their next workload come before all others, by their shares without it, and among equals the largest workload (Armada:
`enablePreferLargeJobOrdering`).
"""

PASS_WORKLOAD_KEYS = ("priority", "readiness", "share", "submitted")
"""Keys of `order workloads by` in passes. readiness: 0 below its minimum of pods, 1 at it, 2 above it. share: what it holds itself. Ties go
by the order of submission."""

NODE_KEYS = ("nominated", "domain", "fits-now", "plain-node", "evicts", "free", "score")
"""Keys of `place pods by`. nominated: it was promised to the pod before. domain: how far its domain is preferred. fits-now: the pod starts
there at once, and need not wait for pods that stop. plain-node: it has no GPUs, and the pod asks for none. evicts: the highest priority of
those who would have to go. free: how much of a resource is free. score: the sum of `score nodes`. Ties go by name."""


@dataclass(frozen=True, slots=True)
class NodeKey:
    """One key of the order of nodes. `resource` is set for `free` alone, and so is `step`: amounts count in whole steps of so many of the
    smallest unit (0: exactly)."""

    field: Literal["nominated", "domain", "fits-now", "plain-node", "evicts", "free", "score"]
    resource: str
    descending: bool
    step: int = 0


@dataclass(frozen=True, slots=True)
class NodeScore:
    """One term of a node's score, from 0 to 100 by its weight.

    packed: how much is used there with the pod, on average over those resources that have a `packed` term of their own, by their weights;
    the term without a resource weighs the whole (1 where it is not there; Volcano: plugin `binpack`). least-used, most-used, balanced: over
    cpu and memory (plugin `nodeorder`). near: how near it is to the workload's other pods (plugin `network-topology-aware`).
    """

    term: Literal["packed", "least-used", "most-used", "balanced", "near"]
    weight: Fraction
    resource: str = ""


Bound = Literal["limits", "entitlement", "owned-if-never-evicted", "existing"]
"""What a queue has to stay within: its own limits and those above it, what it is entitled to, what it owns as far as its workloads are
never evicted, or a multiple of what exists."""


@dataclass(frozen=True, slots=True)
class Within:
    """A bound; `factor` is the multiple of what exists, and 1 elsewhere."""

    bound: Bound
    factor: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Passes:
    """Deciding by passes: `order` names them, one cycle every `period` microseconds.

    `admit_within` bounds what starts, `enqueue_within` what is let in. Nodes are tried in the order of `place_by`; `scores` is what its key
    `score` adds up. A cycle starts no more once it has started the parts of what exists that `start_cap` has by resource. Workloads that
    run with fewer pods than they need end after `broken_for` microseconds (None: no pass ends them).
    """

    period: int
    order: tuple[PassName, ...]
    entitlement: Entitlement
    share: PassShare
    place_by: tuple[NodeKey, ...]
    scores: tuple[NodeScore, ...] = ()
    admit_within: tuple[Within, ...] = ()
    enqueue_within: tuple[Within, ...] = ()
    broken_for: int | None = None
    start_cap: tuple[tuple[str, Fraction], ...] = ()


VictimSearch = Literal["by-scenarios", "node-by-node", "by-rescheduling"]
"""How victims are looked for. by-scenarios: ever more victims, in their order, are taken away, and the workload and they are placed anew
(KAI: actions/common/solvers). node-by-node: for each pod, victims on one node after the other (Volcano: actions/preempt and reclaim).
by-rescheduling: everybody who may go is taken away, all are placed in order, and who found no place goes (Armada:
preempting_queue_scheduler.go)."""

VictimUnit = Literal["whole-workloads", "single-pods", "surplus-then-rest"]
"""What is evicted at once. surplus-then-rest: pods above the minimum one by one, then all others together."""

VictimVote = Literal["gang", "priority", "conformance", "deserved", "share"]
"""Who has a say about candidates (Volcano: its plugins). gang: keeps the minimum of each workload. priority: gives up lower priorities.
conformance: keeps what belongs to the system. deserved: gives up what its queue holds beyond what it is entitled to. share: gives up who
has the greater share in the end."""

AcceptTest = Literal["over-entitlement", "over-uncapped", "owed", "less-saturated"]
"""What has to hold for a set of victims. over-entitlement: the victim's side held more than `part` of what it is entitled to;
over-uncapped: of what it would be entitled to if it asked for everything. owed: the workload's side gets back what it owns, from one that
holds more than it owns. less-saturated: where the workload's side goes beyond what it is entitled to, `part` of how far is less than that
of the victim's side."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A named test; `part` is a factor that some have, and 1 elsewhere."""

    test: AcceptTest
    part: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class PassSearch:
    """In which pass a preempt rule is used, and how it looks for victims.

    `moving`: victims that find another place are none (whom-it-can), or all have to find one (everybody), where at most `most_moved`
    workloads move (None: any number). `sparing`: of the victims on a node those are spared that need not go. `accept` are tests that all
    have to hold, each a list of alternatives. `votes` are tiers: within one all have to give a candidate up, and the first that leaves
    anybody decides. `any_resource` and `levels` widen `fits-entitlement`: one resource is enough, and cohorts so many levels above count as
    well.
    """

    in_pass: PassName
    search: VictimSearch
    moving: Literal["", "whom-it-can", "everybody"]
    unit: VictimUnit
    accept: tuple[tuple[Acceptance, ...], ...] = ()
    votes: tuple[tuple[VictimVote, ...], ...] = ()
    any_resource: bool = False
    levels: int = 0
    most_moved: int | None = None
    sparing: bool = False


@dataclass(frozen=True, slots=True)
class QueueTerms:
    """What a queue or cohort says beyond its quota where the policy decides by passes; amounts and weights by slot.

    `limits` are what it uses at most (None: no limit), `owns_all` tells where it owns as much as there is, `guaranteed` is what nobody else
    may use, `weights` divide what is given by weight. `priority` is the queue's own, and `reclaimable` says whether its workloads may be
    evicted for those of other queues.
    """

    limits: tuple[int | None, ...]
    owns_all: tuple[bool, ...]
    guaranteed: tuple[int, ...]
    weights: tuple[Fraction, ...]
    priority: int
    reclaimable: bool = True
