"""What Volcano's scheduler sends: its own structs as JSON, with Go's names of fields, without a version.

Only what an answer depends on is read, a few names and uids. All else may be missing, be there in another form, or be new. A field that is
read and is missing, or null, is empty here: that gets the safe answer. One of another type is refused.

Source: Volcano, pkg/scheduler/plugins/extender/argument.go and pkg/scheduler/api, as of 2026-11 (ed72c7c).
"""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json, to_json

_LONGEST_PLACE = 200
"""Characters of a place that are told."""


class BadBodyError(Exception):
    """What is wrong with a body: where, and why."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place, self.message = place, message


_FIRST, _BORDER, _END = b'"evictees":[{"UID":', b'},{"UID":', b"}]}"
"""What stands before the first evictee, between two, and at the end. None of it can be within a text, where quotes are escaped."""

_Text = Annotated[str, BeforeValidator(lambda given: "" if given is None else given)]
"""A text; one that is null is empty."""


class _Read(BaseModel):
    """Fields that are read, and no others."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Metadata(_Read):
    uid: _Text = ""


class _PodGroup(_Read):
    metadata: _Metadata | None = None


class JobInfo(_Read):
    """A PodGroup with its pods."""

    uid: _Text = Field(default="", alias="UID")
    pod_group_uid: _Text = Field(default="", alias="PgUID")
    name: _Text = Field(default="", alias="Name")
    namespace: _Text = Field(default="", alias="Namespace")
    pod_group: _PodGroup | None = Field(default=None, alias="PodGroup")

    @property
    def key(self) -> str:
        """The PodGroup, `NAMESPACE/NAME`; its UID in the scheduler is the same, and not that of the object. Empty where nothing says it."""
        return f"{self.namespace}/{self.name}" if self.namespace and self.name else self.uid

    @property
    def object_uid(self) -> str:
        """The uid of the PodGroup; empty where nothing says it."""
        metadata = self.pod_group.metadata if self.pod_group is not None else None
        return self.pod_group_uid or (metadata.uid if metadata is not None else "")


class TaskInfo(_Read):
    """A pod. `job` is its PodGroup, `NAMESPACE/NAME`; empty for a pod of none."""

    uid: _Text = Field(default="", alias="UID")
    job: _Text = Field(default="", alias="Job")


class QueueInfo(_Read):
    """A queue."""

    name: _Text = Field(default="", alias="Name")


class AboutJob(_Read):
    """The body of `jobEnqueueable`."""

    job: JobInfo | None = None


class AboutQueue(_Read):
    """The body of `queueOverused`."""

    queue: QueueInfo | None = None


class AboutEviction(_Read):
    """The body of `reclaimable` and `preemptable`."""

    evictor: TaskInfo | None = None
    evictees: tuple[TaskInfo | None, ...] | None = None


_Body = TypeVar("_Body", AboutJob, AboutQueue, AboutEviction)


def read_body(kind: type[_Body], body: bytes) -> _Body:
    """What a body says. Raises BadBodyError for one that is no JSON, or says what is read in another type."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:_LONGEST_PLACE] or "body"
        raise BadBodyError(place, first["msg"]) from None


def sent_evictees(body: bytes, evictees: Sequence[TaskInfo | None], places: Sequence[int]) -> list[bytes]:
    """Some evictees of a body that was read, with all their fields, as they were sent."""
    pieces = _pieces(body, len(evictees))
    if pieces is not None:
        chosen = [pieces[place] for place in places]
        if all(_is_task(piece, evictees[place]) for piece, place in zip(chosen, places, strict=True)):
            return chosen
    whole = from_json(body)["evictees"]
    return [to_json(whole[place], inf_nan_mode="null") for place in places]


def _pieces(body: bytes, count: int) -> list[bytes] | None:
    """The evictees cut out of a body, where they all begin as Go writes them: most of the time would go into decoding them whole.

    What looks like a border of two may be within one: whoever takes a piece has to look whether it is one (`_is_task`).
    """
    begin = body.find(_FIRST)
    if begin < 0 or not body.endswith(_END):
        return None
    pieces = body[begin + len(_FIRST) : -len(_END)].split(_BORDER)
    return [b'{"UID":%b}' % piece for piece in pieces] if len(pieces) == count else None


def _is_task(piece: bytes, task: TaskInfo | None) -> bool:
    """Whether a piece is the JSON of a task."""
    try:
        return TaskInfo.model_validate_json(piece) == task
    except ValidationError:
        return False
