"""Every event there is: facts that come from outside, decisions that come from the core alone.

An event's payload is its compact JSON with the keys in declared order; those bytes are stored once and hashed as stored.
Times are integer microseconds since the epoch, UTC. Amounts are integers in a resource's smallest unit (`gpol.engine.units`);
on input a text such as `"8"` or `"80Gi"` is accepted as well. Fractions are text such as `"3/4"`. `v` is the version of the kind.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from .event_parts import Assignment, Charge, DeferralOutcome, EvictionKind, FlavorAttempt, MovedPods, PodSetChange, Tried, later
from .facts import Event, Fact
from .outcome.grounds import Why


class Decision(Event):
    """What the core decided because of the fact with sequence number `cause`: `reason` is a token, `why` what it rests on."""

    is_decision: ClassVar[bool] = True

    cause: int
    workload: str


class WorkloadAdmitted(Decision):
    """A workload runs from now: its flavors, what it is charged, and how much of that its queue borrows.

    `priority` is the one that counts in its queue. `passed_over` are flavors that were tried and not taken.
    """

    kind: Literal["WorkloadAdmitted"] = "WorkloadAdmitted"
    queue: str
    priority: int
    reason: Literal["FitsOwned", "FitsBorrowing", "FitsAfterEviction"]
    assignments: tuple[Assignment, ...]
    usage: tuple[Charge, ...]
    borrowed: tuple[Charge, ...]
    replaces: str | None = later(None)
    passed_over: tuple[FlavorAttempt, ...] = later(())
    why: Why


class WorkloadEvicted(Decision):
    """A running workload stops and waits again.

    `beneficiary` is the workload for which it has to go: the same decision admits it or, in a policy that decides in cycles, a later one
    may (none: an operator's wish, `by`, its queue is drained, it has lost a node, or it ran with fewer pods than it needs).
    `priority` is the one that counts in its queue.
    """

    kind: Literal["WorkloadEvicted"] = "WorkloadEvicted"
    queue: str
    priority: int
    reason: Literal["Preempted", "Drained", "EvictedByOperator", "NodeLost", "GangBroken"]
    beneficiary: str | None
    preemption: EvictionKind
    by: str = later("")
    usage: tuple[Charge, ...]
    why: Why


class WorkloadPlaced(Decision):
    """The pods of a running workload stand at these places from now; it keeps its flavors and all that it is charged.

    Pods of nodes that it has lost go elsewhere (NodeLost), or pods get the places for which they waited (NodesProvided). `assignments` are
    all that it has, as they are from now.
    """

    kind: Literal["WorkloadPlaced"] = "WorkloadPlaced"
    queue: str
    reason: Literal["NodeLost", "NodesProvided"]
    assignments: tuple[Assignment, ...]
    why: Why


class WorkloadResized(Decision):
    """A running workload has more pods from now, as there is room for some of its surplus; or fewer, as some of that goes for a workload
    that the same fact admits, the `beneficiary`, by a rule for evictions of the kind `preemption`.

    `changes` are the pods that it gets or gives up, by pod set; `assignments` and `usage` are all that it has and is charged from now,
    `borrowed` is how much of what is added its queue borrows.
    """

    kind: Literal["WorkloadResized"] = "WorkloadResized"
    queue: str
    priority: int
    reason: Literal["RoomForMore", "Preempted"]
    beneficiary: str | None = later(None)
    preemption: EvictionKind | None = later(None)
    changes: tuple[PodSetChange, ...]
    assignments: tuple[Assignment, ...]
    usage: tuple[Charge, ...]
    borrowed: tuple[Charge, ...] = later(())
    why: Why


class WorkloadMoved(Decision):
    """Pods of a running workload go to other places, so that a workload has room, the `beneficiary`; nobody is evicted for that.

    `moves` are the pods that go; `assignments` are all that it has from now. It keeps its flavors and all that it is charged.
    """

    kind: Literal["WorkloadMoved"] = "WorkloadMoved"
    queue: str
    priority: int
    reason: Literal["Consolidated"]
    beneficiary: str
    moves: tuple[MovedPods, ...]
    assignments: tuple[Assignment, ...]
    why: Why


class WorkloadReplaced(Decision):
    """A running workload is over: another one, `by`, is admitted in its place, with all that it held."""

    kind: Literal["WorkloadReplaced"] = "WorkloadReplaced"
    queue: str
    reason: Literal["WorkloadSliceReplaced"] = "WorkloadSliceReplaced"
    by: str
    usage: tuple[Charge, ...]
    why: Why


class WorkloadRejected(Decision):
    """A workload will never run: denied by a rule, of an unknown priority, or of no queue; `queue` is None where it belongs to none."""

    kind: Literal["WorkloadRejected"] = "WorkloadRejected"
    queue: str | None
    reason: Literal["Denied", "NoMatchingQueue", "MatchesSeveralQueues", "UnknownPriority"]
    why: Why


DeferralReason = Literal[
    "WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor", "TopologyPlacementFailed", "WaitingForPreemptedWorkloads",
    "PendingEvaluation", "Misconfigured",
]  # fmt: skip
"""Why the head of a queue was not admitted, in Kueue's words."""


class WorkloadDeferred(Decision):
    """A workload at the head of its queue was not admitted, in a policy that decides in cycles.

    It is looked at again in the next cycle (`waits` "next"), or when its tree's capacity may have changed ("parked").
    `outcome` says what came of it: nothing serves it (`no fit`), nobody can be evicted for it, or not enough (`no candidates`), another one
    took the room (`overtaken`) or its victims (`overlapping`), it waits for its own `victims` (`preempting`) or for those of others
    (`deferred`), or it may not run at all (`turned away`). In passes: no pass found room (`no room`), or none yet for one that was let in
    (`let in`). `preempting`: it has evicted others, and stays the head until it is admitted
    or parked. `alike`: others that ask for the same are parked with it, unseen. `tried` is where its search for flavors goes on,
    `attempts` are the flavors that were looked at.
    """

    kind: Literal["WorkloadDeferred"] = "WorkloadDeferred"
    queue: str
    reason: DeferralReason
    outcome: DeferralOutcome
    waits: Literal["next", "parked"]
    preempting: bool = False
    alike: bool = False
    tried: tuple[Tried, ...] = ()
    attempts: tuple[FlavorAttempt, ...] = ()
    victims: tuple[str, ...] = ()
    why: Why


AnyDecision = (
    WorkloadAdmitted
    | WorkloadEvicted
    | WorkloadPlaced
    | WorkloadMoved
    | WorkloadResized
    | WorkloadReplaced
    | WorkloadRejected
    | WorkloadDeferred
)
AnyEvent = Fact | AnyDecision

EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="kind")])
"""Reads any event of a journal."""
