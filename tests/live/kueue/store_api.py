"""The API of a cluster straight from a store of objects, without HTTP, and with answers that get lost where a test says so."""

from dataclasses import dataclass, field
from typing import Any

from fake_errors import ApiError as StoreError
from fake_kinds import KINDS
from fake_kinds import Kind as StoredKind
from fake_store import FakeStore
from gpol.adapters.kubernetes.api import ApiError, ObjectList
from gpol.adapters.kubernetes.resource_kinds import Kind
from kueue_model import POD

Json = dict[str, Any]


@dataclass
class StoreApi:
    """Stands for `gpol.adapters.kubernetes.api.Api`, with its methods.

    `lose` is taken by the next write: `before` or `after` it was made, no answer comes.
    """

    store: FakeStore
    lose: str = ""
    writes: list[Json] = field(default_factory=list)
    """All that was written, as it was sent, and has changed something."""

    async def get(self, path: str) -> Json:
        """One object."""
        kind, namespace, name, _ = self._place(path)
        return self._asked(lambda: self.store.get(kind, name, namespace))

    async def list_all(self, kind: Kind, namespace: str = "") -> ObjectList:
        """All objects of a kind."""
        found = self.store.list(self._kind(kind.group, kind.plural))
        return ObjectList(found["items"], found["metadata"]["resourceVersion"])

    async def labelled(self, kind: Kind, namespace: str, key: str, value: str) -> list[Json]:
        """The pods that have a label."""
        found = self.store.list(POD)["items"]
        return [item for item in found if item["metadata"]["namespace"] == namespace and item["metadata"]["labels"].get(key) == value]

    async def apply(self, path: str, body: Json, manager: str, force: bool = True) -> Json:
        """Server-side apply."""
        kind, namespace, name, part = self._place(path)
        lose, self.lose = self.lose, ""
        if lose == "before":
            raise ApiError(0, "NoAnswer", "the request got lost")
        before = self.store.version
        answer = self._asked(
            lambda: self.store.apply(kind, name, body, manager=manager, namespace=namespace, subresource=part, force=force)
        )
        if self.store.version > before:
            self.writes.append(body)
        if lose == "after":
            raise ApiError(0, "NoAnswer", "the answer got lost")
        return answer

    def _asked(self, ask: Any) -> Json:
        try:
            return ask()
        except StoreError as error:
            raise ApiError(error.code, error.reason, str(error)) from None

    def _place(self, path: str) -> tuple[StoredKind, str, str, str]:
        parts = path.strip("/").split("/")
        _, group, _, _, namespace, plural, name, *rest = parts
        return self._kind(group, plural), namespace, name, rest[0] if rest else ""

    def _kind(self, group: str, plural: str) -> StoredKind:
        return next(kind for kind in KINDS if (kind.group, kind.plural) == (group, plural))
