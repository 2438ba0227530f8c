"""What events are made of: names, times, amounts and labels as they are read, pod sets, reasons, charges.

Times are integer microseconds since the epoch, UTC. Amounts are integers in a resource's smallest unit (`gpol.engine.units`); on input a
text such as `"8"` or `"80Gi"` is accepted as well.
"""

from itertools import pairwise
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from .units import INT64_MAX, UnitError, parse_amount, parse_time


def _parse_time(value: object) -> object:
    """RFC 3339 text to microseconds; anything else is left for pydantic to judge."""
    return parse_time(value) if isinstance(value, str) else value


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


def sort_keys(value: object) -> object:
    """A dict with its keys in order, so that equal facts have equal bytes; anything else is left for pydantic to judge."""
    return {key: value[key] for key in sorted(value, key=str)} if isinstance(value, dict) else value


def _number(value: object) -> object:
    """Refuse what is no whole number, such as `true` and `1.0`, which Python holds equal to 1."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("Input should be 1")
    return value


MOST_NAME = 253
"""The most characters of a name."""

_MOST_PODS, _MOST_LEVELS = 1_000_000, 16

NameText = Annotated[str, Field(min_length=1, max_length=MOST_NAME)]
Version = Annotated[Literal[1], BeforeValidator(_number)]
"""So far there is one version of everything."""
Int64 = Annotated[int, Field(ge=0, le=INT64_MAX, strict=True)]
Time = Annotated[int, Field(ge=0, le=INT64_MAX, strict=True), BeforeValidator(_parse_time)]
Resources = Annotated[dict[NameText, Int64], BeforeValidator(_parse_resources), Field(max_length=64)]
Labels = Annotated[dict[NameText, Annotated[str, Field(max_length=4096)]], BeforeValidator(sort_keys), Field(max_length=256)]


class Part(BaseModel):
    """Data that never changes; a field that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def as_json(data: BaseModel, exclude: Any = None) -> bytes:
    """Data as JSON; `exclude` as pydantic has it. pydantic makes an error of its own of an interruption (Ctrl-C): here it stays one."""
    try:
        return data.__pydantic_serializer__.to_json(data, exclude=exclude)  # as model_dump_json, which makes a text of it
    except ValueError as error:
        if KeyboardInterrupt.__name__ in str(error):
            raise KeyboardInterrupt from None
        raise


_set = object.__setattr__

_Made = TypeVar("_Made", bound=BaseModel)


def unchecked(kind: type[_Made], fields: dict[str, Any], given: set[str]) -> _Made:
    """Data of these fields, which are known to be right; `given` are those that were said. As `model_copy`, in a tenth of the time."""
    made = kind.__new__(kind)
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", given)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


def later(default: Any, **limits: Any) -> Any:
    """A field that came after events were first stored: it is written only where it says something, so old bytes stay what they were."""
    return Field(default=default, exclude_if=lambda value: value == default, **limits)


class Requirement(Part):
    """A condition on labels: key, operator, values; Gt and Lt compare whole numbers."""

    key: NameText
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    values: Annotated[tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=256)] = ()


class Toleration(Part):
    """A taint that a pod set tolerates. `key` "" with Exists: every key; `effect` "": every effect."""

    key: Annotated[str, Field(max_length=MOST_NAME)] = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: Annotated[str, Field(max_length=4096)] = ""
    effect: Literal["", "NoSchedule", "NoExecute", "PreferNoSchedule"] = ""


class Taint(Part):
    """What keeps pods off a node unless they tolerate it."""

    key: NameText
    value: Annotated[str, Field(max_length=4096)] = ""
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"]


class Slice(Part):
    """Pods of a pod set in slices: `size` pods of each stand in one domain of a level."""

    level: NameText
    size: Annotated[int, Field(ge=1, le=1_000_000, strict=True)]


class PlacedPods(Part):
    """Pods in one of the lowest domains of a topology: the values of its levels from the widest down, or the name of a node alone.

    It bounds nothing, as nothing in a decision does; what facts say of places is checked where they say it.
    """

    domain: tuple[StrictStr, ...]
    pods: StrictInt


class PodSet(Part):
    """`count` equal pods of a workload, each asking for `requests`; `flavors` names those that will do (none: any).

    With `min_count` fewer pods will do as well, once and for all. With a `minimum` the pod set is elastic: at least so many pods start and
    run together, and the others are surplus, which comes and goes while the workload runs. `node_selector` and `affinity` (alternatives,
    each a conjunction) choose among flavors by the labels these declare; `tolerations` let taints pass. Pod sets of one `group` get their
    flavors together.

    Its pods get places, on a flavor with a topology: all `within` one domain of a level; or `near` one another, as low as it can be from
    that level up; or `anywhere`. `slices` are from the widest level down, each a part of the one before. Of a `group` with places one pod
    set is the leader: the one pod beside the workers, where they stand.
    """

    name: NameText = "main"
    count: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = 1
    requests: Resources
    flavors: Annotated[tuple[NameText, ...], Field(max_length=64)] = ()
    min_count: Annotated[int, Field(ge=1, strict=True)] | None = later(None)
    node_selector: Labels = later({})
    affinity: Annotated[tuple[Annotated[tuple[Requirement, ...], Field(max_length=64)], ...], Field(max_length=64)] = later(())
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=64)] = later(())
    group: Annotated[str, Field(max_length=MOST_NAME)] = later("")
    within: Annotated[str, Field(max_length=MOST_NAME)] = later("")
    near: Annotated[str, Field(max_length=MOST_NAME)] = later("")
    anywhere: StrictBool = later(False)
    slices: Annotated[tuple[Slice, ...], Field(max_length=16)] = later(())
    minimum: Annotated[int, Field(ge=1, strict=True)] | None = later(None)

    @property
    def asks_for_places(self) -> bool:
        """Whether it says anything of where its pods are to stand."""
        return bool(self.within or self.near or self.anywhere or self.slices)

    @model_validator(mode="after")
    def _one_wish(self) -> "PodSet":
        if sum(map(bool, (self.within, self.near, self.anywhere))) > 1:
            raise ValueError("it is one of: within a level, near one another, anywhere")
        for wide, narrow in pairwise(self.slices):
            if wide.size % narrow.size:
                raise ValueError(f"slices of {wide.size} pods are no whole number of slices of {narrow.size}")
        return self

    @model_validator(mode="after")
    def _no_more_than_all(self) -> "PodSet":
        if self.min_count is not None and self.min_count > self.count:
            raise ValueError(f"min_count {self.min_count} is above the count, {self.count}")
        return self

    @model_validator(mode="after")
    def _at_least_some(self) -> "PodSet":
        if self.minimum is None:
            return self
        if self.minimum > self.count:
            raise ValueError(f"minimum {self.minimum} is above the count, {self.count}")
        for said, what in ((self.min_count is not None, "min_count"), (self.group, "group"), (self.slices, "slices")):
            if said:
                raise ValueError(f"minimum and {what} do not go together; leave one of the two out")
        return self

    @model_validator(mode="after")
    def _within_64_bits(self) -> "PodSet":
        for resource, amount in self.requests.items():
            if amount * self.count > INT64_MAX:
                raise ValueError(f"{self.count} x {amount} {resource} is beyond 64 bits")
        return self


POD_COUNT = "pods"
"""The resource that counts pods, where a queue has it: every pod asks for one."""


def asked_by_one(pod_set: PodSet, resource: str) -> int:
    """What one pod of a pod set asks for."""
    return 1 if resource == POD_COUNT else pod_set.requests.get(resource, 0)


class RuleRef(Part):
    """A rule of the policy by name, file and line."""

    name: str
    file: str
    line: int


LimitKind = Literal["owned", "borrowing", "capacity"]


class Limit(Part):
    """The limit that binds: at node `node`, for a resource of a flavor; amounts in smallest units.

    `limit` is `owned` (what the node's subtree owns and has not lent), `borrowing` (its borrowing limit), or `capacity` (what exists).
    """

    node: str
    limit: LimitKind
    flavor: str
    resource: str
    asked: int
    available: int
    deficit: int
    source: RuleRef | None = None


class Operand(Part):
    """A value that was compared, by the name the policy uses for it."""

    name: str
    value: str


KeptOffCause = Literal["taint", "selector", "affinity", "outside", "resource"]
"""Why a place takes no pod of a pod set; `outside`: it is not in the domain in which all have to stand."""

PlacesFailure = Literal["no-room", "uneven-slices", "no-level", "no-domains", "slice-above", "place-gone", "slices-broken"]
"""Why there are no places: see `Unplaced`."""


ObstacleKind = Literal[
    "unserved",
    "lacks-resource",
    "missing",
    "taint",
    "not-selected",
    "too-large",
    "not-nominated",
    "other-flavor",
    "exceeds",
    "short",
    "without-places",
    "only-with-places",
    "no-level",
    "no-places",
    "several-placed",
]
"""Why a flavor does not serve a resource at once."""


class FlavorObstacle(Part):
    """Why a flavor did not serve a resource at once.

    `short` and `exceeds`: `asked` of it in smallest units, with what earlier pod sets took, `limit` of it were available, or could ever
    be. `too-large`: one pod asks for `asked`, and the largest node has `limit`; without a resource no node has all that one pod asks for
    together. `detail` is the taint, or the flavor on which the workload runs whose place is taken.
    """

    kind: ObstacleKind
    resource: str = ""
    asked: int = later(0)
    limit: int = later(0)
    detail: str = later("")


class FlavorAttempt(Part):
    """A flavor that was tried for resources of a pod set. Without obstacles it fits; `borrows`: it would have to borrow."""

    pod_set: str
    flavor: str
    resources: tuple[str, ...]
    borrows: bool
    obstacles: tuple[FlavorObstacle, ...]


class Charge(Part):
    """An amount of one resource of one flavor, in the smallest unit."""

    flavor: str
    resource: str
    amount: int


class Assignment(Part):
    """The flavor of each resource of a pod set, by resource; and the places of its pods, where they get any, in order of their domains.

    `delayed`: its pods get their places later, once all admission checks of the workload are ready.
    """

    pod_set: str
    count: int
    flavors: dict[str, str]
    places: tuple[PlacedPods, ...] = later(())
    delayed: bool = later(False)


class PodSetChange(Part):
    """Pods of a pod set that a running workload gets or gives up, and where these stand, if anywhere, in order of the domains."""

    pod_set: str
    added: int = later(0)
    taken: int = later(0)
    places: tuple[PlacedPods, ...] = later(())


class MovedPods(Part):
    """Pods of a pod set that go from one place to another."""

    pod_set: str
    pods: int
    from_place: tuple[StrictStr, ...]
    to_place: tuple[StrictStr, ...]


class Placement(Part):
    """What an outside system gave a pod set: pods, the flavor of each resource, all that is charged by resource, and places.

    `delayed`: its pods are to get places later, once all admission checks of the workload are ready.
    """

    pod_set: NameText
    count: Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
    flavors: Annotated[dict[NameText, NameText], BeforeValidator(sort_keys), Field(max_length=64)]
    usage: Resources
    places: Annotated[tuple[PlacedPods, ...], Field(max_length=10_000)] = later(())
    delayed: StrictBool = later(False)

    @model_validator(mode="after")
    def _places_there_can_be(self) -> "Placement":
        for place in self.places:
            if not 1 <= place.pods <= _MOST_PODS:
                raise ValueError(f"{place.pods} pods at a place: there are 1 to {_MOST_PODS:,}")
            if not 1 <= len(place.domain) <= _MOST_LEVELS or not all(1 <= len(value) <= MOST_NAME for value in place.domain):
                raise ValueError(f"a place is named by 1 to {_MOST_LEVELS} texts of 1 to {MOST_NAME} characters")
        return self


class Tried(Part):
    """How far the search for flavors came: for a resource of a pod set, the index of the last flavor tried (-1: all of them)."""

    pod_set: str
    resource: str
    index: int


CheckState = Literal["Pending", "Ready", "Retry", "Rejected"]
"""What an admission check says of a workload."""

Checks = Annotated[dict[NameText, CheckState], BeforeValidator(sort_keys), Field(max_length=64)]

EvictionKind = Literal[
    "in-queue", "reclaim", "other", "operator", "fair-sharing", "reclaim-while-borrowing", "stopped", "node-lost", "consolidation",
    "broken-gang", "balance",
]  # fmt: skip
"""Why a workload is evicted: for another one of its queue, so that owned quota goes back, by a rule without a condition on ownership,
because an operator says so, so that shares even out, for one that borrows itself, because its queue is drained, because it has lost a
node on which pods of it stood, so that it starts again on other nodes, because it ran with fewer pods than it needs,
or because others come first when all are placed anew."""

DeferralOutcome = Literal[
    "no fit", "no candidates", "overtaken", "overlapping", "preempting", "deferred", "turned away", "no room", "let in",
]  # fmt: skip
"""What came of the head of a queue that was not admitted in a cycle; `WorkloadDeferred` says what each of them means."""
