"""What is learned of a PodGroup as it is, so that it is decided about."""

import logging
from collections.abc import Mapping, Sequence

from ....engine.events import WorkloadRejected
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import Workload
from ...live.decider import LiveDecider, Numbered
from ...live.deciding_changes import DecidingChanges
from ...live.learned_facts import Learned, gone
from ...live.observer import Observer
from ..extender.evicted_groups import EvictedGroups
from .followed_pod_groups import FollowedPodGroups
from .pod_group_facts import NamesInCluster, PastDecisions, facts_of_pod_group, of_undecidable


class DecidingPodGroups(DecidingChanges):
    """Decides about the PodGroups of a cluster. `evicted` are those whose pods Volcano may evict."""

    log = logging.getLogger("gpol.volcano")

    def __init__(self, cluster: FollowedPodGroups, decider: LiveDecider, names: Mapping[str, str], observer: Observer) -> None:
        super().__init__(cluster, decider, names, observer)
        self.cluster = cluster
        live = decider.core.view.workloads()
        self.evicted = EvictedGroups(decider.journal, [(workload.name, workload.fact.uid) for workload in live])

    def _take(self, events: Sequence[Numbered]) -> None:
        super()._take(events)
        self.evicted.take(events)

    def _make_ready(self, graph: PolicyGraph) -> None:
        """Nothing: PodGroups ask for the same under any policy."""

    def _learned(self, key: str) -> Learned:
        seen, known, now = self.cluster.pod_group(key), self.known(key), self.decider.moment
        if seen is None:
            self.desired.forget(key)
            self.evicted.forget(key)
            return Learned(gone(known, now))
        group = seen.value.group
        self.evicted.see(key, seen.uid)
        if group is None:
            return of_undecidable(seen.value.problem, known, now)
        if group.phase == "Completed":
            self.evicted.end(key)
        desired = self.desired.of(key, seen.uid) if known is None else None
        is_turned_away = desired is not None and isinstance(desired.event, WorkloadRejected)
        past = PastDecisions(is_turned_away, is_evicted=key in self.evicted)
        names = NamesInCluster(self.graph, self._names)
        return facts_of_pod_group(group, known, past, names, self.cluster.labels(group.namespace), now)

    def _has_ended(self, known: Workload) -> bool:
        seen = self.cluster.pod_group(known.name)
        return seen is None or seen.uid != known.fact.uid or (seen.value.group is not None and seen.value.group.phase == "Completed")

    def _runs(self, key: str) -> bool:
        seen = self.cluster.pod_group(key)
        return seen is not None and seen.value.group is not None and seen.value.group.runs
