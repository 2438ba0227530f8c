"""What is learned of a Workload as it is, so that it is decided about: by its mark, its queue and its slices."""

import logging
from collections.abc import Iterable, Mapping

from ....engine.errors import FactError
from ....engine.events import WorkloadAdmitted
from ....engine.facts import WorkloadSubmitted
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import NOWHERE, Workload
from ....journal.errors import JournalError
from ...kubernetes.nodes import NodeFact
from ...kubernetes.reflector import Seen
from ...live.decider import LiveDecider, Numbered
from ...live.deciding_changes import DecidingChanges
from ...live.desired import Desired
from ...live.learned_facts import Learned, gone
from ...live.observer import Observer
from .followed import FollowedCluster
from .learned import ALONE, SliceStanding, Surroundings, learn, queues_by_cluster_queue
from .observed import Observed
from .place_selectors import asking_as_it_has_to, asks_as_it_has_to, level_for_all
from .protocol import Mark


class Deciding(DecidingChanges):
    """Decides about the Workloads of a cluster."""

    log = logging.getLogger("gpol.kueue")

    def __init__(self, cluster: FollowedCluster, decider: LiveDecider, names: Mapping[str, str], observer: Observer) -> None:
        super().__init__(cluster, decider, names, observer)
        self.cluster = cluster
        self._queues_of: tuple[PolicyGraph, dict[str, str]] | None = None
        self._asked: set[str] = set()

    def look(self, keys: Iterable[str], nodes: bool) -> list[Numbered]:
        """Take in what has changed, decide and commit. Whoever was submitted in it asks anew in another look only."""
        self._asked.clear()
        return super().look(keys, nodes)

    def wanted(self, key: str, seen: Seen[Observed]) -> Desired | None:
        """What the journal wants of a workload; None where there is no decision that counts.

        No admission counts of a life that is over in the journal, though the workload is there all the same, as after a restore of etcd:
        it asks anew or, if it runs, is adopted.
        """
        desired = self.desired.of(key, seen.uid, is_marked=seen.value.mark is not None)
        is_over = desired is not None and isinstance(desired.event, WorkloadAdmitted) and self.known(key) is None
        return None if is_over else desired

    @property
    def nodes(self) -> Mapping[str, NodeFact]:
        """The nodes of the cluster, by name, as the journal has them."""
        return self._supply.known

    def _make_ready(self, graph: PolicyGraph) -> None:
        """Let workloads that wait ask for places as a policy wants it that is to decide now: it decides about them as it begins.

        They ask anew under the policy before, of which most find no such places. The last in order comes first, so that nobody gets past
        another one. Whoever is held asks anew once it is let go.
        """
        if not level_for_all(graph):
            return  # under this policy places that are asked for keep everybody waiting, until all are looked at
        now = self.decider.moment
        waiting = [known for known in self.decider.core.view.workloads() if known.admitted is None]
        for known in sorted(waiting, key=lambda each: (each.priority, -each.queued, -each.number)):
            is_free = known.queue != NOWHERE and not known.held_by_owner and not known.held_by_operator
            if not is_free or asks_as_it_has_to(graph, known.fact):
                continue
            again = asking_as_it_has_to(graph, known.fact).model_copy(update={"time": now})
            try:
                for fact in (*gone(known, now), again):
                    self._follow(self.decider.play(fact))
            except FactError as error:  # it is gone then, and is taken in as one that is new
                self._refuse(fact, error)

    def _learned(self, key: str) -> Learned:
        """The next facts about a workload."""
        seen, known, now, graph = self.cluster.workload(key), self.known(key), self.decider.moment, self.graph
        if seen is None:
            return Learned(gone(known, now))
        self._check_mark(key, seen.value.mark)
        desired = self.wanted(key, seen)
        decided = Mark(self.decider.identity, desired.seq) if desired is not None else None
        labels = self.cluster.labels(key.partition("/")[0])
        around = Surroundings(graph, labels, self._names, self._queues(graph), self.nodes, key not in self._asked)
        learned = learn(seen.value, known, decided, around, now, self._slice(key, seen.value))
        if any(isinstance(fact, WorkloadSubmitted) for fact in learned.facts):
            self._asked.add(key)
        return learned

    def _has_ended(self, known: Workload) -> bool:
        seen = self.cluster.workload(known.name)
        return seen is None or seen.uid != known.fact.uid or seen.value.is_finished

    def _runs(self, key: str) -> bool:
        seen = self.cluster.workload(key)
        return seen is not None and seen.value.is_answered

    def _queues(self, graph: PolicyGraph) -> Mapping[str, str]:
        """The queues of the policy by what their ClusterQueues are called."""
        if self._queues_of is None or self._queues_of[0] is not graph:
            self._queues_of = graph, queues_by_cluster_queue(graph)
        return self._queues_of[1]

    def _check_mark(self, key: str, mark: Mark | None) -> None:
        """Raise JournalError for a mark of an event that the journal does not have: it is an older copy of the one that has it."""
        if mark is not None and mark.journal == self.decider.identity and mark.seq > self.decider.core.seq:
            journal = self.decider.journal
            raise JournalError(
                f"{key} bears the mark of event {mark.seq}, but `{journal.name}` ends at event {journal.head.seq}: it is an older copy",
                "put the newest copy in its place; or, if it is lost, begin a new journal: what runs is adopted then",
            )

    def _slice(self, key: str, observed: Observed) -> SliceStanding:
        """Where a workload stands among the slices of its job."""
        if observed.asked is None or not (observed.asked.replaces or observed.is_replaced):
            return ALONE
        earlier = (self.known(name) for name in self.cluster.slices.earlier(key))
        running = next((known.name for known in earlier if known is not None and known.admitted is not None), "")
        return SliceStanding(running, self.cluster.slices.last(key) is not None)
