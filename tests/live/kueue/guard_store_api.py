"""The API of a cluster straight from a store of objects, for a guard of quotas: answers get lost, and others write in between."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fake_errors import ApiError as StoreError
from fake_kinds import KINDS
from fake_kinds import Kind as StoredKind
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import ApiError, ObjectList
from gpol.adapters.kubernetes.resource_kinds import Kind

Json = dict[str, Any]


def stored_kind(kind: Kind) -> StoredKind:
    """The kind as the store has it."""
    return next(each for each in KINDS if (each.group, each.plural) == (kind.group, kind.plural))


@dataclass
class GuardStoreApi:
    """Stands for `gpol.adapters.kubernetes.api.Api`.

    `lose` is taken by the next write: `before` or `after` it was made, no answer comes. `meanwhile` is taken by the next request, and
    called before it is handled. `written` is all that has changed something.
    """

    store: FakeStore
    lose: str = ""
    meanwhile: Callable[[], None] | None = None
    written: list[tuple[str, str]] = field(default_factory=list)

    async def get(self, path: str) -> Json:
        """An object."""
        kind, namespace, name = self._place(path)
        return self._ask(lambda: self.store.get(kind, name, namespace))

    async def list_all(self, kind: Kind, namespace: str = "") -> ObjectList:
        """All objects of a kind."""
        found = self.store.list(stored_kind(kind))
        return ObjectList(found["items"], found["metadata"]["resourceVersion"])

    async def apply(self, path: str, body: Json, manager: str, force: bool = True) -> Json:
        """A server-side apply."""
        kind, namespace, name = self._place(path)
        return self._write("apply", path, lambda: self.store.apply(kind, name, body, manager=manager, namespace=namespace, force=force))

    async def merge(self, path: str, body: Json) -> Json:
        """A merge patch."""
        kind, namespace, name = self._place(path)
        return self._write("merge", path, lambda: self.store.merge_patch(kind, name, body, namespace=namespace, manager="client"))

    async def delete(self, path: str, uid: str, **more: str) -> None:
        """A deletion."""
        kind, namespace, name = self._place(path)
        version = more["resourceVersion"]
        self._write("delete", path, lambda: self.store.delete(kind, name, namespace=namespace, uid=uid, version=version))

    def _write(self, verb: str, path: str, write: Callable[[], Json]) -> Json:
        lose, self.lose = self.lose, ""
        if lose == "before":
            raise ApiError(0, "NoAnswer", "the request got lost")
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        before = self.store.version
        answer = self._ask(write)
        if self.store.version > before:
            self.written.append((verb, path))
        if lose == "after":
            raise ApiError(0, "NoAnswer", "the answer got lost")
        return answer

    def _ask(self, ask: Callable[[], Json]) -> Json:
        try:
            return ask()
        except StoreError as error:
            raise ApiError(error.code, error.reason, str(error)) from None

    def _place(self, path: str) -> tuple[StoredKind, str, str]:
        parts = path.strip("/").split("/")[1:]
        namespace = parts[3] if parts[2] == "namespaces" else ""
        group, (plural, name) = parts[0], parts[-2:]
        return next(kind for kind in KINDS if (kind.group, kind.plural) == (group, plural)), namespace, name
