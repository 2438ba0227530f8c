"""Kubernetes Events: what was decided about an object, so that whoever describes it reads why.

They are a courtesy, and never wait in anybody's way: where more come than can be written, the oldest that wait are dropped and counted. An
event's name follows from the decision. So one that is written again, after a restart or a lost answer, is there once.
"""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from typing import Literal

from ...engine.units import format_time
from .api import Api, ApiError, Plain
from .resource_kinds import EVENT, Kind

LOG = logging.getLogger("gpol.events")

MOST_WAITING = 1_000
"""How many events wait at most."""

_MOST_NOTE, _MOST_ACTION = 1_000, 128
_MOST_NAME = 240


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """An event about an object: `mark` tells it from all others about the object, `time` is in microseconds."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    mark: str
    time: int
    action: str
    reason: str
    note: str
    type: Literal["Normal", "Warning"] = "Normal"

    def body(self, controller: str, instance: str) -> Plain:
        """The event as the API server takes it."""
        about = {"apiVersion": self.kind.api_version, "kind": self.kind.kind, "name": self.name, "uid": self.uid}
        return {
            "apiVersion": EVENT.api_version,
            "kind": EVENT.kind,
            "metadata": {"name": f"{self.name[: _MOST_NAME - len(self.mark)]}.{self.mark}", "namespace": self.namespace or "default"},
            "eventTime": micro_time(self.time),
            "reportingController": controller,
            "reportingInstance": instance[:_MOST_ACTION],
            "action": self.action,
            "reason": self.reason,
            "regarding": {**about, **({"namespace": self.namespace} if self.namespace else {})},
            "note": self.note[:_MOST_NOTE],
            "type": self.type,
        }


class EventWriter:
    """Writes events, one after the other. `dropped` counts those that were given up, `problem` is the last reason why (empty: none)."""

    def __init__(self, api: Api, controller: str, instance: str) -> None:
        self._api, self._controller, self._instance = api, controller, instance
        self._waiting: deque[ObjectEvent] = deque()
        self._woken = asyncio.Event()
        self.dropped = 0
        self.problem = ""

    def add(self, event: ObjectEvent) -> None:
        """Let an event be written soon."""
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(event)
        self._woken.set()

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._waiting:
                await self._write(self._waiting.popleft())

    async def _write(self, event: ObjectEvent) -> None:
        try:
            await self._api.create(EVENT.path(event.namespace or "default"), event.body(self._controller, self._instance))
            self.problem = ""
        except ApiError as error:
            if error.status != 409:  # it is there already
                self.dropped += 1
                told, self.problem = self.problem, f"events cannot be written: {error}"
                if told != self.problem:
                    LOG.warning("%s", self.problem)
                await asyncio.sleep(error.retry_after or 1)


def micro_time(time: int) -> str:
    """A time as Kubernetes writes those with microseconds: always six digits."""
    seconds, micros = divmod(time, 1_000_000)
    return f"{format_time(seconds * 1_000_000).removesuffix('Z')}.{micros:06d}Z"
