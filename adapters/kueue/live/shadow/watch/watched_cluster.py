"""What is watched of a cluster where Kueue decides by itself: every change of an object, in the order in which the server made them.

The order matters: what Kueue decides follows from what it knew then. A watch tells each version of an object. After a gap objects are
listed, and the versions between are not known; such changes are marked as `listed`.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from .....kubernetes.api import Api
from .....kubernetes.reflector import ObjectChange, Reflector
from .....kubernetes.resource_kinds import Kind
from ...protocol import WORKLOAD
from .cluster_objects import POLICY_KINDS, object_reader
from .seen_workload import read_watched

FOLLOWED = (*POLICY_KINDS, WORKLOAD)
"""The kinds that are followed, Workloads last: by then what they belong to is known."""


@dataclass(frozen=True, slots=True)
class WatchedChange:
    """A version of an object: `value` is what was read of it, None where it was deleted.

    `order` orders the changes of all kinds as the server made them. `received` is when it was learned of, in seconds of a clock that
    never runs backwards, and `time` the same as the time of a fact.
    """

    kind: Kind
    key: str
    uid: str
    value: Any
    order: tuple[int, int]
    received: float
    time: int
    listed: bool


class WatchedCluster:
    """Follows the objects of a cluster. `now` gives the times of facts, `clock` seconds. `woken` is set whenever something has changed."""

    def __init__(self, api: Api, now: Callable[[], int], clock: Callable[[], float] = monotonic) -> None:
        self._now, self._clock = now, clock
        self.woken = asyncio.Event()
        self.reflectors: dict[Kind, Reflector[Any]] = {}
        self._changes: list[WatchedChange] = []
        self._last: dict[Kind, int] = {}
        for kind in FOLLOWED:
            read = read_watched if kind == WORKLOAD else object_reader(kind)
            self.reflectors[kind] = Reflector(api, kind, read, partial(self._see, kind))

    @property
    def problem(self) -> str:
        """Why what is known is out of step with the cluster; empty where it is in step."""
        return next((each.problem for each in self.reflectors.values() if each.problem), "")

    async def run(self, tasks: asyncio.TaskGroup) -> None:
        """Begin to follow everything, in tasks of the group; return once all of it was listed."""
        for reflector in self.reflectors.values():
            tasks.create_task(reflector.run())
            await reflector.synced()

    def take(self) -> list[WatchedChange]:
        """The changes since this was asked last, in the order in which the server made them."""
        taken, self._changes = self._changes, []
        return sorted(taken, key=lambda change: change.order)

    @property
    def received(self) -> list[float]:
        """When the first and the last change that was not taken was learned of; empty where there is none."""
        return [change.received for change in (*self._changes[:1], *self._changes[-1:])]

    def _see(self, kind: Kind, changes: Sequence[ObjectChange[Any]]) -> None:
        listed = bool(self.reflectors[kind].problem) or len({change.key for change in changes}) > 1  # a watch tells of one object at a time
        for change in changes:
            old, new = change.old, change.new
            version = self._last.get(kind, 0)  # an object that is gone has none: it went after the change before
            if new is not None:
                version = int(new.version) if new.version.isdecimal() else 0
                self._last[kind] = max(version, self._last.get(kind, 0))
            if old is not None and new is not None and old.value == new.value:
                continue  # nothing that matters
            seen = new if new is not None else old
            assert seen is not None
            value = new.value if new is not None else None
            order = (version, len(self._changes))
            self._changes.append(WatchedChange(kind, change.key, seen.uid, value, order, self._clock(), self._now(), listed))
            self.woken.set()
