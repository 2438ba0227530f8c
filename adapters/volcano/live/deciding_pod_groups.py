"""What is learned of a PodGroup as it is, so that it is decided about."""

import logging
from collections.abc import Mapping

from ....engine.events import WorkloadRejected
from ...live.decider import LiveDecider
from ...live.deciding_changes import DecidingChanges
from ...live.learned_facts import Learned, gone
from ...live.observer import Observer
from .followed_pod_groups import FollowedPodGroups
from .pod_group_facts import NamesInCluster, facts_of_pod_group


class DecidingPodGroups(DecidingChanges):
    """Decides about the PodGroups of a cluster."""

    log = logging.getLogger("gpol.volcano")

    def __init__(self, cluster: FollowedPodGroups, decider: LiveDecider, names: Mapping[str, str], observer: Observer) -> None:
        super().__init__(cluster, decider, names, observer)
        self.cluster, self._policy = cluster, NamesInCluster(self.graph, names)

    def _learned(self, key: str) -> Learned:
        seen, known, now = self.cluster.pod_group(key), self.known(key), self.decider.moment
        if seen is None:
            self.desired.forget(key)
            return Learned(gone(known, now))
        if seen.value.group is None:
            return Learned(problem=seen.value.problem)
        desired = self.desired.of(key, seen.uid) if known is None else None
        is_turned_away = desired is not None and isinstance(desired.event, WorkloadRejected)
        labels = self.cluster.labels(seen.value.group.namespace)
        return facts_of_pod_group(seen.value.group, known, is_turned_away, self._policy, labels, now)
