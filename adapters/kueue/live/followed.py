"""What is followed of a cluster: Workloads, the labels of namespaces, nodes; and what has changed since it was looked at."""

import asyncio
from collections.abc import Sequence

from ...kubernetes.api import Api, Plain
from ...kubernetes.nodes import NodeSeen, read_node
from ...kubernetes.reflector import ObjectChange, Reflector, Seen
from ...kubernetes.resource_kinds import NAMESPACE, NODE
from .observed import Observed, observe
from .protocol import WORKLOAD
from .slices import Slices


class FollowedCluster:
    """The objects of a cluster as they were seen last. `check` is the name of gpol's AdmissionCheck.

    `woken` is set whenever something has changed. `answered` keeps the names of workloads of which it is not known what the last write has
    made of them.
    """

    def __init__(self, api: Api, check: str) -> None:
        self.workloads: Reflector[Observed] = Reflector(api, WORKLOAD, lambda plain: observe(plain, check), self._see)
        self.namespaces: Reflector[dict[str, str]] = Reflector(api, NAMESPACE, _labels, self._see_namespaces)
        self.nodes: Reflector[NodeSeen | None] = Reflector(api, NODE, read_node, self._see_nodes)
        self.slices = Slices(self.workloads.known)
        self.labels: dict[str, dict[str, str]] = {}
        self.unsure: set[str] = set()
        self.woken = asyncio.Event()
        self._changed: dict[str, None] = {}
        self._nodes_changed = False

    def workload(self, key: str) -> Seen[Observed] | None:
        """A Workload by `namespace/name`."""
        return self.workloads.known.get(key)

    async def run(self, tasks: asyncio.TaskGroup, with_nodes: bool) -> None:
        """Begin to follow everything, in tasks of the group; return once all of it was listed."""
        tasks.create_task(self.namespaces.run())
        await self.namespaces.synced()
        if with_nodes:
            tasks.create_task(self.nodes.run())
            await self.nodes.synced()
        tasks.create_task(self.workloads.run())
        await self.workloads.synced()

    @property
    def has_changed(self) -> bool:
        """Whether there is something to look at."""
        return bool(self._changed) or self._nodes_changed

    def look_at(self, key: str) -> None:
        """Let a workload be looked at, as if it had changed."""
        self._changed[key] = None
        self.woken.set()

    def take_changed(self) -> tuple[list[str], bool]:
        """The workloads that have changed since this was asked last, and whether nodes have."""
        taken = list(self._changed), self._nodes_changed
        self._changed, self._nodes_changed = {}, False
        return taken

    def answered(self, key: str, answer: Plain) -> None:
        """Take in a workload as the server has answered with it: it is known now what was made of it."""
        self.unsure.discard(key)
        self.workloads.written(answer)
        self.look_at(key)

    def _see(self, changes: Sequence[ObjectChange[Observed]]) -> None:
        for change in changes:
            self.slices.see(change.key)
            # What comes of a slice depends on those after it.
            for key in (change.key, *self.slices.earlier(change.key), *_replaced_by(change.old)):
                self.look_at(key)

    def _see_nodes(self, changes: Sequence[ObjectChange[NodeSeen | None]]) -> None:
        self._nodes_changed = True
        self.woken.set()

    def _see_namespaces(self, changes: Sequence[ObjectChange[dict[str, str]]]) -> None:
        for change in changes:
            self.labels[change.key] = change.new.value if change.new is not None else {}


def _replaced_by(seen: Seen[Observed] | None) -> list[str]:
    asked = seen.value.asked if seen is not None else None
    return [asked.replaces] if asked is not None and asked.replaces else []


def _labels(namespace: Plain) -> dict[str, str]:
    labels = (namespace.get("metadata") or {}).get("labels")
    return {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
