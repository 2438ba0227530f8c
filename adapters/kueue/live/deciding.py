"""Looks at what has changed in a cluster, decides about it and commits that, in one step in which nothing is waited for."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

from ....engine.errors import FactError
from ....engine.events import WorkloadEvicted
from ....engine.facts import Fact
from ....engine.policy_graph import PolicyGraph
from ....engine.workload import Workload
from ....journal.errors import JournalError
from ...kubernetes.nodes import Supply
from ...live.decider import LiveDecider, Numbered
from ...live.desired import DesiredStates
from ...live.observer import Observer
from .followed import FollowedCluster
from .learned import ALONE, Learned, SliceStanding, Surroundings, gone, learn, queues_by_cluster_queue
from .observed import Observed
from .protocol import Mark

LOG = logging.getLogger("gpol.kueue")


class Deciding:
    """Decides about the workloads of a cluster. `problems` says about which it cannot, and why; `desired` is what the journal wants."""

    def __init__(self, cluster: FollowedCluster, decider: LiveDecider, names: Mapping[str, str], observer: Observer) -> None:
        self.cluster, self.decider, self._observer = cluster, decider, observer
        self.problems: dict[str, str] = {}
        live = decider.core.view.workloads()
        self.desired = DesiredStates(decider.journal, [(workload.name, workload.fact.uid) for workload in live])
        self._queues_of: tuple[PolicyGraph, dict[str, str]] | None = None
        self._names, self._supply = names, Supply(decider.journal, names)

    @property
    def graph(self) -> PolicyGraph:
        """The policy that decides."""
        graph = self.decider.core.graph
        assert graph is not None, "a policy is activated before anything is followed"
        return graph

    def known(self, key: str) -> Workload | None:
        """What the core knows of a workload."""
        return self.decider.core.view.workload(key)

    def look(self, keys: Iterable[str], nodes: bool) -> list[Numbered]:
        """Take in what has changed, decide and commit. Return what was committed; raises JournalError."""
        begun = perf_counter()
        self.decider.begin(self._follow)
        if nodes:
            self._learn_nodes()
        self._learn(keys)
        committed = self.decider.commit(self._follow)
        if committed:
            self._observer.observe_decide(perf_counter() - begun - self.decider.commit_seconds)
            self._observer.observe_commit(self.decider.commit_seconds)
            self._observer.decided(committed)
        return committed

    def _follow(self, events: Sequence[Numbered]) -> None:
        """Hold at once who was evicted and has not stopped yet."""
        self.desired.take(events)
        self._learn(evicted(events))

    def _learn_nodes(self) -> None:
        nodes = {name: seen.value for name, seen in self.cluster.nodes.known.items()}
        for fact in list(self._supply.facts(nodes, self.graph, self.decider.moment)):
            name = f"node {fact.node}"
            try:
                self._follow(self.decider.play(fact))
                self._supply.take(fact)
                self.problems.pop(name, None)
            except FactError as error:
                self._refuse(fact, error)
                self.problems[name] = str(error)

    def _learn(self, keys: Iterable[str]) -> None:
        """Play what is learned of some workloads, and of those that are evicted by it, until there is nothing more to learn of them."""
        unseen = list(keys)
        while unseen:
            key = unseen.pop(0)
            learned = self._learned(key)
            problem = learned.problem
            try:
                for fact in learned.facts:
                    events = self.decider.play(fact)
                    self.desired.take(events)
                    unseen += evicted(events)
                unseen += [key] if learned.facts else []
            except FactError as error:
                self._refuse(fact, error)
                problem = str(error)
            if problem:
                self.problems[key] = problem
            else:
                self.problems.pop(key, None)

    def _refuse(self, fact: Fact, error: FactError) -> None:
        """Tell of a fact that could not have happened."""
        LOG.warning("%s is refused: %s", fact.kind, error)
        self._observer.fact_refused(fact.kind)

    def _learned(self, key: str) -> Learned:
        """The next facts about a workload."""
        seen, known, now, graph = self.cluster.workload(key), self.known(key), self.decider.moment, self.graph
        if seen is None:
            return Learned(gone(known, now))
        self._check_mark(key, seen.value.mark)
        desired = self.desired.of(key, seen.uid, is_marked=seen.value.mark is not None)
        decided = Mark(self.decider.identity, desired.seq) if desired is not None else None
        around = Surroundings(graph, self.cluster.labels, self._names, self._queues(graph))
        return learn(seen.value, known, decided, around, now, self._slice(key, seen.value))

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


def evicted(events: Iterable[Numbered]) -> list[str]:
    """The workloads that are evicted, by name."""
    return [event.workload for _, event in events if isinstance(event, WorkloadEvicted)]
