"""What is followed of a cluster with Volcano: PodGroups, the labels of namespaces, nodes; and what has changed since it was looked at."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from ...kubernetes.api import Api, Plain
from ...kubernetes.nodes import NodeSeen, read_node
from ...kubernetes.reflector import ObjectChange, Reflector, Seen
from ...kubernetes.resource_kinds import NAMESPACE, NODE
from ...kueue.problems import Findings
from ...kueue.read.kinds import Raw
from ..read.volcano_kinds import read_volcano
from ..read.volcano_objects import PodGroup
from .volcano_resources import POD_GROUP


class ObservedPodGroup(NamedTuple):
    """A PodGroup as it is; or why it cannot be read, with None."""

    group: PodGroup | None
    problem: str


def observe_pod_group(plain: Plain) -> ObservedPodGroup:
    """Read a PodGroup, with what is wrong with it."""
    found = Findings()
    made = read_volcano([Raw({"apiVersion": POD_GROUP.api_version, "kind": POD_GROUP.kind, **plain})], found)
    if found.problems or not made.pod_groups:
        return ObservedPodGroup(None, str(found.problems[0]) if found.problems else "it is no PodGroup that gpol can read")
    return ObservedPodGroup(made.pod_groups[0], "")


class FollowedPodGroups:
    """The objects of a cluster as they were seen last. `woken` is set whenever something has changed."""

    def __init__(self, api: Api) -> None:
        self.pod_groups: Reflector[ObservedPodGroup] = Reflector(api, POD_GROUP, observe_pod_group, self._see)
        self.namespaces: Reflector[dict[str, str]] = Reflector(api, NAMESPACE, _labels, lambda changes: None)
        self.nodes: Reflector[NodeSeen | None] = Reflector(api, NODE, read_node, self._see_nodes)
        self.woken = asyncio.Event()
        self._changed: dict[str, None] = {}
        self._nodes_changed = False

    def pod_group(self, key: str) -> Seen[ObservedPodGroup] | None:
        """A PodGroup by `namespace/name`."""
        return self.pod_groups.known.get(key)

    def labels(self, namespace: str) -> dict[str, str]:
        """The labels of a namespace; none where it is not known."""
        seen = self.namespaces.known.get(namespace)
        return {} if seen is None else seen.value

    async def run(self, tasks: asyncio.TaskGroup, with_nodes: bool) -> None:
        """Begin to follow everything, in tasks of the group; return once all of it was listed."""
        for reflector in (self.namespaces, *((self.nodes,) if with_nodes else ()), self.pod_groups):
            tasks.create_task(reflector.run())
            await reflector.synced()

    @property
    def has_changed(self) -> bool:
        """Whether there is something to look at."""
        return bool(self._changed) or self._nodes_changed

    def look_at(self, key: str) -> None:
        """Let a PodGroup be looked at, as if it had changed."""
        self._changed[key] = None
        self.woken.set()

    def take_changed(self) -> tuple[list[str], bool]:
        """The PodGroups that have changed since this was asked last, and whether nodes have."""
        taken = list(self._changed), self._nodes_changed
        self._changed, self._nodes_changed = {}, False
        return taken

    def _see(self, changes: Sequence[ObjectChange[ObservedPodGroup]]) -> None:
        for change in changes:
            self.look_at(change.key)

    def _see_nodes(self, changes: Sequence[ObjectChange[NodeSeen | None]]) -> None:
        self._nodes_changed = True
        self.woken.set()


def _labels(namespace: Plain) -> dict[str, str]:
    labels = (namespace.get("metadata") or {}).get("labels")
    return {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
