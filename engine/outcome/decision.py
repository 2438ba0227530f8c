"""What a core decided, one decision each, in the order in which they change the state: typed data, and no text.

Queues, slots and rules are indices into the policy graph, amounts are in the smallest unit, workloads go by their names.
`gpol.engine.explain.decisions` makes an event of each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ..event_parts import Assignment, DeferralOutcome, LimitKind, MovedPods, PodSetChange
from ..events import DeferralReason
from .nomination import FlavorAssignment, NoPlaces, Request, Value, Victim


@dataclass(frozen=True, slots=True)
class BindingLimit:
    """The limit that keeps a workload from a slot: how much was asked for, and how much of it the limit leaves available."""

    node: int
    kind: LimitKind
    slot: int
    asked: int
    available: int

    @property
    def deficit(self) -> int:
        """What is missing."""
        return self.asked - self.available


def tightest(limits: Sequence[BindingLimit]) -> BindingLimit | None:
    """The limit that leaves the greatest part of what is asked unserved, as amounts of two resources don't compare; ties by the deficit."""

    def part_missing(limit: BindingLimit) -> Fraction:
        return Fraction(limit.deficit, limit.asked) if limit.asked > 0 else Fraction(0)  # more is used than there may be

    return max(limits, key=lambda limit: (part_missing(limit), limit.deficit), default=None)


HoldKind = Literal[
    "owner", "operator", "local-queue-stopped", "hold-rule", "queue-stopped", "missing-flavor", "check", "namespace", "misconfigured"
]


@dataclass(frozen=True, slots=True)
class Hold:
    """Something that keeps a workload from being nominated, whatever is free.

    `name` is that of the operator, the local queue, the flavor or the admission check, or what is wrong with the pods. `rule` is the
    index of a hold rule, with the `values` of the fields that its guard reads.
    """

    kind: HoldKind
    name: str = ""
    rule: int = -1
    values: tuple[Value, ...] = ()

    @property
    def may_be_lifted(self) -> bool:
        """Whether it can be tried what happens without it: not for a flavor that is missing, and not for pods that are wrong."""
        return self.kind not in ("missing-flavor", "misconfigured")


SearchState = tuple[tuple[str, str, int], ...]
"""How far a search for flavors came: (pod set, resource, index of the last flavor tried)."""

RejectionCause = Literal["no-queue", "several-queues", "unknown-priority", "denied"]


@dataclass(frozen=True, slots=True)
class Admission:
    """A workload runs from now.

    `request` is what it is charged; of each slot of it `used` is what its queue used before (without the one that it replaces, after the
    victims), `owned` what the queue owns, `borrowed` how much of the request lies beyond that.
    """

    workload: str
    queue: int
    priority: int
    flavors: FlavorAssignment
    request: Request
    used: tuple[int, ...]
    owned: tuple[int, ...]
    borrowed: Request
    victims: tuple[Victim, ...] = ()
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Eviction:
    """A running workload stops and waits again.

    Without a beneficiary an operator said so, its queue or `local_queue` is drained, or it has lost `nodes`; then `unplaced` is why there
    are no other places for its pods, if any were looked for.
    """

    victim: Victim
    beneficiary: str | None = None
    beneficiary_queue: int = -1
    beneficiary_priority: int = 0
    limit: BindingLimit | None = None
    operator: str = ""
    note: str = ""
    local_queue: str = ""
    nodes: tuple[str, ...] = ()
    unplaced: NoPlaces | None = None


@dataclass(frozen=True, slots=True)
class Placing:
    """Pods of a running workload get other places, or their first: these are all its assignments from now. It has lost `nodes`, or these
    `checks` have provided the places for which it waited."""

    workload: str
    queue: int
    cause: Literal["node-lost", "nodes-provided"]
    assignments: tuple[Assignment, ...]
    nodes: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relocation:
    """Pods of a running workload go to other places for a `beneficiary`: `assignments` are all that it has from now."""

    workload: str
    queue: int
    priority: int
    beneficiary: str
    moves: tuple[MovedPods, ...]
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Resize:
    """A running workload has more or fewer pods: `assignments` and `request` are all that it has and is charged from now.

    Where it grows, of each slot of `added` its queue `used` so much before and `owned` so much, and `borrowed` lies beyond that. Where it
    gives up surplus, as a `victim`, that is for the `beneficiary`, which the `limit` kept waiting.
    """

    workload: str
    queue: int
    priority: int
    changes: tuple[PodSetChange, ...]
    assignments: tuple[Assignment, ...]
    request: Request
    added: Request = ()
    used: tuple[int, ...] = ()
    owned: tuple[int, ...] = ()
    borrowed: Request = ()
    victim: Victim | None = None
    beneficiary: str | None = None
    limit: BindingLimit | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    """A running workload is over: another one, `by`, takes its place with all that it held."""

    workload: str
    queue: int
    by: str
    usage: Request


@dataclass(frozen=True, slots=True)
class Rejection:
    """A workload never runs: it belongs to none or to several `queues`, its `priority` is unknown, or a deny rule applies."""

    workload: str
    cause: RejectionCause
    queues: tuple[int, ...]
    named_queue: str | None = None
    priority: str = ""
    rule: int = -1
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class LastDeferral:
    """How the last cycle that looked at a waiting workload ended; the fields are those of the event WorkloadDeferred.

    It is looked at again in the next cycle, or `parked` until capacity may have become free; `alike`: with all that ask for the same.
    `preempting`: it waits for its `victims` and, unless the queue is strict, stays the head until it is admitted or parked. `tried` is
    where its search for flavors goes on.
    """

    reason: DeferralReason
    outcome: DeferralOutcome
    parked: bool
    preempting: bool = False
    alike: bool = False
    tried: SearchState = ()
    victims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deferral:
    """The head of a queue was not admitted in a cycle: how that ended, the flavors that were tried, what stood in its way."""

    workload: str
    queue: int
    last: LastDeferral
    flavors: FlavorAssignment | None = None
    limit: BindingLimit | None = None
    hold: Hold | None = None


Outcome = Admission | Eviction | Placing | Relocation | Resize | Replacement | Rejection | Deferral
