"""An event as the journal keeps it: its place, its bytes, its link in the chain."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from ..engine.cores import EncodedEvents
from ..engine.errors import describe_error
from ..engine.events import AnyEvent
from ..engine.facts import (
    CapacityChanged,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    PolicyActivated,
    SimulationStarted,
    TimeAdvanced,
    UsageReported,
)
from .decode import decode
from .errors import DamagedError, FutureError

Progress = Callable[[int], None]
"""Told now and then how far long work is: the last sequence number that is done."""

TOLD_EVERY = 1_000
"""After how many events, or facts, it is told."""


def tell(progress: Progress | None, seq: int) -> None:
    """Tell that event `seq` is done, if it is time."""
    if progress is not None and seq % TOLD_EVERY == 0:
        progress(seq)


ReadRow = tuple[int, bytes, bytes]
"""An event as it is stored: its number, its payload, its chain value."""


class Head(NamedTuple):
    """The last event's sequence number and chain value; a journal without events has 0 and 32 zero bytes."""

    seq: int
    chain: bytes


START = Head(0, bytes(32))
"""The head of an empty journal."""


def link(chain: bytes, payload: bytes) -> bytes:
    """The chain value of an event: SHA-256 over the previous one's chain value and this one's payload."""
    return links(chain, (payload,))[0]


def links(chain: bytes, payloads: Iterable[bytes]) -> list[bytes]:
    """The chain values of events in a row."""
    return [chain := sha256(chain + payload).digest() for payload in payloads]


def are_linked(chain: bytes, payloads: Iterable[bytes], chains: Sequence[bytes]) -> bool:
    """Whether these are the chain values of events in a row."""
    return links(chain, payloads) == list(chains)


def workload_stream(name: str) -> str:
    """The stream of a workload's events. The prefix keeps a workload called `policy` apart from the policy."""
    return f"workload/{name}"


_STREAMS: dict[type[AnyEvent], str] = {
    PolicyActivated: "policy",
    **dict.fromkeys((CapacityChanged, NodeAdded, NodeChanged, NodeRemoved), "capacity"),
    **dict.fromkeys((TimeAdvanced, SimulationStarted), "time"),
    UsageReported: "usage",
}
"""The streams of events that are of no workload."""


def stream_of(event: AnyEvent) -> str:
    """The stream that an event belongs to."""
    return _STREAMS.get(type(event)) or workload_stream(event.workload)  # type: ignore[union-attr]  # all others are of a workload


def encoded_streams(events: EncodedEvents) -> list[str]:
    """The streams of events that a core has encoded; those of no workload are moments at which time alone decides."""
    return [_STREAMS[TimeAdvanced] if name is None else workload_stream(name) for name in events.workloads]


def parse(seq: int, payload: bytes) -> AnyEvent:
    """Read a stored payload. Raises DamagedError for bytes that are no event this program knows."""
    try:
        return decode(payload)
    except ValidationError as error:
        found = _kind_and_version(payload)
        if found is not None:
            kind, version = found
            raise FutureError(seq, f"event {seq} is a {kind} of version {version}, unknown to this program") from None
        raise DamagedError(seq, f"event {seq} cannot be read: {describe_error(error)}") from None


def _kind_and_version(payload: bytes) -> tuple[str, int] | None:
    """The kind and version of a payload of a later version than 1, the only one so far; None for any other payload."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    kind, version = (value.get("kind"), value.get("v")) if isinstance(value, dict) else (None, None)
    return (kind, version) if isinstance(kind, str) and type(version) is int and version > 1 else None


class BatchSink(Protocol):
    """Takes batches into a journal: it, or something between."""

    def append(self, batches: Sequence[Sequence[AnyEvent]]) -> object:
        """Keep batches, all or none."""

    def append_encoded(self, events: EncodedEvents, begin: int, end: int) -> object:
        """Keep whole batches as a core has encoded them, all or none; they begin and end at these moments."""


@dataclass(slots=True, unsafe_hash=True)
class Recorded:
    """An event of a journal, not to be changed: `payload` are its stored bytes, `chain` its stored chain value."""

    seq: int
    payload: bytes
    chain: bytes
    _event: AnyEvent | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def event(self) -> AnyEvent:
        """The event itself, parsed when first asked for. Raises DamagedError for a payload that is no event."""
        if self._event is None:
            self._event = parse(self.seq, self.payload)
        return self._event


def sound_rows(page: Sequence[tuple[Any, ...]], after: int) -> int:
    """How many rows that were read are events numbered one after the other behind `after`, up to the first that is not."""
    seqs, payloads, chains = zip(*page, strict=True)
    if seqs == tuple(range(after + 1, after + 1 + len(page))) and {*map(type, payloads), *map(type, chains)} == {bytes}:
        return len(page)
    return next((at for at, row in enumerate(page) if row[0] != after + 1 + at or not _is_sound(row)), len(page))


def _is_sound(unread: tuple[Any, ...]) -> bool:
    seq, payload, chain = unread
    return isinstance(seq, int) and isinstance(payload, bytes) and isinstance(chain, bytes)


def recorded_as(unread: tuple[Any, ...]) -> Recorded:
    """A row that was read as an event. Raises DamagedError for one that is none."""
    seq, payload, chain = unread
    if not _is_sound(unread):
        raise DamagedError(seq if isinstance(seq, int) else None, f"event {seq} is not stored in the form of an event")
    return Recorded(seq, payload, chain)


def sound_head(head: Head) -> Head:
    """The head as it was read. Raises DamagedError for one that no event has."""
    if not is_sound_head(head):
        seq = head.seq if isinstance(head.seq, int) else None
        raise DamagedError(seq, f"event {head.seq}, the last one, has no chain value of 32 bytes")
    return head


def is_sound_head(head: Head) -> bool:
    """Whether a head has a number and a chain value as those of events are."""
    return isinstance(head.seq, int) and isinstance(head.chain, bytes) and len(head.chain) == len(START.chain)
