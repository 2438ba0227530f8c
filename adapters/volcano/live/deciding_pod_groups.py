"""Looks at what has changed in a cluster with Volcano, decides about it and commits that, in one step in which nothing is waited for."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

from ....engine.errors import FactError
from ....engine.events import WorkloadEvicted, WorkloadRejected
from ....engine.facts import Fact
from ....engine.policy_graph import PolicyGraph
from ...kubernetes.nodes import Supply
from ...live.decider import LiveDecider, Numbered
from ...live.desired import DesiredStates
from ...live.observer import Observer
from .followed_pod_groups import FollowedPodGroups
from .pod_group_facts import NamesInCluster, PodGroupFacts, facts_of_absence, facts_of_pod_group

LOG = logging.getLogger("gpol.volcano")


class DecidingPodGroups:
    """Decides about the PodGroups of a cluster. `problems` says about which it cannot, and why."""

    def __init__(self, cluster: FollowedPodGroups, decider: LiveDecider, names: Mapping[str, str], observer: Observer) -> None:
        self.cluster, self.decider, self._observer = cluster, decider, observer
        self.problems: dict[str, str] = {}
        live = decider.core.view.workloads()
        self._desired = DesiredStates(decider.journal, [(workload.name, workload.fact.uid) for workload in live])
        self._policy = NamesInCluster(self.graph, names)
        self._supply = Supply(decider.journal, names)

    @property
    def graph(self) -> PolicyGraph:
        """The policy that decides."""
        graph = self.decider.core.graph
        assert graph is not None, "a policy is activated before anything is followed"
        return graph

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
        """Take in what was decided, and look at once at those who were evicted: they may be over, or have changed meanwhile."""
        self._desired.take(events)
        self._learn(_evicted(events))

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
        """Play what is learned of some PodGroups until there is nothing more to learn of them."""
        unseen = list(keys)
        while unseen:
            key = unseen.pop(0)
            learned = self._learned(key)
            problem = learned.problem
            for fact in learned.facts:
                try:
                    events = self.decider.play(fact)
                except FactError as error:
                    self._refuse(fact, error)
                    problem = str(error)
                    break
                self._desired.take(events)
                unseen += [*_evicted(events), key]
            if problem:
                self.problems[key] = problem
            else:
                self.problems.pop(key, None)

    def _learned(self, key: str) -> PodGroupFacts:
        seen, known, now = self.cluster.pod_group(key), self.decider.core.view.workload(key), self.decider.moment
        if seen is None:
            self._desired.forget(key)
            return PodGroupFacts(facts_of_absence(known, now))
        if seen.value.group is None:
            return PodGroupFacts(problem=seen.value.problem)
        desired = self._desired.of(key, seen.uid) if known is None else None
        is_turned_away = desired is not None and isinstance(desired.event, WorkloadRejected)
        labels = self.cluster.labels(seen.value.group.namespace)
        return facts_of_pod_group(seen.value.group, known, is_turned_away, self._policy, labels, now)

    def _refuse(self, fact: Fact, error: FactError) -> None:
        """Tell of a fact that could not have happened."""
        LOG.warning("%s is refused: %s", fact.kind, error)
        self._observer.fact_refused(fact.kind)


def _evicted(events: Iterable[Numbered]) -> list[str]:
    """The PodGroups that are evicted, by name."""
    return [event.workload for _, event in events if isinstance(event, WorkloadEvicted)]
