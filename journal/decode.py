"""Stored events from their bytes, quickly: most events differ from earlier ones in their time, cause and workload alone.

A payload in gpol's one form is cut into these three and the rest of it, its *frame*. What pydantic has read once, and writes the same
again, is remembered by its frame: of the next payload of the same frame it is known that it is an event in the one form, and which one.
Whatever has another frame goes through pydantic, so that nothing depends on what is remembered but the time that it takes.
"""

import re
from typing import TypeVar

from ..engine.event_parts import unchecked
from ..engine.events import EVENT, AnyEvent
from ..engine.facts import WorkloadSubmitted
from ..engine.units import INT64_MAX

MOST_FRAMES = 4_096
"""How many frames are remembered; then all are forgotten, and it begins anew."""

MOST_FRAME = 4_096
"""How many characters may come behind the workload of a frame that is remembered."""

FORM = re.compile(
    r'^\{"kind":"([A-Za-z]+)","v":1,"time":(0|[1-9][0-9]{0,18})(?![0-9])'
    r'(?:,"cause":(0|[1-9][0-9]{0,17})(?![0-9]))?(?:,"workload":"([^"\\\x00-\x1f]{1,253})(?="))?(.*)$',
    re.MULTILINE,
)
"""A payload, or each line of several: its kind, time, cause and workload (empty where it has none), and what comes behind them."""

Frame = tuple[str, bool, bool, str]
"""What is left of a payload: its kind, whether it has a cause and a workload, and what comes behind them."""

_events: dict[Frame, AnyEvent] = {}
"""Some event of a frame."""


def decode(payload: bytes) -> AnyEvent:
    """The event that a payload is: what pydantic makes of it, or its ValidationError."""
    event = recall(payload)
    if event is None:
        event = EVENT.validate_json(payload)
        learn(payload, event)
    return event


def recall(payload: bytes) -> AnyEvent | None:
    """The event that a payload in the one form is, where one of its frame is remembered."""
    cut = _cut(payload)
    if cut is None:
        return None
    frame, time, cause, workload = cut
    known = _events.get(frame)
    return _alike(known, microseconds, cause, workload) if known is not None and (microseconds := int(time)) <= INT64_MAX else None


def learn(payload: bytes, event: AnyEvent) -> None:
    """Remember an event by its frame, where these bytes are the one form of it."""
    cut = _cut(payload)
    if cut is not None and not compares(event) and event.payload() == payload:
        remember(_events, cut[0], event)


def _cut(payload: bytes) -> tuple[Frame, str, str, str] | None:
    """The frame, the time, the cause and the workload of a payload that may be in the one form."""
    try:
        match = FORM.fullmatch(payload.decode())
    except UnicodeDecodeError:
        return None
    if match is None:
        return None
    kind, time, cause, workload, tail = match.groups("")
    return (kind, cause != "", workload != "", tail), time, cause, workload


def compares(event: AnyEvent) -> bool:
    """Whether another time or name could make an event wrong that is right."""
    return isinstance(event, WorkloadSubmitted) and (event.created is not None or event.replaces is not None)


_Value = TypeVar("_Value")


def remember(known: dict[Frame, _Value], frame: Frame, value: _Value) -> None:
    """Remember something of a frame that is not too long, and forget all others where there are too many."""
    if len(frame[3]) <= MOST_FRAME:
        if len(known) >= MOST_FRAMES:
            known.clear()
        known[frame] = value


def _alike(event: AnyEvent, time: int, cause: str, workload: str) -> AnyEvent:
    """An event like another one, with another time, cause and workload."""
    fields = event.__dict__.copy()
    fields["time"] = time
    if cause:
        fields["cause"] = int(cause)
    if workload:
        fields["workload"] = workload
    return unchecked(event.__class__, fields, event.__pydantic_fields_set__)
