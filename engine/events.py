"""Every event there is: facts that come from outside, decisions that come from the core alone.

An event's payload is its compact JSON with the keys in declared order; those bytes are stored once and hashed as stored.
Times are integer microseconds since the epoch, UTC. Amounts are integers in a resource's smallest unit (`gpol.engine.units`);
on input a text such as `"8"` or `"80Gi"` is accepted as well. Fractions are text such as `"3/4"`. `v` is the version of the kind.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from .units import INT64_MAX, UnitError, parse_amount

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _parse_time(value: object) -> object:
    """RFC 3339 text to microseconds; anything else is left for pydantic to judge."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("not an RFC 3339 time such as 2026-01-02T03:04:05Z") from None
    if moment.tzinfo is None:
        raise ValueError("the time has no zone; end it with Z or an offset such as +01:00")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _parse_resources(value: object) -> object:
    """Amounts by resource: text to smallest units, keys in sorted order so that equal facts have equal bytes."""
    if not isinstance(value, dict):
        return value
    parsed: dict[object, object] = {}
    for resource in sorted(value, key=str):
        amount = value[resource]
        if isinstance(amount, str):
            try:
                amount = parse_amount(amount, str(resource))
            except UnitError as error:
                raise ValueError(f"{resource}: {error}") from None
        parsed[resource] = amount
    return parsed


def _sort_keys(value: object) -> object:
    return {key: value[key] for key in sorted(value, key=str)} if isinstance(value, dict) else value


Name = Annotated[str, Field(min_length=1, max_length=253)]
Int64 = Annotated[int, Field(ge=0, le=INT64_MAX, strict=True)]
Time = Annotated[int, Field(ge=0, le=INT64_MAX, strict=True), BeforeValidator(_parse_time)]
Resources = Annotated[dict[Name, Int64], BeforeValidator(_parse_resources), Field(max_length=64)]
Labels = Annotated[dict[Name, Annotated[str, Field(max_length=4096)]], BeforeValidator(_sort_keys), Field(max_length=256)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PodSet(_Model):
    """`count` equal pods of a workload, each asking for `requests`; `flavors` names those that will do (none: any)."""

    name: Name = "main"
    count: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = 1
    requests: Resources
    flavors: Annotated[tuple[Name, ...], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _within_64_bits(self) -> "PodSet":
        for resource, amount in self.requests.items():
            if amount * self.count > INT64_MAX:
                raise ValueError(f"{self.count} x {amount} {resource} is beyond 64 bits")
        return self


class RuleRef(_Model):
    """A rule of the policy by name, file and line."""

    name: str
    file: str
    line: int


class Limit(_Model):
    """The limit that binds: at node `node`, of kind `limit`, for a resource of a flavor; amounts in smallest units.

    `limit` is `owned` (what the node's subtree owns and has not lent), `borrowing` (its borrowing limit), or `capacity` (what exists).
    """

    node: str
    limit: Literal["owned", "borrowing", "capacity"]
    flavor: str
    resource: str
    asked: int
    available: int
    deficit: int
    source: RuleRef | None = None


class Operand(_Model):
    """A value that was compared, by the name the policy uses for it."""

    name: str
    value: str


class Why(_Model):
    """The reason of a decision: a token, the rule that caused it, what was compared, and the limit that binds, if one does."""

    reason: str
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()
    limit: Limit | None = None


class Charge(_Model):
    """An amount of one resource of one flavor, in the smallest unit."""

    flavor: str
    resource: str
    amount: int


class Assignment(_Model):
    """The flavor of each resource of a podset, by resource."""

    pod_set: str
    count: int
    flavors: dict[str, str]


class Event(_Model):
    """Something that happened."""

    is_decision: ClassVar[bool] = False

    def payload(self) -> bytes:
        """The bytes to store and to hash."""
        return self.model_dump_json().encode()


class ProfileText(_Model):
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
    labels: Labels = {}
    capacity: Resources


class NodeChanged(Event):
    """A machine's labels or capacity are now these."""

    kind: Literal["NodeChanged"] = "NodeChanged"
    v: Literal[1] = 1
    time: Time
    node: Name
    labels: Labels = {}
    capacity: Resources


class NodeRemoved(Event):
    """A machine left."""

    kind: Literal["NodeRemoved"] = "NodeRemoved"
    v: Literal[1] = 1
    time: Time
    node: Name


class WorkloadSubmitted(Event):
    """A workload asks to run, whole or not at all. Without `queue` the policy's match rules choose one."""

    kind: Literal["WorkloadSubmitted"] = "WorkloadSubmitted"
    v: Literal[1] = 1
    time: Time
    workload: Name
    queue: Name | None = None
    namespace: Annotated[str, Field(max_length=253)] = ""
    user: Annotated[str, Field(max_length=253)] = ""
    group: Annotated[str, Field(max_length=253)] = ""
    workload_kind: Annotated[str, Field(max_length=253)] = ""
    labels: Labels = {}
    priority: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | Name | None = None
    pod_sets: Annotated[tuple[PodSet, ...], Field(min_length=1, max_length=18)]

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


class WorkloadUpdated(Event):
    """A live workload changed: a new priority, held or not by its owner, pods of a podset that are done and free (`reclaimable`)."""

    kind: Literal["WorkloadUpdated"] = "WorkloadUpdated"
    v: Literal[1] = 1
    time: Time
    workload: Name
    priority: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | Name | None = None
    hold: bool | None = None
    reclaimable: Annotated[dict[Name, Int64], BeforeValidator(_sort_keys)] | None = None


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
    """A running workload stops and waits again. `beneficiary` is the workload that the same decision admits (none: an operator's wish)."""

    kind: Literal["WorkloadEvicted"] = "WorkloadEvicted"
    v: Literal[1] = 1
    time: Time
    cause: int
    workload: str
    queue: str
    beneficiary: str | None
    preemption: Literal["in-queue", "reclaim", "other", "operator"]
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


Fact = (
    PolicyActivated
    | CapacityChanged
    | NodeAdded
    | NodeChanged
    | NodeRemoved
    | WorkloadSubmitted
    | WorkloadUpdated
    | WorkloadFinished
    | WorkloadCancelled
    | TimeAdvanced
    | OperatorAction
)
AnyDecision = WorkloadAdmitted | WorkloadEvicted | WorkloadRejected
AnyEvent = Fact | AnyDecision

FACT: TypeAdapter[Fact] = TypeAdapter(Annotated[Fact, Field(discriminator="kind")])
"""Reads a fact from JSON or from a dict; the closed list of kinds is the only thing a payload can name."""

EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="kind")])
"""Reads any event of a journal."""


def describe_error(error: Any) -> str:
    """Turn pydantic's ValidationError into one line: `field: what is wrong; field: ...`, without a Python class name."""
    parts = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(str(step) for step in item["loc"][1:] if not isinstance(step, str) or "[" not in step)
        message = item["msg"].removeprefix("Value error, ")
        parts.append(f"{place}: {message}" if place else message)
    return "; ".join(parts)
