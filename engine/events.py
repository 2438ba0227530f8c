"""Every event there is: facts that come from outside, decisions that come from the core alone.

An event's payload is its compact JSON with the keys in declared order; those bytes are stored once and hashed as stored.
Times are integer microseconds since the epoch, UTC. Amounts are integers in a resource's smallest unit (`gpol.engine.units`);
on input a text such as `"8"` or `"80Gi"` is accepted as well. Fractions are text such as `"3/4"`. `v` is the version of the kind.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, model_validator

from .parts import (
    Assignment,
    Charge,
    Checks,
    CheckState,
    Int64,
    Labels,
    Limit,
    Name,
    Operand,
    Part,
    Placement,
    PodSet,
    Requirement,
    Resources,
    RuleRef,
    Time,
    Toleration,
    Tried,
    Why,
    later,
    sort_keys,
)
from .units import INT64_MAX

__all__ = [
    "EVENT",
    "FACT",
    "AnyDecision",
    "AnyEvent",
    "Assignment",
    "CapacityChanged",
    "Charge",
    "CheckState",
    "Checks",
    "Decision",
    "Event",
    "Fact",
    "Int64",
    "Labels",
    "Limit",
    "Name",
    "NodeAdded",
    "NodeChanged",
    "NodeRemoved",
    "Operand",
    "OperatorAction",
    "Part",
    "Placement",
    "PodSet",
    "PolicyActivated",
    "ProfileText",
    "Requirement",
    "Resources",
    "RuleRef",
    "Time",
    "TimeAdvanced",
    "Toleration",
    "Tried",
    "UsageReported",
    "Why",
    "WorkloadAdmitted",
    "WorkloadAdopted",
    "WorkloadCancelled",
    "WorkloadDeferred",
    "WorkloadEvicted",
    "WorkloadFinished",
    "WorkloadRejected",
    "WorkloadReplaced",
    "WorkloadSubmitted",
    "WorkloadUpdated",
]


class Event(Part):
    """Something that happened."""

    is_decision: ClassVar[bool] = False

    def payload(self) -> bytes:
        """The bytes to store and to hash."""
        return self.model_dump_json().encode()


class ProfileText(Part):
    """A profile that the policy uses, by name, whole: a journal explains itself without the program's own files."""

    name: Name
    text: str


class PolicyActivated(Event):
    """From now on this policy decides. `digest` is over the normalised syntax tree, profiles merged in."""

    kind: Literal["PolicyActivated"] = "PolicyActivated"
    v: Literal[1] = 1
    time: Time
    file: Name
    text: str
    profiles: tuple[ProfileText, ...] = ()
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    language: Literal[1] = 1


class CapacityChanged(Event):
    """A flavor of fixed capacity now has `amount` of a resource."""

    kind: Literal["CapacityChanged"] = "CapacityChanged"
    v: Literal[1] = 1
    time: Time
    flavor: Name
    capacity: Resources


class NodeAdded(Event):
    """A machine joined; it belongs to the flavor whose node selector its labels match."""

    kind: Literal["NodeAdded"] = "NodeAdded"
    v: Literal[1] = 1
    time: Time
    node: Name
    labels: Labels = Field(default_factory=dict)
    capacity: Resources


class NodeChanged(Event):
    """A machine's labels or capacity are now these."""

    kind: Literal["NodeChanged"] = "NodeChanged"
    v: Literal[1] = 1
    time: Time
    node: Name
    labels: Labels = Field(default_factory=dict)
    capacity: Resources


class NodeRemoved(Event):
    """A machine left."""

    kind: Literal["NodeRemoved"] = "NodeRemoved"
    v: Literal[1] = 1
    time: Time
    node: Name


class WorkloadSubmitted(Event):
    """A workload asks to run, whole or not at all. Without `queue` the policy's match rules choose one.

    `local_queue` (`namespace/name`) is the tenant's entry by which it came; `created` when an outside system first saw it,
    `uid` its identity there, which breaks ties before the order of submissions does. `namespace_labels` are those of its namespace.
    `boost` is added to its priority. With `hold` it waits until its owner lets it go, or until it turns out to run already.
    `misconfigured` is what is wrong with its pods: it stands in its queue and is never admitted. In a policy that decides in cycles
    it takes the place of the workload that it `replaces`, if that one runs in its queue.
    """

    kind: Literal["WorkloadSubmitted"] = "WorkloadSubmitted"
    v: Literal[1] = 1
    time: Time
    workload: Name
    queue: Name | None = None
    namespace: Annotated[str, Field(max_length=253)] = ""
    user: Annotated[str, Field(max_length=253)] = ""
    group: Annotated[str, Field(max_length=253)] = ""
    workload_kind: Annotated[str, Field(max_length=253)] = ""
    labels: Labels = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | Name | None = None
    pod_sets: Annotated[tuple[PodSet, ...], Field(min_length=1, max_length=18)]
    local_queue: Name | None = later(None)
    namespace_labels: Labels = later({})
    created: Time | None = later(None)
    uid: Annotated[str, Field(max_length=253)] = later("")
    boost: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] = later(0)
    hold: bool = later(False)
    misconfigured: Annotated[str, Field(max_length=253)] = later("")
    replaces: Name | None = later(None)

    @model_validator(mode="after")
    def _created_before(self) -> "WorkloadSubmitted":
        if self.created is not None and self.created > self.time:
            raise ValueError("created after it was submitted")
        if self.replaces == self.workload:
            raise ValueError("replaces itself")
        return self

    @model_validator(mode="after")
    def _sums_up(self) -> "WorkloadSubmitted":
        names = [pod_set.name for pod_set in self.pod_sets]
        if len(set(names)) != len(names):
            raise ValueError("two pod sets have the same name")
        totals: dict[str, int] = {}
        for pod_set in self.pod_sets:
            for resource, amount in pod_set.requests.items():
                totals[resource] = totals.get(resource, 0) + amount * pod_set.count
        for resource, total in totals.items():
            if total > INT64_MAX:
                raise ValueError(f"the pod sets together ask for more {resource} than 64 bits hold")
        return self


class WorkloadAdopted(Event):
    """A waiting workload runs already, as an outside system decided `since` then; it is charged whatever the policy says.

    With `evicting` that system has told it to stop, and it still holds what it was given.
    """

    kind: Literal["WorkloadAdopted"] = "WorkloadAdopted"
    v: Literal[1] = 1
    time: Time
    workload: Name
    queue: Name
    since: Time
    evicting: bool = False
    placements: Annotated[tuple[Placement, ...], Field(min_length=1, max_length=18)]


class UsageReported(Event):
    """What an outside system has counted as the faded usage of a local queue (`namespace/name`), by resource, up to now or `as_of`."""

    kind: Literal["UsageReported"] = "UsageReported"
    v: Literal[1] = 1
    time: Time
    local_queue: Name
    consumed: Resources
    as_of: Time | None = later(None)


class WorkloadUpdated(Event):
    """A live workload changed: a new priority, held or not by its owner, pods of a podset that are done and free (`reclaimable`),
    what admission checks say of it; `requeued` is the moment from which an evicted one counts as waiting."""

    kind: Literal["WorkloadUpdated"] = "WorkloadUpdated"
    v: Literal[1] = 1
    time: Time
    workload: Name
    priority: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | Name | None = None
    hold: bool | None = None
    reclaimable: Annotated[dict[Name, Int64], BeforeValidator(sort_keys)] | None = None
    checks: Checks = later({})
    requeued: Time | None = later(None)
    boost: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | None = later(None)


class WorkloadFinished(Event):
    """A running workload ended by itself."""

    kind: Literal["WorkloadFinished"] = "WorkloadFinished"
    v: Literal[1] = 1
    time: Time
    workload: Name


class WorkloadCancelled(Event):
    """A pending or running workload was withdrawn."""

    kind: Literal["WorkloadCancelled"] = "WorkloadCancelled"
    v: Literal[1] = 1
    time: Time
    workload: Name


class TimeAdvanced(Event):
    """Nothing happened but time, and time alone may change a decision."""

    kind: Literal["TimeAdvanced"] = "TimeAdvanced"
    v: Literal[1] = 1
    time: Time


class OperatorAction(Event):
    """A person acted: `evict` stops a running workload and holds it, `hold` keeps a pending one waiting, `release` ends both."""

    kind: Literal["OperatorAction"] = "OperatorAction"
    v: Literal[1] = 1
    time: Time
    operator: Name
    action: Literal["evict", "hold", "release"]
    workload: Name
    note: Annotated[str, Field(max_length=4096)] = ""


class Decision(Event):
    """What the core decided because of the fact with sequence number `cause`."""

    is_decision: ClassVar[bool] = True


class WorkloadAdmitted(Decision):
    """A workload runs from now: its flavors, what it is charged, and how much of that its queue borrows."""

    kind: Literal["WorkloadAdmitted"] = "WorkloadAdmitted"
    v: Literal[1] = 1
    time: Time
    cause: int
    workload: str
    queue: str
    assignments: tuple[Assignment, ...]
    usage: tuple[Charge, ...]
    borrowed: tuple[Charge, ...]
    why: Why


class WorkloadEvicted(Decision):
    """A running workload stops and waits again.

    `beneficiary` is the workload for which it has to go: the same decision admits it or, in a policy that decides in cycles, a
    later one may (none: an operator's wish, or its queue is drained).
    """

    kind: Literal["WorkloadEvicted"] = "WorkloadEvicted"
    v: Literal[1] = 1
    time: Time
    cause: int
    workload: str
    queue: str
    beneficiary: str | None
    preemption: Literal["in-queue", "reclaim", "other", "operator", "fair-sharing", "reclaim-while-borrowing", "stopped"]
    usage: tuple[Charge, ...]
    why: Why


class WorkloadReplaced(Decision):
    """A running workload is over: another one, `by`, is admitted in its place, with all that it held."""

    kind: Literal["WorkloadReplaced"] = "WorkloadReplaced"
    v: Literal[1] = 1
    time: Time
    cause: int
    workload: str
    queue: str
    by: str
    usage: tuple[Charge, ...]
    why: Why


class WorkloadRejected(Decision):
    """A workload will never run: denied by a rule, or of no queue."""

    kind: Literal["WorkloadRejected"] = "WorkloadRejected"
    v: Literal[1] = 1
    time: Time
    cause: int
    workload: str
    why: Why


class WorkloadDeferred(Decision):
    """A workload at the head of its queue was not admitted, in a policy that decides in cycles.

    It is looked at again in the next cycle (`waits` "next"), or when its tree's capacity may have changed ("parked").
    `preempting`: it has evicted others, and stays the head until it is admitted or parked. `alike`: others of its shape are parked
    with it, unseen. `tried` is where its search for flavors goes on.
    """

    kind: Literal["WorkloadDeferred"] = "WorkloadDeferred"
    v: Literal[1] = 1
    time: Time
    cause: int
    workload: str
    queue: str
    waits: Literal["next", "parked"]
    preempting: bool = False
    alike: bool = False
    tried: tuple[Tried, ...] = ()
    why: Why


Fact = (
    PolicyActivated
    | CapacityChanged
    | NodeAdded
    | NodeChanged
    | NodeRemoved
    | WorkloadSubmitted
    | WorkloadAdopted
    | UsageReported
    | WorkloadUpdated
    | WorkloadFinished
    | WorkloadCancelled
    | TimeAdvanced
    | OperatorAction
)
AnyDecision = WorkloadAdmitted | WorkloadEvicted | WorkloadReplaced | WorkloadRejected | WorkloadDeferred
AnyEvent = Fact | AnyDecision

FACT: TypeAdapter[Fact] = TypeAdapter(Annotated[Fact, Field(discriminator="kind")])
"""Reads a fact from JSON or from a dict; the closed list of kinds is the only thing a payload can name."""

EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="kind")])
"""Reads any event of a journal."""
