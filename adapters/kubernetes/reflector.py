"""Keeps in step with all objects of a kind: they are listed, compared with what was known, and then watched.

A watch goes on where the one before it ended only if that one ended well. After any error the objects are listed anew and compared, which
misses nothing, whatever happened meanwhile. Two more things are looked at from time to time, as a watch does not tell of them: whether the
server has gone back in time (a backup of its store was restored), and, more seldom, whether anything was missed after all.
Source: Kubernetes, API concepts (efficient detection of changes); client-go, tools/cache/reflector.go.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from .api import Api, ApiError, Plain
from .resource_kinds import Kind

Content = TypeVar("Content")


class Seen(NamedTuple, Generic[Content]):
    """An object as it was seen last: its identity, its version, and what was read of it."""

    uid: str
    version: str
    value: Content


class ObjectChange(NamedTuple, Generic[Content]):
    """What became of an object, by `namespace/name` (or `name`): `old` is None if it is new, `new` is None if it is gone.

    Where an object was replaced by another one of its name, that is two changes.
    """

    key: str
    old: Seen[Content] | None
    new: Seen[Content] | None

    @property
    def is_other(self) -> bool:
        """Whether what is kept of the object is another one than before, and not only its version."""
        return self.old is None or self.new is None or self.old.value != self.new.value


@dataclass(slots=True)
class Reflector(Generic[Content]):
    """The objects of a kind as the server has them. `read` takes from an object what is to be kept; `tell` is told what changed.

    `problem` is why it is out of step, empty where it is in step. `events` counts what watches have sent.
    """

    api: Api
    kind: Kind
    read: Callable[[Plain], Content]
    tell: Callable[[Sequence[ObjectChange[Content]]], None]
    namespace: str = ""
    look_seconds: float = 30
    list_seconds: float = 600
    shortest_pause: float = 0.1
    longest_pause: float = 30
    known: dict[str, Seen[Content]] = field(default_factory=dict)
    problem: str = ""
    events: int = 0
    lists: int = 0
    last_heard: float = 0
    _version: str = ""
    _listed: float = 0
    _pause: float = 0
    _synced: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.problem = f"{self.kind.plural} were not listed yet"

    async def synced(self) -> None:
        """Wait until the objects were listed for the first time."""
        await self._synced.wait()

    async def run(self) -> None:
        """Follow the objects until cancelled."""
        while True:
            begun = monotonic()
            try:
                await self._list()
                await self._follow()
            except ApiError as error:
                self.problem = f"cannot follow {self.kind.plural}: {error}"
                if monotonic() - begun > self.longest_pause:  # where watches fail at once, listing well is no reason to list again soon
                    self._pause = 0
                await self._wait(error)

    async def _wait(self, error: ApiError) -> None:
        """Wait longer after each error in a row."""
        self._pause = min(self.longest_pause, max(self.shortest_pause, self._pause * 2))
        await asyncio.sleep(max(self._pause, error.retry_after or 0))

    async def _list(self) -> None:
        """List the objects, and tell how they differ from what was known."""
        listed = await self.api.list_all(self.kind, self.namespace)
        if _number(listed.version) < _number(self._version):  # what is known is of a history that is no more: versions come again
            self.known.update({key: seen._replace(version="") for key, seen in self.known.items()})
        found = {key_of(item): item for item in listed.items}
        changes: list[ObjectChange[Content]] = [ObjectChange(key, seen, None) for key, seen in self.known.items() if key not in found]
        for key, item in found.items():
            if not self._is_past(key, item):
                changes += self._difference(key, item)
        self._take(changes)
        self._version, self._listed = listed.version, monotonic()
        self.problem = ""
        self.lists += 1
        self.last_heard = monotonic()
        self._synced.set()

    async def _follow(self) -> None:
        """Watch from the list on, one watch after the other, until it is time to list again."""
        guard = asyncio.ensure_future(self._went_back())
        watching = asyncio.ensure_future(self._watch())
        try:
            done, _ = await asyncio.wait((guard, watching), return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in (guard, watching):
                each.cancel()
            await asyncio.gather(guard, watching, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            async for event in self.api.watch(self.kind, self._version, self.namespace):
                self.last_heard = monotonic()
                self._on_event(event)
            await asyncio.sleep(self.shortest_pause)  # a server that ends every watch at once is not asked without a pause

    def written(self, item: Plain) -> None:
        """Take in an object as the server has answered it to a write: what is known is never older than what this program wrote."""
        key = key_of(item)
        old = self.known.get(key)
        if old is not None and _number(old.version) < _number(_version_of(item)):
            self._take(self._difference(key, item))

    def _is_past(self, key: str, item: Plain) -> bool:
        """Whether an object that was listed is an earlier state of what is known: this program has written to it since."""
        old, metadata = self.known.get(key), item.get("metadata") or {}
        return old is not None and old.uid == metadata.get("uid") and _number(_version_of(item)) < _number(old.version)

    def _on_event(self, event: Plain) -> None:
        item = event.get("object")
        if not isinstance(item, dict):
            return
        version = _version_of(item)
        if event.get("type") != "BOOKMARK":
            self.events += 1
            key = key_of(item)
            old = self.known.get(key)
            if old is not None and _number(version) < _number(old.version):
                pass  # this program has written a later one meanwhile
            elif event.get("type") != "DELETED":
                self._take(self._difference(key, item))
            elif old is not None:
                self._take([ObjectChange(key, old, None)])
        self._version = version or self._version

    async def _went_back(self) -> None:
        """Return once the objects are to be listed again: it is time to, or the server's versions have fallen behind those it told."""
        while monotonic() - self._listed < self.list_seconds:
            await asyncio.sleep(self.look_seconds)
            before = self._version
            if _number(await self.api.version(self.kind, self.namespace)) < _number(before):
                return

    def _difference(self, key: str, item: Plain) -> list[ObjectChange[Content]]:
        uid, version = str((item.get("metadata") or {}).get("uid", "")), _version_of(item)
        old = self.known.get(key)
        if old is not None and (old.uid, old.version) == (uid, version):
            return []
        new = Seen(uid, version, self.read(item))
        if old is not None and old.uid != uid:
            return [ObjectChange(key, old, None), ObjectChange(key, None, new)]
        return [ObjectChange(key, old, new)]

    def _take(self, changes: Sequence[ObjectChange[Content]]) -> None:
        for change in changes:
            if change.new is None:
                self.known.pop(change.key, None)
            else:
                self.known[change.key] = change.new
        if changes:
            self.tell(changes)


def key_of(item: Plain) -> str:
    """An object's name among all of its kind: `namespace/name`, or `name` where the kind has no namespaces."""
    metadata: Any = item.get("metadata") or {}
    namespace, name = metadata.get("namespace"), str(metadata.get("name", ""))
    return f"{namespace}/{name}" if namespace else name


def _version_of(item: Plain) -> str:
    return str((item.get("metadata") or {}).get("resourceVersion", ""))


def _number(version: str) -> int:
    """A version as a number: since Kubernetes 1.35 versions of one kind may be compared (KEP-5504). 0 for one that is none."""
    return int(version) if version.isdecimal() and len(version) < 40 else 0
