"""What is asked and answered over HTTP, as data: the one source of the answers' bytes and of the OpenAPI document.

Times are microseconds since the epoch, amounts are in the smallest unit of their resource, as in events. The names of fields are those
that `gpol state`, `gpol explain` and `gpol check` print as JSON.
"""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, create_model, model_validator

from ..engine.event_parts import Charge
from ..engine.events import AnyDecision, AnyEvent
from ..engine.explain.standing import Standing
from ..engine.facts import Fact, WorkloadSubmitted

MOST_ROWS = 1000
"""The most workloads or events of one answer."""


class _Data(BaseModel):
    """Data of an answer: every field is always there."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


class _Answer(_Data):
    """An answer, with its version."""

    v: Literal[1] = 1


# --- errors ---------------------------------------------------------------------------------------------------------


class SpanPlace(_Data):
    """A piece of a policy's text: lines, columns and offsets, in characters; lines and columns are counted from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int


class NoteData(_Data):
    """What else is said of a diagnostic."""

    message: str
    span: SpanPlace | None


class DiagnosticData(_Answer):
    """What is wrong with a policy, as `gpol check --format json` says it."""

    kind: Literal["diagnostic"]
    code: str
    severity: Literal["error", "warning"]
    message: str
    file: str
    span: SpanPlace
    label: str
    help: str
    notes: tuple[NoteData, ...]
    docs: str


class ErrorDetail(_Data):
    """What is wrong with a request, by a code that stays the same, in words, and what to do about it."""

    code: str
    message: str
    remedy: str


class ErrorAnswer(_Answer):
    """Why a request is not answered."""

    error: ErrorDetail


class PolicyErrorAnswer(ErrorAnswer):
    """Why a policy cannot be used, with all that is wrong with it."""

    diagnostics: tuple[DiagnosticData, ...]


class UnansweredError(Exception):
    """Why a request is not answered, and with which status that is said."""

    def __init__(self, status: int, code: str, message: str, remedy: str) -> None:
        super().__init__(f"{message}; {remedy}")
        self.status = status
        self.detail = ErrorDetail(code=code, message=message, remedy=remedy)

    @property
    def answer(self) -> ErrorAnswer:
        """What is answered instead."""
        return ErrorAnswer(error=self.detail)


class InvalidPolicyError(UnansweredError):
    """A policy that cannot be used."""

    def __init__(self, message: str, remedy: str, diagnostics: tuple[DiagnosticData, ...]) -> None:
        super().__init__(422, "InvalidPolicy", message, remedy)
        self._diagnostics = diagnostics

    @property
    def answer(self) -> ErrorAnswer:
        """What is answered instead."""
        return PolicyErrorAnswer(error=self.detail, diagnostics=self._diagnostics)


# --- health ---------------------------------------------------------------------------------------------------------


class HealthAnswer(_Answer):
    """The process works."""

    status: Literal["ok"] = "ok"


class ReadyAnswer(_Answer):
    """Whether gpol does what it is there for, and what keeps it from that, by part."""

    ready: bool
    problems: dict[str, str]


# --- state ----------------------------------------------------------------------------------------------------------


class DecidingPolicy(_Data):
    """The policy that decides: its file, what it means (`digest`), since when, by which event, and who activated it and why."""

    file: str
    digest: str
    since: int
    seq: int
    by: str | None
    note: str | None


class MachineCount(_Data):
    """How many machines there are of a flavor; `flavor` is null for those of none."""

    flavor: str | None
    machines: int


class CapacityData(_Data):
    """One resource of one flavor in the whole cluster; `idle` is below 0 while less exists than is used."""

    flavor: str
    resource: str
    exists: int
    owned: int
    used: int
    idle: int


class HoldingData(_Data):
    """What a queue or cohort has of one resource of one flavor."""

    flavor: str
    resource: str
    owns: int
    uses: int
    borrows: int
    lends: int


class PlaceData(_Data):
    """A queue or cohort, `depth` 0 directly below the root; those on hold (`held`) are among the waiting ones."""

    name: str
    parent: str | None
    depth: int
    is_queue: bool
    holdings: tuple[HoldingData, ...]
    running: int
    waiting: int
    held: int


class TaintData(_Data):
    """What keeps pods off a node unless they tolerate it."""

    key: str
    value: str
    effect: str


class StandingPods(_Data):
    """How many pods of a workload stand in a place."""

    workload: str
    pods: int


class LackingData(_Data):
    """The label, with the level it stands for, for want of which a node is in no domain. No level: it is one of the flavor's own."""

    level: str
    label: str


class NodeData(_Data):
    """A node of a flavor that gives pods places, or a wider domain where pods get no nodes; and who stands there.

    `place` is what decisions call it, `path` its domains from the widest level down, `nodes` are all nodes in it: none where it is gone and
    pods are still there. `cordoned`: it takes nobody new. `lacks`: no pod gets a place there, as the node is in no domain.
    """

    place: tuple[str, ...]
    path: tuple[str, ...]
    flavors: tuple[str, ...]
    nodes: tuple[str, ...]
    exists: dict[str, int]
    used: dict[str, int]
    cordoned: bool
    taints: tuple[TaintData, ...]
    pods: tuple[StandingPods, ...]
    lacks: LackingData | None = None


class WorkloadData(_Data):
    """A workload that is not over: since when it runs or waits, what it is charged, why it waits, and its place in its queue, from 1."""

    name: str
    state: Literal["running", "waiting", "held"]
    since: int
    queue: str
    usage: tuple[Charge, ...]
    reason: str
    position: int | None
    waiting: int | None


class StateAnswer(_Answer):
    """The cluster after event `seq`. `places` are in tree order, neighbours by name.

    `nodes` is null where they were not asked for; else they are in order of their paths. So is `workloads`; else they are in order of name,
    and `next` is what to ask for with `after` to get more of them, null where there are no more.
    """

    seq: int
    time: int
    policy: DecidingPolicy | None
    machines: tuple[MachineCount, ...]
    in_no_queue: int
    capacity: tuple[CapacityData, ...]
    places: tuple[PlaceData, ...]
    nodes: tuple[NodeData, ...] | None
    workloads: tuple[WorkloadData, ...] | None
    next: str | None


def _yes_or_no(value: object) -> object:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _digits(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10 else value


_YesNo = Annotated[bool, Field(strict=True), BeforeValidator(_yes_or_no)]
_Rows = Annotated[int, Field(ge=1, le=MOST_ROWS, strict=True), BeforeValidator(_digits)]


class StateQuery(BaseModel):
    """What else the state shall tell."""

    model_config = ConfigDict(extra="forbid")

    nodes: _YesNo = Field(default=False, description="also the nodes of flavors that give pods places, with who stands there")
    workloads: _YesNo = Field(default=False, description="also the workloads that are not over, in order of name")
    limit: _Rows = Field(default=100, description="how many workloads at most; with `workloads=true`")
    after: str = Field(default="", max_length=253, description="workloads whose names come after this one; with `workloads=true`")

    @model_validator(mode="after")
    def _about_workloads(self) -> Self:
        said = [name for name in ("limit", "after") if name in self.model_fields_set]
        if said and not self.workloads:
            raise ValueError(f"{' and '.join(said)} is about workloads; add workloads=true")
        return self


# --- explain --------------------------------------------------------------------------------------------------------


class NumberedEvent(_Data):
    """An event with its number."""

    seq: int
    event: Annotated[AnyEvent, Field(discriminator="kind")]


class ExplainAnswer(_Answer):
    """Where a workload stands after event `seq`, and what happened to it, oldest first.

    `earlier` says that it has earlier events, which were not asked for. `standing` is null where it is over.
    """

    workload: str
    seq: int
    time: int
    policy: DecidingPolicy | None
    history: tuple[NumberedEvent, ...]
    earlier: bool
    standing: Standing | None


class ExplainQuery(BaseModel):
    """How much of the history shall be told."""

    model_config = ConfigDict(extra="forbid")

    events: _Rows = Field(default=100, description="how many events of its history at most, the newest ones")


# --- journal --------------------------------------------------------------------------------------------------------


class HeadAnswer(_Answer):
    """Where the journal ends: `journal` tells it from all others, `chain` is the last event's chain value; both are hexadecimal.

    Of a journal without events `journal` is empty, and `seq` and `time` are 0.
    """

    journal: str
    seq: int
    chain: str
    time: int
    policy: DecidingPolicy | None


# --- try ------------------------------------------------------------------------------------------------------------

_NOT_SAID = ("kind", "v", "time")
"""The fields of a submission that one which is tried has not: it is one, and of now."""

if TYPE_CHECKING:

    class SubmittedFields(BaseModel):
        """The fields of the event WorkloadSubmitted, without its kind, version and time."""

else:
    SubmittedFields = create_model(
        "SubmittedFields",
        __config__=ConfigDict(extra="forbid", frozen=True),
        __doc__="The fields of the event WorkloadSubmitted, without its kind, version and time.",
        **{name: (field.annotation, field) for name, field in WorkloadSubmitted.model_fields.items() if name not in _NOT_SAID},
    )


class TryRequest(BaseModel):
    """What shall be tried: a policy, the submission of a workload, or both: then under that policy."""

    model_config = ConfigDict(extra="forbid")

    policy: StrictStr | None = Field(default=None, max_length=1024 * 1024, description="the text of a policy")
    workload: SubmittedFields | None = Field(default=None, description="a workload to submit")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.policy is None and self.workload is None:
            raise ValueError("there is nothing to try; give a policy, a workload, or both")
        return self


class TriedPolicy(_Data):
    """A policy that was tried; `changes` is false where it means the same as the one that decides, which then stays."""

    digest: str
    changes: bool
    warnings: tuple[DiagnosticData, ...]


class TriedBatch(_Data):
    """A fact, and the decisions that would follow from it."""

    fact: Annotated[Fact, Field(discriminator="kind")]
    decisions: tuple[Annotated[AnyDecision, Field(discriminator="kind")], ...]


class TryAnswer(_Answer):
    """What would follow at once, at `time`, from the state after event `seq`. Nothing was changed, and nothing is recorded.

    `left_out` counts decisions that are not listed, since there are too many. `standing` is where the workload would stand; null where
    none was tried, or where it would be over. `next_wake` is the next moment at which time alone may decide more. `livelock` names
    workloads that would evict one another in turns; empty where there are none.
    """

    seq: int
    time: int
    policy: TriedPolicy | None
    batches: tuple[TriedBatch, ...]
    left_out: int
    standing: Standing | None
    next_wake: int | None
    livelock: str
