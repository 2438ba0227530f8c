"""Reads the events of a journal in a SQLite file, and checks how they are stored: numbers, chain, columns and form.

Written from docs/events.md alone, with nothing but Python's own library.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from form import Event, FormError, UnknownEventError, parsed

START = bytes(32)
"""The chain value before the first event."""

STREAMS = {
    "PolicyActivated": "policy",
    "CapacityChanged": "capacity",
    "NodeAdded": "capacity",
    "NodeChanged": "capacity",
    "NodeRemoved": "capacity",
    "TimeAdvanced": "time",
    "SimulationStarted": "time",
    "UsageReported": "usage",
}
"""The stream of each kind that is not about a workload."""


class UnreadableError(Exception):
    """This is no journal that the page describes; the text says why."""


class FaultError(Exception):
    """An event breaks what the page promises: its number, and what is wrong in plain words."""

    def __init__(self, seq: int, words: str) -> None:
        super().__init__(f"event {seq}: {words}")
        self.seq = seq


def link(chain: bytes, payload: bytes) -> bytes:
    """The chain value of an event, from that of the event before and the event's bytes."""
    return hashlib.sha256(chain + payload).digest()


def stream_of(event: Event) -> str:
    """The stream in which an event stands."""
    return STREAMS.get(event["kind"]) or f"workload/{event['workload']}"


def read_events(path: Path) -> Iterator[tuple[int, Event]]:
    """The events with their numbers, each checked as it is stored. Raises UnreadableError and FaultError."""
    if not path.is_file():
        raise UnreadableError(f"{path}: there is no such file")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            meta = dict(connection.execute("SELECT key, value FROM meta"))
            if (meta.get("format"), meta.get("version")) != ("gpol journal", "1"):
                raise UnreadableError(f"{path}: the table `meta` does not say `gpol journal`, version 1")
            yield from followed(connection)
    except sqlite3.Error as error:
        raise UnreadableError(f"{path}: SQLite cannot read it as a journal: {error}") from error


def followed(connection: sqlite3.Connection) -> Iterator[tuple[int, Event]]:
    """The events of an open journal, from the first on."""
    chain = START
    rows = connection.execute("SELECT seq, stream, version, kind, payload, chain FROM events ORDER BY seq")
    for seq, (found, stream, version, kind, payload, stored) in enumerate(rows, start=1):
        if found != seq:
            raise FaultError(seq, f"it is missing, and event {found} follows")
        if not isinstance(payload, bytes):
            raise FaultError(seq, "its payload is not stored as bytes")
        chain = link(chain, payload)
        if stored != chain:
            raise FaultError(seq, "it does not match its chain value")
        try:
            event = parsed(payload)
        except UnknownEventError as error:
            raise UnreadableError(f"event {seq}: {error}") from error
        except FormError as error:
            raise FaultError(seq, str(error)) from error
        if (stream, version, kind) != (stream_of(event), seq, event["kind"]):
            raise FaultError(seq, "its columns do not repeat what the payload says")
        yield seq, event
