"""Looks at what has changed in a cluster, decides about it and commits that, in one step in which nothing is waited for."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from time import perf_counter

from ...engine.errors import FactError
from ...engine.events import WorkloadEvicted
from ...engine.facts import Fact
from ...engine.policy_graph import PolicyGraph
from ...engine.workload import Workload
from ..kubernetes.nodes import Supply, unselectable
from .decider import LiveDecider, Numbered
from .desired import DesiredStates
from .followed_objects import FollowedObjects
from .learned_facts import Learned
from .observer import Observer

_NODE = "node "
"""What the names of problems with nodes begin with: no name of a workload has a space."""


class DecidingChanges(ABC):
    """Decides about the workloads of a cluster. What is learned of one as it is, a system says.

    `problems` says about which workloads and nodes it cannot, and why; `desired` is what the journal wants. `names` says what resources of
    the policy are called in the cluster, where that is another name. `log` is the system's.
    """

    log: logging.Logger

    def __init__(self, followed: FollowedObjects, decider: LiveDecider, names: Mapping[str, str], observer: Observer) -> None:
        self.decider, self._followed, self._observer = decider, followed, observer
        self.problems: dict[str, str] = {}
        live = decider.core.view.workloads()
        self.desired = DesiredStates(decider.journal, [(workload.name, workload.fact.uid) for workload in live])
        self._names, self._supply = names, Supply(decider.journal, names)
        self._has_looked = False

    @property
    def graph(self) -> PolicyGraph:
        """The policy that decides; before there is any, the one that is to decide."""
        return self.coming_graph if self.decider.core.graph is None else self.decider.core.graph

    @property
    def coming_graph(self) -> PolicyGraph:
        """The policy that is to decide from the next look on."""
        graph = self.decider.graph
        assert graph is not None, "a policy is activated before anything is followed"
        return graph

    def known(self, key: str) -> Workload | None:
        """What the core knows of a workload."""
        return self.decider.core.view.workload(key)

    @abstractmethod
    def _learned(self, key: str) -> Learned:
        """The next facts about a workload. Raises JournalError."""

    @abstractmethod
    def _has_ended(self, known: Workload) -> bool:
        """Whether a workload that the core knows is there no more, or is over."""

    @abstractmethod
    def _runs(self, key: str) -> bool:
        """Whether a workload runs in the cluster, whatever the core knows of it."""

    @abstractmethod
    def _make_ready(self, graph: PolicyGraph) -> None:
        """Learn what has to be known before a policy takes over."""

    def look(self, keys: Iterable[str], nodes: bool) -> list[Numbered]:
        """Take in what has changed, decide and commit. Return what was committed; raises JournalError, and TakeOverError.

        Who runs comes first: one that is adopted holds its place before another one gets it.
        """
        begun = perf_counter()
        if not self._has_looked:
            self._learn_ends()
            self._has_looked = True
        self.decider.begin(self._follow, self._make_ready)
        if nodes:
            self._learn_nodes()
        self._learn(sorted(keys, key=lambda key: not self._runs(key)))
        committed = self.decider.commit(self._follow)
        if committed:
            self._observer.observe_decide(perf_counter() - begun - self.decider.commit_seconds)
            self._observer.observe_commit(self.decider.commit_seconds)
            self._observer.decided(committed)
        return committed

    def _follow(self, events: Sequence[Numbered]) -> None:
        """Take in what was decided, and look at once at those who were evicted: they run on, are over, or have changed meanwhile."""
        self._take(events)
        self._learn(evicted(events))

    def _take(self, events: Sequence[Numbered]) -> None:
        """Take in what was decided, in order."""
        self.desired.take(events)

    def _learn_ends(self) -> None:
        """Learn who has ended while nobody looked, before time moves on: time alone shall evict nobody for one that is gone.

        They ended at some time since the journal's last event; its time counts. Those that waited come first, as their end makes no room.
        """
        for known in sorted(self.decider.core.view.workloads(), key=lambda workload: (workload.admitted is not None, workload.name)):
            if self._has_ended(known):
                for fact in self._learned(known.name).facts[:1]:
                    self._follow(self.decider.play(fact))

    def _learn_nodes(self) -> None:
        nodes = {name: seen.value for name, seen in self._followed.nodes.known.items()}
        before = {name: self.problems.pop(name) for name in list(self.problems) if name.startswith(_NODE)}
        for name, wrong in unselectable(nodes, self.graph).items():
            self.problems[_NODE + name] = f"node {name}: {wrong}: no pods are sent there; give each node a hostname of its own"
        for fact in list(self._supply.facts(nodes, self.graph, self.decider.moment)):
            try:
                self._follow(self.decider.play(fact))
                self._supply.take(fact)
            except FactError as error:
                self.problems[_NODE + fact.node] = str(error)
                if before.get(_NODE + fact.node) != str(error):  # it is tried again whenever any node changes
                    self._refuse(fact, error)

    def _learn(self, keys: Iterable[str]) -> None:
        """Play what is learned of some workloads, and of those that are evicted by it, until there is nothing more to learn of them.

        All of one workload comes before the next one.
        """
        unseen = list(keys)
        while unseen:
            key = unseen.pop(0)
            learned = self._learned(key)
            problem = learned.problem
            try:
                for fact in learned.facts:
                    events = self.decider.play(fact)
                    self._take(events)
                    unseen += evicted(events)
                unseen[:0] = [key] if learned.facts else []
            except FactError as error:
                self._refuse(fact, error)
                problem = str(error)
            if problem:
                self.problems[key] = problem
            else:
                self.problems.pop(key, None)

    def _refuse(self, fact: Fact, error: FactError) -> None:
        """Tell of a fact that could not have happened."""
        self.log.warning("%s is refused: %s", fact.kind, error)
        self._observer.fact_refused(fact.kind)


def evicted(events: Iterable[Numbered]) -> list[str]:
    """The workloads that are evicted, by name."""
    return [event.workload for _, event in events if isinstance(event, WorkloadEvicted)]


async def keep_looking(followed: FollowedObjects, decider: LiveDecider, take_a_look: Callable[[], None]) -> None:
    """Look whenever something has changed, or time alone may change a decision, until cancelled."""
    while True:
        followed.woken.clear()
        if not followed.has_changed:
            wake = decider.next_wake()
            seconds = None if wake is None else max(0.0, (wake - decider.stamps.now()) / 1_000_000)
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await followed.woken.wait()
        take_a_look()
        await asyncio.sleep(0)
