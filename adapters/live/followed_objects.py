"""What is followed of a cluster whatever is decided about: the labels of namespaces, nodes; and what has changed since it was looked at."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..kubernetes.api import Api, Plain
from ..kubernetes.nodes import NodeSeen, read_node
from ..kubernetes.reflector import ObjectChange, Reflector
from ..kubernetes.resource_kinds import NAMESPACE, NODE


class FollowedObjects:
    """The namespaces and nodes of a cluster as they were seen last, and the names of what is to be looked at.

    `decided_about` follows the objects about which is decided; it is made by the system. `woken` is set whenever something has changed.
    """

    decided_about: Reflector[Any]

    def __init__(self, api: Api) -> None:
        self.namespaces: Reflector[dict[str, str]] = Reflector(api, NAMESPACE, _labels, self._see_namespaces)
        self.nodes: Reflector[NodeSeen | None] = Reflector(api, NODE, read_node, self._see_nodes)
        self.woken = asyncio.Event()
        self._changed: dict[str, None] = {}
        self._nodes_changed = False

    def labels(self, namespace: str) -> Mapping[str, str] | None:
        """The labels of a namespace; None as long as it was not seen: its objects may be seen before it."""
        seen = self.namespaces.known.get(namespace)
        return None if seen is None else seen.value

    def reflectors(self, with_nodes: bool) -> tuple[Reflector[Any], ...]:
        """What follows the objects, in the order in which they are listed: by then what an object belongs to is known."""
        return (self.namespaces, *((self.nodes,) if with_nodes else ()), self.decided_about)

    async def run(self, tasks: asyncio.TaskGroup, with_nodes: bool) -> None:
        """Begin to follow everything, in tasks of the group; return once all of it was listed."""
        for reflector in self.reflectors(with_nodes):
            tasks.create_task(reflector.run())
            await reflector.synced()

    @property
    def has_changed(self) -> bool:
        """Whether there is something to look at."""
        return bool(self._changed) or self._nodes_changed

    def look_at(self, key: str) -> None:
        """Let an object be looked at, as if it had changed."""
        self._changed[key] = None
        self.woken.set()

    def look_at_all(self, names: Iterable[str]) -> None:
        """Let the objects of these names, and the nodes, be looked at, as if all of them had changed."""
        self._nodes_changed = True
        for name in names:
            self.look_at(name)
        self.woken.set()

    def take_changed(self) -> tuple[list[str], bool]:
        """The objects that have changed since this was asked last, and whether nodes have."""
        taken = list(self._changed), self._nodes_changed
        self._changed, self._nodes_changed = {}, False
        return taken

    def _see_nodes(self, changes: Sequence[ObjectChange[NodeSeen | None]]) -> None:
        if any(change.is_other for change in changes):  # a node tells every few seconds that it is still there
            self._nodes_changed = True
            self.woken.set()

    def _see_namespaces(self, changes: Sequence[ObjectChange[dict[str, str]]]) -> None:
        names = {change.key for change in changes if change.is_other}
        for key in [key for key in self.decided_about.known if key.partition("/")[0] in names]:
            self.look_at(key)


def _labels(namespace: Plain) -> dict[str, str]:
    labels = (namespace.get("metadata") or {}).get("labels")
    return {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
