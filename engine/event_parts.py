"""What events are made of: names, times, amounts and labels as they are read, pod sets, reasons, charges.

Times are integer microseconds since the epoch, UTC. Amounts are integers in a resource's smallest unit (`gpol.engine.units`); on input a
text such as `"8"` or `"80Gi"` is accepted as well.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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


Name = Annotated[str, Field(min_length=1, max_length=253)]
Int64 = Annotated[int, Field(ge=0, le=INT64_MAX, strict=True)]
Time = Annotated[int, Field(ge=0, le=INT64_MAX, strict=True), BeforeValidator(_parse_time)]
Resources = Annotated[dict[Name, Int64], BeforeValidator(_parse_resources), Field(max_length=64)]
Labels = Annotated[dict[Name, Annotated[str, Field(max_length=4096)]], BeforeValidator(sort_keys), Field(max_length=256)]


class Part(BaseModel):
    """Data that never changes; a field that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def later(default: Any, **limits: Any) -> Any:
    """A field that came after events were first stored: it is written only where it says something, so old bytes stay what they were."""
    return Field(default=default, exclude_if=lambda value: value == default, **limits)


class Requirement(Part):
    """A condition on labels: key, operator, values; Gt and Lt compare whole numbers."""

    key: Name
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    values: Annotated[tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=256)] = ()


class Toleration(Part):
    """A taint that a pod set puts up with. `key` "" with Exists: every key; `effect` "": every effect."""

    key: Annotated[str, Field(max_length=253)] = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: Annotated[str, Field(max_length=4096)] = ""
    effect: Literal["", "NoSchedule", "NoExecute", "PreferNoSchedule"] = ""


class PodSet(Part):
    """`count` equal pods of a workload, each asking for `requests`; `flavors` names those that will do (none: any).

    With `min_count` fewer pods will do as well. `node_selector` and `affinity` (alternatives, each a conjunction) choose among
    flavors by the labels these declare; `tolerations` let taints pass. Pod sets of one `group` get their flavors together.
    """

    name: Name = "main"
    count: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = 1
    requests: Resources
    flavors: Annotated[tuple[Name, ...], Field(max_length=64)] = ()
    min_count: Annotated[int, Field(ge=1, strict=True)] | None = later(None)
    node_selector: Labels = later({})
    affinity: Annotated[tuple[Annotated[tuple[Requirement, ...], Field(max_length=64)], ...], Field(max_length=64)] = later(())
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=64)] = later(())
    group: Annotated[str, Field(max_length=253)] = later("")

    @model_validator(mode="after")
    def _no_more_than_all(self) -> "PodSet":
        if self.min_count is not None and self.min_count > self.count:
            raise ValueError(f"min_count {self.min_count} is above the count, {self.count}")
        return self

    @model_validator(mode="after")
    def _within_64_bits(self) -> "PodSet":
        for resource, amount in self.requests.items():
            if amount * self.count > INT64_MAX:
                raise ValueError(f"{self.count} x {amount} {resource} is beyond 64 bits")
        return self


class RuleRef(Part):
    """A rule of the policy by name, file and line."""

    name: str
    file: str
    line: int


class Limit(Part):
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


class Operand(Part):
    """A value that was compared, by the name the policy uses for it."""

    name: str
    value: str


class Why(Part):
    """The reason of a decision: a token, the rule that caused it, what was compared, and the limit that binds, if one does."""

    reason: str
    rule: RuleRef | None = None
    operands: tuple[Operand, ...] = ()
    limit: Limit | None = None


class Charge(Part):
    """An amount of one resource of one flavor, in the smallest unit."""

    flavor: str
    resource: str
    amount: int


class Assignment(Part):
    """The flavor of each resource of a podset, by resource."""

    pod_set: str
    count: int
    flavors: dict[str, str]


class Placement(Part):
    """What an outside system gave a pod set: pods, the flavor of each resource, and all that is charged by resource."""

    pod_set: Name
    count: Annotated[int, Field(ge=0, le=1_000_000, strict=True)]
    flavors: Annotated[dict[Name, Name], BeforeValidator(sort_keys), Field(max_length=64)]
    usage: Resources


class Tried(Part):
    """How far the search for flavors came: for a resource of a pod set, the index of the last flavor tried (-1: all of them)."""

    pod_set: str
    resource: str
    index: int


CheckState = Literal["Pending", "Ready", "Retry", "Rejected"]
"""What an admission check says of a workload."""

Checks = Annotated[dict[Name, CheckState], BeforeValidator(sort_keys), Field(max_length=64)]
