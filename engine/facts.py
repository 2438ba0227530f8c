"""Facts: the events that come from outside. `events.py` has the decisions, and both together."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, StrictBool, TypeAdapter, model_validator

from .event_parts import (
    MOST_NAME,
    Checks,
    Int64,
    Labels,
    NameText,
    Part,
    Placement,
    PodSet,
    Resources,
    Taint,
    Time,
    Version,
    as_json,
    later,
    sort_keys,
)
from .units import INT64_MAX


class Event(Part):
    """Something that happened."""

    is_decision: ClassVar[bool] = False

    kind: str
    v: Version = 1
    time: Time

    def payload(self) -> bytes:
        """The bytes to store and to hash."""
        return as_json(self)


class ProfileText(Part):
    """A profile that the policy uses, by name, whole: a journal explains itself without the program's own files."""

    name: NameText
    text: str


MOST_NOTE = 4096
"""The longest note of a person, in characters."""


class PolicyActivated(Event):
    """From now on this policy decides. `digest` is over the normalised syntax tree, profiles merged in; `by` and `note`: who and why."""

    kind: Literal["PolicyActivated"] = "PolicyActivated"
    file: NameText
    text: str
    profiles: tuple[ProfileText, ...] = ()
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    language: Version = 1
    by: Annotated[str, Field(max_length=MOST_NAME)] = later("")
    note: Annotated[str, Field(max_length=MOST_NOTE)] = later("")

    @model_validator(mode="after")
    def _profiles_differ(self) -> "PolicyActivated":
        names = [profile.name for profile in self.profiles]
        if len(set(names)) != len(names):
            raise ValueError("two profiles have the same name")
        return self


class SimulationStarted(Event):
    """What follows is a simulation: what becomes of the work of an evicted job, and the SHA-256 of the file that its jobs come from."""

    kind: Literal["SimulationStarted"] = "SimulationStarted"
    on_evict: Literal["restart", "resume"]
    source: NameText
    source_digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


Taints = Annotated[tuple[Taint, ...], Field(max_length=64)]


class CapacityChanged(Event):
    """A flavor of fixed capacity now has so much of each resource in `capacity`; of others as much as before."""

    kind: Literal["CapacityChanged"] = "CapacityChanged"
    flavor: NameText
    capacity: Resources


class NodeAdded(Event):
    """A machine joined; it belongs to the flavor whose node selector its labels match.

    Pods stay off it where they do not tolerate its `taints`, and new ones where it is `cordoned`.
    """

    kind: Literal["NodeAdded"] = "NodeAdded"
    node: NameText
    labels: Labels = Field(default_factory=dict)
    capacity: Resources
    taints: Taints = later(())
    cordoned: StrictBool = later(False)


class NodeChanged(Event):
    """All that is known of a machine is now this."""

    kind: Literal["NodeChanged"] = "NodeChanged"
    node: NameText
    labels: Labels = Field(default_factory=dict)
    capacity: Resources
    taints: Taints = later(())
    cordoned: StrictBool = later(False)


class NodeRemoved(Event):
    """A machine left."""

    kind: Literal["NodeRemoved"] = "NodeRemoved"
    node: NameText


class WorkloadSubmitted(Event):
    """A workload asks to run, whole or not at all. Without `queue` the policy's match rules choose one.

    `local_queue` (`namespace/name`) is the tenant's entry by which it came; `created` when an outside system first saw it,
    `uid` its identity there, which breaks ties before the order of submissions does. `namespace_labels` are those of its namespace.
    `boost` is added to its priority. With `hold` it waits until its owner lets it go, or until it turns out to run already.
    `misconfigured` is what is wrong with its pods: it is never admitted. It takes the place of the workload that it `replaces`, if that
    one runs in its queue and is of its namespace.
    """

    kind: Literal["WorkloadSubmitted"] = "WorkloadSubmitted"
    workload: NameText
    queue: NameText | None = None
    namespace: Annotated[str, Field(max_length=MOST_NAME)] = ""
    user: Annotated[str, Field(max_length=MOST_NAME)] = ""
    group: Annotated[str, Field(max_length=MOST_NAME)] = ""
    workload_kind: Annotated[str, Field(max_length=MOST_NAME)] = ""
    labels: Labels = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | NameText | None = None
    pod_sets: Annotated[tuple[PodSet, ...], Field(min_length=1, max_length=18)]
    local_queue: NameText | None = later(None)
    namespace_labels: Labels = later({})
    created: Time | None = later(None)
    uid: Annotated[str, Field(max_length=MOST_NAME)] = later("")
    boost: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] = later(0)
    hold: StrictBool = later(False)
    misconfigured: Annotated[str, Field(max_length=MOST_NAME)] = later("")
    replaces: NameText | None = later(None)

    @model_validator(mode="after")
    def _created_before(self) -> "WorkloadSubmitted":
        if self.created is not None and self.created > self.time:
            raise ValueError("created after it was submitted")
        if self.replaces == self.workload:
            raise ValueError("replaces itself")
        return self

    @model_validator(mode="after")
    def _elastic_alone(self) -> "WorkloadSubmitted":
        if any(pod_set.minimum is not None for pod_set in self.pod_sets):
            if self.replaces is not None:
                raise ValueError("it replaces another workload, and a pod set has a minimum; leave one of the two out")
            if any(pod_set.min_count is not None for pod_set in self.pod_sets):
                raise ValueError("one pod set has a minimum, another one a min_count; use one of the two")
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
    workload: NameText
    queue: NameText
    since: Time
    evicting: StrictBool = False
    placements: Annotated[tuple[Placement, ...], Field(min_length=1, max_length=18)]


class UsageReported(Event):
    """What an outside system has counted as the faded usage of a local queue (`namespace/name`), by resource, up to now or `as_of`."""

    kind: Literal["UsageReported"] = "UsageReported"
    local_queue: NameText
    consumed: Resources
    as_of: Time | None = later(None)


class WorkloadUpdated(Event):
    """A live workload changed: a new priority, held or not by its owner, pods of a pod set that are done and free (`reclaimable`),
    what admission checks say of it; `requeued` is the moment from which an evicted one counts as waiting. `lost_nodes` are all nodes that
    it has lost with pods of it on them, by the last value of their places (none: it has lost none, or has them again)."""

    kind: Literal["WorkloadUpdated"] = "WorkloadUpdated"
    workload: NameText
    priority: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | NameText | None = None
    hold: StrictBool | None = None
    reclaimable: Annotated[dict[NameText, Int64], BeforeValidator(sort_keys)] | None = None
    checks: Checks = later({})
    requeued: Time | None = later(None)
    boost: Annotated[int, Field(ge=-(2**31), le=2**31 - 1, strict=True)] | None = later(None)
    lost_nodes: Annotated[tuple[NameText, ...], Field(max_length=10_000)] | None = later(None)


class WorkloadFinished(Event):
    """A running workload ended by itself."""

    kind: Literal["WorkloadFinished"] = "WorkloadFinished"
    workload: NameText


class WorkloadCancelled(Event):
    """A pending or running workload was withdrawn."""

    kind: Literal["WorkloadCancelled"] = "WorkloadCancelled"
    workload: NameText


class TimeAdvanced(Event):
    """Nothing happened but time, and time alone may change a decision."""

    kind: Literal["TimeAdvanced"] = "TimeAdvanced"


class OperatorAction(Event):
    """A person, `by`, acted: `evict` stops a running workload and holds it, `hold` keeps a pending one waiting, `release` ends both."""

    kind: Literal["OperatorAction"] = "OperatorAction"
    by: NameText
    action: Literal["evict", "hold", "release"]
    workload: NameText
    note: Annotated[str, Field(max_length=MOST_NOTE)] = ""


AboutSupply = CapacityChanged | NodeAdded | NodeChanged | NodeRemoved
"""The facts about what exists."""

AboutLive = WorkloadAdopted | WorkloadUpdated | WorkloadFinished | WorkloadCancelled | OperatorAction
"""The facts about a workload that is not over."""

Fact = PolicyActivated | AboutSupply | SimulationStarted | UsageReported | WorkloadSubmitted | AboutLive | TimeAdvanced

FACT: TypeAdapter[Fact] = TypeAdapter(Annotated[Fact, Field(discriminator="kind")])
"""Reads a fact from JSON or from a dict; the closed list of kinds is the only thing a payload can name."""
