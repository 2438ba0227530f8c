"""What is followed of a cluster with Volcano: PodGroups, beside namespaces and nodes."""

from collections.abc import Sequence
from typing import NamedTuple

from ...kubernetes.api import Api, Plain
from ...kubernetes.reflector import ObjectChange, Reflector, Seen
from ...kueue.problems import Findings
from ...kueue.read.kinds import Raw
from ...live.followed_objects import FollowedObjects
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


class FollowedPodGroups(FollowedObjects):
    """The objects of a cluster as they were seen last."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.pod_groups: Reflector[ObservedPodGroup] = Reflector(api, POD_GROUP, observe_pod_group, self._see)
        self.decided_about = self.pod_groups

    def pod_group(self, key: str) -> Seen[ObservedPodGroup] | None:
        """A PodGroup by `namespace/name`."""
        return self.pod_groups.known.get(key)

    def _see(self, changes: Sequence[ObjectChange[ObservedPodGroup]]) -> None:
        for change in changes:
            self.look_at(change.key)
